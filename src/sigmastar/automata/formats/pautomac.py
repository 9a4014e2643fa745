"""PAutomaC model files: sections of initial, stop, emission and transition probabilities.

``I: (state)`` starts there; ``F: (state)`` stops there; ``S: (state,symbol)`` emits, given that
the state does not stop; ``T: (state,symbol,state)`` moves, given state and symbol. So
A_σ[i, j] = (1 − F[i]) S[i, σ] T[i, σ, j]. What a section does not list is zero.
"""

from __future__ import annotations

import os
import re

import numpy as np

from sigmastar.automata.formats.common import (
    as_pfa,
    check_size,
    filled,
    parse_index,
    parse_probability,
    require_probabilities,
)
from sigmastar.automata.models.pfa import PFA
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.errors import ParseError
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.readers.source import Source

__all__ = ["pautomac_text", "read_pautomac_model"]

_ENTRY = re.compile(r"\(\s*([0-9]+(?:\s*,\s*[0-9]+)*)\s*\)\s+(\S+)\Z")
_ARITY = {"I": 1, "F": 1, "S": 2, "T": 3}
_EXPECTED = {
    1: "a line such as (0) 0.5",
    2: "a line such as (0,1) 0.5",
    3: "a line such as (0,1,2) 0.5",
}


def read_pautomac_model(path: str | os.PathLike[str]) -> PFA:
    """Read a PAutomaC model file as a PFA over integers."""
    sections: dict[str, dict[tuple[int, ...], float]] = {name: {} for name in _ARITY}
    section = ""
    number = 0
    with Source(path) as source:
        for number, raw in source.lines():
            text = raw.strip()
            if not text:
                continue
            if text[:2] in ("I:", "F:", "S:", "T:"):
                section = text[0]
                continue
            if not section:
                raise ParseError(source.path, number, "a section I:, F:, S: or T:", repr(text[:40]))
            key, value = _entry(source.path, number, text, _ARITY[section])
            sections[section][key] = value
        return _assemble(source.path, number, sections)


def _entry(path: str, line: int, text: str, arity: int) -> tuple[tuple[int, ...], float]:
    found = _ENTRY.match(text)
    words = found[1].split(",") if found else []
    if found is None or len(words) != arity:
        raise ParseError(path, line, _EXPECTED[arity], repr(text[:40]))
    key = tuple(parse_index(path, line, word.strip(), "a state or symbol") for word in words)
    return key, parse_probability(path, line, found[2])


def _assemble(path: str, line: int, sections: dict[str, dict[tuple[int, ...], float]]) -> PFA:
    states = [key[0] for entries in sections.values() for key in entries]
    states += [key[2] for key in sections["T"]]
    symbols = [key[1] for name in "ST" for key in sections[name]]
    n_states, n_symbols = max(states, default=-1) + 1, max(symbols, default=-1) + 1
    if not sections["I"]:
        raise ParseError(path, max(1, line), "at least one initial state in a section I:", "none")
    check_size(path, line, n_states, n_symbols)
    initial, stop = (filled((n_states,), sections[name]) for name in "IF")
    emission = filled((n_states, n_symbols), sections["S"]) * (1.0 - stop)[:, None]
    moves = filled((n_states, n_symbols, n_states), sections["T"])
    weights = (emission[:, :, None] * moves).transpose(1, 0, 2)
    return as_pfa(path, initial, weights, stop, Alphabet(range(n_symbols)))


def pautomac_text(model: WFA) -> str:
    """Write a PFA over integers in the PAutomaC format."""
    require_probabilities(model, "PAutomaC", PFA)
    leaving = model.transitions.sum(axis=2).T  # (state, symbol)
    going_on = leaving.sum(axis=1, keepdims=True)
    emission = np.divide(leaving, going_on, out=np.zeros_like(leaving), where=going_on > 0)
    moves = np.divide(
        model.transitions,
        leaving.T[:, :, None],
        out=np.zeros_like(model.transitions),
        where=leaving.T[:, :, None] > 0,
    )
    rows = ["I: (state)"]
    rows += [f"\t({i}) {_p(model.initial[i])}" for i in np.flatnonzero(model.initial)]
    rows.append("F: (state)")
    rows += [f"\t({i}) {_p(model.final[i])}" for i in np.flatnonzero(model.final)]
    rows.append("S: (state,symbol)")
    rows += [f"\t({i},{s}) {_p(emission[i, s])}" for i, s in np.argwhere(emission)]
    if model.n_symbols and not emission[:, -1].any():
        rows.append(f"\t(0,{model.n_symbols - 1}) 0.0")  # the alphabet ends with the last one named
    rows.append("T: (state,symbol,state)")
    rows += [
        f"\t({i},{s},{j}) {_p(moves[s, i, j])}" for i, s, j in np.argwhere(moves.transpose(1, 0, 2))
    ]
    return "\n".join(rows) + "\n"


def _p(value: float) -> str:
    return repr(float(value))
