"""Tracks that are stirred: a chain sweeps from where Baum–Welch ended, and Baum–Welch goes on.

Either alone gets stuck, and each gets away from where the other does. Baum–Welch moves all strings
a little at a time, and ends on the next summit; a chain moves single states far, but never many at
once. A chain also makes one state of two that do the same work, so a track may begin with more of
them than needed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sigmastar.automata.inference.expected_counts import Forest
from sigmastar.automata.learn.blocks.em_family import Parameters
from sigmastar.automata.learn.blocks.growth import Track, replay_track
from sigmastar.automata.learn.chain import Chain, replay_chain
from sigmastar.corpus.corpus import Corpus

__all__ = ["StirredTrack", "replay_stirred"]

STIRRING = 0.6  # of the time for training, before it
BEFORE = 0.6  # of the sweeps, before states are joined
JOINED = 0.25  # share of the states that may go into others at a time
IN_VAIN = 2  # times in a row after which a track is stirred no more


@dataclass(eq=False)
class StirredTrack(Track):
    """A track that each turn but the first begins with sweeps.

    A step ``["stirred", how]`` says which. A turn that does not pay on held-out strings is taken
    back, and states are not joined in the next one; after two of these in a row the track grows
    like others.

    Attributes
    ----------
    corpus
        What to sweep over.
    share
        Of these strings, as long as the track trains on a part.
    calm
        Whether it is too late for stirring: what it stirs up takes time to settle.
    """

    corpus: Corpus | None = None
    share: float = 1.0
    calm: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self._in_vain = 0
        self._whole_seconds = 0.0  # of a step over all strings

    def advance(self, train: Forest, held_out: Forest, running: Callable[[], bool]) -> None:
        """Stir and train; or train and grow, at first and when stirring has lost its use."""
        late = self.calm or self._in_vain >= IN_VAIN or self._takes_long()
        if self.corpus is None or not self.size_scores or late:
            self._go_on(train, held_out, running)
            return
        began = time.monotonic()
        before = self.parameters, list(self.steps), self.score, self.unfinished, self.part
        self._stir(self.corpus, running)
        self.score, self.unfinished = -float("inf"), True
        self.seconds += time.monotonic() - began
        self._go_on(train, held_out, running)
        if self._pays(before[2]):
            self._in_vain = 0
        else:
            self.parameters, self.steps, self.score, self.unfinished, self.part = before
            self._in_vain += 1
        self.size_scores[self.n_states] = self.score

    def _go_on(self, train: Forest, held_out: Forest, running: Callable[[], bool]) -> None:
        share = 1.0 if self.part is None else self.share
        super().advance(train, held_out, running)
        self._whole_seconds = self.step_seconds / share

    def _takes_long(self) -> bool:
        """Tell whether drawing the first states, twice and as long as a step, takes too long."""
        share = 1.0 if self.part is None else self.share
        return 2.0 * share * self._whole_seconds > STIRRING * self.slice_seconds

    def _pays(self, before: float) -> bool:
        return self.score > before

    def _stir(self, corpus: Corpus, running: Callable[[], bool]) -> None:
        share = 1.0 if self.part is None else self.share
        seed = self.seed + len(self.steps) + self._in_vain
        how = {"name": self.name, "n_states": self.n_states, "seed": seed}
        chain = Chain(self.name, corpus, self.n_states, seed, self.parameters)
        for part, join in ((BEFORE, 0.0), (1.0 - BEFORE, 0.0 if self._in_vain else JOINED)):
            chain.begin(share, join)
            until = time.monotonic() + part * STIRRING * self.slice_seconds
            while running() and time.monotonic() < until:
                chain.sweep()
        self.parameters = chain.parameters
        self.steps.append(["stirred", {**how, "phases": [list(phase) for phase in chain.phases]}])


def replay_stirred(
    part: Mapping[str, Any],
    corpus: Corpus,
    train: Forest,
    given: dict[str, Parameters],
    few: Forest | None = None,
) -> Parameters:
    """Make a track's parameters again from the steps of its recipe, stirring included."""
    parameters: Parameters = {}
    steps: list[list[Any]] = []
    for verb, value in [*part["steps"], ("stirred", None)]:
        if verb != "stirred":
            steps.append([verb, value])
            continue
        known = {**given, "stirred": parameters}
        parameters = replay_track(part["family"], part["seed"], steps, train, known, few)
        if value is not None:
            chain = replay_chain(corpus=corpus, kept=(), start=parameters, **value)[1]
            parameters, steps = chain.parameters, [["given", "stirred"]]
    return parameters
