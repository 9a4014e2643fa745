"""Find a good automaton within a time budget, from training data alone.

A tenth of the sequences is held out. Moment learners give quick candidates and starting points;
tracks grow HMMs and PFAs from random and from given starts (``learn/blocks/growth``),
side by side on the available cores, and a family that falls behind is given up; Gibbs sampling
starts from the best PFA, and chains of HMMs from random states. The best candidates are mixed with
weights fitted on the held-out part, and the grown ones among them are trained a little further on
all sequences; models of moment learners and averages of samples stay as they are. What was done is
written down as a recipe that gives the same model again without a clock.
"""

from __future__ import annotations

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
    score_of,
)
from sigmastar.automata.auto.chains import ChainTrack, average_of
from sigmastar.automata.auto.steps import (
    HELD_OUT,
    LAYOUT,
    QUICK_LEARNERS,
    REFINED,
    gibbs_from,
    gibbs_settings,
    given_start,
    hold_out_part,
    pfa_of,
    refit,
)
from sigmastar.automata.auto.turns import BEHIND, AnyTrack, next_track
from sigmastar.automata.inference.expected_counts import Forest, thread_count
from sigmastar.automata.inference.scoring import log_proba
from sigmastar.automata.learn.blocks.growth import Track, family_named
from sigmastar.automata.learn.gibbs import seconds_of_sweep
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
GROWING = 0.7
SAMPLING = 0.82
SLICE = 0.1  # share of the budget that a track samples at a time
CHAIN_SIZES = (24, 64)
CHAIN_SLICE = 0.06  # share of the budget that a chain sweeps at a time
CLIMBING_SIZE = 40
CLIMB = 0.2  # share of the budget for the climb of one chain
CHAINS_CHOSEN = 2  # that give candidates
FINISHED = 0.98
LONGEST_REFIT = 0.3  # share of the budget that is kept for it, at the most
REFIT_STEPS = 6
_SAMPLES = 4  # automata that Gibbs sampling averages: two of each of two chains
AVERAGED = 480  # states of an average at most: to judge it costs by their square


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
        search.grow(search.time_to_refit())  # what the others have left
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
        self.tracks: list[AnyTrack] = [self._track(name, seed) for name in ("pfa", "hmm")]
        self.tracks += [self._chain(size) for size in CHAIN_SIZES if size <= self.most_states]
        self._random = len(self.tracks)
        self._climbs = self.most_states < CLIMBING_SIZE
        self.largest = most_states(len(train.alphabet), copies=4)  # of what is mixed
        self._busy: set[int] = set()
        self._lock = threading.Lock()
        self._stopped = False
        started = time.monotonic()
        self.forest = Forest(train, n_states=LAYOUT)
        self.layout_seconds = time.monotonic() - started
        self.held_forest = Forest(held, n_states=LAYOUT)

    def _track(self, name: str, seed: int) -> Track:
        seconds = SLICE * self.budget
        return Track(name, seed, self.most_states, corpus=self.train, slice_seconds=seconds)

    def _chain(self, size: int, climb_seconds: float = 0.0) -> ChainTrack:
        seconds = CHAIN_SLICE * self.budget
        return ChainTrack(size, self.seed, self.train, self.held, seconds, climb_seconds)

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

    def grow(self, deadline: float) -> None:
        """Advance tracks until the deadline, as many at a time as there are cores."""
        with ThreadPoolExecutor(self.workers) as pool:
            try:
                outcomes = [pool.submit(self._work, deadline) for _ in range(self.workers)]
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
            if not isinstance(track, Track):
                continue
            if track.steps and np.isfinite(track.score):
                model = family_named(track.name).model(track.parameters, self.train.alphabet)
                start = track.steps[0][1] if track.steps[0][0] == "given" else "random"
                name = f"{track.name} {track.n_states} from {start} (seed {track.seed % 1000})"
                steps = [list(step) for step in track.steps]  # the track may go on
                recipe = {"family": track.name, "seed": track.seed, "steps": steps}
                self._add(
                    name,
                    model,
                    track.seconds,
                    recipe=recipe,
                    family=track.name,
                    parameters=track.parameters,
                    step_seconds=track.step_seconds,
                )

    def _chains(self) -> list[ChainTrack]:
        """Return the chains that have something to offer."""
        return [track for track in self.tracks if isinstance(track, ChainTrack) and track.samples]

    def _add_chain(self, chain: ChainTrack) -> None:
        """Make a candidate of the average of a chain, as large as memory allows."""
        samples, scored = chain.average()
        if len(samples) * chain.n_states > self.largest:
            return
        model = average_of([sample.parameters for sample in samples], self.train.alphabet)
        how = "climbing" if chain.climb_seconds else "sampled"
        name = f"chain {chain.n_states} {how}, {len(samples)} averaged (seed {chain.seed % 1000})"
        recipe = {"chain": chain.recipe(samples)}
        candidate = Candidate(name, model, scored, chain.seconds, recipe, family="chain")
        self.candidates.append(candidate)

    def _work(self, deadline: float) -> None:
        def running() -> bool:
            return not self._stopped and time.monotonic() < deadline

        while running():
            with self._lock:
                track = self._next_track()
                self._busy.add(id(track))
            track.deadline = deadline
            try:
                track.advance(self.forest, self.held_forest, running)
            finally:
                with self._lock:
                    self._busy.discard(id(track))
                    self._climb_if_sharp(track)
            self._tell(f"{track.name} {track.n_states}: {track.score:.4f}")

    def _next_track(self) -> AnyTrack:
        """Pick the track to advance; when none is left, begin another like the best."""
        track = next_track(self.tracks, self._busy, self.budget)
        if track is None:
            best = max((t for t in self.tracks if t.name != "chain"), key=lambda t: t.score)
            track = self._track(best.name, self.seed + len(self.tracks))
            self.tracks.append(track)
        return track

    def _climb_if_sharp(self, track: AnyTrack) -> None:
        """Let another chain climb where the first finds few arcs."""
        if isinstance(track, ChainTrack) and track.sharp and not self._climbs:
            self._climbs = True
            self.tracks.append(self._chain(CLIMBING_SIZE, CLIMB * self.budget))

    def sample(self, deadline: float) -> None:
        """Average posterior samples that start from the best PFA, as time allows."""
        best = max((c for c in self.candidates if c.family == "pfa"), key=score_of, default=None)
        room = deadline - time.monotonic()
        if (
            best is None
            or room < 1.0
            or best.score < max(c.score for c in self.candidates) - BEHIND
        ):
            return
        n_states = len(best.parameters["initial"])
        if _SAMPLES * n_states > min(self.largest, AVERAGED):
            return
        # Chains run side by side, and so slow each other down. Better too few than too late.
        start = pfa_of(best.parameters, self.train)
        sweep = seconds_of_sweep(self.train, start, gibbs_settings(1), random_state=self.seed)
        n_sweeps = int(min((deadline - time.monotonic()) / (2.0 * sweep), 300))
        if n_sweeps < 12:
            return
        started = time.monotonic()
        model = gibbs_from(best.parameters, self.train, n_sweeps, self.seed)
        self._add(
            f"gibbs {n_states} from {best.name}",
            model,
            time.monotonic() - started,
            recipe={"gibbs": {"n_sweeps": n_sweeps}, **(best.recipe or {})},
        )

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
        """Train the grown components further on all sequences and put all together."""
        deadline = self.began + FINISHED * self.budget
        trainable = [c for c in chosen if c.parameters]
        steps = 0
        if trainable:
            forest = Forest(corpus, n_states=LAYOUT)
            states = [c.parameters for c in trainable]
            while steps < REFIT_STEPS:
                started = time.monotonic()
                states = [
                    refit(str(c.family), p, forest, 1, self.workers)
                    for c, p in zip(trainable, states, strict=True)
                ]
                steps += 1
                self._tell(f"refit {steps}")
                if 2 * time.monotonic() - started > deadline:
                    break
            for candidate, parameters in zip(trainable, states, strict=True):
                candidate.model = family_named(str(candidate.family)).model(
                    parameters, corpus.alphabet
                )
        if len(chosen) == 1:
            return chosen[0].model, steps
        return mixture([c.model for c in chosen], [c.weight for c in chosen]), steps
