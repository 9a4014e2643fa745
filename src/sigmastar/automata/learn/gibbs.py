"""Bayesian learning of probabilistic automata by collapsed Gibbs sampling.

In the manner of the winner of the PAutomaC competition (Shibata and Yoshinaka 2012): states of all
points of all strings are drawn in turn with the parameters integrated out, several chains run side
by side, and the automata of samples taken after a burn-in are averaged. An average of PFAs is one.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from scipy.special import gammaln

from sigmastar.automata.algebra import mixture
from sigmastar.automata.inference.expected_counts import thread_count
from sigmastar.automata.kernels.gibbs import StateCounts, count_states, draw_states, sweep
from sigmastar.automata.learn.baum_welch import BaumWelchSettings, learn_baum_welch
from sigmastar.automata.learn.blocks.em_family import Parameters, PFAFamily
from sigmastar.automata.learn.em_start import smoothed
from sigmastar.automata.models.pfa import PFA
from sigmastar.automata.models.size import check_weights
from sigmastar.core.progress import Stage, stage
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.types import Learned
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.corpus import Corpus

__all__ = [
    "POSSIBLE",
    "GibbsSettings",
    "expected_automaton",
    "learn_gibbs",
    "potential_scale_reduction",
    "spread_automaton",
]

POSSIBLE = 1e-6  # share of uniform outcomes in what chains begin from: no string is impossible


@dataclass(frozen=True)
class GibbsSettings:
    """How to sample; see :class:`~sigmastar.GibbsPFA`."""

    n_chains: int = 2
    n_sweeps: int = 200
    burn_in: int = 100
    n_samples: int = 4
    outcome_prior: float = 0.1
    state_prior: float = 0.02
    em_iter: int = 30
    n_jobs: int | None = None


def learn_gibbs(
    corpus: Corpus,
    n_states: int,
    *,
    settings: GibbsSettings = GibbsSettings(),
    start: PFA | None = None,
    random_state: RandomState = None,
) -> Learned[PFA]:
    """Average automata drawn from the posterior: ``n_states`` for each of the samples kept.

    The first states of every chain are drawn from the posterior of ``start``, if there is one.
    """
    began = time.monotonic()
    n_samples = settings.n_chains * settings.n_samples
    average_size = (n_states if start is None else start.n_states) * n_samples
    check_weights(average_size, len(corpus.alphabet), "An average automaton", copies=3)
    seeds = as_generator(random_state).spawn(settings.n_chains)
    workers = min(thread_count(settings.n_jobs), settings.n_chains)
    with stage("Gibbs sampling", settings.n_chains * settings.n_sweeps) as bar:
        chains = [_Chain(corpus, n_states, settings, start, seed, bar) for seed in seeds]
        with ThreadPoolExecutor(workers) as pool:
            try:
                list(pool.map(_Chain.run, chains))
            except BaseException:
                for chain in chains:  # Ctrl-C: leaving the pool waits for its threads
                    chain.stopped = True
                raise
    samples = [model for chain in chains for model in chain.samples]
    traces = [chain.trace for chain in chains]
    kept = [trace[settings.burn_in :] for trace in traces]
    info: dict[str, Any] = {
        "log_joint": traces,
        "r_hat": potential_scale_reduction(kept),
        "n_samples": len(samples),
        "seconds": time.monotonic() - began,
    }
    average = mixture(samples, np.full(len(samples), 1 / len(samples)))
    return Learned(PFA(average.initial, average.transitions, average.final, corpus.alphabet), info)


def potential_scale_reduction(traces: list[list[float]]) -> float:
    """Return Gelman and Rubin's statistic over chains, each cut into halves; near 1 is good."""
    length = min((len(trace) for trace in traces), default=0) // 2
    if length < 2:
        return float("nan")
    halves = np.array(
        [part for trace in traces for part in (trace[:length], trace[length : 2 * length])]
    )
    within = halves.var(axis=1, ddof=1).mean()
    between = length * halves.mean(axis=1).var(ddof=1)
    if within == 0:
        return 1.0
    return float(np.sqrt(((length - 1) / length * within + between / length) / within))


