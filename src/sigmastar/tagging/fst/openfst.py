"""Between sequential transducers and OpenFst (through Pynini).

Out: every arc becomes one arc for each symbol it writes, the rest epsilon. In: any unweighted
functional transducer is determinized by the subset construction with output delays; a machine that
is not sequential (its output depends on input arbitrarily far ahead) is recognised by a bound on
the delay and refused with the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from sigmastar.core.errors import InvalidModel, InvalidParameter
from sigmastar.core.extras import require
from sigmastar.tagging.fst.sequential import Growing, SequentialTransducer

__all__ = ["NotSequential", "from_openfst", "load_pynini", "to_openfst"]

_EPSILON = 0
Delayed = tuple[int, tuple[int, ...]]


class NotSequential(InvalidModel):
    """A transducer has no deterministic equivalent within the bounds given."""


def load_pynini() -> Any:
    """Import Pynini, or say how to get it."""
    return require("pynini", "fst", "the calculus of transducers")


def symbol_table(symbols: Sequence[str]) -> Any:
    """Make an OpenFst symbol table: 0 is epsilon, code c has the label c + 1."""
    pynini = load_pynini()
    table = pynini.SymbolTable()
    table.add_symbol("<eps>", _EPSILON)
    for code, symbol in enumerate(symbols):
        table.add_symbol(symbol, code + 1)
    return table


def to_openfst(machine: SequentialTransducer) -> Any:
    """Return the machine as a pynini.Fst with symbol tables."""
    if not isinstance(machine, SequentialTransducer):
        raise InvalidParameter(
            f"machine must be a transducer with a table; got a {type(machine).__name__}, which "
            "grows while it tags. Compile another kind: n1, n2 or s+n1."
        )
    pynini = load_pynini()
    fst = pynini.Fst()
    for _ in range(machine.n_states):
        fst.add_state()
    fst.set_start(0)
    targets, outputs = machine.next_states.tolist(), machine.outputs.tolist()

    def connect(source: int, label: int, string: tuple[int, ...], target: int) -> None:
        """Add a chain that reads one label and writes a string."""
        written = [symbol + 1 for symbol in string] or [_EPSILON]
        onward = [*(fst.add_state() for _ in written[1:]), target]
        for symbol, state in zip(written, onward, strict=True):
            fst.add_arc(source, pynini.Arc(label, symbol, 0, state))
            source, label = state, _EPSILON

    for state in range(machine.n_states):
        for code, (target, number) in enumerate(zip(targets[state], outputs[state], strict=True)):
            if target >= 0:
                connect(state, code + 1, machine.string(number), target)
        if machine.final[state] == 0:
            fst.set_final(state)
        elif machine.final[state] > 0:
            end = fst.add_state()
            fst.set_final(end)
            connect(state, _EPSILON, machine.string(int(machine.final[state])), end)
    fst.set_input_symbols(symbol_table(machine.inputs))
    fst.set_output_symbols(symbol_table(machine.output_symbols))
    return fst


def from_openfst(
    fst: Any,
    inputs: Sequence[str],
    outputs: Sequence[str],
    *,
    max_states: int = 50_000,
    max_delay: int = 12,
) -> SequentialTransducer:
    """Turn a pynini.Fst (labels are codes plus one) into a sequential transducer."""
    arcs, finals = _arcs(fst)
    start, early = _settled(_closure({(int(fst.start()), ())}, arcs, finals, max_delay))
    if early:
        raise NotSequential("the transducer writes before it reads; give it an input to do so.")
    grown = Growing(start, outputs)
    for members in grown.states:
        row, out = [-1] * len(inputs), [0] * len(inputs)
        moves: dict[int, set[Delayed]] = {}
        for state, delayed in members:
            for label, output, target in arcs[state]:
                if label != _EPSILON:
                    tail = (*delayed, output - 1) if output else delayed
                    moves.setdefault(label, set()).add((target, tail))
        for label, reached in moves.items():
            onward, prefix = _settled(_closure(reached, arcs, finals, max_delay))
            row[label - 1], out[label - 1] = grown.state(onward), grown.string(prefix)
            if len(grown.states) > max_states:
                raise NotSequential(f"the transducer needs more than {max_states:,} states.")
        ends = {tail for state, tail in members if state in finals}
        if len(ends) > 1:
            raise NotSequential("the transducer gives one input several outputs.")
        grown.add(row, out, grown.string(ends.pop()) if ends else -1)
    return grown.machine(inputs)


def _arcs(fst: Any) -> tuple[list[list[tuple[int, int, int]]], set[int]]:
    """List the useful arcs of every state, and the final states."""
    trimmed = fst.copy().connect()
    if trimmed.num_states() == 0:
        raise NotSequential("the transducer accepts nothing.")
    arcs: list[list[tuple[int, int, int]]] = []
    finals = set()
    for state in trimmed.states():
        arcs.append([(arc.ilabel, arc.olabel, arc.nextstate) for arc in trimmed.arcs(state)])
        if float(trimmed.final(state)) != float("inf"):
            finals.add(state)
    if trimmed.start() != fst.start():
        raise NotSequential("the start of the transducer is not its first state; trim it first.")
    return arcs, finals


def _closure(
    members: set[Delayed], arcs: list[list[tuple[int, int, int]]], finals: set[int], max_delay: int
) -> set[Delayed]:
    """Add what is reached without reading; keep what can read or end."""
    found = set(members)
    front = list(members)
    while front:
        state, delayed = front.pop()
        if len(delayed) > max_delay:
            raise NotSequential(
                f"the transducer would have to hold back more than {max_delay} symbols: its output "
                "depends on input too far ahead to run deterministically."
            )
        for label, output, target in arcs[state]:
            if label == _EPSILON:
                reached = (target, (*delayed, output - 1) if output else delayed)
                if reached not in found:
                    found.add(reached)
                    front.append(reached)
    # Members that only lead on without reading have been followed; they must not hold others back.
    return {
        member
        for member in found
        if member[0] in finals or any(label != _EPSILON for label, _, _ in arcs[member[0]])
    }


def _settled(members: set[Delayed]) -> tuple[frozenset[Delayed], tuple[int, ...]]:
    """Split off what all members agree to write."""
    tails = [tail for _, tail in members]
    first, last = min(tails), max(tails)  # what these two share, all share
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    prefix = tuple(symbol for symbol, _ in alike)
    return frozenset((state, tail[len(prefix) :]) for state, tail in members), prefix
