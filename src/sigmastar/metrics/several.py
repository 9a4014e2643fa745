"""Errors where an input has several right outputs: each is compared with the nearest of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sigmastar.core.errors import InvalidData
from sigmastar.core.types import Symbol

__all__ = ["NearestErrors", "nearest_errors"]

Text = Sequence[Symbol]


@dataclass(frozen=True)
class NearestErrors:
    """Error rates of distinct inputs, and what went wrong most.

    Attributes
    ----------
    n_inputs : int
        How many distinct inputs there are.
    input_error_rate : float
        The share of them whose output is none of the right ones.
    symbol_error_rate : float
        Edits that the outputs need, over the symbols of the nearest right ones.
    confusions : list of (right, written, times)
        Symbols taken for others, the commonest first; "" where one was left out or put in.
    worst : list of (input, nearest right output, output, edits)
        Wrong outputs, those with most edits first.
    """

    n_inputs: int
    input_error_rate: float
    symbol_error_rate: float
    confusions: list[tuple[str, str, int]]
    worst: list[tuple[list[Symbol], list[Symbol], list[Symbol], int]]


def nearest_errors(
    inputs: Iterable[Text], references: Iterable[Text], guesses: Iterable[Text]
) -> NearestErrors:
    """Compare outputs with the right ones, several of which may belong to one input.

    Parameters
    ----------
    inputs, references, guesses : iterables of sequences, equally many
        Equal inputs are one; their references are all right, and their first guess counts.
    """
    right: dict[tuple[Symbol, ...], list[list[Symbol]]] = {}
    written: dict[tuple[Symbol, ...], list[Symbol]] = {}
    for given, reference, guess in zip(inputs, references, guesses, strict=True):
        right.setdefault(tuple(given), []).append(list(reference))
        written.setdefault(tuple(given), list(guess))
    if not right:
        raise InvalidData("there must be at least one input to count errors of; got none.")
    confusions: Counter[tuple[str, str]] = Counter()
    worst, n_edits, n_symbols = [], 0, 0
    for given, outputs in right.items():
        guess = written[given]
        taken = [_edits(output, guess) for output in outputs]
        best = min(range(len(taken)), key=lambda place: len(taken[place]))
        n_edits += len(taken[best])
        n_symbols += len(outputs[best])
        confusions.update(taken[best])
        if taken[best]:
            worst.append((list(given), outputs[best], guess, len(taken[best])))
    worst.sort(key=lambda row: -row[3])
    common = [(a, b, times) for (a, b), times in confusions.most_common()]
    rate = n_edits / max(n_symbols, 1)
    return NearestErrors(len(right), len(worst) / len(right), rate, common, worst)


def _edits(a: Text, b: Text) -> list[tuple[str, str]]:
    """Return the fewest edits that make b of a: (symbol, symbol), one of them "" for none."""
    if list(a) == list(b):
        return []
    costs = np.zeros((len(a) + 1, len(b) + 1), dtype=np.int64)
    costs[:, 0], costs[0, :] = np.arange(len(a) + 1), np.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            swapped = costs[i - 1, j - 1] + (a[i - 1] != b[j - 1])
            costs[i, j] = min(swapped, costs[i - 1, j] + 1, costs[i, j - 1] + 1)
    found = []
    i, j = len(a), len(b)
    while i or j:
        if i and j and costs[i, j] == costs[i - 1, j - 1] + (a[i - 1] != b[j - 1]):
            i, j = i - 1, j - 1
            if a[i] != b[j]:
                found.append((str(a[i]), str(b[j])))
        elif i and costs[i, j] == costs[i - 1, j] + 1:
            i -= 1
            found.append((str(a[i]), ""))
        else:
            j -= 1
            found.append(("", str(b[j])))
    return found[::-1]
