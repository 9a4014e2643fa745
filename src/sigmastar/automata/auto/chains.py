"""Chains of HMMs in the search: advanced for some time at a go, judged by held-out strings.

What a chain offers is an average of several of its later samples. A chain of few arcs climbs: it
sweeps over shares of the strings that double before it comes to all of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from sigmastar.automata.algebra import mixture
from sigmastar.automata.inference.expected_counts import Forest
from sigmastar.automata.inference.scoring import log_proba
from sigmastar.automata.learn.blocks.em_family import HMMFamily, Parameters
from sigmastar.automata.learn.blocks.mixing import priced
from sigmastar.automata.learn.hmm_chain import HMMChain, replay_chain
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.types import FloatArray
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.corpus import Corpus

__all__ = ["SHARP", "ChainTrack", "average_of", "chain_from"]

AVERAGED = 320  # states of an average at most
MOST_SAMPLES = 8  # that are averaged; as many again and half may wait for it
HALVINGS = 7  # of the share that a climb begins with
SHARP = 0.05  # prior of next states below which a machine has few arcs: climbing pays
LEAST_SWEEPS = 20  # that must fit into the time a chain has at a go
TRIAL_POINTS = 20_000


class Sample(NamedTuple):
    """Parameters after so many sweeps of a chain's last phase, and how they score."""

    sweep: int
    parameters: Parameters
    log_proba: FloatArray


@dataclass
class ChainTrack:
    """One chain.

    Attributes
    ----------
    n_states, seed
        Size of the HMM, and seed of everything random.
    corpus, held
        What to sweep over, and what to judge by.
    slice_seconds, climb_seconds
        Time for sweeps at a go, and for the climb before them (0: none).
    score
        Mean log-likelihood of held-out strings under the average.
    """

    n_states: int
    seed: int
    corpus: Corpus
    held: Corpus
    slice_seconds: float
    climb_seconds: float = 0.0
    name: str = "chain"
    score: float = -np.inf
    seconds: float = 0.0
    step_seconds: float = 0.0
    settled: bool = False
    deadline: float = np.inf
    size_scores: dict[int, float] = field(default_factory=dict)
    samples: list[Sample] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._spacing = self.slice_seconds / 6.0  # seconds between samples
        self.chain: HMMChain | None = None

    @property
    def sharp(self) -> bool:
        """Whether the machine seems to have few arcs."""
        return self.chain is not None and self.chain.priors[1] < SHARP

    def advance(self, train: Forest, held_out: Forest, running: Callable[[], bool]) -> None:
        """Sweep for a slice of time, keep samples, and judge their average."""
        began = time.monotonic()
        if self.chain is None:
            self._begin(running)
        if self.chain is not None and not self.settled:
            self._sweep(self.chain, running)
        if self.samples:
            self.score = float(priced(self.average()[1]).mean())
        self.size_scores[self.n_states] = self.score
        self.seconds += time.monotonic() - began

    def _begin(self, running: Callable[[], bool]) -> None:
        """Begin with all strings, or climb to them; not at all if sweeps take too long."""
        n_points = self.corpus.n_symbols + len(self.corpus)
        share = min(TRIAL_POINTS / n_points, 1.0)
        trial = HMMChain(self.corpus, self.n_states, self.seed)
        trial.begin(share)
        trial.sweep()  # may compile
        began = time.monotonic()
        trial.sweep()
        self.step_seconds = (time.monotonic() - began) / share
        if LEAST_SWEEPS * self.step_seconds > self.slice_seconds:
            self.settled = True
            return
        self.chain = HMMChain(self.corpus, self.n_states, self.seed)
        if self.climb_seconds:
            for halvings in range(HALVINGS, 0, -1):
                until = time.monotonic() + self.climb_seconds / HALVINGS
                self.chain.begin(0.5**halvings)
                while running() and time.monotonic() < until:
                    self.chain.sweep()
        self.chain.begin(1.0)

    def _sweep(self, chain: HMMChain, running: Callable[[], bool]) -> None:
        began = kept = time.monotonic()
        while running() and (now := time.monotonic()) - began < self.slice_seconds:
            chain.sweep()
            if now - kept > self._spacing:
                self._keep(chain)
                kept = time.monotonic()

    def _keep(self, chain: HMMChain) -> None:
        """Keep what the chain has now; of too many samples every other."""
        model = HMMFamily().model(chain.parameters, self.corpus.alphabet)
        scored = log_proba(model, self.held)
        self.samples.append(Sample(int(chain.phases[-1][1]), chain.parameters, scored))
        if len(self.samples) > 2 * MOST_SAMPLES:
            del self.samples[::2]
            self._spacing *= 2.0

    def average(self) -> tuple[list[Sample], FloatArray]:
        """Return samples of the later half, as many as may be averaged, and how they score."""
        most = min(max(AVERAGED // self.n_states, 1), MOST_SAMPLES)
        later = self.samples[len(self.samples) // 2 :]
        where = np.unique(np.linspace(len(later) - 1, 0, min(most, len(later))).astype(int))
        chosen = [later[i] for i in where]
        together = np.logaddexp.reduce([sample.log_proba for sample in chosen], axis=0)
        return chosen, together - np.log(len(chosen))

    def recipe(self, samples: list[Sample]) -> dict[str, Any]:
        """Return how to make the average of these samples again."""
        if self.chain is None:
            return {}
        return {
            "n_states": self.n_states,
            "seed": self.seed,
            "phases": [list(phase) for phase in self.chain.phases],
            "kept": [sample.sweep for sample in samples],
        }


def average_of(parameters: list[Parameters], alphabet: Alphabet) -> WFA | HMM:
    """Return the mixture, in equal shares, of the HMMs of these parameters."""
    models = [HMMFamily().model(each, alphabet) for each in parameters]
    return mixture(models, np.full(len(models), 1.0 / len(models)))


def chain_from(corpus: Corpus, recipe: dict[str, Any]) -> WFA | HMM:
    """Make an average again from its recipe."""
    return average_of(replay_chain(corpus, **recipe), corpus.alphabet)
