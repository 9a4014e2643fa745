"""Steer along a wall: label a robot's sonar readings as they come.

A SCITOS G5 robot with a ring of 24 ultrasound sensors follows a wall; each reading is labelled with
the movement taken (UCI data set 194). We learn a tagger from two thirds of the stretches of four
seconds, see how surely it labels the others, and run it one frame at a time as the robot would.

Run: python examples/wall_following.py [--plot walk.png]
Without the data set and without a network, a walk is made up.
"""

from __future__ import annotations

import argparse
import tempfile
import time

import numpy as np
from sklearn.ensemble import RandomForestClassifier

import sigmastar as ss


def load_walk():
    """Give stretches of readings and their labels."""
    try:
        series = ss.datasets.load_wall_following()
        return list(series.inputs), [np.array(labels) for labels in series.labels]
    except ss.errors.DataNotFound:
        print("The data set cannot be had here; making up a walk.")
    rng = np.random.default_rng(0)
    names = np.array(["Move-Forward", "Sharp-Right-Turn", "Slight-Right-Turn"])
    inputs, labels = [], []
    for _ in range(60):
        modes = np.repeat(rng.integers(0, 3, 12), rng.integers(2, 9, 12))[:36]
        modes = np.pad(modes, (0, 36 - len(modes)), mode="edge")
        inputs.append(1.0 + rng.gamma(2.0, 0.5, (36, 24)) * (1 + 0.4 * modes[:, None]))
        labels.append(names[modes])
    return inputs, labels


def main():
    """Learn, judge, stream, and draw if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plot", metavar="FILE", help="draw one stretch (needs matplotlib)")
    options = parser.parse_args()
    inputs, labels = load_walk()
    order = np.random.default_rng(0).permutation(len(inputs))
    cut = 2 * len(order) // 3
    train, test = order[:cut], order[cut:]

    forest = RandomForestClassifier(30, max_features=0.5, random_state=0)
    tagger = ss.SpectralSequenceTagger(
        [1, 2, 3],
        features=forest,
        sharpness=[1.0, 4.0],
        memory=[0.5, 0.2, 0.05],
        random_state=0,
    )
    tagger.fit([inputs[i] for i in train], [labels[i] for i in train])
    unseen = [inputs[i] for i in test], [labels[i] for i in test]
    print("chosen:", {k: v for k, v in tagger.info_["chosen"].items() if v is not None})
    print(f"right with the whole stretch known: {100 * tagger.score(*unseen):.2f} %")
    print(f"right with the past alone: {100 * tagger.score(*unseen, decoding='filter'):.2f} %")

    with tempfile.TemporaryDirectory() as place:  # as it would travel to the robot
        tagger.model_.save(f"{place}/wall.sigma")
        stream = ss.TagStream(ss.load(f"{place}/wall.sigma"))
    stream.push(inputs[test[0]][0])  # compiles
    begun = time.perf_counter()
    answers = [stream.push(frame) for frame in inputs[test[0]]]
    spent = time.perf_counter() - begun
    print(f"streamed {len(answers)} frames in {1e3 * spent:.1f} ms; the last: {answers[-1]}")
    if options.plot:
        liveliest = max(test, key=lambda i: np.sum(labels[i][1:] != labels[i][:-1]))
        draw(options.plot, tagger, inputs[liveliest], labels[liveliest])


def draw(path, tagger, frames, truth):
    """Draw the probability of each label over time, and the true label below."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    table = tagger.predict_proba([frames], decoding="filter")[0]
    figure, axis = plt.subplots(figsize=(8, 3))
    colours = plt.get_cmap("tab10")
    for position, name in enumerate(tagger.classes_):
        axis.plot(table[:, position], color=colours(position), label=name)
        here = np.flatnonzero(truth == name)
        axis.plot(here, np.full(len(here), -0.05), "s", color=colours(position), markersize=4)
    axis.set(xlabel="frame", ylabel="probability; squares: the truth")
    axis.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    print("drawn to", path)


if __name__ == "__main__":
    main()
