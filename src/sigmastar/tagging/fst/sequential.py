"""Sequential transducers: deterministic machines that write a string on every arc.

State 0 is the start. An arc reads one symbol, writes any number of symbols and leads to one state;
a final state writes its last string at the end of the sequence (Schützenberger's subsequential
transducers). Tables are dense: a step is one look-up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from sigmastar.core.errors import InvalidData, InvalidModel
from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.tagging.kernels.sequential import (
    Arcs,
    Pool,
    output_lengths,
    run_aligned,
    run_free,
)

__all__ = ["NO_STRINGS", "SequentialTransducer", "Strings"]

_NEXT = 32
_OUTPUT = (1 << _NEXT) - 1
NO_STRINGS = Pool(np.zeros(1, np.int32), np.zeros(1, np.int64))  # no output is longer than one


class Strings:
    """Distinct output strings and their numbers: 0 is empty, then single symbols, then others."""

    def __init__(self, n_symbols: int) -> None:
        self.n_symbols = n_symbols
        self._numbers: dict[tuple[int, ...], int] = {}
        self._strings: list[tuple[int, ...]] = []

    def number(self, string: Iterable[int]) -> int:
        """Return the number of a string, which is remembered if it is new."""
        symbols = tuple(string)
        if len(symbols) == 0:
            return 0
        if len(symbols) == 1:
            return 1 + symbols[0]
        known = self._numbers.get(symbols)
        if known is None:
            known = 1 + self.n_symbols + len(self._strings)
            self._numbers[symbols] = known
            self._strings.append(symbols)
        return known

    def pool(self) -> Pool:
        """Return the symbols of all longer strings, and where each begins."""
        offsets = np.zeros(len(self._strings) + 1, np.int64)
        np.cumsum([len(string) for string in self._strings], out=offsets[1:])
        flat = [symbol for string in self._strings for symbol in string]
        return Pool(np.array(flat or [0], np.int32), offsets)


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
        self.final = np.ascontiguousarray(final, np.int32)
        self.pool = Pool(
            np.ascontiguousarray(pool[0], np.int32),
            np.ascontiguousarray(pool[1], np.int64),
        )
        target = np.asarray(next_states, np.int64)
        written = np.asarray(outputs, np.int64)
        shape = (len(self.final), len(self.inputs))
        if target.shape != shape or written.shape != shape or shape[0] == 0:
            raise InvalidModel(
                f"next_states and outputs must have shape {shape} (states, inputs); got "
                f"{target.shape} and {written.shape}."
            )
        highest = len(self.output_symbols) + len(self.pool.offsets) - 1
        if target.size and (target.max() >= shape[0] or target.min() < -1):
            raise InvalidModel(f"next_states must lie between -1 and {shape[0] - 1}.")
        used = written[target >= 0]
        if used.size and (used.min() < 0 or used.max() > highest):
            raise InvalidModel(f"outputs must lie between 0 and {highest}.")
        if self.final.min() < -1 or self.final.max() > highest:
            raise InvalidModel(f"final must lie between -1 and {highest}.")
        ends = self.pool.offsets
        if len(ends) == 0 or ends[0] != 0 or (np.diff(ends) < 0).any():
            raise InvalidModel("the offsets of the output strings must rise from 0.")
        symbols = self.pool.symbols[: ends[-1]]
        if ends[-1] > len(self.pool.symbols) or (
            symbols.size and not 0 <= symbols.min() <= symbols.max() < len(self.output_symbols)
        ):
            raise InvalidModel("the output strings reach outside their alphabet or buffer.")
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
    def _arcs(self) -> Arcs:
        return Arcs(self.table, self.final, len(self.output_symbols), *self.pool)

    def run_aligned(self, codes: SymbolArray, starts: IndexArray) -> SymbolArray:
        """Run sequences through a machine that writes one symbol for each that it reads.

        Sequences run in parallel on as many threads as numba has.
        """
        output = np.empty(len(codes), np.int32)
        failed = run_aligned(codes, starts, self._arcs, output)
        if failed >= 0:
            raise self._refused(int(failed))
        return output

    def run(self, codes: SymbolArray, starts: IndexArray) -> tuple[SymbolArray, IndexArray]:
        """Run sequences; return all outputs one after the other, and where each begins."""
        lengths = self._lengths(codes, starts)
        if (lengths < 0).any():
            raise self._refused(int(np.argmax(lengths < 0)))
        offsets = np.zeros(len(starts), np.int64)
        np.cumsum(lengths, out=offsets[1:])
        output = np.empty(int(offsets[-1]), np.int32)
        run_free(codes, starts, self._arcs, output)
        return output, offsets

    def accepts(self, codes: SymbolArray, starts: IndexArray) -> NDArray[np.bool_]:
        """Tell which sequences the machine has an output for."""
        return self._lengths(codes, starts) >= 0

    def _lengths(self, codes: SymbolArray, starts: IndexArray) -> IndexArray:
        lengths = np.empty(len(starts) - 1, np.int64)
        output_lengths(codes, starts, self._arcs, lengths)
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

    def _refused(self, which: int) -> InvalidData:
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
        leaders = first[order]
        kept = targets[leaders]
        merged = np.where(kept >= 0, renumber[blocks[kept]], -1)
        return SequentialTransducer(
            next_states=merged.astype(np.int32),
            outputs=outputs[leaders],
            final=self.final[leaders],
            pool=self.pool,
            inputs=self.inputs,
            output_symbols=self.output_symbols,
        )
