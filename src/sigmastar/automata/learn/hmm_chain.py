"""A chain of HMMs drawn from their posterior, whose priors follow the data.

Collapsed Gibbs sampling (:mod:`.gibbs_hmm`) from states drawn at random. The pseudo-counts of
outcomes and of next states are set again every so many sweeps to what makes the states of that
moment likeliest: a machine of few arcs and one of many need priors a hundred times apart, and
nobody knows beforehand which it is. A chain may sweep over a part of the strings before it sweeps
over all: on few strings it moves freely and soon finds the structure of a sharp machine, which it
would hardly find among many strings that hold each other in their states.

All a chain does follows from its seed and from what it was told to do, never from a clock.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sigmastar.automata.kernels.gibbs import draw_states
from sigmastar.automata.kernels.gibbs_hmm import MoveCounts, count_moves, sweep_moves
from sigmastar.automata.learn.blocks.em_family import HMMFamily, Parameters
from sigmastar.automata.learn.gibbs_hmm import expected_parameters, log_dirichlet, spread
from sigmastar.core.types import FloatArray
from sigmastar.corpus.corpus import Corpus

__all__ = ["HMMChain", "likeliest_priors", "replay_chain"]

FIRST_PRIORS = (0.02, 0.1)  # of outcomes and of next states, until states tell better ones
PRIORS = np.geomspace(0.003, 2.0, 14)
FOLLOWING = 20  # sweeps after which priors are set again


class HMMChain:
    """One chain, and what it was told to do.

    Attributes
    ----------
    phases
        ``[share, sweeps]`` for each time that it began with a share of the strings.
    priors
        Pseudo-counts of outcomes and of next states, as they are now.
    """

    def __init__(self, corpus: Corpus, n_states: int, seed: int) -> None:
        self.n_states = n_states
        self.phases: list[list[float]] = []
        self.priors = FIRST_PRIORS
        self._rng = np.random.default_rng([seed, n_states])
        # Strings may come in some order; a share of them must not be all of one kind.
        self._corpus = corpus.take(self._rng.permutation(len(corpus)))

    def begin(self, share: float) -> None:
        """Go on with a share of the strings: at random at first, then from what was learned."""
        part = self._corpus[: max(int(share * len(self._corpus)), 1)]
        self._part = part
        n_points = part.n_symbols + len(part)
        states = np.zeros(n_points, dtype=np.int32)
        if self.phases:
            weights = HMMFamily().expand(spread(self.parameters))
            draw_states(part.symbols, part.offsets, *weights, states, self._rng)
        else:
            states[:] = self._rng.integers(self.n_states, size=n_points)
        self._states = states
        self._counts = MoveCounts.zero(self.n_states, len(part.alphabet))
        count_moves(part.symbols, part.offsets, states, self._counts)
        self.phases.append([share, 0])

    def sweep(self) -> None:
        """Draw every state once."""
        part, (outcome, state) = self._part, self.priors
        rest = (self._counts, outcome, state, self._rng)
        sweep_moves(part.symbols, part.offsets, self._states, *rest)
        self.phases[-1][1] += 1
        if self.phases[-1][1] % FOLLOWING == 0:
            self.priors = likeliest_priors(self._counts)

    @property
    def parameters(self) -> Parameters:
        """Those expected, given the states that were drawn last."""
        return expected_parameters(self._counts, *self.priors)


def likeliest_priors(counts: MoveCounts) -> tuple[float, float]:
    """Return the pseudo-counts of outcomes and of next states under which counts are likeliest."""
    outcomes = np.vstack([counts.uses, counts.ends]).T
    arrivals = np.vstack([counts.moves, counts.starts])
    return _likeliest(outcomes), _likeliest(arrivals)


def _likeliest(table: FloatArray) -> float:
    return float(max(PRIORS, key=lambda prior: log_dirichlet(table, float(prior))))


def replay_chain(
    corpus: Corpus, n_states: int, seed: int, phases: Sequence[Sequence[float]], kept: Sequence[int]
) -> list[Parameters]:
    """Make a chain again and return its parameters after the sweeps ``kept`` of its last phase."""
    chain = HMMChain(corpus, n_states, seed)
    found = []
    for number, (share, sweeps) in enumerate(phases):
        chain.begin(share)
        last = number == len(phases) - 1
        for done in range(1, int(max(kept) if last else sweeps) + 1):
            chain.sweep()
            if last and done in kept:
                found.append(chain.parameters)
    return found
