"""One step of Baum–Welch, and how good parameters are on sequences they were not trained on."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from sigmastar.automata.inference.expected_counts import ExpectedCounts, Forest
from sigmastar.automata.inference.partitioned_counts import PartitionedForest
from sigmastar.automata.learn.blocks.em_family import Family, Parameters, log_prior
from sigmastar.automata.learn.blocks.mixing import IMPOSSIBLE
from sigmastar.core.types import FloatArray

__all__ = ["EMStep", "annealed", "em_step", "held_out_score"]

Weights: TypeAlias = tuple[FloatArray, FloatArray, FloatArray]  # initial, transitions, final


class EMStep(NamedTuple):
    """Better parameters, and what the old ones were worth.

    ``objective`` is the mean log-likelihood of a sequence under the old parameters, with the
    prior's share; ``impossible`` the weight of sequences that they could not produce; ``counts``
    what they were expected to be used for.
    """

    objective: float
    parameters: Parameters
    impossible: float
    counts: ExpectedCounts


def em_step(
    forest: Forest | PartitionedForest,
    family: Family,
    parameters: Parameters,
    *,
    beta: float = 1.0,
    n_jobs: int | None = None,
) -> EMStep:
    """Count what parameters are expected to be used for, and take the likeliest given that.

    ``beta`` is the power of path weights in the expectation: below one they are flattened.
    """
    weights = annealed(family.expand(parameters), beta)
    counts = forest.expected_counts(*weights, n_jobs=n_jobs)
    value = (counts.log_likelihood + log_prior(family, parameters)) / forest.weight
    return EMStep(value, family.maximize(counts, parameters), counts.impossible, counts)


def annealed(weights: Weights, beta: float) -> Weights:
    """Raise the weights of an automaton to a power."""
    return weights if beta == 1.0 else (weights[0] ** beta, weights[1] ** beta, weights[2] ** beta)


def held_out_score(
    forest: Forest | PartitionedForest, family: Family, parameters: Parameters, n_jobs: int | None
) -> float:
    """Return the mean log-likelihood of held-out sequences, impossible ones at a fixed price."""
    value, impossible = forest.log_likelihood(*family.expand(parameters), n_jobs=n_jobs)
    return (value + impossible * IMPOSSIBLE) / forest.weight
