"""The rows of Table 1 on the wall-following robot: what each method tries, and how it chooses.

A method sees training and validation sequences (:class:`Seen`) and nothing else. What it tries is
listed here as a grid; the tagger that labels the validation sequences best is its answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, product
from typing import Any

import numpy as np
from sklearn.base import clone

from sigmastar.bench.papers.published_sensors import TABLE_2
from sigmastar.sensors.estimators.baselines import FramewiseTagger, GibbsSequenceTagger
from sigmastar.sensors.estimators.em import EMSequenceTagger
from sigmastar.sensors.estimators.spectral import SpectralSequenceTagger
from sigmastar.sensors.features.centroids import CentroidFeatures

__all__ = [
    "FULL",
    "PAPER",
    "QUICK",
    "Grid",
    "Method",
    "Part",
    "Seen",
    "arc_minima",
    "best_by_validation",
    "centroids",
    "expectation",
    "gibbs",
    "methods",
    "spectral",
]

Part = tuple[list[Any], list[Any]]
Readings = Sequence[Mapping[str, Any]]

PAPER = ("FST", "EM", "Bayesian", "CWFST")  # the rows of the paper
_METRIC = "correlation"  # of the paper's comparison of methods


@dataclass(frozen=True)
class Grid:
    """What is tried, and how long; the defaults are those of the full experiments.

    ``widths`` go from nearly hard to very soft, for each distance. ``readings`` are what becomes
    of a reading before distances are taken, first the paper's: a sonar that hears no echo says 5 m,
    and one reading in seven does. EM and Gibbs sampling choose all else with the first of their
    numbers of states, and then the number. ``large`` is the number of centroids of rows that the
    paper does not have.
    """

    n_centroids: int = 80
    large: int = 400
    states: tuple[int, ...] = (1, 5, 10, 15, 20, 25, 31, 40)
    widths: Mapping[str, Sequence[float]] = field(
        default_factory=lambda: {
            "euclidean": (2.0, 8.0, 32.0, 128.0),
            "correlation": (0.03, 0.1, 0.4, 1.6),
            "cosine": (0.01, 0.05, 0.2, 0.8),
        }
    )
    ridges: tuple[float, ...] = (1e-5, 1e-7, 1e-9)
    readings: Readings = (
        {"readings": "raw"},
        {"readings": "clip", "limit": 1.0},
        {"readings": "clip", "limit": 2.0},
        {"readings": "log"},
        {"readings": "reciprocal"},
    )
    em_states: tuple[int, ...] = (10, 23)
    em_widths: tuple[float, ...] = (0.01, 0.03)
    em_steps: int = 60
    gibbs_states: tuple[int, ...] = (5, 3, 10)
    gibbs_priors: tuple[float, ...] = (0.003, 0.01, 0.05)
    feature_counts: tuple[int, ...] = (20, 40, 80, 160, 320)  # figure 2, left
    rank: int = 70  # figure 2, centre: how many singular values
    sizes: tuple[int, ...] = (2, 5, 10, 16, 23, 31)  # figure 2, right: states
    marks: tuple[int, ...] = tuple(step.iterations for step in TABLE_2)  # table 2: iterations
    max_nodes: int = 50_000  # prefixes that the search for a labelling visits

    def points(self, seed: int, **more: Any) -> CentroidFeatures:
        """Set up the features of the paper's comparison."""
        return centroids(self.n_centroids, _METRIC, seed, **more)

    @property
    def own_widths(self) -> list[float]:
        """Give the kernel widths of the paper's comparison."""
        return list(self.widths[_METRIC])


FULL = Grid()
# A few seconds on a few frames, every step taken once.
QUICK = Grid(
    n_centroids=8,
    large=10,
    states=(1, 3),
    widths={"euclidean": (1.0,), "correlation": (0.1,), "cosine": (0.1,)},
    ridges=(1e-5,),
    readings=({"readings": "raw"}, {"readings": "clip", "limit": 2.0}),
    em_states=(2,),
    em_widths=(0.1,),
    em_steps=3,
    gibbs_states=(2,),
    gibbs_priors=(0.01,),
    feature_counts=(4, 8),
    rank=6,
    sizes=(2, 3),
    marks=(1, 5),
    max_nodes=100,
)


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


