"""Transliteration of names, English to Russian: every method on the same split.

The figures of others beside ours were measured with their own programs on the same 5,977 training
and 1,000 test pairs (not part of this benchmark): Sequitur G2P with order 6 and Phonetisaurus.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sigmastar.bench.papers.published_transducers import EM_ITERATION, F_SCORE, SECONDS, STATES
from sigmastar.core.errors import DataNotFound
from sigmastar.datasets import load_transliteration
from sigmastar.metrics import (
    character_error_rate,
    mean_f_score,
    normalized_edit_distance,
    word_accuracy,
)
from sigmastar.transducers.estimators.transliterator import Transliterator

__all__ = ["METHODS", "OTHERS", "TransliterationResult", "measure"]

_SMALL = ((1, 0), (1, 1), (1, 2))
METHODS: dict[str, dict[str, Any]] = {
    **{
        f"LearnFST, m = {m}": {"method": "learnfst", "n_states": m, "units": _SMALL} for m in STATES
    },
    **{
        f"EM transducer, m = {m}": {"method": "em", "n_states": m, "units": _SMALL}
        for m in EM_ITERATION
    },
    "joint spectral": {"method": "joint-spectral"},
    "joint n-gram": {"method": "joint-ngram"},
    "discriminative": {"method": "discriminative"},
    "combined": {"method": "combined"},
}
# Word accuracy, mean F, NED (None: not measured), CER, in per cent; seconds to train; words/s.
OTHERS: dict[str, tuple[float | None, ...]] = {
    "Sequitur G2P, order 6": (66.0, 92.57, None, 8.84, 260.0, 800.0),
    "Phonetisaurus": (65.8, 92.51, None, 9.12, 6.5, 4100.0),
    "LearnFST as published (other data)": (
        None,
        F_SCORE,
        round(STATES[2].ned, 1),
        None,
        sum(SECONDS),
        None,
    ),
}


@dataclass(frozen=True)
class TransliterationResult:
    """What one method reached: figures in per cent, seconds, words a second."""

    name: str
    word_accuracy: float
    mean_f_score: float
    normalized_edit_distance: float
    character_error_rate: float
    train_seconds: float
    words_per_second: float


def measure(
    methods: Sequence[str] = tuple(METHODS),
    *,
    size: str = "news",
    data: Path | None = None,
) -> Iterator[TransliterationResult]:
    """Train each method, with the development part to balance scorers, and test it once.

    Compiled code is warmed up on a few pairs first, so that times are those of the work itself.
    """
    splits = load_transliteration("en-ru", size=size, data_home=data)
    if splits.test is None or splits.train is None:
        raise DataNotFound("the transliteration data lack their training or test part.")
    truth = splits.test.target
    for name in methods:
        Transliterator(**METHODS[name]).fit(splits.train[:200]).predict(splits.test.source[:20])
        estimator = Transliterator(**METHODS[name])
        begin = time.perf_counter()
        estimator.fit(splits.train, dev=splits.dev)
        trained = time.perf_counter()
        estimator.predict(splits.test.source[:20])  # a few pairs know no networks to warm up
        begun = time.perf_counter()
        guesses = [list(guess) for guess in estimator.predict(splits.test.source)]
        done = time.perf_counter()
        yield TransliterationResult(
            name,
            100 * word_accuracy(truth, guesses),
            100 * mean_f_score(truth, guesses),
            100 * normalized_edit_distance(truth, guesses),
            100 * character_error_rate(truth, guesses),
            trained - begin,
            len(truth) / (done - begun),
        )
