"""Characters of Wikipedia: automata by size and basis, beside Kneser–Ney n-grams by order.

Protocol of Glaude, Enderli and Pietquin (2015), section 5.2, Figures 1 and 2: chunks of 250
characters drawn at random from one part of the text to learn from (500, or 50,000), 5,000 chunks of
another part to test; the measure is the mean likelihood of the next character after the first 50 of
a chunk. Baum–Welch takes the best of 5 random starts after 4 steps for 20 more; from a separable
PFA it takes 20 steps. The alphabet is that of the most frequent characters of the part to learn
from, all others are one.

Chunks are windows of a running text: any position is as good a beginning as the first, and all end
after 250 characters. So moments are those of substrings (prefixes would see the first characters of
each chunk only), and likelihoods are given that a character follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from sigmastar.automata.estimators.baum_welch import BaumWelchPFA
from sigmastar.automata.estimators.mixture import ContextMixture
from sigmastar.automata.estimators.separable import SeparablePFA
from sigmastar.automata.estimators.spectral import SpectralWFA
from sigmastar.automata.inference.likelihood import next_likelihoods
from sigmastar.automata.learn.smoothing import background_of, spread_pfa
from sigmastar.automata.models.wfa import WFA
from sigmastar.bench.clock import timed
from sigmastar.core.errors import InvalidParameter
from sigmastar.core.progress import stage
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.corpus import Corpus, positions_after
from sigmastar.ngrams.estimator import KneserNey

__all__ = ["METHODS", "SETS", "ChunkResult", "Chunks", "draw_chunks", "run", "run_chunks"]

METHODS = ("spectral", "separable", "em", "em-separable", "mixture", "kneser-ney")
SETS = {"small": 500, "medium": 50_000}
# Numbers of states unless told otherwise: the large set takes fewer of the slow ones.
SIZES = {"small": (5, 10, 20, 40), "medium": (10, 20, 40)}
LENGTH = 250
SKIP = 50
N_TEST = 5_000
N_CHARACTERS = 85  # as in the paper, the one for all others included
TEST_SHARE = 0.2
STEPS, RESTARTS, RESTART_STEPS = 20, 5, 4
# Of a separable start, since arcs that are zero would stay zero. Chosen among 0.05 … 0.7 on chunks
# of the part to learn from; 0.3 to 0.7 hardly differ.
SPREAD = 0.5
MAX_LENGTH = 3  # of the strings of a basis
FLOOR = 1e-6  # least likelihood that any automaton gives a character
_SEEN = 1_000  # training chunks on which a model is measured, too


@dataclass(frozen=True)
class Chunks:
    """Chunks to learn from and chunks of another part of the text."""

    train: Corpus
    test: Corpus


@dataclass(frozen=True)
class ChunkResult:
    """One model: its mean likelihood of the next character, and bits per character.

    ``size`` is the number of states, or the order of n-grams; ``basis`` is None where there is
    none. ``train_bits`` is measured on (at most a thousand of) the chunks learned from.
    """

    chunks: int
    method: str
    size: int
    basis: int | None
    likelihood: float
    bits: float
    train_bits: float
    seconds: float
    seconds_per_step: float | None = None
    seed: int | None = None


def draw_chunks(
    text: Corpus,
    n_train: int,
    *,
    n_test: int = N_TEST,
    n_characters: int = N_CHARACTERS,
    seed: int = 0,
) -> Chunks:
    """Draw chunks to learn from the first part of one long text, and to test from the last.

    Training chunks begin anywhere and may overlap; test chunks do not.
    """
    cut = int((1 - TEST_SHARE) * text.n_symbols)
    spare = (text.n_symbols - cut) // LENGTH
    if spare < 1 or cut <= LENGTH:
        raise InvalidParameter(
            f"the text must have at least {round(LENGTH / TEST_SHARE) + LENGTH} characters; "
            f"it has {text.n_symbols}."
        )
    counts = np.bincount(text.symbols[:cut], minlength=len(text.alphabet))
    frequent = np.sort(np.argsort(-counts, kind="stable")[: n_characters - 1])
    alphabet = Alphabet([text.alphabet.symbols[code] for code in frequent]).with_unk()
    codes = text.recode(alphabet, unknown="unk").symbols
    rng = np.random.default_rng(seed)
    test = np.sort(rng.permutation(spare)[:n_test]) * LENGTH + cut
    train = rng.integers(0, cut - LENGTH, n_train)
    return Chunks(_windows(codes, train, alphabet), _windows(codes, test, alphabet))


def _windows(codes: SymbolArray, starts: IndexArray, alphabet: Alphabet) -> Corpus:
    symbols = codes[starts[:, None] + np.arange(LENGTH)].reshape(-1)
    return Corpus(symbols, np.arange(len(starts) + 1) * LENGTH, alphabet)


def run(
    text: Corpus,
    sets: Sequence[str],
    *,
    n_test: int = N_TEST,
    sizes: Sequence[int] | None = None,
    seed: int = 0,
    em_seeds: int = 1,
    **settings: Any,
) -> Iterator[ChunkResult]:
    """Draw chunks for some of ``SETS`` and learn from each; ``settings`` go to `run_chunks`."""
    for name in sets:
        yield from run_chunks(
            draw_chunks(text, SETS[name], n_test=n_test, seed=seed),
            sizes=sizes or SIZES[name],
            seeds=range(seed, seed + em_seeds),
            **settings,
        )


def run_chunks(
    data: Chunks,
    *,
    methods: Sequence[str] = METHODS,
    sizes: Sequence[int] = (10, 20, 40),
    bases: Sequence[int] = (100, 300),
    em_bases: Sequence[int] = (300,),
    orders: Sequence[int] = (2, 3, 4, 5, 6, 7, 8),
    seeds: Sequence[int] = (0,),
) -> Iterator[ChunkResult]:
    """Learn by every method and size; yield each result as it is there.

    Baum–Welch from random starts is run once for each of ``seeds``, as luck plays a part in it.
    """
    for method in methods:
        if method not in METHODS:
            raise InvalidParameter(f"methods must be some of {', '.join(METHODS)}; got {method!r}.")
    runs = {
        "spectral": lambda: _moments(data, "spectral", sizes, bases),
        "separable": lambda: _moments(data, "separable", sizes, bases),
        "em": lambda: _em(data, sizes, seeds),
        "em-separable": lambda: _em_separable(data, sizes, em_bases),
        "kneser-ney": lambda: _kneser_ney(data, orders),
        "mixture": lambda: _mixture(data),
    }
    n_runs = {"em": len(sizes) * len(seeds), "em-separable": len(sizes) * len(em_bases)}
    n_runs |= {"kneser-ney": len(orders), "mixture": 1}
    total = sum(n_runs.get(method, len(sizes) * len(bases)) for method in methods)
    with stage(f"Wikipedia, {len(data.train):,} chunks", total) as progress:
        for method in methods:
            for result in runs[method]():
                progress.advance(note=f"{method} {result.size}: {result.likelihood:.4f}")
                yield result


def _moments(
    data: Chunks, method: str, sizes: Sequence[int], bases: Sequence[int]
) -> Iterator[ChunkResult]:
    for basis, size in _fitting(bases, sizes):
        estimator = (
            SpectralWFA(size, basis_size=basis, max_length=MAX_LENGTH)
            if method == "spectral"
            else _separable_pfa(size, basis)
        )
        seconds = timed(estimator.fit, data.train)
        yield _automaton(data, method, size, basis, estimator.model_, seconds)


def _fitting(bases: Sequence[int], sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Give the pairs of a basis and a number of states that it can tell apart."""
    return ((basis, size) for basis in bases for size in sizes if size <= basis)


