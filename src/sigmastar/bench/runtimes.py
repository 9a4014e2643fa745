"""How long learners take to begin, and to build models of several sizes (balle2014, Figure 1).

What is done once whatever the size is *initialisation*: counts, Hankel blocks and their
decomposition; for EM, laying out the prefix trees (which its building repeats: it is next to
nothing there). What a size adds is *building*. A search for the
best size pays the first once and the second for every size tried.

The convex method has no size: it builds one model for each of as many weights τ. Tensor
decomposition knows no more states than independent emissions, so larger ones are not built; where
that is all sizes, its largest model stands for the least of them. EM runs until its
likelihood settles, or for a hundred steps; *EM-Tensor* and *BW-Sep* build the model to start from
first. Kernels are compiled before, on a few strings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sigmastar.automata.inference.partitioned_counts import forest_of
from sigmastar.automata.learn.baum_welch import learn_baum_welch
from sigmastar.automata.learn.blocks.em_family import PFAFamily
from sigmastar.automata.learn.convex import ConvexProblem, convex_path
from sigmastar.automata.learn.em_start import smoothed, start_from
from sigmastar.automata.learn.separable import learn_separable
from sigmastar.automata.learn.spectral import spectral_factors
from sigmastar.automata.learn.tensor import learn_tensor
from sigmastar.automata.models.pfa import PFA
from sigmastar.automata.moments.hankel import HankelMoments
from sigmastar.automata.moments.pairs import PairMoments, pair_moments
from sigmastar.automata.moments.plan import MomentPlan
from sigmastar.bench.clock import timed
from sigmastar.bench.published import PAPER_NAMES
from sigmastar.core.errors import InvalidParameter
from sigmastar.core.jit import without_patience
from sigmastar.core.progress import stage
from sigmastar.corpus.corpus import Corpus
from sigmastar.datasets import make_problem
from sigmastar.drawing.charts import bars
from sigmastar.drawing.markup import Markup

__all__ = ["METHODS", "RuntimeResult", "draw_runtimes", "run_runtimes"]

SIZES = (10, 20, 30)
N_SYMBOLS = 12
N_STRINGS = 20_000
_SHARES = (0.1, 0.01, 0.001)  # of the greatest useful τ, one for each size
_TRUE_STATES = 20
_SPREAD = 0.1  # of a start, since zeros would stay zero


@dataclass(frozen=True)
class RuntimeResult:
    """Seconds that one method takes to begin, and to build a model of one size.

    ``building`` is None where the method has no model of this size.
    """

    method: str
    size: int
    initialization: float
    building: float | None


@dataclass(frozen=True)
class _Phases:
    """What a method does once for a corpus, and what it does with that for each size."""

    begin: Callable[[Corpus], Any]
    build: Callable[[Any, int], object]


def run_runtimes(
    methods: Sequence[str],
    *,
    sizes: Sequence[int] = SIZES,
    n_symbols: int = N_SYMBOLS,
    n_strings: int = N_STRINGS,
    seed: int = 0,
) -> Iterator[RuntimeResult]:
    """Time the phases of every method on strings of a random automaton; yield size by size."""
    for method in methods:
        if method not in METHODS:
            raise InvalidParameter(f"methods must be some of {', '.join(METHODS)}; got {method!r}.")
    draw = partial(make_problem, "pfa", n_states=_TRUE_STATES, n_symbols=n_symbols, n_test=1)
    corpus = draw(n_train=n_strings, random_state=seed).train
    few = draw(n_train=100, random_state=seed + 1).train
    with stage("Runtimes", len(methods) * (len(sizes) + 1)) as progress:
        for method in methods:
            phases = METHODS[method](sizes)
            with without_patience():
                phases.build(phases.begin(few), 2)  # compiles
            begun: list[Any] = []
            seconds = timed(lambda: begun.append(phases.begin(corpus)))  # noqa: B023  (called now)
            progress.advance(note=method)
            for size in sizes:
                tried = range(size, 0, -1) if size == min(sizes) else (size,)
                built, building = _first_built(phases.build, begun[0], tried)
                progress.advance(note=f"{method}, {built} states")
                yield RuntimeResult(method, built, seconds, building)


def _first_built(
    build: Callable[[Any, int], object], begun: Any, sizes: Sequence[int]
) -> tuple[int, float | None]:
    """Build the first size that there is a model of; return it and the seconds."""
    for size in sizes:
        try:
            return size, timed(build, begun, size)
        except InvalidParameter:
            pass
    return sizes[0], None


def draw_runtimes(results: Sequence[RuntimeResult]) -> Markup:
    """Draw a bar for the beginning of each method and one for all its models, by logarithms."""
    names, seconds = [], []
    for method in dict.fromkeys(result.method for result in results):
        mine = [result for result in results if result.method == method]
        shown = PAPER_NAMES.get(method, method)
        names += [f"{shown} begin", f"{shown} build"]
        seconds += [mine[0].initialization, sum(result.building or 0.0 for result in mine)]
    # A bar is as long as the logarithm, counted from a millisecond.
    lengths = [max(math.log10(max(value, 1e-12) / 1e-3), 0.0) for value in seconds]
    told = [f"{value:.3g} s" if value >= 0.1 else f"{1e3 * value:.3g} ms" for value in seconds]
    return bars(names, lengths, title="Seconds, logarithmic from 1 ms", told=told)


def _spectral(sizes: Sequence[int], *, plan: MomentPlan) -> _Phases:
    def begin(corpus: Corpus) -> Any:
        return spectral_factors(plan.moments_of(corpus), max_states=max(sizes))

    def build(factors: Any, size: int) -> object:
        return factors.model(min(size, factors.rank))

    return _Phases(begin, build)


def _convex(sizes: Sequence[int]) -> _Phases:
    shares = dict(zip(sizes, _SHARES, strict=False))

    def begin(corpus: Corpus) -> ConvexProblem:
        return ConvexProblem.of(MomentPlan(n_prefixes=100).moments_of(corpus))

    def build(problem: ConvexProblem, size: int) -> object:
        share = shares.get(size, _SHARES[-1])
        return list(convex_path(problem, [share * problem.problem.tau_max]))

    return _Phases(begin, build)


def _begin_tensor(corpus: Corpus) -> tuple[Corpus, HankelMoments, PairMoments]:
    plan = MomentPlan("prefix")
    counts = plan.count(corpus)
    return corpus, plan.moments(counts, corpus.alphabet), pair_moments(counts)


def _build_tensor(begun: tuple[Corpus, HankelMoments, PairMoments], size: int) -> PFA:
    return learn_tensor(*begun[1:], n_states=size).model.to_pfa()


def _begin_separable(corpus: Corpus) -> tuple[Corpus, HankelMoments]:
    return corpus, MomentPlan("prefix").moments_of(corpus)


def _build_separable(begun: tuple[Corpus, HankelMoments], size: int) -> PFA:
    return learn_separable(begun[1], n_states=size).model


def _begin_em(corpus: Corpus) -> tuple[Corpus, object]:
    return corpus, forest_of(corpus, n_states=max(SIZES))


def _build_em(begun: tuple[Corpus, object], size: int) -> object:
    return learn_baum_welch(begun[0], PFAFamily(), size, random_state=0)


def _em_from(begin: Callable[[Corpus], Any], build: Callable[[Any, int], PFA]) -> _Phases:
    """Go on by EM from what another method builds."""

    def build_more(begun: Any, size: int) -> object:
        family = PFAFamily()
        start = start_from(smoothed(build(begun, size), _SPREAD), family, begun[0])
        return learn_baum_welch(begun[0], family, size, start=start)

    return _Phases(begin, build_more)


METHODS: Mapping[str, Callable[[Sequence[int]], _Phases]] = {
    "spectral-string": partial(_spectral, plan=MomentPlan("string")),
    "spectral": partial(_spectral, plan=MomentPlan("substring")),
    "convex": _convex,
    "tensor": lambda sizes: _Phases(_begin_tensor, _build_tensor),
    "em": lambda sizes: _Phases(_begin_em, _build_em),
    "em-tensor": lambda sizes: _em_from(_begin_tensor, _build_tensor),
    "separable": lambda sizes: _Phases(_begin_separable, _build_separable),
    "bw-sep": lambda sizes: _em_from(_begin_separable, _build_separable),
}
