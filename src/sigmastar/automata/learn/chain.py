"""A chain of HMMs or PFAs drawn from their posterior, whose priors follow the data.

Collapsed Gibbs sampling (:mod:`.gibbs`, :mod:`.gibbs_hmm`) from states drawn at random, or from
given parameters. The pseudo-counts of outcomes and of next states are set again every so many
sweeps to what makes the states of that moment likeliest: a machine of few arcs and one of many need
priors a hundred times apart, and nobody knows beforehand which it is. A chain may sweep over a part
of the strings before it sweeps over all: on few strings it moves freely and soon finds the
structure of a sharp machine, which it would hardly find among many strings that hold each other in
their states.

While states keep their roles, what many sweeps counted says more of the parameters than what the
last one did. So counts are added up along the way; they are whole numbers, and sums of them are
exact in whatever order.

A chain that begins anew may first make one state of any two where that makes strings and states
likelier. Sweeps, which move one state at a time, would hardly ever: half a state is worse than two.

All a chain does follows from its seed and from what it was told to do, never from a clock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from sigmastar.automata.kernels.gibbs import StateCounts, count_states, draw_states, sweep
from sigmastar.automata.kernels.gibbs_hmm import MoveCounts, count_moves, sweep_moves
from sigmastar.automata.kernels.joining import JoinCounts
from sigmastar.automata.learn.blocks.em_family import Family, HMMFamily, Parameters, PFAFamily
from sigmastar.automata.learn.gibbs import expected_automaton, spread_automaton
from sigmastar.automata.learn.gibbs_hmm import expected_parameters, log_dirichlet, spread
from sigmastar.automata.learn.joining import joined
from sigmastar.core.types import FloatArray
from sigmastar.corpus.corpus import Corpus

__all__ = ["Chain", "Segment", "added", "likeliest_priors", "replay_chain"]

FIRST_PRIORS = (0.02, 0.1)  # of outcomes and of next states, until states tell better ones
PRIORS = np.geomspace(0.003, 2.0, 14)
FOLLOWING = 20  # sweeps after which priors are set again
STRIDE = 4  # sweeps from one that is added up to the next


class _Sampler(NamedTuple):
    """What sweeps over the states of one family take."""

    family: Family
    counts: Any
    count_all: Callable[..., None]
    sweep: Callable[..., None]
    expected: Callable[[Any, float, float], Parameters]
    spread: Callable[[Parameters], Parameters]
    arrivals: Callable[[Any], FloatArray]
    to_join: Callable[[Any], JoinCounts]


def _arrivals_of_moves(counts: MoveCounts) -> FloatArray:
    return np.vstack([counts.moves, counts.starts])


def _arrivals_of_arcs(counts: StateCounts) -> FloatArray:
    return np.vstack([counts.arcs.reshape(-1, len(counts.starts)), counts.starts])


def _whole(moves: FloatArray, leaving: FloatArray, counts: MoveCounts | StateCounts) -> JoinCounts:
    outcomes = np.vstack([counts.uses, counts.ends])
    tables = (moves, leaving, counts.starts, outcomes, counts.totals)
    return JoinCounts(*(np.ascontiguousarray(table, dtype=np.int64) for table in tables))


def _moves_to_join(counts: MoveCounts) -> JoinCounts:
    return _whole(counts.moves[:, None, :], counts.moved[None], counts)


def _arcs_to_join(counts: StateCounts) -> JoinCounts:
    return _whole(counts.arcs, counts.uses, counts)


_SAMPLERS = {
    "hmm": _Sampler(
        HMMFamily(),
        MoveCounts,
        count_moves,
        sweep_moves,
        expected_parameters,
        spread,
        _arrivals_of_moves,
        _moves_to_join,
    ),
    "pfa": _Sampler(
        PFAFamily(),
        StateCounts,
        count_states,
        sweep,
        expected_automaton,
        spread_automaton,
        _arrivals_of_arcs,
        _arcs_to_join,
    ),
}


class Segment(NamedTuple):
    """Counts of every ``STRIDE``-th sweep after ``first`` up to ``last``, added up.

    Sweeps are those of the phase that it belongs to, ``times`` how many were added, and ``priors``
    those after the last.
    """

    name: str
    first: int
    last: int
    times: int
    counts: Any
    priors: tuple[float, float]

    @property
    def parameters(self) -> Parameters:
        """Those expected given the mean of the counts."""
        mean = type(self.counts)(*(array / self.times for array in self.counts))
        return _SAMPLERS[self.name].expected(mean, *self.priors)


def added(segments: Sequence[Segment]) -> Segment:
    """Return neighbouring segments as one."""
    arrays = (sum(each) for each in zip(*(s.counts for s in segments), strict=True))
    return segments[-1]._replace(
        first=segments[0].first,
        times=sum(s.times for s in segments),
        counts=type(segments[0].counts)(*arrays),
    )


class Chain:
    """One chain, and what it was told to do.

    Attributes
    ----------
    name
        Family: "hmm" or "pfa".
    phases
        ``[share, sweeps, join]`` for each time that it began with a share of the strings, and what
        share of the states was free to go into others before.
    priors
        Pseudo-counts of outcomes and of next states, as they are now.
    """

    def __init__(
        self, name: str, corpus: Corpus, n_states: int, seed: int, start: Parameters | None = None
    ) -> None:
        self.name = name
        self.n_states = n_states
        self.phases: list[list[float]] = []
        self.priors = FIRST_PRIORS
        self._sampler = _SAMPLERS[name]
        self._start = start
        self._rng = np.random.default_rng([seed, n_states])
        # Strings may come in some order; a share of them must not be all of one kind.
        self._corpus = corpus.take(self._rng.permutation(len(corpus)))

    def begin(self, share: float, join: float = 0.0) -> None:
        """Go on with a share of the strings: from the start at first, later from what it has.

        First a share of the states, ``join`` at the most, goes into others where that pays.
        """
        if join:
            self._join(join)
        part = self._corpus[: max(int(share * len(self._corpus)), 1)]
        self._part = part
        n_points = part.n_symbols + len(part)
        states = np.zeros(n_points, dtype=np.int32)
        known = self.parameters if self.phases else self._start
        if known is None:
            states[:] = self._rng.integers(self.n_states, size=n_points)
        else:
            weights = self._sampler.family.expand(self._sampler.spread(known))
            draw_states(part.symbols, part.offsets, *weights, states, self._rng)
        self._states = states
        self._counts = self._sampler.counts.zero(self.n_states, len(part.alphabet))
        self._sampler.count_all(part.symbols, part.offsets, states, self._counts)
        if known is not None and not self.phases:
            self._follow()
        self.phases.append([share, 0, join])
        self._clear()

    def _join(self, share: float) -> None:
        """Make one state of two until nothing gains, or a share of all states has gone."""
        least = self.n_states - int(share * self.n_states)
        while self.n_states > least:
            counts = self._sampler.to_join(self._counts)
            number = joined(counts, *self.priors, self.n_states - least)
            n_states = int(number.max()) + 1
            if n_states == self.n_states:
                return  # a pair may have gained after others had joined
            self.n_states, self._states = n_states, number[self._states]
            self._counts = self._sampler.counts.zero(n_states, len(self._part.alphabet))
            rest = (self._states, self._counts)
            self._sampler.count_all(self._part.symbols, self._part.offsets, *rest)

    def sweep(self) -> None:
        """Draw every state once."""
        part, (outcome, state) = self._part, self.priors
        rest = (self._counts, outcome, state, self._rng)
        self._sampler.sweep(part.symbols, part.offsets, self._states, *rest)
        self.phases[-1][1] += 1
        if self.phases[-1][1] % FOLLOWING == 0:
            self._follow()
        if self.phases[-1][1] % STRIDE == 0:
            self._times += 1
            for total, array in zip(self._sum, self._counts, strict=True):
                if total.size:
                    total += array

    def cut(self) -> Segment | None:
        """Return the counts since the last cut, if there are any."""
        if not self._times:
            return None
        last = int(self.phases[-1][1])
        done = Segment(self.name, self._first, last, self._times, self._sum, self.priors)
        self._clear()
        return done

    def _clear(self) -> None:
        self._first = int(self.phases[-1][1])
        self._times = 0
        fresh = self._sampler.counts.zero(self.n_states, len(self._part.alphabet))
        # Only sweeps want the second copy of moves, and memory may hold many sums.
        self._sum = fresh._replace(back=np.empty((0,) * fresh.back.ndim))

    def _follow(self) -> None:
        self.priors = likeliest_priors(self._counts, self._sampler.arrivals(self._counts))

    @property
    def parameters(self) -> Parameters:
        """Those expected, given the states that were drawn last."""
        return self._sampler.expected(self._counts, *self.priors)


def likeliest_priors(counts: MoveCounts | StateCounts, arrivals: FloatArray) -> tuple[float, float]:
    """Return the pseudo-counts of outcomes and of next states under which counts are likeliest."""
    outcomes = np.vstack([counts.uses, counts.ends]).T
    return _likeliest(outcomes), _likeliest(arrivals)


def _likeliest(table: FloatArray) -> float:
    used = table[table.any(axis=1)]  # the others are as likely under any prior
    return float(max(PRIORS, key=lambda prior: log_dirichlet(used, float(prior))))


def replay_chain(
    name: str,
    corpus: Corpus,
    n_states: int,
    seed: int,
    phases: Sequence[Sequence[float]],
    kept: Sequence[Sequence[int]],
    start: Parameters | None = None,
    kept_in: int = -1,
) -> tuple[list[Parameters], Chain]:
    """Make a chain again; return what a phase had between the sweeps ``kept``, and the chain.

    ``kept_in`` is the number of that phase: by default the last.
    """
    chain = Chain(name, corpus, n_states, seed, start)
    found = []
    cuts = {int(sweep) for pair in kept for sweep in pair}
    wanted = {tuple(pair) for pair in kept}
    for number, (share, sweeps, *join) in enumerate(phases):
        chain.begin(share, *join)
        for done in range(1, int(sweeps) + 1):
            chain.sweep()
            if number == kept_in % len(phases) and done in cuts:
                segment = chain.cut()
                if segment is not None and (segment.first, segment.last) in wanted:
                    found.append(segment.parameters)
    return found, chain
