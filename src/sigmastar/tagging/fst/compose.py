"""Composition of two sequential transducers: the second reads what the first writes."""

from __future__ import annotations

import numpy as np

from sigmastar.core.errors import InvalidParameter
from sigmastar.core.types import SymbolArray
from sigmastar.tagging.fst.openfst import NotSequential
from sigmastar.tagging.fst.sequential import SequentialTransducer, Strings

__all__ = ["compose"]


def compose(
    first: SequentialTransducer, second: SequentialTransducer, *, max_entries: int = 1 << 26
) -> SequentialTransducer:
    """Return the sequential transducer that runs the one after the other."""
    if first.output_symbols != second.inputs:
        raise InvalidParameter("the second transducer must read the symbols that the first writes.")
    step, write = second.next_states.tolist(), second.outputs.tolist()
    strings = Strings(len(second.output_symbols))
    memory: dict[tuple[int, int], tuple[int, tuple[int, ...]]] = {}

    def through(state: int, number: int) -> tuple[int, tuple[int, ...]]:
        """Run the second machine over one output string of the first."""
        known = memory.get((state, number))
        if known is None:
            at = state
            out: list[int] = []
            for symbol in first.string(number):
                out.extend(second.string(write[at][symbol]))
                at = step[at][symbol]
                if at < 0:
                    break
            known = memory[state, number] = (at, tuple(out))
        return known

    targets, outputs = first.next_states, first.outputs
    width = first.n_inputs
    numbers = {(0, 0): 0}
    queue = [(0, 0)]
    rows: list[SymbolArray] = []
    written: list[SymbolArray] = []
    final: list[int] = []
    while len(rows) < len(queue):
        one, two = queue[len(rows)]
        used, which = np.unique(outputs[one], return_inverse=True)
        results = [through(two, int(number)) for number in used]
        onward = np.array([at for at, _ in results])[which]
        numbered = np.array([strings.number(out) for _, out in results])[which]
        good = (targets[one] >= 0) & (onward >= 0)
        row = np.full(width, -1, np.int32)
        pairs, place = np.unique(
            targets[one][good].astype(np.int64) * second.n_states + onward[good],
            return_inverse=True,
        )
        names = []
        for code in pairs.tolist():
            pair = divmod(code, second.n_states)
            if pair not in numbers:
                numbers[pair] = len(queue)
                queue.append(pair)
            names.append(numbers[pair])
        if len(queue) * width > max_entries:
            raise NotSequential(
                f"the composition has more than {len(queue) - 1:,} states over {width:,} inputs, "
                "too large for one table; run the two machines one after the other."
            )
        row[good] = np.array(names, np.int32)[place]
        rows.append(row)
        written.append(np.where(good, numbered, 0).astype(np.int32))
        last = -1
        if first.final[one] >= 0:
            at, out = through(two, int(first.final[one]))
            if at >= 0 and second.final[at] >= 0:
                last = strings.number((*out, *second.string(int(second.final[at]))))
        final.append(last)
    return SequentialTransducer(
        next_states=np.stack(rows),
        outputs=np.stack(written),
        final=np.array(final, np.int32),
        pool=strings.pool(),
        inputs=first.inputs,
        output_symbols=second.output_symbols,
    ).minimized()
