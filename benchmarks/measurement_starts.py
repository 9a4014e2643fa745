"""Where EM should start: moments, k-means++ or random frames, by held-out likelihood and seconds.

Run: python benchmarks/measurement_starts.py [--data DIR] [--problems 20] [--json FILE]

Twenty generated problems (2 to 10 states, 1 to 12 dimensions, states near and far apart, sticky and
restless chains, some with overlapping means told apart by time alone), and the frames of the
wall-following robot if they are there. Each start is followed by EM to convergence; what counts is
the log-likelihood per frame of held-out sequences, against the best that any start found.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np

import sigmastar as ss
from sigmastar.core.errors import DataNotFound

STARTS = ("moments", "kmeans", "random", "auto")


def generated(number):
    """Return training and test sequences of one problem, and what it is like."""
    rng = np.random.default_rng(1000 + number)
    n_states = int(rng.integers(2, 11))
    d = int(rng.choice([1, 2, 4, 8, 12]))
    apart = float(rng.choice([0.7, 1.2, 2.0, 4.0]))
    sticky = float(rng.choice([0.0, 0.5, 0.9, 0.97]))
    twins = bool(number % 4 == 3)
    moves = sticky * np.eye(n_states) + (1 - sticky) * rng.dirichlet(
        np.full(n_states, 0.4), n_states
    )
    means = rng.normal(size=(n_states, d)) * apart
    spread = rng.uniform(0.6, 1.4, (n_states, d))
    if twins:  # two states emit the same: only what comes before and after tells them apart
        means[1], spread[1] = means[0], spread[0]
    made = ss.GaussianHMM.from_parameters(
        np.full(n_states, 1 / n_states), moves, means, spread**2, covariance="diag"
    )
    pieces = [made.sample(250, 100 * number + i)[0] for i in range(24)]
    what = {"states": n_states, "columns": d, "apart": apart, "sticky": sticky, "twins": twins}
    return pieces[:16], pieces[16:], what, made


def run(train, test, n_states, covariance, seed):
    """Return held-out log-likelihood per frame and seconds of every start."""
    frames = sum(map(len, test))
    found = {}
    for start in STARTS:
        begun = time.process_time()
        hmm = ss.GaussianHMM(
            n_states, covariance=covariance, init=start, max_iter=200, random_state=seed
        )
        hmm.fit(train)
        found[start] = {
            "held_out": hmm.score(test) / frames,
            "seconds": time.process_time() - begun,
            "steps": hmm.info_["iterations"],
        }
    return found


def report(name, found, what, seeds=1):
    best = max(row["held_out"] for row in found.values())
    told = "  ".join(
        f"{start} {row['held_out'] - best:+.4f} ({row['seconds']:.1f} s, {row['steps']})"
        for start, row in found.items()
    )
    print(f"{name}: best {best:.4f}  {told}  {what}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data")
    parser.add_argument("--problems", type=int, default=20)
    parser.add_argument("--json")
    given = parser.parse_args()
    rows = []
    for number in range(given.problems):
        train, test, what, made = generated(number)
        found = run(train, test, what["states"], "diag", number)
        what["truth"] = made.score(test) / sum(map(len, test))
        report(f"problem {number}", found, what)
        rows.append({"problem": number, **what, "starts": found})
    try:
        series = ss.datasets.load_wall_following(data_home=given.data)
        pieces = [np.asarray(piece) for piece in series.inputs]
        for n_states in (4, 8, 16):
            found = run(pieces[::2], pieces[1::2], n_states, "diag", 0)
            report(f"wall-following, {n_states} states", found, {})
            rows.append({"problem": f"wall-following {n_states}", "starts": found})
    except DataNotFound as error:
        print("wall-following left out:", error)
    for start in STARTS:
        gaps = [
            max(r["held_out"] for r in row["starts"].values()) - row["starts"][start]["held_out"]
            for row in rows
        ]
        seconds = sum(row["starts"][start]["seconds"] for row in rows)
        wins = sum(gap < 1e-3 for gap in gaps)
        print(
            f"{start}: within 0.001 of the best in {wins} of {len(rows)}, mean gap "
            f"{np.mean(gaps):.4f}, worst {max(gaps):.4f}, {seconds:.1f} s of processor in all"
        )
    if given.json:
        with open(given.json, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
