"""AT&T / OpenFst text: ``source target input output weight``, ``state weight``; weights are −log.

The first line's source is the start. Arcs carry the numbers of a symbol table (0 is epsilon),
written beside the file as ``NAME.syms`` and looked for there; without one the labels of the arcs
themselves are the symbols. Acceptors only: input and output of an arc must agree.
"""

from __future__ import annotations

import contextlib
import math
import os
from pathlib import Path
from typing import NamedTuple

from sigmastar.automata.formats.arcs import EPSILON, Machine, MachineArc, from_machine, to_machine
from sigmastar.automata.formats.common import (
    alphabet_of_names,
    check_size,
    parse_index,
    parse_number,
    symbol_names,
)
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.atomic import tidy
from sigmastar.core.errors import ParseError
from sigmastar.corpus.readers.source import Source

__all__ = ["att_text", "read_att", "symbols_path", "symbols_text"]

_LINE = "source target input [output] [weight], or state [weight]"
_EPSILON_NAMES = ("<eps>", "<epsilon>")


class _Row(NamedTuple):
    line: int
    source: int
    target: int
    label: str
    weight: float


def symbols_path(path: str | os.PathLike[str]) -> str:
    """Return where the symbol table of an AT&T file is kept: beside it, ending in .syms."""
    name = os.fspath(path)
    for suffix in (".gz", ".xz"):
        name = name.removesuffix(suffix)
    return f"{name}.syms"


def read_att(path: str | os.PathLike[str], *, symbols: str | os.PathLike[str] | None = None) -> WFA:
    """Read an acceptor in AT&T text, epsilon arcs removed.

    Parameters
    ----------
    path : str or path
        The file.
    symbols : str or path, optional
        Its symbol table; ``path`` + ``.syms`` by default if that exists.

    Returns
    -------
    PFA or WFA
        A PFA if the weights are probabilities.
    """
    with contextlib.suppress(OSError):  # reading alone never fails for it
        tidy(Path(os.path.realpath(path)).parent)
    if symbols is None and os.path.isfile(symbols_path(path)):
        symbols = symbols_path(path)
    table = None if symbols is None else _read_symbols(symbols)
    with Source(path) as source:
        rows, final, states, last = _read_rows(source)
        if not states:
            raise ParseError(source.path, 1, f"at least one line of {_LINE}", "none")
        if table is not None:
            labels = [_named(row.label, table) for row in rows]
            names = [name for key, name in sorted(table.items()) if key != 0]
        else:
            numeric = all(_number(row.label) is not None for row in rows)
            labels = ["<eps>" if numeric and row.label == "0" else row.label for row in rows]
            names = sorted(set(labels), key=_key)
        names = [name for name in names if name not in _EPSILON_NAMES]
        codes = {name: code for code, name in enumerate(names)}
        check_size(source.path, last, len(states), len(names))
        arcs = []
        for row, name in zip(rows, labels, strict=True):
            if name in _EPSILON_NAMES:
                code = EPSILON
            elif name in codes:
                code = codes[name]
            else:
                wanted = "a label of the symbol table"
                raise ParseError(source.path, row.line, wanted, repr(row.label[:40]))
            arcs.append(MachineArc(row.source, row.target, code, row.weight))
        return from_machine(Machine(len(states), arcs, final), alphabet_of_names(names))


def _number(label: str) -> int | None:
    """Return a label's number, if it is written as one."""
    return int(label) if label.isascii() and label.isdigit() and len(label) < 19 else None


def _named(label: str, table: dict[int, str]) -> str:
    number = _number(label)
    if number is None:
        return label
    return "<eps>" if number == 0 else table.get(number, "")


def _key(name: str) -> tuple[int, str]:
    number = _number(name)
    return (1 << 62, name) if number is None else (number, name)


def _read_rows(source: Source) -> tuple[list[_Row], dict[int, float], dict[str, int], int]:
    lines = [(number, text.split()) for number, text in source.lines()]
    lines = [(number, words) for number, words in lines if words]
    # Four columns are an acceptor's arc with its weight, unless the file has arcs of five or the
    # fourth is no number: then they are a transducer's arc without one.
    two_labels = any(
        len(words) == 5 or (len(words) == 4 and not _is_weight(words[3])) for _, words in lines
    )
    rows: list[_Row] = []
    final: dict[int, float] = {}
    states: dict[str, int] = {}
    for number, words in lines:
        if len(words) > 5 or (len(words) == 3 and two_labels):
            raise ParseError(source.path, number, _LINE, f"{len(words)} columns")
        state = _state(source.path, number, words[0], states)
        if len(words) <= 2:
            weight = _weight(source.path, number, words[1]) if len(words) == 2 else 1.0
            final[state] = final.get(state, 0.0) + weight
            continue
        target = _state(source.path, number, words[1], states)
        if two_labels and words[2] != words[3]:
            found = f"{words[2][:20]!r} and {words[3][:20]!r}"
            raise ParseError(source.path, number, "equal input and output labels", found)
        weighted = len(words) == (5 if two_labels else 4)
        weight = _weight(source.path, number, words[-1]) if weighted else 1.0
        rows.append(_Row(number, state, target, words[2], weight))
    return rows, final, states, lines[-1][0] if lines else 1


def _is_weight(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _state(path: str, line: int, word: str, states: dict[str, int]) -> int:
    if not (word.isascii() and word.isdigit() and len(word) < 19):
        raise ParseError(path, line, "the number of a state", repr(word[:40]))
    return states.setdefault(str(int(word)), len(states))


def _weight(path: str, line: int, word: str) -> float:
    value = parse_number(path, line, word, "a weight (-log of a number)")
    if value < -300.0:
        raise ParseError(path, line, "a weight of at least -300", repr(word[:40]))
    return math.exp(-value)


def _read_symbols(path: str | os.PathLike[str]) -> dict[int, str]:
    table: dict[int, str] = {}
    names: set[str] = set()
    with Source(path) as source:
        for number, text in source.lines():
            words = text.split()
            if not words:
                continue
            if len(words) != 2:
                raise ParseError(source.path, number, "a symbol and its number", repr(text[:40]))
            key = parse_index(source.path, number, words[1], "the number of a symbol")
            if key in table or words[0] in names:
                raise ParseError(
                    source.path, number, "symbols and numbers all different", repr(text[:40])
                )
            table[key] = words[0]
            names.add(words[0])
    return table


def att_text(model: WFA | HMM) -> str:
    """Write the arcs and final weights of a model in AT&T text, start first."""
    machine = to_machine(model)
    rows = []
    for source, target, symbol, weight in machine.arcs:
        label = symbol + 1
        rows.append((source, f"{source}\t{target}\t{label}\t{label}\t{_log(weight)}"))
    for state, weight in machine.final.items():
        rows.append((state, f"{state}\t{_log(weight)}"))
    rows.sort(key=lambda row: row[0])
    if not rows or rows[0][0] != 0:
        rows.insert(0, (0, "0\tInfinity"))  # the start must come first even if it leads nowhere
    return "\n".join(text for _, text in rows) + "\n"


def symbols_text(model: WFA | HMM) -> str:
    """Write the symbol table of a model."""
    names = symbol_names(model.alphabet.symbols)
    rows = ["<eps>\t0", *(f"{name}\t{code}" for code, name in enumerate(names, 1))]
    return "\n".join(rows) + "\n"


def _log(weight: float) -> str:
    return repr(-math.log(weight) + 0.0)
