"""Sweeps of collapsed Gibbs sampling over the states of a hidden Markov model.

What :mod:`.gibbs` does for automata. A model of many states has far fewer parameters as an HMM than
as a PFA, and a sweep takes less time; states that a sparse prior need not use fall out of use, so
chains may begin with more of them than there are in truth.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import gammaln

from sigmastar.automata.kernels.gibbs import draw_states
from sigmastar.automata.kernels.gibbs_hmm import MoveCounts, count_moves, sweep_moves
from sigmastar.automata.learn.blocks.em_family import HMMFamily, Parameters
from sigmastar.automata.learn.gibbs import GibbsSettings
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.types import FloatArray
from sigmastar.corpus.corpus import Corpus

__all__ = [
    "expected_parameters",
    "log_dirichlet",
    "log_joint_of_moves",
    "sample_hmm_on",
    "spread",
]

_POSSIBLE = 1e-6  # share of uniform outcomes in what chains begin from: no string is impossible


def sample_hmm_on(
    corpus: Corpus,
    start: Parameters,
    wanted: Callable[[int], bool],
    *,
    settings: GibbsSettings,
    random_state: RandomState = None,
) -> tuple[Parameters, int]:
    """Sweep on from an HMM's parameters while so many more are ``wanted`` (one is always made).

    Returns the expected parameters given the last states, and the number of sweeps.
    """
    rng = as_generator(random_state)
    states = np.zeros(corpus.n_symbols + len(corpus), dtype=np.int32)
    weights = HMMFamily().expand(spread(start))
    draw_states(corpus.symbols, corpus.offsets, *weights, states, rng)
    counts = MoveCounts.zero(len(start["initial"]), len(corpus.alphabet))
    count_moves(corpus.symbols, corpus.offsets, states, counts)
    a, b = float(settings.outcome_prior), float(settings.state_prior)
    done = 0
    while done == 0 or wanted(done):
        sweep_moves(corpus.symbols, corpus.offsets, states, counts, a, b, rng)
        done += 1
    return expected_parameters(counts, a, b), done


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
    inside = gammaln(rows + prior) - gammaln(prior)
    return float(inside.sum() + (gammaln(size) - gammaln(rows.sum(axis=1) + size)).sum())


def _shares(counts: FloatArray) -> FloatArray:
    shares: FloatArray = counts / counts.sum(axis=-1, keepdims=True)
    return shares


def spread(parameters: Parameters) -> Parameters:
    """Mix every distribution with a uniform one."""
    n, n_symbols = parameters["emission"].shape
    kept = 1.0 - _POSSIBLE
    return {
        "initial": kept * parameters["initial"] + _POSSIBLE / n,
        "transition": kept * parameters["transition"] + _POSSIBLE / n,
        "emission": kept * parameters["emission"] + _POSSIBLE / (n_symbols + 1),
        "stop": kept * parameters["stop"] + _POSSIBLE / (n_symbols + 1),
    }
