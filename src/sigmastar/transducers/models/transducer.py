"""Transducers in operator form: P(y | x) = initial · A(x1, y1) · … · A(xt, yt) · final.

Rows are where an arc leaves, as in a weighted automaton. Operators are stored only
for pairs that have one: ``table[a, b]`` is the place of A(a, b) among them, or -1 (the operator is
zero); several pairs may share one, as inputs never seen in training do. A learned transducer may
have negative weights; one that has none, and whose states' weights sum to one for every input, is
proper: a conditional distribution by construction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from sigmastar.core.errors import InvalidModel
from sigmastar.core.facts import Codes, Fact, Floats
from sigmastar.core.types import BoolArray, FloatArray, SymbolArray
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.transducers.kernels.operators import Machine
from sigmastar.transducers.models.two_sided import TwoSided

__all__ = ["Transducer"]

TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Transducer(TwoSided):
    """A weighted transducer that reads and writes one symbol at a time.

    Parameters
    ----------
    initial : array (n_states,)
        Initial weights.
    operators : array (n_operators, n_states, n_states)
        The distinct operators; rows are where an arc leaves, columns where it arrives.
    final : array (n_states,)
        Final weights.
    table : array of int32 (n_inputs, n_outputs)
        Which operator belongs to each pair of symbols; -1 for none.
    input_alphabet, output_alphabet : Alphabet
        The symbols read and written.
    joint : bool
        Whether the weights describe f(x, y) instead of P(y | x): scores are then divided by the
        sum over all outputs.

    Examples
    --------
    >>> table = [[0, -1], [-1, 0]]
    >>> copy = Transducer([1.0], [[[1.0]]], [1.0], table, Alphabet("ab"), Alphabet("xy"))
    >>> copy.n_states, copy.is_proper
    (1, True)
    """

    initial: FloatArray
    operators: FloatArray
    final: FloatArray
    table: SymbolArray
    input_alphabet: Alphabet
    output_alphabet: Alphabet
    joint: bool = False

    kind: ClassVar[str] = "Transducer"

    array_facts: ClassVar[Mapping[str, Fact]] = {
        "initial": Floats("states"),
        "operators": Floats("operators", "states", "states"),
        "final": Floats("states"),
        "table": Codes("inputs", "outputs", low=-1, below="operators"),
    }
    flags: ClassVar[tuple[str, ...]] = ("joint",)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "joint", bool(self.joint))

    @classmethod
    def from_dense(
        cls,
        initial: ArrayLike,
        operators: ArrayLike,
        final: ArrayLike,
        input_alphabet: Alphabet,
        output_alphabet: Alphabet,
    ) -> Transducer:
        """Build from one operator for each pair: an array (n_inputs, n_outputs, n, n)."""
        dense = np.array(operators, dtype=np.float64)
        if dense.ndim != 4:
            raise InvalidModel(f"operators must have four dimensions; got shape {dense.shape}.")
        table = np.arange(dense.shape[0] * dense.shape[1], dtype=np.int32).reshape(dense.shape[:2])
        flat = dense.reshape(-1, *dense.shape[2:])
        return cls(initial, flat, final, table, input_alphabet, output_alphabet)  # type: ignore[arg-type]

    @property
    def machine(self) -> Machine:
        """The weights, as kernels take them."""
        return Machine(self.initial, self.operators, self.final)

    def operator(self, source: int, target: int) -> FloatArray:
        """Return A(a, b) for two codes."""
        place = int(self.table[source, target])
        return self.operators[place] if place >= 0 else np.zeros((self.n_states, self.n_states))

    def dense(self) -> FloatArray:
        """Return all operators, (n_inputs, n_outputs, n_states, n_states)."""
        full = np.concatenate([self.operators, np.zeros((1, self.n_states, self.n_states))])
        return full[self.table]

    @cached_property
    def input_sums(self) -> FloatArray:
        """Σ_b A(a, b) for each input symbol: the operator of reading it, whatever is written."""
        sums = np.zeros((self.n_inputs, self.n_states, self.n_states))
        for code, row in enumerate(self.table):
            np.add.at(sums, np.full((row >= 0).sum(), code), self.operators[row[row >= 0]])
        sums.setflags(write=False)
        return sums

    @cached_property
    def is_proper(self) -> bool:
        """Whether the weights are a conditional distribution by construction."""
        return self.is_proper_for(np.ones(self.n_inputs, dtype=bool))

    @property
    def reads(self) -> BoolArray:
        """Which inputs have an operator at all."""
        return np.asarray((self.table >= 0).any(axis=1))

    def is_proper_for(self, inputs: BoolArray) -> bool:
        """Tell whether the weights are a conditional distribution as long as these are read."""
        if (self.operators < 0).any() or (self.initial < 0).any() or self.joint:
            return False
        leaving = self.input_sums[inputs] @ self.final - self.final
        return bool(
            np.abs(leaving).max(initial=0.0) <= TOLERANCE
            and abs(self.initial @ self.final - 1.0) <= TOLERANCE
        )

    def allclose(self, other: Transducer, *, rtol: float = 1e-9, atol: float = 1e-12) -> bool:
        """Tell whether two transducers have the same alphabets and nearly the same weights."""
        sides = ((m.input_alphabet, m.output_alphabet, m.n_states) for m in (self, other))
        weights = ((m.initial, m.final, m.dense()) for m in (self, other))
        return next(sides) == next(sides) and all(
            np.allclose(a, b, rtol=rtol, atol=atol) for a, b in zip(*weights, strict=True)
        )

    def facts(self) -> dict[str, Any]:
        """Return the sizes and the two alphabets."""
        return {**super().facts(), "operators": len(self.operators), "joint": self.joint}

    def picture(self) -> FloatArray:
        """Return the mean operator of an input symbol, whatever is written."""
        return np.asarray(self.input_sums.mean(axis=0), dtype=np.float64)

    def to_openfst(self) -> Any:
        """Return a ``pynini.Fst`` over the log semiring (extra ``fst``); no negative weights."""
        from sigmastar.transducers.models.openfst import transducer_to_openfst

        return transducer_to_openfst(self)
