"""Stepwise EM: parameters move after every few parts instead of after all of them.

The sufficient statistics of EM are expected counts. Stepwise EM keeps an estimate s of what they
are over all data and moves it a little towards what each mini-batch B says,

    s ← (1 - η_k) s + η_k · (N / |B|) · counts(B; θ),    θ ← argmax(s),    η_k = (k + 2)^-power,

for updates k = 0, 1, … . Where a pass takes hours, one or two of them are often worth ten steps of
batch EM, which uses a pass for each. A batch is a run of neighbouring parts, batches come in
order, and the counts of a batch are added along the tree of its parts: who counts leaves no trace.
The estimate starts as the counts that the first parameters expect of N visits to each state, so
that what the first batches do not show is rare but never impossible.

Source: Liang, Klein, "Online EM for unsupervised models" (2009); Cappé, Moulines (2009).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.automata.inference.expected_counts import ExpectedCounts
from sigmastar.automata.inference.partitioned_counts import PartitionedForest
from sigmastar.automata.learn.blocks.em_family import Family, Parameters, log_prior
from sigmastar.automata.learn.blocks.em_step import EMStep, annealed

__all__ = ["Schedule", "begin_stepwise", "stepwise_sweep"]

_STATISTICS = ("counts.initial", "counts.transitions", "counts.final")


class Schedule(NamedTuple):
    """How many parts make a batch, and how fast earlier ones are forgotten."""

    batch_parts: int
    power: float


def begin_stepwise(family: Family, parameters: Parameters, weight: float) -> Parameters:
    """Return parameters together with the statistics that they stand for."""
    weights = family.expand(parameters)
    counts = {name: weight * own for name, own in zip(_STATISTICS, weights, strict=True)}
    return {**parameters, **counts}


def stepwise_sweep(
    forest: PartitionedForest,
    family: Family,
    state: Parameters,
    schedule: Schedule,
    *,
    n_sweeps: int,
    beta: float = 1.0,
) -> EMStep:
    """Go through all batches once, after ``n_sweeps`` earlier times.

    The objective is that of each batch under the parameters it met.
    """
    parameters: Parameters = {name: state[name] for name in family.names}
    statistics = [np.asarray(state[name]) for name in _STATISTICS]
    value = impossible = 0.0
    batches = forest.batches(schedule.batch_parts)
    for k, batch in enumerate(batches, n_sweeps * len(batches)):
        counted = batch(*annealed(family.expand(parameters), beta))
        counts, weight = counted.counts, counted.weight
        if not weight:
            continue
        value += counts.log_likelihood + log_prior(family, parameters) * weight / forest.weight
        impossible += counts.impossible
        rate, scale = (k + 2.0) ** -schedule.power, forest.weight / weight
        seen = (counts.initial, counts.transitions, counts.final)
        statistics = [
            (1.0 - rate) * old + (rate * scale) * new
            for old, new in zip(statistics, seen, strict=True)
        ]
        start, arcs, stop = statistics
        parameters = family.maximize(ExpectedCounts(start, arcs, stop, 0.0, 0.0), parameters)
    together = {**parameters, **dict(zip(_STATISTICS, statistics, strict=True))}
    start, arcs, stop = statistics
    counts = ExpectedCounts(start, arcs, stop, value, impossible)
    return EMStep(value / forest.weight, together, impossible, counts)
