"""Sweeps of collapsed Gibbs sampling over the states of a hidden Markov model.

What :mod:`.gibbs` does for automata. A model of many states has far fewer parameters as an HMM than
as a PFA, and a sweep takes less time; states that a sparse prior need not use fall out of use, so
chains may begin with more of them than there are in truth.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from sigmastar.automata.kernels.gibbs_hmm import MoveCounts
from sigmastar.automata.learn.blocks.em_family import Parameters
from sigmastar.automata.learn.gibbs import POSSIBLE
from sigmastar.core.types import FloatArray

__all__ = [
    "expected_parameters",
    "log_dirichlet",
    "log_joint_of_moves",
    "spread",
]


def expected_parameters(counts: MoveCounts, a: float, b: float) -> Parameters:
    """Return the mean of the parameters' posterior given the states drawn."""
    outcomes = np.vstack([counts.uses, counts.ends]).T + a
    outcomes /= outcomes.sum(axis=1, keepdims=True)
    return {
        "initial": _shares(counts.starts + b),
        "transition": _shares(counts.moves + b),
        "emission": np.ascontiguousarray(outcomes[:, :-1]),
        "stop": np.ascontiguousarray(outcomes[:, -1]),
    }


def log_joint_of_moves(counts: MoveCounts, a: float, b: float) -> float:
    """Return log P(strings, states) with the parameters integrated out."""
    outcomes = np.vstack([counts.uses, counts.ends]).T
    draws = ((counts.starts, b), (counts.moves, b), (outcomes, a))
    return float(sum(log_dirichlet(table, prior) for table, prior in draws))


def log_dirichlet(table: FloatArray, prior: float) -> float:
    """Log-probability of draws from multinomials, one a row, under symmetric Dirichlet priors."""
    rows = np.atleast_2d(table)
    size = rows.shape[1] * prior
    drawn = rows[rows > 0]  # few of all; the others add nothing
    inside = gammaln(drawn + prior) - gammaln(prior)
    return float(inside.sum() + (gammaln(size) - gammaln(rows.sum(axis=1) + size)).sum())


def _shares(counts: FloatArray) -> FloatArray:
    shares: FloatArray = counts / counts.sum(axis=-1, keepdims=True)
    return shares


def spread(parameters: Parameters) -> Parameters:
    """Mix every distribution with a uniform one."""
    n, n_symbols = parameters["emission"].shape
    kept = 1.0 - POSSIBLE
    return {
        "initial": kept * parameters["initial"] + POSSIBLE / n,
        "transition": kept * parameters["transition"] + POSSIBLE / n,
        "emission": kept * parameters["emission"] + POSSIBLE / (n_symbols + 1),
        "stop": kept * parameters["stop"] + POSSIBLE / (n_symbols + 1),
    }
