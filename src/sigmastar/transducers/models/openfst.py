"""A transducer as an OpenFst transducer over the log semiring, so that it composes with others.

State 0 is the start; an arc a:b from state i to j carries −log A(a, b)[i, j]; the initial weights
are folded into the arcs that leave the start. Where all output symbols are tuples (chunks, as of
aligned units), each becomes a chain of arcs that write one symbol each; an empty one none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sigmastar.core.errors import InvalidModel
from sigmastar.core.extras import require
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.transducers.models.transducer import Transducer

__all__ = ["transducer_to_openfst"]

EPSILON = "<eps>"


def transducer_to_openfst(model: Transducer) -> Any:
    """Return a ``pynini.Fst`` (log arcs) with symbol tables attached."""
    pynini = require("pynini", "fst", "export to OpenFst")
    smallest = min(float(model.operators.min(initial=0.0)), float(model.initial.min()))
    if smallest < 0 or (model.final < 0).any():
        raise InvalidModel(
            f"weights must not be negative to be logarithms; the smallest is {smallest:.3g}. "
            "Export the transducer of recover_parameters() or of EMTransducer instead."
        )
    inputs, input_ids = _table(pynini, model.input_alphabet)
    outputs, output_ids = _table(pynini, model.output_alphabet)
    fst = pynini.Fst(arc_type="log64")
    fst.add_states(model.n_states + 1)
    fst.set_start(0)
    for state, weight in enumerate(model.final):
        if weight > 0:
            fst.set_final(state + 1, pynini.Weight("log64", -np.log(weight)))
    empty = float(model.initial @ model.final)
    if empty > 0:
        fst.set_final(0, pynini.Weight("log64", -np.log(empty)))
    for source, target in np.argwhere(model.table >= 0):
        operator = model.operators[model.table[source, target]]
        writes = output_ids[target]
        rows = [
            (0, model.initial @ operator),
            *((i + 1, operator[i]) for i in range(len(operator))),
        ]
        for leaves, weights in rows:
            for arrives in np.flatnonzero(weights):
                labels = (input_ids[source], writes)
                _chain(pynini, fst, (leaves, int(arrives) + 1), labels, float(weights[arrives]))
    fst.set_input_symbols(inputs)
    fst.set_output_symbols(outputs)
    return fst


def _chain(
    pynini: Any,
    fst: Any,
    states: tuple[int, int],
    labels: tuple[list[int], list[int]],
    weight: float,
) -> None:
    """Add a path that reads and writes the given labels and weighs the given probability."""
    (state, arrives), (reads, writes) = states, labels
    length = max(len(reads), len(writes), 1)
    for step in range(length):
        following = arrives if step == length - 1 else fst.add_state()
        ilabel = reads[step] if step < len(reads) else 0
        olabel = writes[step] if step < len(writes) else 0
        cost = pynini.Weight("log64", -np.log(weight) if step == 0 else 0.0)
        fst.add_arc(state, pynini.Arc(ilabel, olabel, cost, following))
        state = following


def _table(pynini: Any, alphabet: Alphabet) -> tuple[Any, list[list[int]]]:
    """Make the symbol table, and the labels that each symbol is made of."""
    table = pynini.SymbolTable()
    table.add_symbol(EPSILON, 0)
    labels: list[list[int]] = []
    named: dict[str, Any] = {EPSILON: None, "": None}
    chunks = len(alphabet) > 0 and all(isinstance(symbol, tuple) for symbol in alphabet.symbols)
    for symbol in alphabet.symbols:
        parts: tuple[Any, ...] = symbol if chunks else (symbol,)  # type: ignore[assignment]
        for part in parts:
            if named.setdefault(_name(part), (part,)) != (part,):
                raise InvalidModel(
                    f"symbols must have different, non-empty names other than {EPSILON!r} in a "
                    f"symbol table; {part!r} has not. Rename it."
                )
        labels.append([int(table.add_symbol(_name(part))) for part in parts])
    return table, labels


def _name(symbol: Any) -> str:
    """Write a symbol; frame symbols, which are tuples lest a user's symbol meet them, bare."""
    return str(symbol[0] if isinstance(symbol, tuple) and len(symbol) == 1 else symbol)
