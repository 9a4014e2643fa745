"""Features of a sequence of units, hashed into a power of two of weights.

What a unit depends on is of two kinds. *Still* features see the input only: every window of up to
seven symbols around what the unit reads, single symbols further away, the place in the word, how
many vowels come before and after. *Moving* features see what was written as well: the last units,
the last three symbols, the last vowel, with and without the symbols to come. So the still ones are
added up once for each place and unit, whatever the hypotheses there are.
"""

from __future__ import annotations

from typing import NamedTuple

from sigmastar.core.jit import kernel
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray

__all__ = [
    "MOVING",
    "PAST",
    "STILL",
    "UnitTraits",
    "advance_past",
    "list_moving",
    "list_still",
    "mix",
    "slot_of",
    "sum_of",
]

_REACH = 5  # symbols of a window on either side of what is read
_WIDEST = 6  # and on both sides together
_NARROW = 2  # windows up to this are seen with the output alone, too
_SKIPS = (-3, -2, 1, 2)  # single symbols: before what is read, and after its neighbour
STILL = 26 + 6 + len(_SKIPS) + 3
MOVING = 11
PAST = 7  # the last three units, the last three symbols written, the last vowel written
_MASK = (1 << 40) - 1


class UnitTraits(NamedTuple):
    """What features see of each unit; the last is the end, which reads and writes nothing."""

    output: IndexArray  # a number for what it writes
    reads: SymbolArray  # how many input symbols it reads
    spelled: SymbolArray  # the symbols that it writes (-1: none)
    source_vowels: SymbolArray  # by input symbol: 1 for vowels
    target_vowels: SymbolArray  # by output symbol


@kernel
def mix(h: int, value: int) -> int:
    """Return the hash of what was hashed so far, and one number more."""
    return ((h * 1000003) ^ (int(value) + 7919 * (h >> 17) + 1)) & _MASK


@kernel
def _symbol(x: SymbolArray, place: int) -> int:
    if place < 0:
        return 1
    return int(x[place]) + 2 if place < len(x) else 0


@kernel
def list_still(
    x: SymbolArray, place: int, reads: int, traits: UnitTraits, contexts: IndexArray
) -> None:
    """Write the hashes of what the input looks like where a unit would read some symbols."""
    n = 0
    after = place + reads
    for left in range(_REACH + 1):
        h = 31 * left + 17
        for at in range(place - left, after):
            h = mix(h, _symbol(x, at))
        for right in range(min(_REACH, _WIDEST - left) + 1):
            if right > 0:
                h = mix(h, _symbol(x, after + right - 1))
            contexts[n] = mix(h, right)
            n += 1
            if left + right <= _NARROW:
                contexts[n] = -1 - mix(h, right + 90)  # to be seen with the output alone
                n += 1
    for skip in range(len(_SKIPS)):
        at = place + _SKIPS[skip] if _SKIPS[skip] < 0 else after + _SKIPS[skip]
        contexts[n] = mix(401 + skip, _symbol(x, at))
        n += 1
    before, behind = 0, 0
    for at in range(len(x)):
        if traits.source_vowels[x[at]] > 0:
            before += at < place
            behind += at >= after
    contexts[n] = mix(501, min(place, 3))
    contexts[n + 1] = mix(502, min(len(x) - after, 3))
    contexts[n + 2] = mix(mix(503, min(before, 4)), min(behind, 4))


@kernel
def list_moving(
    x: SymbolArray,
    after: int,
    past: IndexArray,
    row: int,
    contexts: IndexArray,
) -> None:
    """Write the hashes of what a unit comes after, and of the input behind it."""
    one, two = mix(601, past[row, 0]), mix(mix(602, past[row, 0]), past[row, 1])
    contexts[0] = one
    contexts[1] = two
    contexts[2] = mix(two, past[row, 2])
    last = past[row, 3]
    pair = mix(mix(604, last), past[row, 4])
    contexts[3] = -1 - mix(603, last)
    contexts[4] = -1 - pair
    contexts[5] = -1 - mix(pair, past[row, 5])
    contexts[6] = mix(605, last)
    ahead = mix(mix(606, last), _symbol(x, after))
    contexts[7] = ahead
    contexts[8] = mix(ahead, _symbol(x, after + 1))
    vowel = mix(607, past[row, 6])
    contexts[9] = -1 - vowel
    contexts[10] = mix(vowel, last)


@kernel
def slot_of(context: int, unit: int, output: int, size: int) -> int:
    """Return the weight of a context with a unit, or where it is below 0 with its output alone."""
    h = mix(context, unit) if context >= 0 else mix(-1 - context, output)
    return (h ^ (h >> 20)) & (size - 1)


@kernel
def sum_of(
    contexts: IndexArray, unit: int, output: int, weights: FloatArray, seen: FloatArray
) -> float:
    """Add up the weights of contexts with a unit, as far as they are seen."""
    total = 0.0
    for f in range(len(seen)):
        if seen[f] > 0.0:
            total += weights[slot_of(contexts[f], unit, output, len(weights))]
    return total


@kernel
def advance_past(past: IndexArray, row: int, unit: int, traits: UnitTraits, following: int) -> None:
    """Write what was written after one more unit into another row."""
    past[following, 0] = unit
    past[following, 1] = past[row, 0]
    past[following, 2] = past[row, 1]
    for step in range(3, PAST):
        past[following, step] = past[row, step]
    for step in range(traits.spelled.shape[1]):
        symbol = traits.spelled[unit, step]
        if symbol >= 0:
            past[following, 5] = past[following, 4]
            past[following, 4] = past[following, 3]
            past[following, 3] = symbol
            if traits.target_vowels[symbol] > 0:
                past[following, 6] = symbol
