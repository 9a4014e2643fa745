"""Treba's automata and hidden Markov models in text.

Automata: ``source target symbol probability`` is an arc, ``state probability`` a stop; state 0 is
where strings start, and a missing probability is 1.

HMMs: ``source > target probability`` and ``state symbol probability``. State 0 is a silent start,
the highest-numbered state a silent end; a state emits when it is entered. Our HMM stops or emits
in a state, so reading adds one state that only stops, and writing moves the stop probability onto
the arcs into a state. Both keep the distribution exactly.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np

from sigmastar.automata.formats.common import (
    as_pfa,
    check_size,
    filled,
    parse_index,
    parse_probability,
    require_probabilities,
)
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.pfa import PFA
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.errors import InvalidModel, ParseError
from sigmastar.core.types import FloatArray
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.readers.source import Source

__all__ = ["read_treba", "treba_text"]

_ARC = "source target symbol [probability], or state [probability]"
_HMM_LINE = "source > target probability, or state symbol probability"


def read_treba(path: str | os.PathLike[str]) -> PFA | HMM:
    """Read a Treba automaton as a PFA, or a Treba HMM (told by its ``>``) as an HMM."""
    with Source(path) as source:
        rows = list(_rows(source))
        if not rows:
            raise ParseError(source.path, 1, "at least one line of a Treba model", "none")
        if any(">" in words for _, words in rows):
            return _read_hmm(source.path, rows)
        return _read_pfa(source.path, rows)


def _rows(source: Source) -> Iterator[tuple[int, list[str]]]:
    for number, text in source.lines():
        words = text.split()
        if words and not text.startswith("#"):
            yield number, words


def _read_pfa(path: str, rows: list[tuple[int, list[str]]]) -> PFA:
    arcs: dict[tuple[int, ...], float] = {}
    stops: dict[tuple[int, ...], float] = {}
    for line, words in rows:
        if len(words) > 4:
            raise ParseError(path, line, _ARC, f"{len(words)} numbers")
        indices = words[:3] if len(words) >= 3 else words[:1]
        place = tuple(parse_index(path, line, word, "a state or symbol") for word in indices)
        value = parse_probability(path, line, words[-1]) if len(words) in (2, 4) else 1.0
        (arcs if len(place) == 3 else stops)[place] = value
    n_states = 1 + max(s for key in (*stops, *arcs) for s in key[:2])
    n_symbols = 1 + max((key[2] for key in arcs), default=-1)
    check_size(path, rows[-1][0], n_states, n_symbols)
    transitions = filled((n_states, n_states, n_symbols), arcs).transpose(2, 0, 1)
    initial, final = np.eye(n_states)[0], filled((n_states,), stops)
    return as_pfa(path, initial, transitions, final, Alphabet(range(n_symbols)))


def _read_hmm(path: str, rows: list[tuple[int, list[str]]]) -> HMM:
    moves: dict[tuple[int, ...], float] = {}
    emits: dict[tuple[int, ...], float] = {}
    for line, words in rows:
        arrow = len(words) == 4 and words[1] == ">"
        if not arrow and (len(words) != 3 or ">" in words):
            raise ParseError(path, line, _HMM_LINE, repr(" ".join(words)[:40]))
        first = parse_index(path, line, words[0], "a state")
        second = parse_index(path, line, words[-2], "a state" if arrow else "a symbol")
        (moves if arrow else emits)[first, second] = parse_probability(path, line, words[-1])
    n = 1 + max([*(s for key in moves for s in key), *(key[0] for key in emits)])
    n_symbols = 1 + max((key[1] for key in emits), default=-1)
    line = rows[-1][0]
    if n < 2:
        raise ParseError(path, line, "a start state 0 and a higher-numbered end state", "one state")
    check_size(path, line, n, n_symbols)
    transition, emission = filled((n, n), moves), filled((n, n_symbols), emits)
    if transition[:, 0].any():
        raise ParseError(path, line, "no arc into the start state 0", "one")
    if emission[0].any() or emission[-1].any():
        raise ParseError(path, line, "no emission in the start and the end state", "one")
    stop = np.eye(n)[-1]
    transition[-1] = stop
    return _rescaled(path, transition[0, 1:], transition[1:, 1:], emission[1:], stop[1:])


def _rescaled(
    path: str,
    initial: FloatArray,
    transition: FloatArray,
    emission: FloatArray,
    stop: FloatArray,
) -> HMM:
    """Build an HMM whose printed probabilities may have been rounded."""
    sums = [initial.sum(keepdims=True), transition.sum(axis=1), emission.sum(axis=1) + stop]
    off = max(float(np.abs(s - 1.0).max()) for s in sums)
    if off > 1e-3:
        raise InvalidModel(f"{path}: probabilities must sum to 1; one sum is off by {off:.3g}.")
    build = HMM if off <= 1e-9 else HMM.normalized
    return build(initial, transition, emission, stop, Alphabet(range(emission.shape[1])))


def treba_text(model: WFA | HMM) -> str:
    """Write a PFA or an HMM over integers in Treba's format."""
    require_probabilities(model, "Treba", PFA, HMM)
    return _hmm_text(model) if isinstance(model, HMM) else _pfa_text(model)


def _pfa_text(model: WFA) -> str:
    # State 0 must be the only start: if it is not, a new one takes the weighted rows of all.
    if model.initial[0] == 1.0:
        transitions, final = model.transitions, model.final
    else:
        first = np.einsum("i,sij->sj", model.initial, model.transitions)
        transitions = np.zeros((model.n_symbols, model.n_states + 1, model.n_states + 1))
        transitions[:, 1:, 1:] = model.transitions
        transitions[:, 0, 1:] = first
        final = np.concatenate(([model.initial @ model.final], model.final))
    rows = [
        f"{i} {j} {s} {float(transitions[s, i, j])!r}"
        for i, s, j in np.argwhere(transitions.transpose(1, 0, 2))
    ]
    if model.n_symbols and not transitions[-1].any():
        rows.append(f"0 0 {model.n_symbols - 1} 0.0")  # the alphabet ends with the last one named
    rows += [f"{i} {float(final[i])!r}" for i in np.flatnonzero(final)]
    return "\n".join(rows) + "\n"


def _hmm_text(model: HMM) -> str:
    emitting = np.flatnonzero(model.stop < 1.0)
    going_on = 1.0 - model.stop[emitting]
    n = len(emitting)
    end = n + 1
    moves = np.zeros((n + 2, n + 2))
    moves[0, 1:end] = model.initial[emitting] * going_on
    moves[0, end] = model.initial @ model.stop
    moves[1:end, 1:end] = model.transition[np.ix_(emitting, emitting)] * going_on
    moves[1:end, end] = model.transition[emitting] @ model.stop
    rows = [f"{i} > {j} {float(moves[i, j])!r}" for i, j in np.argwhere(moves)]
    if not moves[:, end].any():  # the end is told by its number: it must be mentioned
        rows.append(f"0 > {end} 0.0")
    emission = model.emission[emitting] / going_on[:, None]
    rows += [f"{i + 1} {s} {float(emission[i, s])!r}" for i, s in np.argwhere(emission)]
    if model.n_symbols and not emission[:, -1].any():
        rows.append(f"{min(1, n)} {model.n_symbols - 1} 0.0")
    return "\n".join(rows) + "\n"
