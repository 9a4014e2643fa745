"""The experiments of Recasens and Quattoni (ECML 2013) on the wall-following robot.

The walk is cut into 150 sequences of 36 readings; each seed splits them into 100 for training, 25
for validation and 25 for testing. Everything that is chosen is chosen on the validation part.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from sigmastar.bench.papers.published_sensors import TABLE_1, TABLE_2
from sigmastar.bench.wall_following_methods import (
    FULL,
    Grid,
    Part,
    Seen,
    best_by_validation,
    centroids,
    expectation,
    gibbs,
    methods,
    spectral,
)
from sigmastar.core.progress import stage
from sigmastar.corpus.frames import as_frames, as_label_list
from sigmastar.datasets import load_wall_following
from sigmastar.sensors.estimators.em import EMSequenceTagger
from sigmastar.sensors.estimators.spectral import SpectralSequenceTagger

__all__ = [
    "Split",
    "by_features",
    "by_states",
    "by_width",
    "divide",
    "singular_values",
    "splits",
    "table1",
    "table2",
]


@dataclass(frozen=True)
class Split:
    """One division of the sequences: what may be looked at, and what it is judged by."""

    seen: Seen
    test: Part


def splits(n_seeds: int, data_home: Any = None) -> list[Split]:
    """Divide the 150 sequences at random, once for each seed."""
    series = load_wall_following(data_home=data_home)
    return divide(series.inputs, list(series.labels), (100, 125), n_seeds)


def divide(inputs: Any, labels: list[Any], cuts: tuple[int, int], n_seeds: int) -> list[Split]:
    """Divide sequences at random, once for each seed: where validation and testing begin."""

    def part(chosen: np.ndarray) -> Part:
        return [inputs[i] for i in chosen], [labels[i] for i in chosen]

    result = []
    for seed in range(n_seeds):
        train, validation, test = np.split(
            np.random.default_rng(seed).permutation(len(labels)), cuts
        )
        result.append(Split(Seen(seed, part(train), part(validation)), part(test)))
    return result


def by_width(divisions: list[Split], grid: Grid = FULL, **readings: Any) -> list[dict[str, Any]]:
    """Figure 1: accuracy on test sequences by distance, kernel width and states.

    Width 0 is the WFST. Nothing is chosen here: every combination is measured, with the algorithm
    as published.
    """
    rows: dict[tuple[str, float, int], list[float]] = {}
    with stage("Figure 1", len(divisions) * len(grid.widths)) as progress:
        for split in divisions:
            for metric, widths in grid.widths.items():
                tagger = SpectralSequenceTagger(
                    list(grid.states),
                    tau=[0.0, *widths],
                    features=centroids(grid.n_centroids, metric, split.seen.seed, **readings),
                )
                tagger.fit(*split.seen.train, validation=split.test)
                for row in tagger.info_["validation"]:
                    key = (metric, row["tau"], row["n_states"])
                    rows.setdefault(key, []).append(row["accuracy"])
                progress.advance()
    return [
        {"metric": metric, "tau": tau, "n_states": m, "accuracy": float(np.mean(found))}
        for (metric, tau, m), found in rows.items()
    ]


def by_features(divisions: list[Split], grid: Grid = FULL, **readings: Any) -> list[dict[str, Any]]:
    """Figure 2, left: accuracy by the number of centroids, states and width chosen."""
    found: dict[tuple[str, int], list[float]] = {}
    kinds = (("CWFST", grid.own_widths), ("WFST", [0.0]))
    with stage("Figure 2, left", len(divisions) * len(grid.feature_counts)) as progress:
        for split in divisions:
            for n in grid.feature_counts:
                for name, widths in kinds:
                    tagger = spectral(
                        split.seen,
                        [m for m in grid.states if m <= n],
                        tau=widths,
                        ridge=list(grid.ridges),
                        features=grid.points(split.seen.seed, **readings).set_params(n_centroids=n),
                    )
                    found.setdefault((name, n), []).append(tagger.score(*split.test))
                progress.advance()
    return _means(found, "n_centroids")


def singular_values(
    divisions: list[Split], grid: Grid = FULL, **readings: Any
) -> list[dict[str, Any]]:
    """Figure 2, centre: the singular values of H2, mean of the splits."""
    values = []
    for split in divisions:
        features = grid.points(split.seen.seed, **readings)
        full = SpectralSequenceTagger(grid.rank, features=features, tau=0.1).fit(*split.seen.train)
        values.append(full.info_["singular_values"])
    return [
        {"rank": rank, "singular_value": float(value)}
        for rank, value in enumerate(np.mean(values, axis=0), start=1)
    ]


def by_states(divisions: list[Split], grid: Grid = FULL, **readings: Any) -> list[dict[str, Any]]:
    """Figure 2, right: accuracy by the number of states, of three methods."""
    found: dict[tuple[str, int], list[float]] = {}
    with stage("Figure 2, right", len(divisions) * len(grid.sizes)) as progress:
        for split in divisions:
            seen = split.seen
            points = grid.points(seen.seed, **readings)
            for m in grid.sizes:
                kernels = {"tau": grid.own_widths, "ridge": list(grid.ridges)}
                sharp = clone(points).set_params(tau=0.03)
                taggers: list[tuple[str, Any]] = [
                    ("CWFST", spectral(seen, m, features=points, **kernels)),
                    ("EM", expectation(seen, m, sharp, min(40, grid.em_steps))),
                    ("Bayesian", gibbs(seen, m, points, 0.01)),
                ]
                for name, tagger in taggers:
                    found.setdefault((name, m), []).append(tagger.score(*split.test))
                progress.advance()
    return _means(found, "n_states")


def _means(found: dict[tuple[str, int], list[float]], across: str) -> list[dict[str, Any]]:
    return [
        {"method": name, across: n, "accuracy": float(np.mean(values))}
        for (name, n), values in found.items()
    ]


@dataclass
class _Measured:
    """What was measured of one method on every split, and what it chose there."""

    figures: dict[str, list[float]] = field(default_factory=dict)
    readings: Counter[str] = field(default_factory=Counter)

    def note(self, **values: float) -> None:
        """Keep the figures of one split."""
        for name, value in values.items():
            self.figures.setdefault(name, []).append(value)

    def row(self, name: str) -> dict[str, Any]:
        """Give the means, and the spread of the first over splits."""
        means = {key: float(np.mean(values)) for key, values in self.figures.items()}
        told = ", ".join(f"{words} ({times})" for words, times in self.readings.most_common())
        published = TABLE_1.get(name.removesuffix(", readings chosen"))
        return {
            "method": name,
            **means,
            "deviation": float(np.std(self.figures["marginal"])),
            "readings": told,
            "paper_marginal": None if published is None else published.marginal / 100,
            "paper_exact": None if published is None else published.exact / 100,
        }


def table1(
    divisions: list[Split], only: list[str] | None = None, grid: Grid = FULL
) -> list[dict[str, Any]]:
    """Best model of each method by validation: accuracy on test sequences, and time to train.

    The time is that of one training with everything chosen already, on the first split.
    """
    rows = [method for method in methods(grid) if only is None or method.name in only]
    measured = {method.name: _Measured() for method in rows}
    with stage("Table 1", len(divisions) * len(rows)) as progress:
        for split in divisions:
            for method in rows:
                tagger, of = method.make(split.seen), measured[method.name]
                if split is divisions[0]:
                    begun = time.perf_counter()
                    _again(tagger, split.seen)
                    of.note(seconds=time.perf_counter() - begun)
                scores = decoding_scores(tagger, split.test, grid.max_nodes)
                of.note(n_states=_n_states(tagger), **scores)
                of.readings[_readings(tagger)] += 1
                progress.advance(note=method.name)
    return [measured[method.name].row(method.name) for method in rows]


def decoding_scores(tagger: Any, test: Part, max_nodes: int) -> dict[str, float]:
    """Score marginals, the filter and the search, and tell for how much the search is proven."""
    found = tagger.search(test[0], max_nodes=max_nodes)
    truth = as_label_list(test[1], as_frames(test[0]).offsets)
    right = np.array(tagger.labels_.decode(found.labels)) == np.array(truth)
    return {
        "marginal": tagger.score(*test),
        "search": float(right.mean()),
        "proven": float(found.proven.mean()),
        "filter": tagger.score(*test, decoding="filter"),
    }


def _n_states(tagger: Any) -> int:
    chosen = tagger.info_.get("chosen", {})
    return int(chosen.get("n_states", getattr(tagger, "n_states", 1)))


def _readings(tagger: Any) -> str:
    """Say in words what becomes of a reading."""
    how = getattr(tagger.features, "readings", "raw")
    limit = getattr(tagger.features, "limit", None)
    return how if limit is None else f"{how} {limit:g}"


def _again(tagger: Any, seen: Seen) -> None:
    """Train once more with what was chosen, to time it."""
    chosen = tagger.info_.get("chosen")
    fresh = clone(tagger)
    if chosen is not None:
        fresh.set_params(**chosen)
    fresh.fit(*seen.train)


def table2(
    divisions: list[Split], grid: Grid = FULL, n_states: int | None = None
) -> list[dict[str, Any]]:
    """Time and accuracy of EM by iteration on the first split, where the paper looks.

    Readings and kernel width are chosen on the validation part, which also marks the iteration
    that it would keep. By default the tagger has as many states as the paper's.
    """
    split = divisions[0]
    seen, size = split.seen, n_states or grid.em_states[-1]
    tried = (
        expectation(seen, size, grid.points(seen.seed, tau=tau, **readings), grid.em_steps)
        for readings in grid.readings
        for tau in grid.em_widths
    )
    features = best_by_validation(seen, tried).features
    tagger = EMSequenceTagger(
        size, features=features, max_iter=max(grid.marks), tol=0.0, random_state=seen.seed
    )
    few = clone(tagger).set_params(max_iter=min(20, max(grid.marks)))
    begun = time.perf_counter()
    steps = few.fit(*seen.train).info_["log_likelihood"]
    per_step = (time.perf_counter() - begun) / len(steps)
    kept = clone(tagger).fit(*seen.train, validation=seen.validation).info_["best_step"]
    accuracies = tagger.fit(*seen.train, validation=split.test).info_["accuracy"]
    published = {step.iterations: step for step in TABLE_2}
    return [
        {
            "iterations": m,
            "seconds": per_step * m,
            "accuracy": accuracies[m - 1],
            "kept": m == kept,
            "paper_seconds": published[m].seconds if m in published else None,
            "paper_accuracy": published[m].accuracy / 100 if m in published else None,
        }
        for m in sorted({*grid.marks, kept} - {0})
        if m <= len(accuracies)
    ]