def _separable_pfa(size: int, basis: int) -> SeparablePFA:
    return SeparablePFA(size, statistics="substring", basis_size=basis, max_length=MAX_LENGTH)


def _em(data: Chunks, sizes: Sequence[int], seeds: Sequence[int]) -> Iterator[ChunkResult]:
    for size, seed in product(sizes, seeds):
        estimator = BaumWelchPFA(
            size,
            n_restarts=RESTARTS,
            restart_iter=RESTART_STEPS,
            max_iter=RESTART_STEPS + STEPS,
            tol=0.0,
            random_state=seed,
        )
        seconds = timed(estimator.fit, data.train)
        steps = RESTARTS * RESTART_STEPS + STEPS
        found = _automaton(data, "em", size, None, estimator.model_, seconds, seconds / steps)
        yield replace(found, seed=seed)


def _em_separable(
    data: Chunks, sizes: Sequence[int], bases: Sequence[int]
) -> Iterator[ChunkResult]:
    background = background_of(data.train)
    for basis, size in _fitting(bases, sizes):
        separable = _separable_pfa(size, basis)
        before = timed(separable.fit, data.train)
        start = spread_pfa(separable.model_, SPREAD, background)
        estimator = BaumWelchPFA(size, init=start, max_iter=STEPS, tol=0.0)
        seconds = timed(estimator.fit, data.train)
        model, per_step = estimator.model_, seconds / STEPS
        yield _automaton(data, "em-separable", size, basis, model, before + seconds, per_step)


def _kneser_ney(data: Chunks, orders: Sequence[int]) -> Iterator[ChunkResult]:
    for order in orders:
        estimator = KneserNey(order, ends=False)
        seconds = timed(estimator.fit, data.train)
        yield _result(data, "kneser-ney", order, None, estimator.next_likelihoods, seconds)


def _mixture(data: Chunks) -> Iterator[ChunkResult]:
    estimator = ContextMixture(ends=False, online=True, random_state=0)
    seconds = timed(estimator.fit, data.train)
    yield _result(data, "mixture", estimator.order, None, estimator.next_likelihoods, seconds)


def _automaton(
    data: Chunks,
    method: str,
    size: int,
    basis: int | None,
    model: WFA,
    seconds: float,
    per_step: float | None = None,
) -> ChunkResult:
    def likelihoods(corpus: Corpus) -> FloatArray:
        return next_likelihoods(model, corpus, floor=FLOOR)

    return _result(data, method, size, basis, likelihoods, seconds, per_step)


def _result(
    data: Chunks,
    method: str,
    size: int,
    basis: int | None,
    likelihoods: Callable[[Corpus], FloatArray],
    seconds: float,
    per_step: float | None = None,
) -> ChunkResult:
    seen = data.train[:_SEEN]
    tested = likelihoods(data.test)[positions_after(data.test, SKIP)]
    learned = likelihoods(seen)[positions_after(seen, SKIP)]
    return ChunkResult(
        len(data.train),
        method,
        size,
        basis,
        float(tested.mean()),
        float(-np.log2(tested).mean()),
        float(-np.log2(learned).mean()),
        seconds,
        per_step,
    )
