"""Random transducers with inputs of three symbols, whose distribution is known exactly.

A sample of n pairs is a multinomial draw from the exact distribution of (x1:y1, x2:y2, x3:y3), so a
million pairs cost no more than a thousand. The error of a learned transducer is the L1 distance
d = Σ_x D(x) Σ_y |P(y|x) − P̂(y|x)| (Balle, Quattoni and Carreras 2011, eq. 21).
"""

from __future__ import annotations

from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.transducers.learn.theory import difficulty
from sigmastar.transducers.models.parametric import ParametricTransducer
from sigmastar.transducers.models.transducer import Transducer
from sigmastar.transducers.moments.trigrams import AlignedMoments

__all__ = [
    "SMALL",
    "Shape",
    "TransducerProblem",
    "all_strings",
    "all_values",
    "conditional",
    "posed_problem",
    "random_problem",
]

LENGTH = 3


class Shape(NamedTuple):
    """How many inputs, outputs and states a problem has."""

    inputs: int = 3
    outputs: int = 3
    states: int = 2


SMALL = Shape()  # of most experiments in the paper


class TransducerProblem:
    """A transducer and a distribution over inputs of length three, a table (k, k, k)."""

    def __init__(self, model: ParametricTransducer, inputs: FloatArray) -> None:
        self.model = model
        self.inputs = inputs
        self.k, self.size = len(model.input_alphabet), len(model.output_alphabet)

    @cached_property
    def operators(self) -> Transducer:
        """The operator form of the model."""
        return self.model.to_transducer()

    @cached_property
    def prob(self) -> FloatArray:
        """P(y | x) by x1, y1, x2, y2, x3, y3."""
        return all_values(self.operators)

    @cached_property
    def joint(self) -> FloatArray:
        """The probability of every pair, in the order of ``trigrams``."""
        return np.asarray((_by_input(self.inputs) * self.prob).ravel(), dtype=np.float64)

    @cached_property
    def trigrams(self) -> IndexArray:
        """All trigrams of pair codes, (n, 3)."""
        n = self.k * self.size
        return np.indices((n, n, n)).reshape(LENGTH, -1).T.astype(np.int64)

    def moments(self, counts: FloatArray) -> AlignedMoments:
        """Return the moments of a sample, given how often each pair of strings occurred."""
        kept = counts > 0
        first = np.bincount(self.trigrams[:, 0], counts, minlength=self.k * self.size)
        return AlignedMoments(
            self.trigrams[kept],
            counts[kept].astype(np.float64),
            first.astype(np.float64),
            self.model.input_alphabet,
            self.model.output_alphabet,
            float(counts.sum()),
            LENGTH * float(counts.sum()),
        )

    def sample(self, n: int, rng: np.random.Generator) -> AlignedMoments:
        """Draw n pairs."""
        return self.moments(rng.multinomial(n, self.joint / self.joint.sum()).astype(np.float64))

    def error(self, learned: Transducer) -> float:
        """Return the L1 distance of a learned transducer over strings of length three."""
        gaps = np.abs(all_values(learned) - self.prob)
        return float((_by_input(self.inputs) * gaps).sum())

    @cached_property
    def bigrams(self) -> FloatArray:
        """P[y1 = j, y2 = i] by x2, y2 = i, y1 = j, together with the probability of x2."""
        emission = self.model.emission
        begun = (self.model.initial[:, None] * emission).T  # y1 × states
        moves = np.tensordot(self.inputs.sum(axis=2).T, self.model.transition, 1)  # by x2
        return np.asarray((begun @ moves @ emission).transpose(0, 2, 1), dtype=np.float64)

    def difficulty(self) -> float:
        """Return c = λ² m l / (μ σ_O² σ_P⁴), from the true parameters."""
        states = self.model.n_states
        return difficulty(
            mean_length=LENGTH,
            n_states=states,
            n_outputs=self.size,
            rarest=float(self.inputs.sum(axis=(0, 2)).min()),
            sigma_output=float(np.linalg.svd(self.model.emission, compute_uv=False)[states - 1]),
            sigma_bigrams=float(np.linalg.svd(self.bigrams.sum(0), compute_uv=False)[states - 1]),
        )


