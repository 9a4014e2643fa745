"""The experiments of Recasens and Quattoni (ECML 2013) on the wall-following robot.

The walk is cut into 150 sequences of 36 readings; each seed splits them into 100 for training, 25
for validation and 25 for testing. Everything that is chosen is chosen on the validation part.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sigmastar.core.progress import stage
from sigmastar.datasets import load_wall_following
from sigmastar.sensors.estimators.baselines import FramewiseTagger, GibbsSequenceTagger
from sigmastar.sensors.estimators.em import EMSequenceTagger
from sigmastar.sensors.estimators.spectral import SpectralSequenceTagger
from sigmastar.sensors.features.centroids import CentroidFeatures

__all__ = ["PUBLISHED", "Split", "figure1", "figure2", "splits", "table1", "table2"]

# Table 1 of the paper: states, accuracy by marginals, accuracy by exact decoding.
PUBLISHED = {
    "EM": (23, 75.36, 76.32),
    "Bayesian": (5, 74.67, 75.90),
    "CWFST": (31, 79.36, 81.12),
    "FST": (31, 67.09, 68.06),
}
# Kernel widths from nearly hard to very soft, for each distance.
WIDTHS = {
    "euclidean": [2.0, 8.0, 32.0, 128.0],
    "correlation": [0.03, 0.1, 0.4, 1.6],
    "cosine": [0.01, 0.05, 0.2, 0.8],
}
# What becomes of a reading before distances are taken: a sonar that hears no echo says 5 m, and one
# reading in seven does. The best is chosen on the validation part, for each method by itself.
READINGS: list[dict[str, Any]] = [
    {"readings": "raw"},
    {"readings": "clip", "limit": 1.0},
    {"readings": "clip", "limit": 2.0},
    {"readings": "log"},
    {"readings": "reciprocal"},
]
STATES = [1, 5, 10, 15, 20, 25, 31, 40]
CENTROIDS = (20, 40, 80, 160, 320)  # figure 2, left
RANK = 70  # figure 2, centre: how many singular values
SIZES = (2, 5, 10, 16, 23, 31)  # figure 2, right: states


@dataclass(frozen=True)
class Split:
    """One division of the sequences; each part is (inputs, labels)."""

    seed: int
    train: tuple[list[Any], list[Any]]
    validation: tuple[list[Any], list[Any]]
    test: tuple[list[Any], list[Any]]


def splits(n_seeds: int, data_home: Any = None) -> list[Split]:
    """Divide the 150 sequences at random, once for each seed."""
    series = load_wall_following(data_home=data_home)
    labels = list(series.labels)

    def part(chosen: np.ndarray) -> tuple[list[Any], list[Any]]:
        return [series.inputs[i] for i in chosen], [labels[i] for i in chosen]

    result = []
    for seed in range(n_seeds):
        order = np.random.default_rng(seed).permutation(len(series))
        result.append(Split(seed, part(order[:100]), part(order[100:125]), part(order[125:])))
    return result


def _centroids(n: int, metric: str, seed: int, **readings: Any) -> CentroidFeatures:
    return CentroidFeatures(n, metric=metric, random_state=seed, **readings)


def figure1(divisions: list[Split], n_centroids: int = 80) -> list[dict[str, Any]]:
    """Accuracy on test sequences by distance, kernel width and states; width 0 is the WFST.

    Nothing is chosen here: every combination is measured, with the algorithm as published.
    """
    rows: dict[tuple[str, float, int], list[float]] = {}
    with stage("Figure 1", len(divisions) * len(WIDTHS)) as progress:
        for split in divisions:
            for metric, widths in WIDTHS.items():
                tagger = SpectralSequenceTagger(
                    STATES, tau=[0.0, *widths], features=_centroids(n_centroids, metric, split.seed)
                )
                tagger.fit(*split.train, validation=split.test)
                for row in tagger.info_["validation"]:
                    key = (metric, row["tau"], row["n_states"])
                    rows.setdefault(key, []).append(row["accuracy"])
                progress.advance()
    return [
        {"metric": metric, "tau": tau, "n_states": m, "accuracy": float(np.mean(found))}
        for (metric, tau, m), found in rows.items()
    ]


def figure2(divisions: list[Split]) -> dict[str, list[dict[str, Any]]]:
    """Accuracy by number of centroids, singular values of H2, accuracy by states and method."""
    left: dict[tuple[str, int], list[float]] = {}
    right: dict[tuple[str, int], list[float]] = {}
    values: list[np.ndarray] = []
    with stage("Figure 2", len(divisions)) as progress:
        for split in divisions:
            for n in CENTROIDS:
                for name, widths in (("CWFST", WIDTHS["correlation"]), ("WFST", [0.0])):
                    tagger = SpectralSequenceTagger(
                        [m for m in STATES if m <= n],
                        tau=widths,
                        ridge=[1e-5, 1e-8],
                        features=_centroids(n, "correlation", split.seed),
                    ).fit(*split.train, validation=split.validation)
                    left.setdefault((name, n), []).append(tagger.score(*split.test))
            features = _centroids(80, "correlation", split.seed)
            full = SpectralSequenceTagger(RANK, features=features, tau=0.1).fit(*split.train)
            values.append(full.info_["singular_values"])
            for m in SIZES:
                spectral = SpectralSequenceTagger(
                    m, tau=WIDTHS["correlation"], ridge=[1e-5, 1e-8], features=features
                ).fit(*split.train, validation=split.validation)
                others: list[tuple[str, Any]] = [
                    ("CWFST", spectral),
                    ("EM", _em(split, m, 0.1, 40)),
                    ("Bayesian", _gibbs(split, m, 0.01)),
                ]
                for name, tagger in others:
                    right.setdefault((name, m), []).append(tagger.score(*split.test))
            progress.advance()
    return {
        "left": [
            {"method": name, "n_centroids": n, "accuracy": float(np.mean(found))}
            for (name, n), found in left.items()
        ],
        "center": [
            {"rank": i + 1, "singular_value": float(value)}
            for i, value in enumerate(np.mean(values, axis=0))
        ],
        "right": [
            {"method": name, "n_states": m, "accuracy": float(np.mean(found))}
            for (name, m), found in right.items()
        ],
    }


def _em(
    split: Split,
    n_states: int,
    tau: float,
    max_iter: int,
    init: str = "random",
    centroids: tuple[int, str] = (80, "correlation"),
    **readings: Any,
) -> Any:
    features = _centroids(*centroids, split.seed, tau=tau, **readings)
    tagger = EMSequenceTagger(
        n_states, features=features, max_iter=max_iter, init=init, random_state=split.seed
    )
    return tagger.fit(*split.train, validation=split.validation)


def _gibbs(split: Split, n_states: int, prior: float, **readings: Any) -> GibbsSequenceTagger:
    tagger = GibbsSequenceTagger(
        n_states,
        features=_centroids(80, "correlation", split.seed, **readings),
        prior=prior,
        random_state=split.seed,
    )
    return tagger.fit(*split.train)


@dataclass
class Contender:
    """A row of Table 1: how to make the tagger, and what was measured."""

    name: str
    make: Callable[[Split], Any]
    figures: dict[str, list[float]] = field(default_factory=dict)

    def note(self, **values: float) -> None:
        """Keep the figures of one seed."""
        for name, value in values.items():
            self.figures.setdefault(name, []).append(value)


def table1(divisions: list[Split], only: list[str] | None = None) -> list[dict[str, Any]]:
    """Best model of each method by validation: accuracy on test sequences, and time to train.

    The time is that of one training with everything chosen already, on the first split.
    """
    methods = [m for m in _methods() if only is None or m.name in only]
    with stage("Table 1", len(divisions) * len(methods)) as progress:
        for split in divisions:
            for method in methods:
                tagger = method.make(split)
                if split is divisions[0]:
                    begun = time.perf_counter()
                    _again(tagger, split)
                    method.note(seconds=time.perf_counter() - begun)
                exact = decoding_scores(tagger, split)
                size = getattr(tagger, "n_states", 1)
                chosen = tagger.info_.get("chosen", {}).get("n_states", size)
                method.note(n_states=chosen, **exact)
                progress.advance(note=method.name)
    rows = []
    for method in methods:
        row: dict[str, Any] = {"method": method.name}
        for name, values in method.figures.items():
            row[name] = float(np.mean(values))
        row["deviation"] = float(np.std(method.figures["marginal"]))
        rows.append(row)
    return rows


def decoding_scores(tagger: Any, split: Split) -> dict[str, float]:
    """Score the three decodings on the test sequences."""
    return {
        decoding: tagger.score(*split.test, decoding=decoding)
        for decoding in ("marginal", "exact", "filter")
    }


def _again(tagger: Any, split: Split) -> None:
    """Train once more with what was chosen, to time it."""
    from sklearn.base import clone

    chosen = tagger.info_.get("chosen")
    fresh = clone(tagger)
    if chosen is not None:
        fresh.set_params(**chosen)
    fresh.fit(*split.train)


def arc_minima(readings: np.ndarray) -> np.ndarray:
    """Put beside the readings of the ring of sensors the least of every 3 and 5 neighbours."""
    parts = [readings]
    for reach in (1, 2):
        turned = [np.roll(readings, shift, axis=1) for shift in range(-reach, reach + 1)]
        parts.append(np.min(turned, axis=0))
    return np.concatenate(parts, axis=1)


def _methods() -> list[Contender]:
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, StandardScaler

    memory = [1.0, 0.5, 0.25, 0.1, 0.05]
    sharp = [1.0, 2.0, 4.0, 8.0, 16.0]

    def best(split: Split, taggers: Iterator[Any]) -> Any:
        """Choose the tagger that labels the validation sequences best."""
        return max(taggers, key=lambda tagger: tagger.score(*split.validation))

    def spectral(split: Split, states: list[int], **settings: Any) -> Any:
        tagger = SpectralSequenceTagger(states, random_state=split.seed, **settings)
        return tagger.fit(*split.train, validation=split.validation)

    def discrete(split: Split, **readings: Any) -> Any:
        features = _centroids(80, "correlation", split.seed, **readings)
        return spectral(split, STATES, tau=[0.0], features=features)

    def plain(split: Split, **readings: Any) -> Any:
        features = _centroids(80, "correlation", split.seed, **readings)
        widths, ridge = WIDTHS["correlation"], [1e-5, 1e-7, 1e-9]
        return spectral(split, STATES, tau=widths, ridge=ridge, features=features)

    def more(split: Split) -> Any:
        return spectral(
            split,
            [1, 5, 10, 20, 31],
            tau=[64.0, 128.0, 256.0],
            ridge=[1e-7, 1e-8, 1e-9],
            memory=memory,
            features=_centroids(400, "euclidean", split.seed),
        )

    def lines(seed: int) -> Any:
        return make_pipeline(
            _centroids(400, "euclidean", seed).set_params(tau=32.0),
            StandardScaler(),
            LogisticRegression(C=1.0, tol=1e-3, max_iter=2000),
        )

    def trees(seed: int) -> Any:
        return RandomForestClassifier(random_state=seed)

    def boosted(seed: int) -> Any:
        return HistGradientBoostingClassifier(max_iter=60, learning_rate=0.2, random_state=seed)

    def arcs(seed: int) -> Any:
        return make_pipeline(FunctionTransformer(arc_minima), trees(seed))

    def supervised(
        features: Callable[[int], Any], sharpness: list[float], window: int = 1
    ) -> Callable[[Split], Any]:
        return lambda split: spectral(
            split,
            [1, 2, 3, 4],
            features=features(split.seed),
            window=window,
            memory=memory,
            sharpness=sharpness,
        )

    def em(split: Split, **readings: Any) -> Any:
        grid = [(m, tau) for m in (10, 23) for tau in (0.03, 0.1)]
        return best(split, (_em(split, m, tau, 60, **readings) for m, tau in grid))

    def warm(split: Split) -> Any:
        return best(split, (_em(split, 23, tau, 60, "spectral") for tau in (0.03, 0.1)))

    def em_more(split: Split) -> Any:
        sizes = [(m, tau) for m in (5, 10) for tau in (3.0, 8.0)]
        return best(split, (_em(split, m, t, 30, centroids=(400, "euclidean")) for m, t in sizes))

    def bayes(split: Split, **readings: Any) -> Any:
        grid = [(m, prior) for m in (3, 5, 10) for prior in (0.003, 0.01, 0.05)]
        return best(split, (_gibbs(split, m, prior, **readings) for m, prior in grid))

    def chosen(
        method: Callable[..., Any], one: Callable[..., Any] | None = None
    ) -> Callable[[Split], Any]:
        """Choose the readings by validation: with all settings, or with ``one`` of them first."""

        def make(split: Split) -> Any:
            if one is None:
                return best(split, (method(split, **readings) for readings in READINGS))
            tried = [one(split, **readings).score(*split.validation) for readings in READINGS]
            return method(split, **READINGS[int(np.argmax(tried))])

        return make

    def one_em(split: Split, **readings: Any) -> Any:
        return _em(split, 10, 0.1, 30, **readings)

    def one_gibbs(split: Split, **readings: Any) -> Any:
        return _gibbs(split, 5, 0.01, **readings)

    def alone(features: Callable[[int], Any]) -> Callable[[Split], Any]:
        return lambda split: FramewiseTagger(features=features(split.seed)).fit(*split.train)

    return [
        Contender("FST", discrete),
        Contender("EM", em),
        Contender("EM from spectral", warm),
        Contender("EM, 400 centroids", em_more),
        Contender("Bayesian", bayes),
        Contender("CWFST", plain),
        Contender("FST, readings chosen", chosen(discrete)),
        Contender("EM, readings chosen", chosen(em, one_em)),
        Contender("Bayesian, readings chosen", chosen(bayes, one_gibbs)),
        Contender("CWFST, readings chosen", chosen(plain)),
        Contender("CWFST, 400 centroids", more),
        Contender("logistic, frames alone", alone(lines)),
        Contender("CWFST, logistic partition", supervised(lines, [0.5, 1.0, 2.0])),
        Contender("forest, frames alone", alone(trees)),
        Contender("boosting, frames alone", alone(boosted)),
        Contender("CWFST, boosted pairs of frames", supervised(boosted, sharp, 2)),
        Contender("forest on sonar arcs, frames alone", alone(arcs)),
        Contender("CWFST, forest on sonar arcs", supervised(arcs, sharp)),
    ]


def table2(divisions: list[Split], n_states: int = 23, max_iter: int = 200) -> list[dict[str, Any]]:
    """Time and accuracy of EM by iteration, on the first split."""
    split = divisions[0]
    begun = time.perf_counter()
    features = _centroids(80, "correlation", split.seed).set_params(tau=0.03)
    tagger = EMSequenceTagger(
        n_states, features=features, max_iter=max_iter, tol=0.0, random_state=split.seed
    ).fit(*split.train)
    per_step = (time.perf_counter() - begun) / len(tagger.info_["log_likelihood"])
    tagger.fit(*split.train, validation=split.test)
    accuracies = tagger.info_["accuracy"]
    marks = [m for m in (1, 20, 60, 80, 140, 180, 200) if m <= len(accuracies)]
    return [
        {"iterations": m, "seconds": per_step * m, "accuracy": accuracies[m - 1]} for m in marks
    ]
