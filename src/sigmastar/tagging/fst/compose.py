"""Composition of two sequential transducers: the second reads what the first writes."""

from __future__ import annotations

from functools import cache

import numpy as np

from sigmastar.core.errors import InvalidParameter
from sigmastar.tagging.fst.openfst import NotSequential
from sigmastar.tagging.fst.sequential import Growing, SequentialTransducer

__all__ = ["compose"]


def compose(
    first: SequentialTransducer, second: SequentialTransducer, *, max_entries: int = 1 << 26
) -> SequentialTransducer:
    """Return the sequential transducer that runs the one after the other."""
    if first.output_symbols != second.inputs:
        raise InvalidParameter("the second transducer must read the symbols that the first writes.")
    step, write = second.next_states.tolist(), second.outputs.tolist()

    @cache
    def through(state: int, number: int) -> tuple[int, tuple[int, ...]]:
        """Run the second machine over one output string of the first."""
        out: list[int] = []
        for symbol in first.string(number):
            out.extend(second.string(write[state][symbol]))
            state = step[state][symbol]
            if state < 0:
                break
        return state, tuple(out)

    targets, outputs = first.next_states, first.outputs
    width = first.n_inputs
    grown = Growing((0, 0), second.output_symbols)
    for one, two in grown.states:
        used, which = np.unique(outputs[one], return_inverse=True)
        results = [through(two, int(number)) for number in used]
        onward = np.array([at for at, _ in results])[which]
        numbered = np.array([grown.string(out) for _, out in results])[which]
        good = (targets[one] >= 0) & (onward >= 0)
        row = np.full(width, -1, np.int32)
        pairs, place = np.unique(
            targets[one][good].astype(np.int64) * second.n_states + onward[good],
            return_inverse=True,
        )
        numbers = [grown.state(divmod(pair, second.n_states)) for pair in pairs.tolist()]
        if len(grown.states) * width > max_entries:
            raise NotSequential(
                f"the composition has more than {len(grown.states) - 1:,} states over {width:,} "
                "inputs, too large for one table; run the two machines one after the other."
            )
        row[good] = np.array(numbers, np.int32)[place]
        last = -1
        if first.final[one] >= 0:
            at, out = through(two, int(first.final[one]))
            if at >= 0 and second.final[at] >= 0:
                last = grown.string((*out, *second.string(int(second.final[at]))))
        grown.add(row, np.where(good, numbered, 0), last)
    return grown.machine(first.inputs)
