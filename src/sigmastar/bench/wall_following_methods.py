"""The rows of Table 1 on the wall-following robot: what each method tries, and how it chooses.

A method sees training and validation sequences (:class:`Seen`) and nothing else. What it tries is
listed here as a grid; the tagger that labels the validation sequences best is its answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from sigmastar.sensors.estimators.baselines import FramewiseTagger, GibbsSequenceTagger
from sigmastar.sensors.estimators.em import EMSequenceTagger
from sigmastar.sensors.estimators.spectral import SpectralSequenceTagger
from sigmastar.sensors.features.centroids import CentroidFeatures

__all__ = [
    "PAPER",
    "READINGS",
    "STATES",
    "WIDTHS",
    "Method",
    "Seen",
    "arc_minima",
    "best_by_validation",
    "centroids",
    "expectation",
    "gibbs",
    "methods",
    "spectral",
]

PAPER = ("FST", "EM", "Bayesian", "CWFST")  # the rows of the paper
# Kernel widths from nearly hard to very soft, for each distance.
WIDTHS = {
    "euclidean": [2.0, 8.0, 32.0, 128.0],
    "correlation": [0.03, 0.1, 0.4, 1.6],
    "cosine": [0.01, 0.05, 0.2, 0.8],
}
# What becomes of a reading before distances are taken: a sonar that hears no echo says 5 m, and one
# reading in seven does. The first is the paper's.
READINGS: list[dict[str, Any]] = [
    {"readings": "raw"},
    {"readings": "clip", "limit": 1.0},
    {"readings": "clip", "limit": 2.0},
    {"readings": "log"},
    {"readings": "reciprocal"},
]
STATES = [1, 5, 10, 15, 20, 25, 31, 40]
EM_GRID = list(product((10, 23), (0.01, 0.03, 0.1)))  # states, kernel width
GIBBS_GRID = list(product((3, 5, 10), (0.003, 0.01, 0.05)))  # states, prior
EM_STEPS = 60

Part = tuple[list[Any], list[Any]]


@dataclass(frozen=True)
class Seen:
    """What a method may look at: parts are (inputs, labels)."""

    seed: int
    train: Part
    validation: Part


@dataclass(frozen=True)
class Method:
    """A row of Table 1: its name, and how its tagger is made."""

    name: str
    make: Callable[[Seen], Any]


def best_by_validation(seen: Seen, taggers: Iterable[Any]) -> Any:
    """Choose the tagger that labels the validation sequences best; the first of equals."""
    return max(taggers, key=lambda tagger: tagger.score(*seen.validation))


def centroids(n: int, metric: str, seed: int, **more: Any) -> CentroidFeatures:
    """Set up features of centroids."""
    return CentroidFeatures(n, metric=metric, random_state=seed, **more)


def spectral(seen: Seen, states: Any, **settings: Any) -> SpectralSequenceTagger:
    """Learn a spectral tagger; lists of settings are chosen from by validation."""
    tagger = SpectralSequenceTagger(states, random_state=seen.seed, **settings)
    return tagger.fit(*seen.train, validation=seen.validation)


def expectation(
    seen: Seen, n_states: int, features: CentroidFeatures, max_iter: int, **settings: Any
) -> EMSequenceTagger:
    """Learn a tagger by EM; the step is chosen by validation."""
    tagger = EMSequenceTagger(
        n_states, features=features, max_iter=max_iter, random_state=seen.seed, **settings
    )
    return tagger.fit(*seen.train, validation=seen.validation)


def gibbs(
    seen: Seen, n_states: int, features: CentroidFeatures, prior: float
) -> GibbsSequenceTagger:
    """Sample automata over centroids."""
    tagger = GibbsSequenceTagger(n_states, features=features, prior=prior, random_state=seen.seed)
    return tagger.fit(*seen.train)


def methods() -> list[Method]:
    """List the rows: those of the paper, the same with readings chosen, and others."""
    rows: list[tuple[str, Callable[..., Any]]] = [
        ("FST", _discrete),
        ("EM", _em),
        ("Bayesian", _bayes),
        ("CWFST", _continuous),
    ]
    return [
        *(Method(name, make) for name, make in rows),
        *(Method(f"{name}, readings chosen", _with_readings(make)) for name, make in rows),
        Method("EM from spectral", _warm_em),
        Method("EM, 400 centroids", _large_em),
        Method("CWFST, 400 centroids", _large),
        Method("logistic, frames alone", _alone(_lines)),
        Method("CWFST, logistic partition", _supervised(_lines, [0.5, 1.0, 2.0])),
        Method("forest, frames alone", _alone(_trees)),
        Method("boosting, frames alone", _alone(_boosted)),
        Method("CWFST, boosted pairs of frames", _supervised(_boosted, _SHARP, 2)),
        Method("forest on sonar arcs, frames alone", _alone(_arcs)),
        Method("CWFST, forest on sonar arcs", _supervised(_arcs, _SHARP)),
    ]


def _with_readings(make: Callable[..., Any]) -> Callable[[Seen], Any]:
    """Choose the readings by validation, along with everything else."""
    return lambda seen: best_by_validation(seen, (make(seen, **readings) for readings in READINGS))


def _discrete(seen: Seen, **readings: Any) -> Any:
    points = centroids(80, "correlation", seen.seed, **readings)
    return spectral(seen, STATES, tau=[0.0], features=points)


def _continuous(seen: Seen, **readings: Any) -> Any:
    points = centroids(80, "correlation", seen.seed, **readings)
    widths, ridge = WIDTHS["correlation"], [1e-5, 1e-7, 1e-9]
    return spectral(seen, STATES, tau=widths, ridge=ridge, features=points)


def _em(seen: Seen, **readings: Any) -> Any:
    def tried(n_states: int, tau: float) -> Any:
        points = centroids(80, "correlation", seen.seed, tau=tau, **readings)
        return expectation(seen, n_states, points, EM_STEPS)

    return best_by_validation(seen, (tried(*setting) for setting in EM_GRID))


def _bayes(seen: Seen, **readings: Any) -> Any:
    points = centroids(80, "correlation", seen.seed, **readings)
    return best_by_validation(seen, (gibbs(seen, m, points, prior) for m, prior in GIBBS_GRID))


_MEMORY = [1.0, 0.5, 0.25, 0.1, 0.05]
_SHARP = [1.0, 2.0, 4.0, 8.0, 16.0]


def _warm_em(seen: Seen) -> Any:
    def tried(tau: float) -> Any:
        points = centroids(80, "correlation", seen.seed, tau=tau)
        return expectation(seen, 23, points, EM_STEPS, init="spectral")

    return best_by_validation(seen, map(tried, (0.03, 0.1)))


def _large_em(seen: Seen) -> Any:
    def tried(n_states: int, tau: float) -> Any:
        return expectation(seen, n_states, centroids(400, "euclidean", seen.seed, tau=tau), 30)

    return best_by_validation(seen, (tried(*setting) for setting in product((5, 10), (3.0, 8.0))))


def _large(seen: Seen) -> Any:
    return spectral(
        seen,
        [1, 5, 10, 20, 31],
        tau=[64.0, 128.0, 256.0],
        ridge=[1e-7, 1e-8, 1e-9],
        memory=_MEMORY,
        features=centroids(400, "euclidean", seen.seed),
    )


def _lines(seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    points = centroids(400, "euclidean", seed).set_params(tau=32.0)
    decide = LogisticRegression(C=1.0, tol=1e-3, max_iter=2000)
    return make_pipeline(points, StandardScaler(), decide)


def _trees(seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(random_state=seed)


def _boosted(seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=60, learning_rate=0.2, random_state=seed)


def _arcs(seed: int) -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    return make_pipeline(FunctionTransformer(arc_minima), _trees(seed))


def arc_minima(readings: np.ndarray) -> np.ndarray:
    """Put beside the readings of the ring of sensors the least of every 3 and 5 neighbours."""
    parts = [readings]
    for reach in (1, 2):
        turned = [np.roll(readings, shift, axis=1) for shift in range(-reach, reach + 1)]
        parts.append(np.min(turned, axis=0))
    return np.concatenate(parts, axis=1)


def _supervised(
    features: Callable[[int], Any], sharpness: list[float], window: int = 1
) -> Callable[[Seen], Any]:
    return lambda seen: spectral(
        seen,
        [1, 2, 3, 4],
        features=features(seen.seed),
        window=window,
        memory=_MEMORY,
        sharpness=sharpness,
    )


def _alone(features: Callable[[int], Any]) -> Callable[[Seen], Any]:
    return lambda seen: FramewiseTagger(features=features(seen.seed)).fit(*seen.train)
