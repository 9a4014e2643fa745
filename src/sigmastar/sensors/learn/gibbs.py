"""A Bayesian tagger on discretised inputs, by collapsed Gibbs sampling.

Inputs are replaced by their nearest centroid c, and (c, label) pairs are the symbols of a
probabilistic automaton whose transition tables have a symmetric Dirichlet prior and are summed
out; only the hidden states are drawn (after Shibata and Yoshinaka, ICGI 2012). The tagger of
several draws is their mixture: a block-diagonal tagger, exact without averaging tables whose states
have no common names.
"""

from __future__ import annotations

import numpy as np

from sigmastar.core.progress import stage
from sigmastar.core.types import FloatArray, Learned
from sigmastar.corpus.frames import Frames
from sigmastar.sensors.kernels.gibbs import Counts, Paths, sweep_states
from sigmastar.sensors.model import ContinuousTagger

__all__ = ["learn_gibbs"]


def learn_gibbs(
    frames: Frames,
    *,
    n_states: int,
    prior: float,
    n_sweeps: int,
    n_draws: int,
    rng: np.random.Generator,
) -> Learned[ContinuousTagger]:
    """Draw ``n_draws`` automata, ``n_sweeps`` sweeps apart, the first after as many again.

    Parameters
    ----------
    frames : Frames
        Labelled; the largest feature of each frame tells its centroid.
    n_states : int
        Hidden states of each draw.
    prior : float
        Dirichlet weight of each single move.
    """
    clusters, n_clusters = frames.values.argmax(axis=1), frames.n_inputs
    (labels, alphabet), offsets = frames.known_labels, frames.offsets
    n_labels = len(alphabet)
    symbols = clusters * n_labels + labels
    n_symbols = n_clusters * n_labels
    n_slots = len(symbols) + len(offsets) - 1
    states = rng.integers(0, n_states, n_slots)
    counts = np.zeros((n_states, n_symbols, n_states), np.int64)
    starts = np.zeros(n_states, np.int64)
    slot = np.arange(len(symbols)) + np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    np.add.at(counts, (states[slot], symbols, states[slot + 1]), 1)
    np.add.at(starts, states[offsets[:-1] + np.arange(len(offsets) - 1)], 1)
    tables = Counts(moves=counts, totals=counts.sum(axis=(1, 2)), starts=starts)
    paths = Paths(symbols=symbols, offsets=offsets, states=states)
    drawn: list[tuple[FloatArray, FloatArray]] = []
    with stage("Gibbs sampling", n_sweeps * (n_draws + 1)) as progress:
        for draw in range(n_draws + 1):
            for _ in range(n_sweeps):
                sweep_states(paths, tables, prior, rng.random(n_slots))
                progress.advance()
            if draw:
                table = (counts + prior) / (tables.totals + prior * n_symbols * n_states)[
                    :, None, None
                ]
                shaped = table.reshape(n_states, n_clusters, n_labels, n_states)
                drawn.append(((starts + 1.0) / (starts + 1.0).sum(), shaped.transpose(2, 1, 0, 3)))
    size = n_states * n_draws
    initial = np.concatenate([first for first, _ in drawn]) / n_draws
    operators = np.zeros((n_labels, n_clusters, size, size))
    for i, (_, table) in enumerate(drawn):
        block = slice(i * n_states, (i + 1) * n_states)
        operators[:, :, block, block] = table
    typical = np.bincount(clusters, minlength=n_clusters) / len(clusters)
    model = ContinuousTagger(
        initial=initial, operators=operators, final=np.ones(size), labels=alphabet, typical=typical
    )
    return Learned(model, {"n_draws": n_draws, "n_states_of_a_draw": n_states})
