"""States, training pairs and EM on a transliteration task (Balle, Quattoni, Carreras 2011, sec. 6).

An input symbol writes zero, one or two output symbols; all alignments of a pair are equally likely
at first. What is chosen — EM's best start and number of iterations — is chosen on the development
part, where the paper chose on its test part; each model is then tested once. Error is the
normalized edit distance times 100.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sigmastar.bench.papers.published_transducers import PAIRS
from sigmastar.core.errors import DataNotFound
from sigmastar.core.progress import stage
from sigmastar.core.types import Learned, Symbol
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.datasets.problem import Splits
from sigmastar.metrics import mean_f_score, normalized_edit_distance
from sigmastar.transducers.transliteration.chunk_learning import (
    AlignedChunks,
    align_chunks,
    climb_chunks,
    spectral_chunks,
    start_of_em,
)
from sigmastar.transducers.transliteration.chunk_transducer import ChunkTransducer

__all__ = [
    "CurveRow",
    "EMTimes",
    "Names",
    "StatesRow",
    "data_properties",
    "em_times",
    "learning_curves",
    "states_table",
]

UNITS = ((1, 0), (1, 1), (1, 2))
ROUNDS = 4  # of alignments weighed by the transducer; more change nothing on development pairs
UNIT_ROUNDS = 12  # of EM over units alone
EVERY, ITERATIONS = 10, 200  # how often EM is judged, and how far it goes
DRAWS = 15  # outputs drawn for an input, of which the commonest counts
BEAM = 20


@dataclass(frozen=True, eq=False)
class Names:
    """Training, development and test pairs, all coded by the alphabets of the first."""

    train: PairCorpus
    dev: PairCorpus
    test: PairCorpus

    @classmethod
    def of(cls, splits: Splits[PairCorpus]) -> Names:
        """Code the parts of a data set; all three must be there."""
        if splits.train is None or splits.dev is None or splits.test is None:
            raise DataNotFound("the transliteration data lack one of their three parts.")
        return cls(splits.train, splits.dev, splits.test)

    def first(self, size: int) -> Names:
        """Keep the first training pairs only."""
        return Names(self.train[:size], self.dev, self.test)


def data_properties(names: Names) -> dict[str, float]:
    """Return what Table 1 of the paper says of a data set."""
    source, target = names.train.source.lengths, names.train.target.lengths
    return {
        "number of training sequences": len(names.train),
        "number of test sequences": len(names.test),
        "size of X": len(names.train.source.alphabet),
        "size of Y": len(names.train.target.alphabet),
        "average length x": float(source.mean()),
        "average length y": float(target.mean()),
        "length ratio": float((source / target).mean()),
        "equal length %": 100 * float((source == target).mean()),
    }


@dataclass(frozen=True)
class StatesRow:
    """One transducer of Table 2: its singular value, and its errors by three ways to decode."""

    alignments: str
    n_states: int
    sigma: float
    ned: float  # the best output that a beam finds
    ned_sampled: float  # one output drawn
    ned_commonest: float  # the commonest of several drawn
    mean_f_score: float
    seconds: float  # to align and learn


def states_table(
    names: Names, states: Sequence[int] = (1, 2, 3, 4, 5), *, seed: int = 0
) -> Iterator[StatesRow]:
    """Learn transducers with so many states from alignments weighed in three ways; test each."""
    ways = {
        "equal": {"max_iter": 0, "state_iter": 0},
        "weighed by the states": {"max_iter": 0, "state_iter": ROUNDS},
        "weighed by units": {"max_iter": UNIT_ROUNDS, "state_iter": 0},
    }
    with stage("numbers of states", len(ways) * len(states)) as progress:
        for way, how in ways.items():
            began = time.perf_counter()
            aligned = align_chunks(names.train, UNITS, max_iter=how["max_iter"])
            aligning = time.perf_counter() - began
            for n_states in states:
                began = time.perf_counter()
                learned = spectral_chunks(aligned, n_states=n_states, state_iter=how["state_iter"])
                seconds = aligning + time.perf_counter() - began
                yield _tested(names, way, n_states, learned, seconds, seed)
                progress.advance(note=f"{way}, {n_states} states")


def _tested(
    names: Names,
    way: str,
    n_states: int,
    learned: Learned[ChunkTransducer],
    seconds: float,
    seed: int,
) -> StatesRow:
    truth = list(names.test.target)
    best = _best_outputs(learned.model, names, names.test)
    drawn = _drawn_outputs(learned.model, names, names.test, draws=1, seed=seed)
    common = _drawn_outputs(learned.model, names, names.test, draws=DRAWS, seed=seed)
    return StatesRow(
        way,
        n_states,
        sigma=float(learned.info["singular_values"][n_states - 1]),
        ned=_ned(truth, best),
        ned_sampled=_ned(truth, drawn),
        ned_commonest=_ned(truth, common),
        mean_f_score=100 * mean_f_score(truth, best),
        seconds=seconds,
    )


def _ned(truth: Sequence[Sequence[Symbol]], guesses: Sequence[Any]) -> float:
    return 100 * normalized_edit_distance(truth, [list(guess) for guess in guesses])


def _inputs(names: Names, judged: PairCorpus) -> Corpus:
    return judged.source.recode(names.train.source.alphabet, unknown="ignore")


def _best_outputs(
    model: ChunkTransducer, names: Names, judged: PairCorpus
) -> list[tuple[Symbol, ...]]:
    _, found = model.n_best(_inputs(names, judged), n_best=1, beam=BEAM)
    alphabet = names.train.target.alphabet
    return [tuple(alphabet.decode(row[0])) if row else () for row in found]


def _drawn_outputs(
    model: ChunkTransducer, names: Names, judged: PairCorpus, *, draws: int, seed: int
) -> list[tuple[Symbol, ...]]:
    """Draw outputs of each input, and keep the commonest."""
    found = model.commonest(_inputs(names, judged), draws=draws, random_state=seed)
    alphabet = names.train.target.alphabet
    return [tuple(alphabet.decode(row[0][0])) for row in found]


@dataclass(frozen=True)
class EMTimes:
    """EM from one start: seconds an iteration, and what the development part says of it."""

    n_pairs: int
    n_states: int
    seconds: float
    best_iteration: int
    dev_ned: float
    model: ChunkTransducer


def em_times(
    names: Names,
    *,
    sizes: Sequence[int] = PAIRS,
    states: Sequence[int] = (2, 3),
    iterations: int = ITERATIONS,
    seed: int = 0,
) -> Iterator[EMTimes]:
    """Time EM on growing parts of the training pairs, from one start each."""
    with stage("EM on growing parts", len(sizes) * len(states)) as progress:
        for size in sizes:
            part = names.first(size)
            aligned = align_chunks(part.train, UNITS, max_iter=0)
            for m in states:
                yield _climb(part, aligned, m, iterations, seed)
                progress.advance(note=f"{len(part.train):,} pairs, {m} states")


def _climb(
    names: Names, aligned: AlignedChunks, n_states: int, iterations: int, seed: int
) -> EMTimes:
    """Climb from a random start; keep the model that is best on the development part.

    It is judged every ``EVERY`` iterations; the time is that of EM alone.
    """
    truth = list(names.dev.target)
    current = start_of_em(aligned, n_states, random_state=seed)
    climb_chunks(aligned, current, max_iter=1, tol=0.0)  # compiles, if that is still to be done
    seconds = 0.0
    best: tuple[float, int, ChunkTransducer | None] = (float("inf"), 0, None)
    with stage("EM", iterations) as progress:
        for done in range(EVERY, iterations + 1, EVERY):
            began = time.perf_counter()
            model = climb_chunks(aligned, current, max_iter=EVERY, tol=0.0).model
            seconds += time.perf_counter() - began
            current = model.model
            error = _ned(truth, _best_outputs(model, names, names.dev))
            best = min(best, (error, done, model), key=lambda found: found[0])
            progress.advance(EVERY, note=f"error {error:.1f}")
    error, iteration, kept = best
    assert kept is not None
    return EMTimes(len(names.train), n_states, seconds / iterations, iteration, error, kept)


@dataclass(frozen=True)
class CurveRow:
    """One point of a learning curve: the test error of a method, and what it took."""

    method: str
    n_states: int
    n_pairs: int
    ned: float
    seconds: float
    iterations: int | None = None  # of EM, the best on development pairs
    spread: float | None = None  # of the development error over EM's starts


def learning_curves(
    names: Names,
    *,
    sizes: Sequence[int] = PAIRS,
    states: Sequence[int] = (2, 3),
    starts: int = 3,
    iterations: int = ITERATIONS,
    seed: int = 0,
) -> Iterator[CurveRow]:
    """Learn from growing parts of the training pairs, by LearnFST and by EM."""
    truth = list(names.test.target)
    with stage("learning curves", len(sizes) * len(states)) as progress:
        for size in sizes:
            part = names.first(size)
            began = time.perf_counter()
            aligned = align_chunks(part.train, UNITS, max_iter=0)
            aligning = time.perf_counter() - began
            for m in states:
                began = time.perf_counter()
                found = spectral_chunks(aligned, n_states=m, state_iter=ROUNDS).model
                seconds = aligning + time.perf_counter() - began
                error = _ned(truth, _best_outputs(found, part, names.test))
                yield CurveRow("LearnFST", m, len(part.train), error, seconds)
                runs = [
                    _climb(part, aligned, m, iterations, seed + start) for start in range(starts)
                ]
                best = min(runs, key=lambda run: run.dev_ned)
                error = _ned(truth, _best_outputs(best.model, part, names.test))
                yield CurveRow(
                    "EM",
                    m,
                    len(part.train),
                    error,
                    aligning + sum(run.seconds for run in runs) * iterations,
                    best.best_iteration,
                    float(np.ptp([run.dev_ned for run in runs])),
                )
                progress.advance(note=f"{len(part.train):,} pairs, {m} states")
