"""Sequential transducers: deterministic machines that write a string on every arc.

State 0 is the start. An arc reads one symbol, writes any number of symbols and leads to one state;
a final state writes its last string at the end of the sequence (Schützenberger's subsequential
transducers). Tables are dense: a step is one look-up.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sigmastar.core.arrays import checked_runs
from sigmastar.core.errors import InvalidData, InvalidModel
from sigmastar.core.facts import Codes, Fact, Offsets, proved
from sigmastar.core.memory import check_memory
from sigmastar.core.threads import over_rows
from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.tagging.kernels.sequential import Arcs, Pool, output_lengths, run_rows

__all__ = ["NO_STRINGS", "Growing", "SequentialTransducer"]

S = TypeVar("S", bound=Hashable)

_NEXT = 32
_OUTPUT = (1 << _NEXT) - 1
FACTS: dict[str, Fact] = {
    "final": Codes("states", low=-1, below="numbers"),
    "next_states": Codes("states", "inputs", low=-1, below="states"),
    "outputs": Codes("states", "inputs", below="numbers"),
    "string_offsets": Offsets("strings", into="string_symbols"),
    "string_symbols": Codes("string_symbols", below="output_symbols"),
}
# A packed table in a file says where to go and what to write in one number, taken apart below.
_PACKED: dict[str, Fact] = {
    "table": Codes("states", "inputs", low=-1, below=1 << 63, dtype=np.int64),
    "string_symbols": Codes("room", below=1 << 31),
}
_ARRAYS = ("table", "final", "string_symbols", "string_offsets")  # as files name them
NO_STRINGS = Pool(np.zeros(1, np.int32), np.zeros(1, np.int64))  # no output is longer than one


class SequentialTransducer:
    """A deterministic machine from strings over one alphabet to strings over another.

    Parameters
    ----------
    next_states : array (n_states, n_inputs) of int32
        Where each arc leads, -1 where there is none.
    outputs : array (n_states, n_inputs) of int32
        The number of the string that each arc writes.
    final : array (n_states,) of int32
        The number of the string written at the end, -1 if a sequence may not end there.
    pool : pair of arrays
        The symbols of all strings longer than one, and where each begins.
    inputs, output_symbols : sequences of str
        What the codes stand for.
    """

    def __init__(
        self,
        next_states: SymbolArray,
        outputs: SymbolArray,
        final: SymbolArray,
        pool: tuple[SymbolArray, IndexArray],
        inputs: Sequence[str],
        output_symbols: Sequence[str],
    ) -> None:
        self.inputs = tuple(inputs)
        self.output_symbols = tuple(output_symbols)
        n_strings = len(self.output_symbols) + max(len(pool[1]), 1)
        # The buffer of the strings may be longer than the strings.
        used = int(pool[1][-1]) if 0 < len(pool[1]) and 0 <= pool[1][-1] <= len(pool[0]) else -1
        found = proved(
            FACTS,
            {
                "final": final,
                "next_states": next_states,
                "outputs": np.where(np.asarray(next_states) >= 0, outputs, 0),
                "string_offsets": pool[1],
                "string_symbols": pool[0][:used] if used >= 0 else pool[0],
            },
            inputs=len(self.inputs),
            output_symbols=len(self.output_symbols),
            numbers=n_strings,
        )
        if len(found["final"]) == 0:
            raise InvalidModel("a transducer needs at least one state; got none.")
        self.final = found["final"]
        self.pool = Pool(
            found["string_symbols"] if used else np.zeros(1, np.int32), found["string_offsets"]
        )
        target, written = (found[n].astype(np.int64) for n in ("next_states", "outputs"))
        self.table: NDArray[np.int64] = np.where(target >= 0, (target << _NEXT) | written, -1)

    @classmethod
    def from_table(
        cls,
        table: NDArray[np.int64],
        final: SymbolArray,
        pool: Pool,
        inputs: Sequence[str],
        output_symbols: Sequence[str],
    ) -> SequentialTransducer:
        """Take a packed table (see kernels.sequential) known to be right, without a copy."""
        machine = cls.__new__(cls)
        machine.table = table
        machine.final = final
        machine.pool = pool
        machine.inputs = tuple(inputs)
        machine.output_symbols = tuple(output_symbols)
        return machine

    @property
    def n_states(self) -> int:
        """How many states there are."""
        return len(self.final)

    @property
    def n_inputs(self) -> int:
        """How many input symbols there are."""
        return len(self.inputs)

    @property
    def n_arcs(self) -> int:
        """How many arcs there are."""
        return int((self.table >= 0).sum())

    @property
    def next_states(self) -> SymbolArray:
        """Where each arc leads, -1 where there is none."""
        return np.where(self.table >= 0, self.table >> _NEXT, -1).astype(np.int32)

    @property
    def outputs(self) -> SymbolArray:
        """The number of the string that each arc writes (0 where there is no arc)."""
        return np.where(self.table >= 0, self.table & _OUTPUT, 0).astype(np.int32)

    def __repr__(self) -> str:
        return (
            f"SequentialTransducer({self.n_states:,} states, {self.n_arcs:,} arcs, "
            f"{self.n_inputs:,} → {len(self.output_symbols):,} symbols)"
        )

    def string(self, number: int) -> tuple[int, ...]:
        """Return an output string by its number."""
        n = len(self.output_symbols)
        if number <= 0:
            return ()
        if number <= n:
            return (number - 1,)
        symbols, offsets = self.pool
        return tuple(symbols[offsets[number - 1 - n] : offsets[number - n]].tolist())

    @property
    def arcs(self) -> Arcs:
        """The machine as the kernels take it."""
        return Arcs(self.table, self.final, len(self.output_symbols), *self.pool)

    def run_aligned(self, codes: SymbolArray, starts: IndexArray) -> SymbolArray:
        """Run sequences through a machine that writes one symbol for each that it reads."""
        codes, starts = checked_runs(codes, starts, self.n_inputs)
        return self._write(codes, starts, starts, np.empty(len(codes), np.int32))

    def run(self, codes: SymbolArray, starts: IndexArray) -> tuple[SymbolArray, IndexArray]:
        """Run sequences; return all outputs one after the other, and where each begins."""
        codes, starts = checked_runs(codes, starts, self.n_inputs)
        lengths = self._lengths(codes, starts)
        if (lengths < 0).any():
            raise self.refused(int(np.argmax(lengths < 0)))
        offsets = np.zeros(len(starts), np.int64)
        np.cumsum(lengths, out=offsets[1:])
        # A string may be as long as the file of a machine: a few symbols in, gigabytes out.
        check_memory(
            4.0 * float(lengths.sum(dtype=np.float64)),
            "the output of the transducer",
            "Run fewer sequences at once.",
        )
        output = np.empty(int(offsets[-1]), np.int32)
        return self._write(codes, starts, offsets, output), offsets

    def _write(
        self, codes: SymbolArray, starts: IndexArray, places: IndexArray, output: SymbolArray
    ) -> SymbolArray:
        """Run sequences, given where in the output each begins; return the output."""
        failed = np.zeros(len(starts) - 1, np.bool_)
        arcs = self.arcs

        def run(a: int, b: int) -> None:
            run_rows(codes, starts[a : b + 1], arcs, places[a : b + 1], output, failed[a:b])

        over_rows(run, len(failed))
        if failed.any():
            raise self.refused(int(failed.argmax()))
        return output

    def accepts(self, codes: SymbolArray, starts: IndexArray) -> NDArray[np.bool_]:
        """Tell which sequences the machine has an output for."""
        return self._lengths(*checked_runs(codes, starts, self.n_inputs)) >= 0

    def _lengths(self, codes: SymbolArray, starts: IndexArray) -> IndexArray:
        lengths = np.empty(len(starts) - 1, np.int64)
        output_lengths(codes, starts, self.arcs, lengths)
        return lengths

    def transduce(self, sequence: Sequence[str]) -> list[str]:
        """Run one sequence of input symbols."""
        number = {symbol: code for code, symbol in enumerate(self.inputs)}
        try:
            codes = np.array([number[symbol] for symbol in sequence], np.int32)
        except KeyError as error:
            raise InvalidData(f"{error.args[0]!r} is not an input of the transducer.") from None
        output, _ = self.run(codes, np.array([0, len(codes)]))
        return [self.output_symbols[code] for code in output.tolist()]

    def refused(self, which: int) -> InvalidData:
        """Return the error that says which sequence the machine does not accept."""
        return InvalidData(
            f"sequence {which} is not in the domain of the transducer. An s-type machine tags only "
            'what it covers: complete it (kind="s+n1"), or use kind="lazy".'
        )

    def minimized(self) -> SequentialTransducer:
        """Merge states that have the same future (outputs stay where they are on the arcs)."""
        targets, outputs = self.next_states, self.outputs
        blocks = np.unique(self.final, return_inverse=True)[1]
        n_blocks = 0
        mix = np.random.default_rng(20110823).integers(
            1, 1 << 62, size=(2, self.n_inputs), dtype=np.int64
        )
        while blocks.max() + 1 > n_blocks:
            n_blocks = int(blocks.max()) + 1
            future = np.where(targets >= 0, blocks[targets] * (1 << 31) + outputs + 1, 0)
            with np.errstate(over="ignore"):
                mixed = future * (future | 1)
                keys = np.stack(
                    ((mixed * mix[0]).sum(axis=1), (future * mix[1]).sum(axis=1), blocks), axis=1
                )
            blocks = np.unique(keys, axis=0, return_inverse=True)[1].ravel()
        # Number the blocks by their first state, so that the start stays number 0.
        first = np.full(n_blocks, self.n_states)
        np.minimum.at(first, blocks, np.arange(self.n_states))
        order = np.argsort(first)
        renumber = np.empty(n_blocks, np.int64)
        renumber[order] = np.arange(n_blocks)
        return self._kept(first[order], renumber[blocks])

    def reachable(self) -> SequentialTransducer:
        """Drop the states that no sequence leads to."""
        targets = self.next_states
        seen = np.zeros(self.n_states, bool)
        seen[0] = True
        front = np.array([0])
        while len(front):
            found = np.unique(targets[front])
            front = found[(found >= 0) & ~seen[found]]
            seen[front] = True
        return self if seen.all() else self._kept(np.flatnonzero(seen), np.cumsum(seen) - 1)

    def _kept(self, states: IndexArray, renumber: IndexArray) -> SequentialTransducer:
        """Keep some states; ``renumber`` gives each state its new number, or that of its like."""
        targets = self.next_states[states]
        targets = np.where(targets >= 0, renumber[targets], -1)
        outputs, final = self.outputs[states], self.final[states]
        return SequentialTransducer(
            targets, outputs, final, self.pool, self.inputs, self.output_symbols
        )

    def to_arrays(self, prefix: str = "") -> dict[str, np.ndarray[Any, Any]]:
        """Give the named arrays of the machine."""
        arrays: tuple[np.ndarray[Any, Any], ...] = (self.table, self.final, *self.pool)
        return {prefix + name: array for name, array in zip(_ARRAYS, arrays, strict=True)}

    @classmethod
    def from_arrays(
        cls, array: Callable[[str], np.ndarray[Any, Any]], inputs: list[str], outputs: list[str]
    ) -> SequentialTransducer:
        """Rebuild from named arrays (``array`` gives one by name), checking every index."""
        packed, final, symbols, offsets = (array(name) for name in _ARRAYS)
        table = proved(_PACKED, {"table": packed, "string_symbols": symbols})["table"]
        targets = np.where(table >= 0, table >> _NEXT, -1)
        return cls(targets, table & _OUTPUT, final, (symbols, offsets), inputs, outputs)


class Growing(Generic[S]):
    """A machine under construction: its states by what they stand for, in the order they appear.

    Go through ``states``, which grows meanwhile, and add a row for each.
    """

    def __init__(self, start: S, output_symbols: Sequence[str]) -> None:
        self.states = [start]
        self._output_symbols = output_symbols
        self._numbers = {start: 0}
        self._strings: dict[tuple[int, ...], int] = {}  # those of two symbols and more
        self._rows: list[tuple[ArrayLike, ArrayLike, int]] = []

    def state(self, what: S) -> int:
        """Return the number of a state, which is made if it is new."""
        number = self._numbers.setdefault(what, len(self.states))
        if number == len(self.states):
            self.states.append(what)
        return number

    def string(self, symbols: Sequence[int]) -> int:
        """Return the number of an output string: 0 is empty, then single symbols, then others."""
        if len(symbols) < 2:
            return 1 + symbols[0] if symbols else 0
        shorter = 1 + len(self._output_symbols)
        return shorter + self._strings.setdefault(tuple(symbols), len(self._strings))

    def add(self, targets: ArrayLike, outputs: ArrayLike, final: int) -> None:
        """Add the arcs of the next state, and the string with which it ends (-1: it does not)."""
        self._rows.append((targets, outputs, final))

    def machine(self, inputs: Sequence[str]) -> SequentialTransducer:
        """Return the machine, as small as it can be."""
        targets, outputs, final = (np.array(x, np.int32) for x in zip(*self._rows, strict=True))
        offsets = np.cumsum([0, *map(len, self._strings)])
        symbols = np.array([x for string in self._strings for x in string] or [0], np.int32)
        pool = Pool(symbols, offsets)
        return SequentialTransducer(
            targets, outputs, final, pool, inputs, self._output_symbols
        ).minimized()
