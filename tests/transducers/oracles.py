"""Exact moments and brute-force sums for small transducers."""

from itertools import product

import numpy as np

from sigmastar import Alphabet
from sigmastar.transducers.models.parametric import ParametricTransducer
from sigmastar.transducers.moments.trigrams import AlignedMoments


def random_parameters(k, size, m, seed):
    rng = np.random.default_rng(seed)
    return ParametricTransducer(
        rng.dirichlet(np.full(m, 3.0)),
        rng.dirichlet(np.ones(m), (k, m)),
        rng.dirichlet(np.full(size, 0.7), m),
        Alphabet(range(k)),
        Alphabet(range(size)),
    )


def path_sum(model, x, y):
    """Return P(y | x) by summing over all state sequences."""
    total = 0.0
    for h in product(range(model.n_states), repeat=len(x) + 1):
        weight = model.initial[h[0]]
        for s, (a, b) in enumerate(zip(x, y, strict=True)):
            weight *= model.emission[h[s], b] * model.transition[a, h[s], h[s + 1]]
        total += weight
    return total


def exact_moments(model, input_probability, k, size):
    """Compute the moments of an infinite sample, for given probabilities of three inputs."""
    operators = model.to_transducer() if hasattr(model, "to_transducer") else model
    trigrams, weights = [], []
    for x in product(range(k), repeat=3):
        for y in product(range(size), repeat=3):
            state = operators.initial
            for a, b in zip(x, y, strict=True):
                state = state @ operators.operator(a, b)
            trigrams.append([a * size + b for a, b in zip(x, y, strict=True)])
            weights.append(input_probability(*x) * float(state @ operators.final))
    trigrams, weights = np.array(trigrams), np.array(weights)
    first = np.bincount(trigrams[:, 0], weights, minlength=k * size)
    return AlignedMoments(
        trigrams, weights, first, Alphabet(range(k)), Alphabet(range(size)), 1.0, 3.0
    )


def markov_inputs(k, seed):
    rng = np.random.default_rng(seed)
    start, move = rng.dirichlet(np.ones(k)), rng.dirichlet(np.full(k, 0.4), k)
    return lambda a, b, c: start[a] * move[a, b] * move[b, c]


def best_permutation_gap(found, true):
    """Return the largest parameter error under the best matching of states."""
    cost = np.abs(found.emission[:, None] - true.emission[None]).sum(axis=2)
    order = cost.argmin(axis=0)
    return max(
        np.abs(found.emission[order] - true.emission).max(),
        np.abs(found.initial[order] - true.initial).max(),
        np.abs(found.transition[:, order][:, :, order] - true.transition).max(),
    )