def _by_input(table: FloatArray) -> FloatArray:
    """Lay a table over x1, x2, x3 out beside one over x1, y1, x2, y2, x3, y3."""
    return table[:, None, :, None, :, None]


def all_values(model: Transducer) -> FloatArray:
    """Return the raw P(y | x) of all pairs of length three, by x1, y1, x2, y2, x3, y3."""
    dense = model.dense()
    k, size, m, _ = dense.shape
    flat = dense.reshape(-1, m, m)
    one = model.initial @ flat
    two = one @ flat.transpose(1, 0, 2).reshape(m, -1)
    values: FloatArray = two.reshape(-1, m) @ (flat @ model.final).T
    values = values.reshape(k, size, k, size, k, size)
    return values / _floored(values.sum(axis=(1, 3, 5), keepdims=True)) if model.joint else values


def conditional(model: Transducer, x: IndexArray, y: IndexArray) -> FloatArray:
    """Return the raw P(y | x) of every x (rows) and y (columns), strings of one length."""
    dense = model.dense()
    state = np.broadcast_to(model.initial, (len(x), len(y), model.n_states))
    total = np.broadcast_to(model.initial, (len(x), model.n_states))
    for place in range(x.shape[1]):
        chosen = dense[x[:, None, place], y[None, :, place]]
        state = np.einsum("xyi,xyij->xyj", state, chosen)
        total = np.einsum("xi,xij->xj", total, model.input_sums[x[:, place]])
    values: FloatArray = state @ model.final
    return values / _floored(total @ model.final)[:, None] if model.joint else values


def _floored(values: FloatArray) -> FloatArray:
    return np.where(np.abs(values) > 1e-12, values, 1e-12)


def random_problem(
    rng: np.random.Generator, shape: Shape = SMALL, inputs: str = "independent"
) -> TransducerProblem:
    """Draw a transducer and inputs.

    ``inputs``: "independent" symbols; a "markov" chain; or "history", where the third symbol
    depends on both others, so that no small HMM describes the pairs.
    """
    k, size, m = shape
    model = ParametricTransducer(
        rng.dirichlet(np.full(m, 3.0)),
        rng.dirichlet(np.ones(m), (k, m)),
        rng.dirichlet(np.full(size, 0.6), m),
        Alphabet(range(k)),
        Alphabet(range(size)),
    )
    if inputs == "independent":
        share = _spread(rng, k)
        table = share[:, None, None] * share[None, :, None] * share
    elif inputs == "markov":
        move = rng.dirichlet(np.full(k, 0.5), k)
        table = _spread(rng, k)[:, None, None] * move[:, :, None] * move[None, :, :]
    else:
        share, last = _spread(rng, k), rng.dirichlet(np.full(k, 0.3), (k, k))
        table = share[:, None, None] * share[None, :, None] * last
    return TransducerProblem(model, table)


def posed_problem(
    rng: np.random.Generator, shape: Shape = SMALL, inputs: str = "independent"
) -> TransducerProblem:
    """Draw problems until one is not degenerate.

    Not degenerate: of P and of every P^(a), the singular value that belongs to the last state is at
    least 0.03.
    """
    while True:
        problem = random_problem(rng, shape, inputs)
        table = problem.bigrams
        shares = table / table.sum(axis=(1, 2), keepdims=True)
        both = np.concatenate([shares, table.sum(axis=0, keepdims=True)])
        if np.linalg.svd(both, compute_uv=False)[:, shape.states - 1].min() >= 0.03:
            return problem


def all_strings(size: int, length: int) -> IndexArray:
    """Return all strings of a length over so many symbols, one a row."""
    return np.array(list(product(range(size), repeat=length)))


def _spread(rng: np.random.Generator, k: int) -> FloatArray:
    """Draw a uniform, a bell-shaped or a power distribution over k symbols."""
    kind = rng.integers(3)
    grid = np.arange(k)
    shape: np.ndarray[Any, Any] = np.ones(k)
    if kind == 1:
        shape = np.exp(-0.5 * ((grid - k / 2) / (rng.uniform(0.4, 1.5) * k)) ** 2)
    elif kind == 2:
        shape = (grid + 1.0) ** -rng.uniform(0.2, 1.5)
    return np.asarray(shape / shape.sum(), dtype=np.float64)
