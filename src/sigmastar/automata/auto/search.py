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
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from sigmastar.automata.algebra import mixture
from sigmastar.automata.auto.candidates import (
    Candidate,
    Failure,
    best_mixture,
    leaderboard,
)
from sigmastar.automata.auto.chains import COPIES, ChainTrack, finished
from sigmastar.automata.auto.steps import (
    HELD_OUT,
    LAYOUT,
    QUICK_LEARNERS,
    REFINED,
    first_part,
    given_start,
    hold_out_part,
    refit,
)
from sigmastar.automata.auto.turns import BEHIND, AnyTrack, next_track
from sigmastar.automata.inference.expected_counts import Forest, thread_count
from sigmastar.automata.inference.scoring import log_proba
from sigmastar.automata.learn.blocks.growth import Track, family_named
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

QUICK = 0.15  # shares of the budget that have passed when each phase ends
GROWING = 0.5
SAMPLING = 0.76
# Sizes that random starts are tried with. A PFA of many states has room for what it needs not.
FIRST = {"pfa": (16, 24, 40, 64), "hmm": (16, 40)}
SLICE = 0.06  # share of the budget that a track has at a time
CLIMBING = {"pfa": 64, "hmm": 40}  # sizes of chains that climb from random states
CLIMB = 0.12  # share of the budget for the climb of one
EVEN = 0.003  # nats per sequence within which the smaller machine is sampled
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
        search.learn_quickly()
        search.grow(began + GROWING * time_budget)
        search.sample(began + SAMPLING * time_budget)
        if all(candidate.track is None for candidate in search.choose()):
            search.grow(search.time_to_refit())  # chains have nothing to do with all strings
        chosen = search.choose()
        model, steps = search.finish(chosen, corpus)
    recipe = {
        "seed": seed,
        "held_out": HELD_OUT,
        "refit": steps,
        "components": [{"weight": c.weight, "name": c.name, **(c.recipe or {})} for c in chosen],
    }
    seconds = time.monotonic() - began
    info = {
        "leaderboard": leaderboard(search.candidates, search.failures),
        "recipe": recipe,
        "seconds": seconds,
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
        # A track holds old and new weights, their expected counts, and those of its thread's block.
        self.most_states = most_states(len(train.alphabet), copies=8 * workers + 4)
        self.most_sampled = most_states(len(train.alphabet), copies=COPIES * workers)
        self.largest = most_states(len(train.alphabet), copies=4)  # of what is mixed
        self._busy: set[int] = set()
        self._lock = threading.Lock()
        self._stopped = False
        started = time.monotonic()
        self.forest = Forest(train, n_states=LAYOUT)
        self.layout_seconds = time.monotonic() - started
        self.held_forest = Forest(held, n_states=LAYOUT)
        part = first_part(train, seed)
        self.part = None if part is None else Forest(part, n_states=LAYOUT)
        self.tracks: list[AnyTrack] = self._random_tracks()
        self._random = len(self.tracks)

    def _random_tracks(self) -> list[AnyTrack]:
        """Return tracks that begin at random: first of each family, then other sizes."""
        sizes = [(name, size) for name in FIRST for size in FIRST[name]]
        sizes.sort(key=lambda pair: FIRST[pair[0]].index(pair[1]))
        tracks: list[AnyTrack] = [
            self._track(name, self.seed, size)
            for name, size in sizes
            if size <= self.most_states or size == FIRST[name][0]  # the least there is
        ]
        chains = [
            self._chain(name, size, climb_seconds=CLIMB * self.budget)
            for name, size in CLIMBING.items()
            if size <= self.most_sampled
        ]
        return tracks[:2] + chains + tracks[2:]

    def _track(self, name: str, seed: int, first: int = 0) -> Track:
        seconds = SLICE * self.budget
        return Track(
            name, seed, self.most_states, first=first, part=self.part, slice_seconds=seconds
        )

    def _chain(self, family: str, size: int, **more: Any) -> ChainTrack:
        seconds = SLICE * self.budget
        return ChainTrack(family, size, self.seed, self.train, self.held, seconds, **more)

    def _tell(self, note: str) -> None:
        if self.bar is not None:
            passed = time.monotonic() - self.began
            self.bar.advance(min(passed, self.budget) - self.bar.done, note)

    def _add(self, name: str, model: WFA | HMM, seconds: float, **more: Any) -> Candidate:
        candidate = Candidate(name, model, log_proba(model, self.held), seconds, **more)
        self.candidates.append(candidate)
        return candidate

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
            self._add(name, model, time.monotonic() - started, recipe={"starter": name})
            if model.n_states <= self.most_states:
                start = given_start(model, self.train, self.seed)
                track = self._track("pfa", self.seed)
                track.parameters, track.steps = start, [["given", name]]
                self.tracks.insert(len(self.tracks) - self._random, track)  # before random ones
            self._tell(f"{name}: {self.candidates[-1].score:.4f}")

    def _close(self, name: str) -> bool:
        """Tell whether a candidate is nearly as good as the best so far."""
        best = max((c.score for c in self.candidates), default=-np.inf)
        return any(c.name == name and c.score > best - BEHIND for c in self.candidates)

    def grow(self, deadline: float, anew: bool = True) -> None:
        """Advance tracks until the deadline, as many at a time as there are cores.

        When none is left, another one begins ``anew``.
        """
        with ThreadPoolExecutor(self.workers) as pool:
            try:
                outcomes = [pool.submit(self._work, deadline, anew) for _ in range(self.workers)]
                for outcome in outcomes:
                    outcome.result()
            except BaseException:
                self._stopped = True  # Ctrl-C: leaving the pool waits for its threads
                raise
        self._gather()

    def _gather(self) -> None:
        """Make candidates of the tracks as they are now."""
        self.candidates = [c for c in self.candidates if c.family is None]
        for chain in sorted(self._chains(), key=lambda chain: -chain.score)[:CHAINS_CHOSEN]:
            self._add_chain(chain)
        for track in self.tracks:
            if isinstance(track, Track) and track.steps and np.isfinite(track.score):
                self._add(
                    self._title(track),
                    family_named(track.name).model(track.parameters, self.train.alphabet),
                    track.seconds,
                    recipe=self._recipe(track),
                    family=track.name,
                    parameters=track.parameters,
                    step_seconds=track.step_seconds,
                )

    def _title(self, track: Track) -> str:
        start = track.steps[0][1] if track.steps[0][0] == "given" else "random"
        return f"{track.name} {track.n_states} from {start} (seed {track.seed % 1000})"

    def _recipe(self, track: Track) -> dict[str, Any]:
        steps = [list(step) for step in track.steps]  # the track may go on
        return {"family": track.name, "seed": track.seed, "steps": steps}

    def _chains(self) -> list[ChainTrack]:
        """Return the chains that have something to offer."""
        return [track for track in self.tracks if isinstance(track, ChainTrack) and track.average]

    def _add_chain(self, chain: ChainTrack) -> None:
        """Make a candidate of the average of a chain, as large as memory allows."""
        if len(chain.average) * chain.n_states > self.largest:
            return
        how = "climbing" if chain.climb_seconds else "sampled"
        name = f"{chain.family} {chain.n_states} {how}, {len(chain.average)} averaged"
        recipe = chain.recipe()
        self.candidates.append(
            Candidate(
                name,
                chain.model(),
                chain.log_proba,
                chain.seconds,
                recipe,
                family="chain",
                track=chain,
            )
        )

    def _work(self, deadline: float, anew: bool = True) -> None:
        def running() -> bool:
            return not self._stopped and time.monotonic() < deadline

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
            self._tell(f"{track.name} {track.n_states}: {track.score:.4f}")

    def _next_track(self, anew: bool = True) -> AnyTrack | None:
        """Pick the track to advance; when none is left, begin another like the best if wanted."""
        track = next_track(self.tracks, self._busy, self.budget)
        if track is None and anew:
            best = max((t for t in self.tracks if t.name != "chain"), key=lambda t: t.score)
            track = self._track(best.name, self.seed + len(self.tracks))
            self.tracks.append(track)
        return track

    def sample(self, deadline: float) -> None:
        """Sample from the best tracks, as many as there are cores, by chains that start there."""
        left = [
            track
            for track in self.tracks
            if np.isfinite(track.score) and track.n_states <= self.most_sampled
        ]
        chosen: list[AnyTrack] = []
        while left and len(chosen) < max(self.workers, 2):
            best = max(track.score for track in left)
            track = min((t for t in left if t.score > best - EVEN), key=lambda t: t.n_states)
            left.remove(track)
            if isinstance(track, ChainTrack):
                chosen.append(track)
                continue
            family, size = track.name, track.n_states
            start, origin = track.parameters, self._recipe(track)
            chosen.append(self._chain(family, size, start=start, origin=origin))
        others = [track for track in self.tracks if track not in chosen]
        self.tracks = chosen
        self.grow(deadline, anew=False)
        self.tracks = others + chosen
        self._gather()

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
        steps = self._train_on_all([c for c in chosen if c.parameters], corpus, deadline, most)
        self._sweep_over_all(sampled, corpus, deadline)
        if len(chosen) == 1:
            return chosen[0].model, steps
        return mixture([c.model for c in chosen], [c.weight for c in chosen]), steps

    def _train_on_all(
        self, trained: list[Candidate], corpus: Corpus, deadline: float, most: int
    ) -> int:
        """Train grown components some steps further; return how many."""
        if not trained:
            return 0
        forest = Forest(corpus, n_states=LAYOUT)
        states = [c.parameters for c in trained]
        steps = 0
        while steps < most:
            started = time.monotonic()
            states = [
                refit(str(c.family), p, forest, 1, self.workers)
                for c, p in zip(trained, states, strict=True)
            ]
            steps += 1
            self._tell(f"refit {steps}")
            if 2 * time.monotonic() - started > deadline:
                break
        for candidate, parameters in zip(trained, states, strict=True):
            family = family_named(str(candidate.family))
            candidate.model = family.model(parameters, corpus.alphabet)
        return steps

    def _sweep_over_all(self, sampled: list[Candidate], corpus: Corpus, deadline: float) -> None:
        """Let chains go on side by side, those of most weight, one for each core."""
        sampled = sorted(sampled, key=lambda candidate: -candidate.weight)[: self.workers]
        with ThreadPoolExecutor(self.workers) as pool:
            try:
                work = [pool.submit(self._sweep_on, c, corpus, deadline) for c in sampled]
                for one in work:
                    one.result()
            except BaseException:
                self._stopped = True  # Ctrl-C: leaving the pool waits for its threads
                raise

    def _sweep_on(self, candidate: Candidate, corpus: Corpus, until: float) -> None:
        track = candidate.track
        if track is None:
            return
        candidate.model, on_all = finished(track, corpus, until, lambda: not self._stopped)
        candidate.recipe = {**(candidate.recipe or {}), "all": on_all}
