"""What was chosen learns from all strings, those that it was judged by included."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from sigmastar.automata.auto.candidates import Candidate
from sigmastar.automata.auto.chains import average_of, finished
from sigmastar.automata.auto.steps import COUNTED, LAYOUT, counted_on_all, refitting
from sigmastar.automata.inference.expected_counts import Forest
from sigmastar.automata.learn.blocks.growth import family_named
from sigmastar.automata.models.pfa import PFA
from sigmastar.corpus.corpus import Corpus

__all__ = ["sweep_over_all", "train_on_all"]


def train_on_all(
    chosen: list[Candidate],
    corpus: Corpus,
    deadline: float,
    most: int,
    workers: int,
    fast: bool,
    tell: Callable[[str], None],
) -> int:
    """Train grown components some steps further, ``fast`` ones or plain; return how many.

    The arcs of deterministic ones are counted anew.
    """
    trained = [c for c in chosen if c.parameters]
    counted = [c for c in chosen if c.name in COUNTED]
    if not trained and not counted:
        return 0
    forest = Forest(corpus, n_states=LAYOUT)
    for candidate in counted:
        if isinstance(candidate.model, PFA):
            candidate.model = counted_on_all(candidate.model, forest, workers)
            candidate.recipe = {**(candidate.recipe or {}), "counted": True}
    if not trained:
        return 0
    runs = [refitting(str(c.family), c.parameters, forest, fast, workers) for c in trained]
    steps = 0
    while steps < most:
        started = time.monotonic()
        states = [next(run) for run in runs]
        steps += 1
        tell(f"refit {steps}")
        if 2 * time.monotonic() - started > deadline:
            break
    for candidate, parameters in zip(trained, states, strict=True):
        family = family_named(str(candidate.family))
        candidate.model = family.model(parameters, corpus.alphabet)
    return steps


def sweep_over_all(
    sampled: list[Candidate],
    corpus: Corpus,
    deadline: float,
    workers: int,
    room: int,
    stopped: threading.Event,
) -> None:
    """Let chains go on side by side, those of most weight, one for each core.

    Where cores are left, several go on from the same chain, each by itself. Averages share ``room``
    for so many states more than they have.
    """
    sampled = sorted(sampled, key=lambda candidate: -candidate.weight)[:workers]

    def running() -> bool:
        return not stopped.is_set()

    def begun(pool: ThreadPoolExecutor, candidate: Candidate) -> list[Future[Any]]:
        track = candidate.track
        if track is None:
            return []
        size = min(candidate.model.n_states + room // len(sampled), track.averaged)
        runs = max(min(workers // len(sampled), size // track.n_states), 1)
        most = size // (track.n_states * runs)
        return [
            pool.submit(finished, track, corpus, deadline, running, most=most, run=run)
            for run in range(runs)
        ]

    with ThreadPoolExecutor(workers) as pool:
        try:
            work = [begun(pool, candidate) for candidate in sampled]
            done = [[one.result() for one in each] for each in work]
        except BaseException:
            stopped.set()  # Ctrl-C: leaving the pool waits for its threads
            raise
    for candidate, results in zip(sampled, done, strict=True):
        found = [parameters for each, _ in results for parameters in each]
        if found and candidate.track is not None:
            candidate.model = average_of(candidate.track.family, found, corpus.alphabet)
            on_all = [made for _, made in results if made]
            candidate.recipe = {**(candidate.recipe or {}), "all": on_all}
