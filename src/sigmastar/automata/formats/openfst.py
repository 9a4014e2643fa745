"""The bridge to OpenFst through Pynini: acceptors over the log semiring, in double precision."""

from __future__ import annotations

import math
import struct
from typing import Any, NamedTuple

from sigmastar.automata.formats.arcs import EPSILON, Machine, MachineArc, from_machine, to_machine
from sigmastar.automata.formats.common import integers_if_all
from sigmastar.automata.models.base import StateModel
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.errors import InvalidModel
from sigmastar.core.extras import require
from sigmastar.core.types import Symbol
from sigmastar.corpus.alphabet import Alphabet

__all__ = ["from_openfst", "to_openfst"]

_SEMIRINGS = ("log64", "log", "standard")


def to_openfst(model: StateModel) -> Any:
    """Return a model as an acceptor with symbol tables, weights as −log.

    Parameters
    ----------
    model : WFA, PFA or HMM
        Its weights must not be negative; convert a learned WFA to a PFA first.

    Returns
    -------
    pynini.Fst
        With arc type ``log64``; needs the extra ``fst``.
    """
    pynini = require("pynini", "fst", "writing an OpenFst machine")
    machine = to_machine(model)
    table = pynini.SymbolTable()
    table.add_symbol("<eps>", 0)
    for code, name in enumerate(_names(model.alphabet.symbols), 1):
        table.add_symbol(name, code)
    fst = pynini.Fst("log64")
    fst.add_states(machine.n_states)
    fst.set_start(0)
    for source, target, symbol, weight in machine.arcs:
        label = symbol + 1
        fst.add_arc(
            source,
            pynini.Arc(label, label, pynini.Weight("log64", -math.log(weight)), target),
        )
    for state, weight in machine.final.items():
        fst.set_final(state, pynini.Weight("log64", -math.log(weight)))
    fst.set_input_symbols(table)
    fst.set_output_symbols(table)
    return fst


def from_openfst(fst: Any) -> WFA:
    """Return the automaton of an acceptor, epsilon arcs removed.

    Parameters
    ----------
    fst : pynini.Fst
        An acceptor over the log or the tropical semiring (whose weights are read as −log).

    Returns
    -------
    PFA or WFA
        A PFA if the weights are probabilities. Symbols come from the input symbol table, or are
        the labels themselves; they are integers if all of them look like integers.
    """
    require("pynini", "fst", "reading an OpenFst machine")
    if fst.arc_type() not in _SEMIRINGS:
        raise InvalidModel(
            f"the machine must have one of the arc types {', '.join(_SEMIRINGS)}; "
            f"got {fst.arc_type()!r}."
        )
    if fst.start() < 0:
        raise InvalidModel("the machine has no start state, so it accepts nothing.")
    arcs, finals = _contents(fst)
    order = {fst.start(): 0}
    for state in range(len(finals)):
        order.setdefault(state, len(order))
    if any(arc.input != arc.output for arc in arcs):
        raise InvalidModel("the machine must be an acceptor; it has different output labels.")
    table = fst.input_symbols()
    if table is None:
        labels = sorted({arc.input for arc in arcs} - {0})
        alphabet = Alphabet(labels)
    else:
        entries = sorted((label, name) for label, name in table if label != 0)
        labels = [label for label, _ in entries]
        alphabet = integers_if_all([name for _, name in entries])
    codes = {0: EPSILON} | {label: code for code, label in enumerate(labels)}
    unknown = next((arc.input for arc in arcs if arc.input not in codes), None)
    if unknown is not None:
        raise InvalidModel(f"the label {unknown} is not in the machine's symbol table.")
    converted = [
        MachineArc(order[arc.source], order[arc.target], codes[arc.input], _exp(arc.cost))
        for arc in arcs
    ]
    final = {order[state]: _exp(cost) for state, cost in enumerate(finals)}
    return from_machine(Machine(len(order), converted, final), alphabet)


class _FstArc(NamedTuple):
    source: int
    input: int
    output: int
    cost: float
    target: int


def _contents(fst: Any) -> tuple[list[_FstArc], list[float]]:
    """Return the arcs and final costs of a machine, to the last bit.

    Pynini gives weights to Python with nine digits only, so we read OpenFst's own serialisation:
    a header (magic, two names, version, flags, properties, start, counts), then for each state its
    final weight, its number of arcs and the arcs.
    """
    bare = fst.copy()
    bare.set_input_symbols(None)
    bare.set_output_symbols(None)
    data = bare.write_to_string()
    at = 4
    for _ in range(2):  # the type of machine and of arcs
        at += 4 + struct.unpack_from("<i", data, at)[0]
    at += 4 + 4 + 8 + 8  # version, flags, properties, start
    n_states = struct.unpack_from("<q", data, at)[0]
    at += 8 + 8
    kind = "d" if fst.arc_type() == "log64" else "f"
    head = struct.Struct(f"<{kind}q")
    body = struct.Struct(f"<ii{kind}i")
    arcs: list[_FstArc] = []
    finals: list[float] = []
    for state in range(n_states):
        cost, n_arcs = head.unpack_from(data, at)
        at += head.size
        finals.append(cost)
        end = at + n_arcs * body.size
        arcs += (_FstArc(state, *fields) for fields in body.iter_unpack(data[at:end]))
        at = end
    return arcs, finals


def _exp(cost: float) -> float:
    if not cost >= -300.0:
        raise InvalidModel(f"weights must be numbers of at least -300; got {cost}.")
    return math.exp(-cost)


def _names(symbols: tuple[Symbol, ...]) -> list[str]:
    names = [str(symbol) for symbol in symbols]
    if len({"<eps>", "", *names}) != len(names) + 2:
        raise InvalidModel(
            "symbols must have different, non-empty names other than '<eps>' in a symbol table. "
            "Recode the model."
        )
    return names
