"""Learners on machines drawn at random over the ranges of PAutomaC: nobody tuned on these.

Protocol: machine, training strings and test strings follow from a number alone; a learner sees the
training strings only. The gap is its perplexity on the test strings less the truth's. Seconds are
those of ``fit``, after one small fit that compiles the kernels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sigmastar.automata.estimators.registry import find_method
from sigmastar.automata.models.pfa import PFA
from sigmastar.automata.models.subject import automaton_of
from sigmastar.bench.clock import timed
from sigmastar.bench.pautomac import warm_up
from sigmastar.core.errors import SigmastarError
from sigmastar.core.progress import stage
from sigmastar.datasets import make_pautomac
from sigmastar.metrics import pautomac_perplexity, same_structure

__all__ = ["GeneratedResult", "gap_summary", "run_generated"]

_LEAST_GAP = 1e-6  # a gap below this counts as this: a mean of logarithms needs a floor
_SEEN = 3  # times that arcs must be taken to be compared


@dataclass(frozen=True)
class GeneratedResult:
    """One method on one problem; ``exact`` tells if a deterministic structure was found.

    Figures are None where the learner refused the problem (``note`` says why).
    """

    problem: int
    kind: str
    true_states: int
    symbols: int
    method: str
    perplexity: float | None
    true_perplexity: float
    states: int | None
    exact: bool | None
    seconds: float | None
    note: str = ""

    @property
    def gap(self) -> float | None:
        """Perplexity above the truth's, or None."""
        if self.perplexity is None:
            return None
        return max(self.perplexity - self.true_perplexity, _LEAST_GAP)


def run_generated(
    problems: Sequence[int],
    methods: Sequence[str],
    *,
    kinds: Sequence[str] = ("hmm", "pfa", "dpfa"),
    n_train: int | None = None,
    budget: float | None = None,
    seed: int = 0,
) -> Iterator[GeneratedResult]:
    """Learn every problem by every method; yield each result as it is there.

    ``budget`` goes to methods that have a time budget, ``n_train`` replaces the drawn number of
    training strings. Kinds take turns.
    """
    builders = {name: find_method(name) for name in methods}
    for builder in builders.values():
        warm_up(builder, {"random_state": seed})
    with stage("generated problems", len(problems) * len(methods)) as progress:
        for number in problems:
            kind = kinds[number % len(kinds)]
            problem = make_pautomac(kind, n_train=n_train, random_state=number)
            least = pautomac_perplexity(problem.model, problem.test, problem.solution)
            for name, builder in builders.items():
                options: dict[str, Any] = {"random_state": seed}
                if name == "auto":
                    options["time_budget"] = budget
                figures: dict[str, Any] = dict.fromkeys(
                    ("perplexity", "states", "exact", "seconds")
                )
                try:
                    estimator = builder.build(**options)
                    figures["seconds"] = timed(estimator.fit, problem.train)
                    perplexity = pautomac_perplexity(estimator, problem.test, problem.solution)
                    learned = automaton_of(estimator)
                    figures |= {"perplexity": perplexity, "states": learned.n_states}
                    deterministic = kind == "dpfa" and name == "merged"
                    truth = problem.model
                    if deterministic and isinstance(learned, PFA) and isinstance(truth, PFA):
                        figures["exact"] = same_structure(truth, learned, problem.train, seen=_SEEN)
                except SigmastarError as error:
                    figures["note"] = str(error)
                result = GeneratedResult(
                    problem=number,
                    kind=kind,
                    true_states=problem.model.n_states,
                    symbols=problem.model.n_symbols,
                    method=name,
                    true_perplexity=least,
                    **figures,
                )
                progress.advance(note=f"problem {number}, {name}")
                yield result


def gap_summary(results: Sequence[GeneratedResult], method: str) -> dict[str, Any]:
    """Say how near a method is to the truth over all problems."""
    mine = [r for r in results if r.method == method]
    gaps = [r.gap for r in mine if r.gap is not None]
    shares = [r.gap / r.true_perplexity for r in mine if r.gap is not None]
    found = [r.exact for r in mine if r.exact is not None]
    return {
        "method": method,
        "problems": len(mine),
        "learned": len(gaps),
        "gap": float(np.exp(np.mean(np.log(gaps)))) if gaps else None,
        "near": sum(share <= 0.01 for share in shares),
        "worst": 100.0 * max(shares) if shares else None,
        "structures": f"{sum(found)} of {len(found)}" if found else "–",
    }
