"""Taggers by enumeration, and models whose moments are known exactly."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

import sigmastar as ss
from sigmastar.sensors.moments import FrameMoments


def random_tagger(seed, n_states=3, n_features=4, labels="ab", signed=False):
    """Draw a tagger of the mixture-transition model, or one with weights of both signs."""
    rng = np.random.default_rng(seed)
    shape = (len(labels), n_features, n_states, n_states)
    operators = rng.random(shape) ** 2
    operators /= operators.sum(axis=(0, 3))[None, :, :, None]
    if signed:
        operators -= 0.15 * rng.random(shape)
    initial = rng.dirichlet(np.ones(n_states))
    typical = rng.dirichlet(np.ones(n_features))
    return ss.ContinuousTagger(initial, operators, np.ones(n_states), ss.Alphabet(labels), typical)


def random_features(seed, n_frames, n_features=4):
    return np.random.default_rng(seed).dirichlet(np.full(n_features, 0.5), n_frames)


def weight(model, features, labels):
    """f(x, y) as it is written."""
    state = model.initial
    for row, label in zip(features, labels, strict=True):
        state = state @ sum(w * o for w, o in zip(row, model.operators[label], strict=True))
    return float(state @ model.final)


def all_weights(model, features):
    """Every labelling and its weight."""
    every = product(range(model.n_labels), repeat=len(features))
    return {labels: weight(model, features, labels) for labels in every}


def marginals(model, features):
    """Σ over labellings with y_t = σ, by enumeration."""
    table = np.zeros((len(features), model.n_labels))
    for labels, value in all_weights(model, features).items():
        table[np.arange(len(labels)), labels] += value
    return table


@dataclass
class FiniteWorld:
    """A stationary tagger over finitely many inputs, each with a feature vector."""

    model: ss.ContinuousTagger
    inputs: np.ndarray
    shares: np.ndarray

    def moments(self):
        """H1, H2 and C as expectations."""
        f, b = self._forward(), self._backward()
        mean = self.shares @ self.inputs
        gram = (self.inputs * self.shares[:, None]).T @ self.inputs
        sums = {"mean_sum": mean, "pair_sum": f @ b, "gram_sum": gram, "first_sum": mean}
        return FrameMoments(**sums, n_frames=1, n_pairs=1, n_sequences=1)

    def triple(self, left, right):
        """Lᵀ H_l^σ R as expectations."""
        gram = (self.inputs * self.shares[:, None]).T @ self.inputs
        middle = np.einsum("lr,srij->slij", gram, self.model.operators)
        return np.einsum(
            "ka,ki,slij,jm,mb->slab", left, self._forward(), middle, self._backward(), right
        )

    def _moves(self):
        return np.einsum("xk,skij->xij", self.inputs, self.model.operators)

    def _forward(self):
        after = self.model.initial @ self._moves()
        return (self.inputs * self.shares[:, None]).T @ after

    def _backward(self):
        before = self._moves() @ self.model.final
        return before.T @ (self.inputs * self.shares[:, None])


def finite_world(seed, n_states=3, n_features=5, n_inputs=9, n_labels=2, indicators=False):
    """Draw operators, then scale them until inputs have their shares in every position.

    With w_l = E[φ_l], the table w_l O_l(i, j) / m must have the margins w, 1/m and 1/m: iterative
    proportional fitting. The process is then stationary and O is a density against the shares.
    """
    rng = np.random.default_rng(seed)
    if indicators:
        n_inputs = n_features
        inputs = np.eye(n_features)
    else:
        inputs = rng.dirichlet(np.full(n_features, 0.4), n_inputs)
    shares = rng.dirichlet(np.full(n_inputs, 5.0))
    w = shares @ inputs
    table = rng.random((n_features, n_states, n_states)) ** 3
    for _ in range(2000):
        table *= (w / table.sum(axis=(1, 2)))[:, None, None]
        table *= (1 / n_states / table.sum(axis=(0, 2)))[None, :, None]
        table *= (1 / n_states / table.sum(axis=(0, 1)))[None, None, :]
    split = rng.dirichlet(np.ones(n_labels), (n_features, n_states, n_states))
    operators = (table * n_states / w[:, None, None])[None] * split.transpose(3, 0, 1, 2)
    model = ss.ContinuousTagger(
        np.full(n_states, 1 / n_states),
        operators,
        np.ones(n_states),
        ss.Alphabet([f"label{i}" for i in range(n_labels)]),
        w,
    )
    return FiniteWorld(model, inputs, shares)


def robot_walk(seed, n_sequences=40, length=30):
    """Noisy readings of a hidden mode that lasts a while; the label is the mode."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n_sequences):
        modes = np.repeat(rng.integers(0, 3, length), rng.integers(3, 9, length))[:length]
        centres = np.array([[0.0, 0.0], [1.5, 0.0], [0.0, 1.5]])
        X.append(centres[modes] + rng.normal(0.0, 0.7, (length, 2)))
        y.append([("still", "left", "right")[mode] for mode in modes])
    return X, y
