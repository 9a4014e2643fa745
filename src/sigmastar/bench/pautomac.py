"""Learners on PAutomaC, beside the published figures and the true machine.

Protocol: a learner sees the training strings only, and chooses its settings on a part of them; the
test strings and the solution serve for the two metrics alone. Seconds are those of ``fit``, the
choice included, after one small fit that compiles the kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

from sigmastar.automata.estimators.registry import LearningMethod, find_method
from sigmastar.automata.models.subject import automaton_of
from sigmastar.bench.clock import timed
from sigmastar.bench.published import MOMENT_METHODS, PERPLEXITY, WER
from sigmastar.core.errors import InvalidParameter
from sigmastar.core.jit import without_patience
from sigmastar.core.progress import stage
from sigmastar.datasets import Problem, load_pautomac, make_problem
from sigmastar.metrics import pautomac_perplexity, word_error_rate

__all__ = ["PautomacResult", "best_of_moments", "run", "summary", "warm_up"]


@dataclass(frozen=True)
class PautomacResult:
    """One method on one problem; word error rates in per cent.

    Figures are None where the learner refused the problem (``note`` says why) or nothing was
    published.
    """

    problem: int
    method: str
    perplexity: float | None
    word_error_rate: float | None
    n_states: int | None
    seconds: float | None
    published_perplexity: float | None
    published_word_error_rate: float | None
    true_perplexity: float
    true_word_error_rate: float
    note: str = ""


def run(
    problems: Sequence[int],
    methods: Sequence[str],
    *,
    data_home: Path | None = None,
    options: Mapping[str, Any] | None = None,
    special: Mapping[str, Mapping[str, Any]] | None = None,
    load: Callable[[int], Problem] | None = None,
) -> list[PautomacResult]:
    """Run every method on every problem; ``options`` go to every estimator.

    ``special`` has more of them by the name of a method; ``load`` gives the problem of a number
    where it is not to be PAutomaC's.
    """
    load = load or partial(load_pautomac, data_home=data_home)
    builders = {name: find_method(name) for name in methods}
    chosen = {name: {**(options or {}), **(special or {}).get(name, {})} for name in methods}
    for name, builder in builders.items():
        warm_up(builder, chosen[name])
    results = []
    with stage("PAutomaC", len(problems) * len(methods)) as progress:
        for number in problems:
            problem = load(number)
            least = pautomac_perplexity(problem.model, problem.test, problem.solution)
            errors = 100.0 * word_error_rate(problem.model, problem.test)
            for name, builder in builders.items():
                figures = _fit(builder, problem, chosen[name])
                results.append(
                    PautomacResult(
                        problem=number,
                        method=name,
                        published_perplexity=PERPLEXITY.get(name, {}).get(number),
                        published_word_error_rate=WER.get(name, {}).get(number),
                        true_perplexity=least,
                        true_word_error_rate=errors,
                        **figures,
                    )
                )
                progress.advance(note=f"problem {number}, {name}")
    return results


def warm_up(builder: LearningMethod, options: Mapping[str, Any]) -> None:
    """Compile what a method needs on a few strings of a small machine."""
    small = make_problem("hmm", n_states=2, n_symbols=3, n_train=60, n_test=5, random_state=0)
    try:
        with without_patience():
            builder.build(**options).fit(small.train)
    except InvalidParameter:
        pass  # sizes meant for the real problems can be too large for this one


def _fit(builder: LearningMethod, problem: Problem, options: Mapping[str, Any]) -> dict[str, Any]:
    estimator = builder.build(**options)
    try:
        seconds = timed(estimator.fit, problem.train)
    except InvalidParameter as error:
        nothing = dict.fromkeys(("perplexity", "word_error_rate", "n_states", "seconds"))
        return {**nothing, "note": str(error)}
    return {
        "perplexity": pautomac_perplexity(estimator, problem.test, problem.solution),
        "word_error_rate": 100.0 * word_error_rate(estimator, problem.test),
        "n_states": automaton_of(estimator).n_states,
        "seconds": seconds,
    }


def best_of_moments(results: Iterable[PautomacResult]) -> PautomacResult | None:
    """Return the least perplexity of the methods of moments on one problem (MoM; glaude2015).

    A choice by the test strings, in the paper as here. None unless all of them were run.
    """
    found = {r.method: r for r in results if r.method in MOMENT_METHODS}
    if len(found) < len(MOMENT_METHODS):
        return None
    return min(found.values(), key=lambda r: inf if r.perplexity is None else r.perplexity)


def summary(results: Sequence[PautomacResult], method: str) -> dict[str, Any]:
    """Count on how many problems a method is near the truth and at or below what was published."""
    mine = [r for r in results if r.method == method and r.perplexity is not None]
    near = [r for r in mine if _value(r.perplexity) <= 1.01 * r.true_perplexity]
    points = [r for r in mine if _value(r.word_error_rate) <= r.true_word_error_rate + 1.0]
    known = [r for r in mine if r.published_perplexity is not None]
    below = [r for r in known if _value(r.perplexity) <= _value(r.published_perplexity)]
    rated = [r for r in mine if r.published_word_error_rate is not None]
    fewer = [r for r in rated if _value(r.word_error_rate) <= _value(r.published_word_error_rate)]
    return {
        "method": method,
        "problems": len(mine),
        "perplexity within 1 % of true": len(near),
        "WER within 1 point of true": len(points),
        "perplexity at most published": f"{len(below)} of {len(known)}",
        "WER at most published": f"{len(fewer)} of {len(rated)}",
        "seconds": sum(_value(r.seconds) for r in mine),
    }


def _value(number: float | None) -> float:
    return float("nan") if number is None else number
