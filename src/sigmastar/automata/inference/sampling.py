"""Draw strings from a model."""

from __future__ import annotations

from typing import Any

import numpy as np

from sigmastar.automata.inference.readout import Readout
from sigmastar.automata.inference.scoring import FLOOR
from sigmastar.automata.kernels.readout import STEPS_A_WEIGHT, clip_rows
from sigmastar.automata.kernels.sampling import draw_strings
from sigmastar.automata.models.pfa import PFA
from sigmastar.automata.models.subject import machine_of
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.errors import InvalidModel
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.rules import AnyOf, Integer, Nothing, check
from sigmastar.corpus.corpus import Corpus
from sigmastar.ngrams.predictor import Predictor

__all__ = ["sample"]


def sample(
    model: Any,
    n: int = 1,
    *,
    random_state: RandomState = None,
    length: int | None = None,
    max_length: int = 100_000,
) -> Corpus:
    """Draw strings.

    Parameters
    ----------
    model : WFA, PFA, HMM, model of n-grams or contexts, or an estimator fitted to one
        A PFA or HMM is run state by state; a general WFA is read as a predictor (conditional
        scoring) and each symbol is drawn from the clipped next-symbol distribution.
    n : int
        How many strings.
    random_state : int, Generator, …
        Same seed, same strings.
    length : int, optional
        Draw this many symbols of each string and never stop before (the beginnings of strings).
    max_length : int
        A model that does not stop by then is refused.
    """
    check("n", n, Integer(0))
    check("length", length, AnyOf(Integer(0), Nothing()))
    check("max_length", max_length, Integer(0))
    automaton = machine_of(model)
    if isinstance(automaton, Predictor):
        drawn = automaton.sample(n, length=length, random_state=random_state)
        return Corpus.from_sequences(drawn, alphabet=automaton.alphabet)
    rng = as_generator(random_state)
    limit = max_length + 1 if length is None else length
    if isinstance(automaton, PFA):
        corpus = _run(automaton, n, rng, limit, stopping=length is None)
    else:
        corpus = _predict(automaton, n, rng, limit, stopping=length is None)
    if length is None and n and int(corpus.lengths.max()) > max_length:
        raise InvalidModel(
            f"a string drawn from the model did not stop within max_length={max_length} symbols "
            f"(spectral radius {automaton.spectral_radius:.6f}). Raise max_length, or pass length= "
            "to draw beginnings of strings."
        )
    return corpus


def _run(automaton: PFA, n: int, rng: np.random.Generator, limit: int, stopping: bool) -> Corpus:
    stop = automaton.final if stopping else np.zeros_like(automaton.final)
    emit = np.column_stack([automaton.transitions.sum(axis=2).T, stop])
    if (emit.sum(axis=1) <= 0).any():
        raise InvalidModel(
            "length= needs a model that can always go on; some state can only stop. Drop length."
        )
    symbols, offsets = draw_strings(
        rng,
        np.cumsum(automaton.initial),
        np.ascontiguousarray(np.cumsum(emit, axis=1)),
        np.cumsum(automaton.transitions, axis=2),
        n,
        limit,
    )
    return Corpus(symbols, offsets, automaton.alphabet)


def _predict(
    automaton: WFA, n: int, rng: np.random.Generator, limit: int, stopping: bool
) -> Corpus:
    """Advance all strings one symbol at a time: one product for the choice, one for each symbol."""
    readout = Readout.of(automaton).weights
    vectors = np.tile(automaton.initial, (n, 1))
    active = np.arange(n)
    columns = [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))]
    for _ in range(limit):
        if not len(active):
            break
        weights = vectors @ readout
        clip_rows.sized(STEPS_A_WEIGHT * weights.size)(weights, FLOOR)
        if not stopping:
            weights[:, -1] = 0.0
        cumulative = np.cumsum(weights, axis=1)
        points = rng.random(len(active)) * cumulative[:, -1]
        codes = (cumulative <= points[:, None]).sum(axis=1)
        going = codes < automaton.n_symbols
        active, codes, vectors = active[going], codes[going], vectors[going]
        columns.append((active, codes))
        for code in np.unique(codes):
            chosen = codes == code
            vectors[chosen] = vectors[chosen] @ automaton.transitions[code]
        # Only the direction matters from here on.
        size = np.abs(vectors).max(axis=1, keepdims=True)
        vectors = np.divide(vectors, size, out=vectors, where=size > 0)
    rows, drawn = (np.concatenate(part) for part in zip(*columns, strict=True))
    flat = drawn[np.argsort(rows, kind="stable")].astype(np.int32)
    lengths = np.bincount(rows, minlength=n)
    return Corpus(flat, np.concatenate(([0], np.cumsum(lengths))), automaton.alphabet)
