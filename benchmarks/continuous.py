"""Time taggers of continuous sequences: training, EM steps, filtering in batches and one by one.

Run: python benchmarks/continuous.py [--data DIR]   (or set SIGMASTAR_DATA)
Without data a random walk of the same shape is used.
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.ensemble import RandomForestClassifier

import sigmastar as ss
from sigmastar.core.errors import DataNotFound
from sigmastar.sensors.inference.passes import filter_labels, smooth_labels, to_probabilities
from sigmastar.sensors.learn.em import em_steps, random_tagger
from sigmastar.sensors.moments import LabelledFrames
from timing import best_of


def read_data(place):
    try:
        series = ss.datasets.load_wall_following(data_home=place)
        return list(series.inputs[:100]), list(series.labels)[:100]
    except DataNotFound:
        rng = np.random.default_rng(0)
        labels = [np.repeat(rng.integers(0, 4, 6), 6) for _ in range(100)]
        return [rng.normal(y[:, None], 1.0, (36, 24)) for y in labels], labels


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data")
    X, y = read_data(parser.parse_args().data)
    frames = np.concatenate(X)
    for n, m, tau in ((80, 31, 32.0), (400, 10, 128.0), (400, 20, 128.0), (800, 20, 128.0)):
        features = ss.CentroidFeatures(n, metric="euclidean", tau=tau, random_state=0)
        tagger = ss.SpectralSequenceTagger(m, features=features, ridge=1e-8)
        name = f"{n} centroids, {m} states"
        print(f"{name}: train {best_of(lambda t=tagger: t.fit(X, y)):.2f} s")
        report_filtering(tagger, X, frames, name)
    forest = RandomForestClassifier(100, max_features=0.5, random_state=0)
    tagger = ss.SpectralSequenceTagger(4, features=forest, sharpness=4.0, memory=0.2)
    tagger.fit(X, y)
    report_filtering(tagger, X, frames, "forest of 100 trees, 4 states")
    report_em(X, y, frames)


def report_filtering(tagger, X, frames, name):
    """Print frames a second: raw readings in, probabilities of labels out."""
    many = np.concatenate([frames] * 5)
    offsets = np.arange(0, len(many) + 1, 36)
    model = tagger.model_

    def batch(read):
        features = model.features(many, offsets)
        return to_probabilities(model, read(model, features, offsets).scores, features)

    stream = ss.TagStream(model)
    single = frames[:2000]
    stream.push(single[0])
    one = best_of(lambda: [stream.push(frame) for frame in single])
    print(f"  filter in batches  {len(many) / best_of(lambda: batch(filter_labels)):>10,.0f} /s")
    print(f"  filter one by one  {len(single) / one:>10,.0f} /s")
    print(f"  smooth in batches  {len(many) / best_of(lambda: batch(smooth_labels)):>10,.0f} /s")


def report_em(X, y, frames):
    """Print the time of an EM step at the size of the paper: 80 centroids, 23 states."""
    features = ss.CentroidFeatures(80, tau=0.03, random_state=0).fit_transform(frames)
    alphabet = ss.Alphabet.from_symbols(label for labels in y for label in labels)
    codes = np.concatenate([alphabet.encode(list(labels)) for labels in y]).astype(np.int64)
    packed = LabelledFrames(features, np.arange(0, len(frames) + 1, 36), codes, len(alphabet))
    steps = em_steps(packed, random_tagger(packed, alphabet, 23, np.random.default_rng(0)))
    next(steps)
    seconds = best_of(lambda: [next(steps) for _ in range(10)]) / 10
    print(f"EM step, 80 centroids, 23 states: {seconds:.3f} s (paper: about 30 s)")


if __name__ == "__main__":
    main()
