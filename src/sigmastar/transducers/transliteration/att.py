"""The joint n-gram model as a weighted transducer in AT&T text, for OpenFst, Kaldi and Pynini.

States are contexts. An n-gram that was seen is an arc that reads and writes what its last unit does
(a chain of arcs where that is more than one symbol) and costs −log p; backing off is an arc that
reads and writes nothing and costs −log of the back-off weight; the end of a word is the final
weight of a state. Interpolated probabilities are never below what backing off would give for the
same unit, so that the cheapest path takes an n-gram nearly wherever there is one; now and then it
backs off early, to be in another context later, and so do models with ``alignments="best"``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from sigmastar.core.errors import InvalidModel
from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.transducers.moments.lattices import Units
from sigmastar.transducers.transliteration.joint_ngram import JointNgram

__all__ = ["AttMachine", "ngram_machine"]

EPSILON = "<eps>"


class AttMachine(NamedTuple):
    """A machine as text: arcs by number, and the two tables that name the numbers."""

    arcs: str
    inputs: str
    outputs: str


def ngram_machine(
    ngram: JointNgram, units: Units, source: Alphabet, target: Alphabet
) -> AttMachine:
    """Write a joint n-gram model as a transducer from source to target symbols."""
    children: defaultdict[int, list[int]] = defaultdict(list)
    for node, parent in enumerate(ngram.parent.tolist()[1:], start=1):
        children[parent].append(node)
    unit, landing, suffix = ngram.unit.tolist(), ngram.landing.tolist(), ngram.suffix.tolist()
    begin, end = ngram.n_units, ngram.n_units + 1
    start = next(landing[node] for node in children[0] if unit[node] == begin)
    reads, writes = _labels(units.inputs), _labels(units.outputs)
    number = {start: 0}
    waiting = [start]
    rows: list[str] = []
    extra: list[tuple[int, int, list[int], list[int], float]] = []  # chains, numbered last

    def state(context: int) -> int:
        if context not in number:
            number[context] = len(number)
            waiting.append(context)
        return number[context]

    for context in waiting:  # grows while it is walked through
        here = number[context]
        for node in children[context]:
            cost = -float(ngram.log_prob[node])
            if unit[node] == end:
                rows.append(f"{here}\t{cost:.9g}")
            elif unit[node] != begin:
                taken = (reads[unit[node]], writes[unit[node]])
                extra.append((here, state(landing[node]), *taken, cost))
        if context:
            cost = -float(ngram.back_off[context])
            extra.append((here, state(suffix[context]), [], [], cost))
    used = len(number)
    arcs: list[str] = []
    for chain in extra:
        arcs += _chain(*chain, used)
        used += max(len(chain[2]), len(chain[3]), 1) - 1
    text = "\n".join([*arcs, *rows, ""])  # the first arc leaves the start, as the format asks
    return AttMachine(text, _table(source), _table(target))


def _chain(
    leaves: int, arrives: int, reads: list[int], writes: list[int], cost: float, used: int
) -> Iterator[str]:
    """Write a path between two states; those on its way have the numbers from ``used`` on."""
    length = max(len(reads), len(writes), 1)
    for step in range(length):
        goal = arrives if step == length - 1 else used + step
        label = reads[step] if step < len(reads) else 0
        written = writes[step] if step < len(writes) else 0
        yield f"{leaves}\t{goal}\t{label}\t{written}\t{cost if step == 0 else 0.0:.9g}"
        leaves = goal


def _labels(symbols: SymbolArray | IndexArray) -> list[list[int]]:
    return [[code + 1 for code in row if code >= 0] for row in symbols.tolist()]


def _table(alphabet: Alphabet) -> str:
    """Name the symbols of an alphabet, after the empty one; a space is named <space>."""
    names = [EPSILON]
    for symbol in alphabet:
        text = "".join(map(str, symbol)) if isinstance(symbol, tuple) else str(symbol)
        names.append("<space>" if text == " " else text)
    if len(set(names)) < len(names) or any(not n or any(map(str.isspace, n)) for n in names):
        raise InvalidModel(
            f"symbols must have different names without spaces, other than {EPSILON!r}, in a "
            "symbol table. Rename them before learning."
        )
    return "".join(f"{name}\t{code}\n" for code, name in enumerate(names))
