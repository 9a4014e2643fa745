"""Distances between two automata, by visiting every string up to a length.

    L1: Σ_{|x| ≤ L} |a(x) - b(x)|          KL: Σ_{|x| ≤ L} a(x) ln(a(x) / b(x))

Strings are visited breadth first in blocks: the forward vectors of all strings of a block are the
rows of a matrix, and one product with each operator gives those of their extensions. Branches on
which both automata are zero are cut. What the sum leaves out is reported beside it: for two
distributions the whole L1 distance lies between ``value`` and
``value + left_out_a + left_out_b``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from sigmastar.automata.models.subject import as_wfa, automaton_of
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.errors import InvalidModel, InvalidParameter
from sigmastar.core.progress import stage
from sigmastar.core.rules import Integer, check
from sigmastar.core.types import FloatArray
from sigmastar.corpus.alphabet import Alphabet

__all__ = ["Distance", "kl_divergence", "l1_distance"]

_BLOCK = 8192  # strings whose extensions are computed at once
_RULES = {"max_length": Integer(0), "max_strings": Integer(1)}


@dataclass(frozen=True)
class Distance:
    """A distance over the strings visited, and the mass that lies outside.

    Parameters
    ----------
    value : float
        The sum over the strings visited; ``float(distance)`` gives it too.
    left_out_a, left_out_b : float
        Mass of each automaton on longer strings (``inf`` where the mass is infinite).
    n_strings : int
        How many strings have a non-zero weight under a prefix of either automaton.
    """

    value: float
    left_out_a: float
    left_out_b: float
    n_strings: int

    def __float__(self) -> float:
        return self.value


def l1_distance(a: Any, b: Any, max_length: int, *, max_strings: int = 20_000_000) -> Distance:
    """Return Σ |a(x) - b(x)| over all strings of at most ``max_length`` symbols.

    Parameters
    ----------
    a, b : WFA, PFA, HMM or fitted estimator
        Their alphabets may differ: a symbol that one does not know has weight zero there.
    max_length : int
        The longest strings visited.
    max_strings : int
        Refuse if there are more strings than this.

    Examples
    --------
    >>> from sigmastar import Alphabet, PFA
    >>> half = PFA([1.0], [[[0.5]]], [0.5], Alphabet("a"))
    >>> third = PFA([1.0], [[[0.75]]], [0.25], Alphabet("a"))
    >>> l1_distance(half, third, 1)
    Distance(value=0.3125, left_out_a=0.25, left_out_b=0.5625, n_strings=2)
    """
    left, right = _comparable(a, b, max_length, max_strings)
    return _summed(left, right, max_length, lambda of_a, of_b: np.abs(of_a - of_b).sum())


def kl_divergence(a: Any, b: Any, max_length: int, *, max_strings: int = 20_000_000) -> Distance:
    """Return Σ a(x) ln(a(x)/b(x)), in nats, over all strings of at most ``max_length`` symbols.

    Both automata must be non-negative on these strings; the value is infinite if b is zero where a
    is not. The parameters are those of :func:`l1_distance`.
    """
    left, right = _comparable(a, b, max_length, max_strings)
    return _summed(left, right, max_length, _divergence)


def _divergence(of_a: FloatArray, of_b: FloatArray) -> float:
    lowest = min(float(of_a.min()), float(of_b.min()))
    if lowest < 0:
        raise InvalidModel(
            f"the Kullback-Leibler divergence needs weights that are not negative; a string "
            f"has weight {lowest:.3g}. Use l1_distance, or convert the model to a PFA."
        )
    seen = of_a > 0
    with np.errstate(divide="ignore"):
        return float(of_a[seen] @ (np.log(of_a[seen]) - np.log(of_b[seen])))


def _summed(
    left: WFA, right: WFA, max_length: int, term: Callable[[FloatArray, FloatArray], float]
) -> Distance:
    total = mass_a = mass_b = 0.0
    count = 0
    for of_a, of_b in _weights(left, right, max_length):
        total += float(term(of_a, of_b))
        mass_a += float(of_a.sum())
        mass_b += float(of_b.sum())
        count += len(of_a)
    return Distance(total, left.total_mass() - mass_a, right.total_mass() - mass_b, count)


def _comparable(a: Any, b: Any, max_length: int, max_strings: int) -> tuple[WFA, WFA]:
    check("max_length", max_length, _RULES["max_length"])
    check("max_strings", max_strings, _RULES["max_strings"])
    left, right = (as_wfa(automaton_of(model)) for model in (a, b))
    if left.alphabet.symbols != right.alphabet.symbols:
        symbols = dict.fromkeys((*left.alphabet.symbols, *right.alphabet.symbols))
        together = Alphabet(symbols)
        left, right = _over(left, together), _over(right, together)
    n_strings = 0
    for _ in range(max_length + 1):
        n_strings = n_strings * left.n_symbols + 1
        if n_strings > max_strings:
            raise InvalidParameter(
                f"max_length must leave at most {max_strings:,} strings (max_strings) to visit; "
                f"{left.n_symbols} symbols up to length {max_length} make more. "
                "Lower max_length, or raise max_strings."
            )
    return left, right


def _over(model: WFA, alphabet: Alphabet) -> WFA:
    """Return the same automaton over a larger alphabet."""
    operators = np.zeros((len(alphabet), model.n_states, model.n_states))
    operators[[alphabet.index(symbol) for symbol in model.alphabet]] = model.transitions
    return WFA(model.initial, operators, model.final, alphabet)


def _weights(a: WFA, b: WFA, max_length: int) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield the weights of all strings up to a length under both automata, block by block."""
    step = max(1, _BLOCK // max(a.n_symbols, 1))
    with stage("visit strings") as progress, threadpool_limits(1):
        # One block of forward vectors for each length, and how far it has been extended: going
        # deep first keeps memory at one block a length.
        open_blocks = [(a.initial[None, :], b.initial[None, :], -1)]
        while open_blocks:
            of_a, of_b, first = open_blocks.pop()
            length = len(open_blocks)
            if first < 0:
                alive = (of_a != 0).any(axis=1) | (of_b != 0).any(axis=1)
                of_a, of_b, first = of_a[alive], of_b[alive], 0
                if len(of_a):
                    progress.advance(len(of_a))
                    yield of_a @ a.final, of_b @ b.final
            if length < max_length and first < len(of_a):
                rows = slice(first, first + step)
                open_blocks.append((of_a, of_b, first + step))
                next_a = (of_a[rows] @ a.transitions).reshape(-1, a.n_states)
                next_b = (of_b[rows] @ b.transitions).reshape(-1, b.n_states)
                open_blocks.append((next_a, next_b, -1))
