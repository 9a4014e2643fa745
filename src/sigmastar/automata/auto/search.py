"""Find a good automaton within a time budget, from training data alone.

A tenth of the sequences is held out. Moment learners give quick candidates and starting points;
tracks grow HMMs and PFAs from random and from given starts (``learn/blocks/growth``),
side by side on the available cores, and a family that falls behind is given up; chains sample the
posterior, from random states and then from the best models that grew. The best candidates are
mixed with weights fitted on the held-out part, and go on over all sequences: grown ones are trained
further, and chains sweep on; models of moment learners stay as they are. What was done is written
down as a recipe that gives the same model again without a clock.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from sigmastar.automata.algebra import mixture
from sigmastar.automata.auto.candidates import (
    Candidate,
    Failure,
    best_mixture,
    leaderboard,
    of_chain,
    of_track,
    recipe_of,
    score_of,
)
from sigmastar.automata.auto.chains import AVERAGED, COPIES, ChainTrack
from sigmastar.automata.auto.finish import sweep_over_all, train_on_all
from sigmastar.automata.auto.sizes import LADDER, beside, best_of, climbing_share
from sigmastar.automata.auto.steps import (
    HELD_OUT,
    LAYOUT,
    QUICK_LEARNERS,
    REFINED,
    first_part,
    given_start,
    hold_out_part,
)
from sigmastar.automata.auto.stirring import StirredTrack
from sigmastar.automata.auto.turns import BEHIND, CHAIN_BEHIND, AnyTrack, next_track
from sigmastar.automata.inference.expected_counts import Forest, thread_count
from sigmastar.automata.inference.scoring import log_proba
from sigmastar.automata.learn.blocks.em_family import Parameters
from sigmastar.automata.learn.blocks.growth import Track
from sigmastar.automata.learn.blocks.quasi_newton import COPIES as COPIES_TRAINED
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.size import most_states
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.blas import one_blas_thread
from sigmastar.core.errors import SigmastarError
from sigmastar.core.progress import Stage, stage
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.types import Learned
from sigmastar.corpus.corpus import Corpus

__all__ = ["learn_auto"]

QUICK = 0.15  # share of the budget after which no other moment learner begins
GROWING = 0.6  # shares of it that have passed when each phase ends
SAMPLING = 0.78
HURRIED = 1500  # symbols and ends for a second of the budget that make starts few
SLICE = 0.06  # share of the budget that a chain has at a time
TRAINING = 0.05  # and a track
TURNS = 3  # of tracks between climbs after the first ones
LAST_CLIMB = 0.5  # share of the budget that may have passed when one begins
RANDOM = "pfa", "hmm"  # families of tracks that begin before a climb has ended
CHAINS_CHOSEN = 3  # that give candidates
FINISHED = 0.98
LONGEST_REFIT = 0.3  # share of the budget that is kept for it, at the most
REFIT_STEPS = 6  # that there is to be time for, and no more if chains want the rest


def learn_auto(
    corpus: Corpus,
    *,
    time_budget: float,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Learned[WFA | HMM]:
    """Choose, mix and refit within ``time_budget`` seconds.

    ``info["leaderboard"]`` has a row for every candidate, and one for every learner that failed,
    with its reason; ``info["recipe"]`` can be replayed
    (:func:`sigmastar.automata.auto.replay.replay_recipe`).
    """
    began = time.monotonic()
    seed = int(as_generator(random_state).integers(2**31))
    train, held = hold_out_part(corpus, seed)
    search = _Search(train, held, seed, began, time_budget, thread_count(n_jobs))
    with stage("searching", time_budget) as bar, one_blas_thread():
        search.bar = bar
        search.grow(began + GROWING * time_budget, first=search.learn_quickly)
        search.sample(began + SAMPLING * time_budget)
        if all(candidate.track is None for candidate in search.choose()):
            search.grow_on()
        chosen = search.choose()
        model, steps = search.finish(chosen, corpus)
    recipe = {
        "seed": seed,
        "held_out": HELD_OUT,
        "refit": steps,
        "refit_fast": search.part is not None,
        "components": [{"weight": c.weight, "name": c.name, **(c.recipe or {})} for c in chosen],
    }
    info = {
        "leaderboard": leaderboard(search.candidates, search.failures),
        "recipe": recipe,
        "seconds": time.monotonic() - began,
    }
    return Learned(model, info)


class _Search:
    """Candidates, tracks and the clock."""

    def __init__(
        self, train: Corpus, held: Corpus, seed: int, began: float, budget: float, workers: int
    ) -> None:
        self.train, self.held = train, held
        self.seed = seed
        self.began, self.budget = began, budget
        self.workers = workers
        self.bar: Stage | None = None
        self.candidates: list[Candidate] = []
        self.failures: list[Failure] = []
        # A track holds what its steps remember, expected counts, and those of its thread's block.
        self.most_states = most_states(
            len(train.alphabet), copies=(4 + COPIES_TRAINED) * workers + 4
        )
        self.largest = most_states(len(train.alphabet), copies=4)  # of what is mixed
        sampled = most_states(len(train.alphabet), copies=COPIES * workers)
        self.most_sampled = min(sampled, self.largest)
        self._busy: set[int] = set()
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        started = time.monotonic()
        self.forest = Forest(train, n_states=LAYOUT)
        self.layout_seconds = time.monotonic() - started
        self.held_forest = Forest(held, n_states=LAYOUT)
        part = first_part(train, seed)
        self.part = None if part is None else Forest(part, n_states=LAYOUT)
        self.part_share = 1.0 if part is None else len(part) / len(train)
        n_points = train.n_symbols + len(train)
        self.hurried = part is not None or n_points > HURRIED * budget
        self.tracks: list[AnyTrack] = [
            self._climb(name, size) for name, size in LADDER if size <= self.most_sampled
        ]
        self._turns = 0  # of tracks, since the last climb

    def _track(self, name: str, seed: int, first: int = 0) -> Track:
        seconds = TRAINING * self.budget * (1.0 if self.part is None else 2.0)
        return StirredTrack(
            name,
            seed,
            self.most_states,
            first=first,
            part=self.part,
            slice_seconds=seconds,
            corpus=self.train,
            share=self.part_share,
        )

    def _chain(self, family: str, size: int, number: int = 0, **more: Any) -> ChainTrack:
        seconds, seed = SLICE * self.budget, self.seed + number
        more["averaged"] = min(AVERAGED, self.largest)
        return ChainTrack(family, size, seed, self.train, self.held, seconds, **more)

    def _climb(self, family: str, size: int, number: int = 0) -> ChainTrack:
        climb_seconds = climbing_share(size) * self.budget
        return self._chain(family, size, number, climb_seconds=climb_seconds, share=self.part_share)

    def _tell(self, note: str) -> None:
        if self.bar is not None:
            passed = time.monotonic() - self.began
            self.bar.advance(min(passed, self.budget) - self.bar.done, note)

    def learn_quickly(self) -> None:
        """Fit the moment learners on the training part and start tracks from what they give."""
        for name, learn in QUICK_LEARNERS.items():
            started = time.monotonic()
            if self.candidates and started - self.began > QUICK * self.budget:
                return  # whatever the budget, there is something to choose
            if name == REFINED and not self._close("merged"):
                continue
            try:
                model = learn(self.train).model
            except SigmastarError as error:
                self.failures.append(Failure(name, str(error), time.monotonic() - started))
                self._tell(f"{name}: {error}")
                continue
            seconds, recipe = time.monotonic() - started, {"starter": name}
            added = Candidate(name, model, log_proba(model, self.held), seconds, recipe)
            self.candidates.append(added)
            best = max(self.candidates, key=score_of) is added
            if model.n_states <= self.most_states and (best or not self.hurried):
                start = given_start(model, self.train, self.seed)
                track = self._track("pfa", self.seed)
                track.parameters, track.steps = start, [["given", name]]
                with self._lock:
                    self.tracks.insert(0, track)  # before random ones
            self._tell(f"{name}: {self.candidates[-1].score:.4f}")

    def _close(self, name: str) -> bool:
        """Tell whether a candidate is nearly as good as the best so far."""
        best = max((c.score for c in self.candidates), default=-np.inf)
        return any(c.name == name and c.score > best - BEHIND for c in self.candidates)

    def grow(
        self, deadline: float, anew: bool = True, first: Callable[[], None] | None = None
    ) -> None:
        """Advance tracks until the deadline, as many at a time as there are cores.

        One of the workers does something else ``first``. When no track is left, another one begins
        ``anew``.
        """
        with ThreadPoolExecutor(self.workers) as pool:
            try:
                outcomes = [
                    pool.submit(self._work, deadline, anew, None if number else first)
                    for number in range(self.workers)
                ]
                for outcome in outcomes:
                    outcome.result()
            except BaseException:
                self._stopped.set()  # Ctrl-C: leaving the pool waits for its threads
                raise
        self._gather()

    def _gather(self) -> None:
        """Make candidates of the tracks as they are now."""
        self.candidates = [c for c in self.candidates if c.family is None]
        chains = [t for t in self.tracks if isinstance(t, ChainTrack) and t.average]
        chains.sort(key=lambda chain: -chain.score)
        self.candidates += [of_chain(chain) for chain in chains[:CHAINS_CHOSEN]]
        for track in self.tracks:
            if isinstance(track, Track) and track.steps and np.isfinite(track.score):
                self.candidates.append(of_track(track, self.held))

    def _work(
        self, deadline: float, anew: bool = True, first: Callable[[], None] | None = None
    ) -> None:
        def running() -> bool:
            return not self._stopped.is_set() and time.monotonic() < deadline

        if first is not None:
            first()
        while running():
            with self._lock:
                track = self._next_track(anew)
                if track is None:
                    return
                self._busy.add(id(track))
            try:
                track.advance(self.forest, self.held_forest, running)
            finally:
                with self._lock:
                    self._busy.discard(id(track))
                    if isinstance(track, ChainTrack) and track.climbed is not None:
                        self._follow(track, *track.climbed)
            self._tell(f"{track.name} {track.n_states}: {track.score:.4f}")

    def _follow(self, chain: ChainTrack, reached: Parameters, recipe: dict[str, Any]) -> None:
        """Let a track train on, before all others, from where a chain has climbed to."""
        track = self._track(chain.family, self.seed)
        track.parameters, track.steps = reached, [["climbed", recipe]]
        self.tracks.insert(0, track)
        chain.climbed = None

    def _next_track(self, anew: bool = True) -> AnyTrack | None:
        """Pick the track to advance; if wanted begin another when it is time, or none is left."""
        waiting = self._waiting()
        climbed = {id(t) for t in self.tracks if isinstance(t, ChainTrack) and t.size_scores}
        unfit = self._busy | waiting | (climbed if anew else set())
        track = next_track(self.tracks, unfit, self.budget)
        if not anew:
            return track or next_track(self.tracks, self._busy, self.budget)
        if track is None or (track.size_scores and self._may_climb()):
            track = self._another(bool(waiting))
            self.tracks.append(track)
        self._turns = 0 if isinstance(track, ChainTrack) else self._turns + 1
        return track

    def _may_climb(self) -> bool:
        """Tell whether tracks have had their turns since the last climb, and there is time."""
        passed = (time.monotonic() - self.began) / self.budget
        return self._turns >= TURNS and passed < LAST_CLIMB and self._can_climb()

    def _can_climb(self) -> bool:
        return any(isinstance(t, ChainTrack) and t.size_scores and t.average for t in self.tracks)

    def _another(self, waiting: bool) -> AnyTrack:
        """Begin something like the best: another climb, or a track from random parameters."""
        if self._can_climb() and not waiting:
            family, size, number = beside(self.tracks)
            return self._climb(family, min(size, self.most_sampled), number)
        tried = [track for track in self.tracks if isinstance(track, Track)]
        best = max(tried, key=lambda track: track.score, default=None)
        number = len(self.tracks)
        family = RANDOM[number % 2] if best is None else best.name
        return self._track(family, self.seed + number)

    def _waiting(self) -> set[int]:
        """Return the chains that wait for one that compiles: the others train in the meantime."""
        chains = [track for track in self.tracks if isinstance(track, ChainTrack)]
        cold = any(id(chain) in self._busy and not chain.step_seconds for chain in chains)
        return {id(chain) for chain in chains} if cold else set()

    def sample(self, deadline: float) -> None:
        """Sample from the best tracks, as many as there are cores, by chains that start there."""
        self._calm()
        left = [
            track
            for track in self.tracks
            if np.isfinite(track.score) and track.n_states <= self.most_sampled
        ]
        chosen: list[AnyTrack] = []
        while left and len(chosen) < max(self.workers, 2):
            track = best_of(left)
            if chosen and track.score < chosen[0].score - CHAIN_BEHIND:
                break
            left.remove(track)
            chosen.append(self._to_sample(track))
        if isinstance(leader := next(iter(chosen), None), ChainTrack) and leader.climb_seconds:
            others = range(1, max(self.workers, 2) - len(chosen) + 1)
            chosen += [self._climb(leader.family, leader.n_states, number) for number in others]
        others_left = [track for track in self.tracks if track not in chosen]
        self.tracks = chosen
        self.grow(deadline, anew=False)
        self.tracks = others_left + chosen
        self._gather()

    def _calm(self) -> None:
        for track in self.tracks:
            if isinstance(track, StirredTrack):
                track.calm = True

    def _to_sample(self, track: AnyTrack) -> AnyTrack:
        """Return what takes a track further: a chain from its end, or itself."""
        if isinstance(track, Track) and track.unfinished and self.part is not None:
            track.part = None  # whatever it has learned from a part: now all
            return track
        if isinstance(track, ChainTrack):
            return track
        start, origin = track.parameters, recipe_of(track)
        return self._chain(track.name, track.n_states, start=start, origin=origin)

    def grow_on(self) -> None:
        """Advance tracks until the last part; a chain would have no time left for all strings."""
        for track in self.tracks:
            track.settled |= isinstance(track, ChainTrack)
        self.grow(self.time_to_refit())

    def time_to_refit(self) -> float:
        """Return when the last part must begin to be done in time.

        As if what is best now were chosen, and steps took as long as the last ones; a step of a
        track that has just begun then is waited for.
        """
        steps = sum(c.step_seconds for c in self.choose())
        longest = max(track.step_seconds for track in self.tracks)
        needed = self.layout_seconds + REFIT_STEPS * steps + longest
        return self.began + FINISHED * self.budget - min(needed, LONGEST_REFIT * self.budget)

    def choose(self) -> list[Candidate]:
        """Pick the best candidate or mixture."""
        return best_mixture(self.candidates, self.largest)

    def finish(self, chosen: list[Candidate], corpus: Corpus) -> tuple[WFA | HMM, int]:
        """Let the components learn from all sequences, too, and put all together."""
        deadline = self.began + FINISHED * self.budget
        sampled = [c for c in chosen if c.track is not None]
        most = REFIT_STEPS if sampled else sys.maxsize
        fast = self.part is not None
        steps = train_on_all(chosen, corpus, deadline, most, self.workers, fast, self._tell)
        room = max(self.largest - sum(c.model.n_states for c in chosen), 0)
        sweep_over_all(sampled, corpus, deadline, self.workers, room, self._stopped)
        if len(chosen) == 1:
            return chosen[0].model, steps
        return mixture([c.model for c in chosen], [c.weight for c in chosen]), steps