def methods(grid: Grid = FULL) -> list[Method]:
    """List the rows: those of the paper, the same with readings chosen, and others."""
    own: dict[str, Callable[..., Any]] = {
        "FST": _discrete,
        "EM": _em,
        "Bayesian": _bayes,
        "CWFST": _continuous,
    }
    lines, sharp = partial(_lines, grid), [1.0, 2.0, 4.0, 8.0, 16.0]
    raw, every = grid.readings[:1], grid.readings
    return [
        *(Method(name, partial(make, grid, raw)) for name, make in own.items()),
        *(
            Method(f"{name}, readings chosen", partial(make, grid, every))
            for name, make in own.items()
        ),
        Method("EM from spectral", partial(_warm_em, grid)),
        Method("EM, 400 centroids", partial(_large_em, grid)),
        Method("CWFST, 400 centroids", partial(_large, grid)),
        Method("logistic, frames alone", _alone(lines)),
        Method("CWFST, logistic partition", _supervised(lines, [0.5, 1.0, 2.0])),
        Method("forest, frames alone", _alone(_trees)),
        Method("boosting, frames alone", _alone(_boosted)),
        Method("CWFST, boosted pairs of frames", _supervised(_boosted, sharp, 2)),
        Method("forest on sonar arcs, frames alone", _alone(_arcs)),
        Method("CWFST, forest on sonar arcs", _supervised(_arcs, sharp)),
    ]


def _discrete(grid: Grid, readings: Readings, seen: Seen) -> Any:
    tried = (
        spectral(seen, list(grid.states), tau=[0.0], features=grid.points(seen.seed, **own))
        for own in readings
    )
    return best_by_validation(seen, tried)


def _continuous(grid: Grid, readings: Readings, seen: Seen) -> Any:
    tried = (
        spectral(
            seen,
            list(grid.states),
            tau=grid.own_widths,
            ridge=list(grid.ridges),
            features=grid.points(seen.seed, **own),
        )
        for own in readings
    )
    return best_by_validation(seen, tried)


def _em(grid: Grid, readings: Readings, seen: Seen) -> Any:
    first, *others = grid.em_states
    tried = (
        expectation(seen, first, grid.points(seen.seed, tau=tau, **own), grid.em_steps)
        for own, tau in product(readings, grid.em_widths)
    )
    best = best_by_validation(seen, tried)
    more = (expectation(seen, m, clone(best.features), grid.em_steps) for m in others)
    return best_by_validation(seen, chain([best], more))


def _bayes(grid: Grid, readings: Readings, seen: Seen) -> Any:
    first, *others = grid.gibbs_states
    tried = (
        gibbs(seen, first, grid.points(seen.seed, **own), prior)
        for own, prior in product(readings, grid.gibbs_priors)
    )
    best = best_by_validation(seen, tried)
    more = (gibbs(seen, m, clone(best.features), best.prior) for m in others)
    return best_by_validation(seen, chain([best], more))


_MEMORY = [1.0, 0.5, 0.25, 0.1, 0.05]


def _warm_em(grid: Grid, seen: Seen) -> Any:
    size = grid.em_states[-1]
    tried = (
        expectation(seen, size, grid.points(seen.seed, tau=tau), grid.em_steps, init="spectral")
        for tau in grid.em_widths
    )
    return best_by_validation(seen, tried)


def _large_em(grid: Grid, seen: Seen) -> Any:
    tried = (
        expectation(seen, n_states, centroids(grid.large, "euclidean", seen.seed, tau=tau), 30)
        for n_states, tau in product((5, 10), (3.0, 8.0))
    )
    return best_by_validation(seen, tried)


def _large(grid: Grid, seen: Seen) -> Any:
    return spectral(
        seen,
        [m for m in (1, 5, 10, 20, 31) if m <= grid.large],
        tau=[64.0, 128.0, 256.0],
        ridge=[1e-7, 1e-8, 1e-9],
        memory=_MEMORY,
        features=centroids(grid.large, "euclidean", seen.seed),
    )


def _lines(grid: Grid, seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    points = centroids(grid.large, "euclidean", seed, tau=32.0)
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