@dataclass
class _Chain:
    """One Markov chain over state sequences."""

    corpus: Corpus
    n_states: int
    settings: GibbsSettings
    start: PFA | None
    rng: np.random.Generator
    bar: Stage

    def __post_init__(self) -> None:
        self.samples: list[PFA] = []
        self.trace: list[float] = []
        self.stopped = False
        corpus = self.corpus
        begin = self.start or _random_start(corpus, self.n_states, self.settings, self.rng)
        self.states = np.zeros(corpus.n_symbols + len(corpus), dtype=np.int32)
        weights = begin.initial, begin.transitions, begin.final
        draw_states(corpus.symbols, corpus.offsets, *weights, self.states, self.rng)
        self.counts = StateCounts.zero(begin.n_states, len(corpus.alphabet))
        count_states(corpus.symbols, corpus.offsets, self.states, self.counts)

    def run(self) -> None:
        """Sweep, and keep samples at even distances after the burn-in."""
        settings = self.settings
        keep = set(
            np.linspace(settings.burn_in, settings.n_sweeps, settings.n_samples + 1)[1:].astype(int)
        )
        for number in range(1, settings.n_sweeps + 1):
            if self.stopped:
                return
            self.sweep()
            if number in keep:
                self.samples.append(self.model(self.corpus.alphabet))
            self.bar.advance(1, f"log joint {self.trace[-1]:.6g}")

    def sweep(self) -> None:
        """Draw every state once."""
        a, b = float(self.settings.outcome_prior), float(self.settings.state_prior)
        sweep(self.corpus.symbols, self.corpus.offsets, self.states, self.counts, a, b, self.rng)
        self.trace.append(log_joint(self.counts, a, b))

    def model(self, alphabet: Alphabet) -> PFA:
        """Return the automaton of expected parameters given the states drawn."""
        priors = self.settings.outcome_prior, self.settings.state_prior
        expected = expected_automaton(self.counts, *priors)
        return PFA.normalized(*PFAFamily().expand(expected), alphabet)


def expected_automaton(counts: StateCounts, a: float, b: float) -> Parameters:
    """Return the mean of the parameters' posterior given the states drawn."""
    used = counts.uses.T
    outcome = (used + a) / (counts.totals[:, None] + a * (used.shape[1] + 1))
    following = (counts.arcs + b) / (used[:, :, None] + b * len(counts.totals))
    arcs = (outcome[:, :, None] * following).transpose(1, 0, 2)
    stop = (counts.ends + a) / (counts.totals + a * (used.shape[1] + 1))
    start = counts.starts + b
    return {
        "initial": start / start.sum(),
        "transitions": np.ascontiguousarray(arcs),
        "final": stop,
    }


def spread_automaton(parameters: Parameters) -> Parameters:
    """Mix every state's outcomes with uniform ones, so that no string is impossible."""
    arcs = parameters["transitions"]
    n_symbols, n, _ = arcs.shape
    kept, least = 1.0 - POSSIBLE, POSSIBLE / (n_symbols + 1)
    return {
        "initial": kept * parameters["initial"] + POSSIBLE / n,
        "transitions": kept * arcs + least / n,
        "final": kept * parameters["final"] + least,
    }


def _random_start(
    corpus: Corpus, n_states: int, settings: GibbsSettings, rng: np.random.Generator
) -> PFA:
    steps = BaumWelchSettings(max_iter=settings.em_iter, tol=0.0, n_jobs=1)
    learned = learn_baum_welch(corpus, PFAFamily(), n_states, settings=steps, random_state=rng)
    return smoothed(cast(PFA, learned.model), 1e-6)


def log_joint(counts: StateCounts, a: float, b: float) -> float:
    """Return log P(strings, states) with the parameters integrated out."""
    starts, arcs, _, uses, ends, totals = counts
    n, k = len(totals), len(uses)
    first = gammaln(starts + b).sum() - gammaln(starts.sum() + n * b)
    first += gammaln(n * b) - n * gammaln(b)
    outcomes = (
        gammaln(uses + a).sum() + gammaln(ends + a).sum() - gammaln(totals + a * (k + 1)).sum()
    )
    outcomes += n * (gammaln(a * (k + 1)) - (k + 1) * gammaln(a))
    taken = arcs[arcs > 0]  # few of all: the others have one value
    following = gammaln(taken + b).sum() + (arcs.size - taken.size) * gammaln(b)
    following -= gammaln(uses + n * b).sum()
    following += n * k * (gammaln(n * b) - n * gammaln(b))
    return float(first + outcomes + following)
