"""Words into phones, fifteen languages: the SIGMORPHON task of 2020, every method on one split.

The measure of the task is the word error rate, the share of words with any error, averaged over the
languages. Nothing is tuned on the part that is measured: combinations are balanced on training
words that are held out.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sigmastar.core.errors import DataNotFound
from sigmastar.datasets import load_pronunciation
from sigmastar.datasets.pronunciation import PRONUNCIATIONS
from sigmastar.metrics import character_error_rate, word_accuracy
from sigmastar.transducers.estimators.transliterator import Transliterator

__all__ = ["PronunciationResult", "macro_average", "measure"]


@dataclass(frozen=True)
class PronunciationResult:
    """What one method reached in one language: rates in per cent, seconds, words a second."""

    language: str
    method: str
    word_error_rate: float
    phone_error_rate: float
    source_form: str
    target_form: str
    train_seconds: float
    words_per_second: float


def measure(
    languages: Sequence[str] = tuple(PRONUNCIATIONS),
    methods: Sequence[str] = ("combined",),
    *,
    part: str = "test",
    words: int | None = None,
    data: Path | None = None,
) -> Iterator[PronunciationResult]:
    """Train each method on each language, on the first so many words if asked, and measure it.

    Compiled code is warmed up on a few words first, so that times are those of the work itself.
    """
    for language in languages:
        splits = load_pronunciation(language, data_home=data)
        train, judged = splits.train, getattr(splits, part)
        if train is None or judged is None:
            raise DataNotFound(f"the pronunciations of {language!r} lack their part {part!r}.")
        train = train[:words]
        truth = list(judged.target)
        for method in methods:
            Transliterator(method).fit(train[:100]).predict(judged.source[:20])
            learner = Transliterator(method)
            begin = time.perf_counter()
            learner.fit(train)
            trained = time.perf_counter()
            learner.predict(judged.source[:20])  # a few pairs know no networks to warm up
            begun = time.perf_counter()
            guesses = learner.predict(judged.source)
            done = time.perf_counter()
            yield PronunciationResult(
                language,
                method,
                100 * (1 - word_accuracy(truth, guesses)),
                100 * character_error_rate(truth, guesses),
                learner.info_["source_form"],
                learner.info_["target_form"],
                trained - begin,
                len(truth) / (done - begun),
            )


def macro_average(results: Sequence[PronunciationResult]) -> dict[str, float]:
    """Return the mean word error rate of each method over its languages."""
    methods = dict.fromkeys(result.method for result in results)
    return {
        method: float(np.mean([r.word_error_rate for r in results if r.method == method]))
        for method in methods
    }
