"""SPiCe: rank what may come next, by every method that predicts symbols."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sigmastar.automata.estimators.auto import AutoWFA
from sigmastar.automata.estimators.mixture import ContextMixture
from sigmastar.automata.estimators.spectral import SpectralWFA
from sigmastar.bench.clock import timed
from sigmastar.core.errors import InvalidParameter
from sigmastar.core.progress import stage
from sigmastar.datasets import load_spice
from sigmastar.datasets.store import DataHome
from sigmastar.metrics.ranking import ndcg
from sigmastar.ngrams.estimator import KneserNey

__all__ = ["METHODS", "PROBLEMS", "SpiceResult", "run_spice"]

PROBLEMS = (3, 6, 8, 13)  # those with a pinned source
METHODS: Mapping[str, Callable[[int], Any]] = {
    "kneser-ney-3": lambda seed: KneserNey(3),
    "kneser-ney-6": lambda seed: KneserNey(6),
    "spectral": lambda seed: SpectralWFA(),
    "auto": lambda seed: AutoWFA(random_state=seed),
    "mixture": lambda seed: ContextMixture(random_state=seed),
}


@dataclass(frozen=True)
class SpiceResult:
    """One method on one problem: NDCG-5 of both parts, and seconds to learn."""

    problem: int
    method: str
    public: float
    private: float | None
    seconds: float


def run_spice(
    problems: Sequence[int] = PROBLEMS,
    methods: Sequence[str] = tuple(METHODS),
    *,
    private: bool = True,
    data_home: DataHome = None,
    seed: int = 0,
) -> Iterator[SpiceResult]:
    """Learn every problem by every method; yield each result as it is there.

    ``private=False`` leaves the part to report alone, as long as methods are being designed.
    """
    for method in methods:
        if method not in METHODS:
            raise InvalidParameter(f"methods must be some of {', '.join(METHODS)}; got {method!r}.")
    with stage("SPiCe", len(problems) * len(methods)) as progress:
        for number in problems:
            problem = load_spice(number, data_home=data_home)
            for method in methods:
                estimator = METHODS[method](seed)
                seconds = timed(estimator.fit, problem.train)
                parts = (problem.public, problem.private)[: 1 + private]
                scores = [ndcg(estimator, p.prefixes, p.gains, p.best) for p in parts]
                progress.advance(note=f"{number} {method}: {scores[0]:.3f}")
                hidden = scores[1] if private else None
                yield SpiceResult(number, method, scores[0], hidden, seconds)
