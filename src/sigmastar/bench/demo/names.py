"""Names are carried from Latin into Cyrillic letters by models learned from pairs.

The models learn from the training part of the embedded names and are tested on the rest, once. The
combination balances its scorers on a part of the training pairs. Seconds are those of ``fit``,
after a small fit that compiles the kernels.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from sigmastar.bench.clock import timed
from sigmastar.bench.demo.common import Savable, both_parts
from sigmastar.core.progress import stage
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.datasets import Splits, load_demo_names
from sigmastar.metrics import character_error_rate, mean_f_score, word_accuracy
from sigmastar.transducers.estimators.transliterator import Transliterator
from sigmastar.transducers.transliteration.recipe import JUDGES

__all__ = ["NameExample", "NamesDemo", "NamesRow", "demo_names"]

_METHODS: dict[str, dict[str, Any]] = {
    "letter by letter": {"method": "joint-ngram", "order": 1},
    "joint n-grams": {"method": "joint-ngram"},
    # Without networks, which take half a minute to train and have little to learn from 822 names.
    "combined": {"method": "combined", "scorers": JUDGES[:5]},
}
_N_BEST = 3


@dataclass(frozen=True, eq=False)
class NamesRow:
    """One method: share of names right, character error rate, mean F-score, time and learner."""

    method: str
    word_accuracy: float
    character_error_rate: float
    mean_f_score: float
    seconds: float
    names_per_second: float
    learner: Transliterator


@dataclass(frozen=True)
class NameExample:
    """A test name, how it is spelt, and the best guesses with their shares among these."""

    source: str
    true: str
    guesses: tuple[tuple[str, float], ...]

    @property
    def is_right(self) -> bool:
        """Whether the first guess is right."""
        return bool(self.guesses) and self.guesses[0][0] == self.true


@dataclass(frozen=True, eq=False)
class NamesDemo:
    """What the third part found; ``examples`` are all test names, by the last row."""

    train: PairCorpus
    test: PairCorpus
    rows: tuple[NamesRow, ...]
    examples: tuple[NameExample, ...]

    @property
    def models(self) -> Mapping[str, Savable]:
        """What is worth saving, by name."""
        return {"names": self.rows[-1].learner}

    def summary(self) -> dict[str, Any]:
        """Give the figures alone."""
        return {
            "train_pairs": len(self.train),
            "test_pairs": len(self.test),
            "rows": [
                {name: value for name, value in vars(row).items() if name != "learner"}
                for row in self.rows
            ],
            "examples": [vars(example) for example in self.examples[:10]],
        }


def demo_names(splits: Splits[PairCorpus] | None = None) -> NamesDemo:
    """Learn to transliterate, and test; on the embedded names unless told otherwise."""
    train, test = both_parts(splits or load_demo_names())
    rows = []
    with stage("Learning to transliterate", len(_METHODS)) as progress:
        for name, parameters in _METHODS.items():
            progress.advance(0, note=name)
            model = Transliterator(**parameters)
            clone(model).fit(train[:60]).predict(test.source[:5])
            seconds = timed(model.fit, train)
            began = time.perf_counter()
            guesses = [list(guess) for guess in model.predict(test.source)]
            taken = time.perf_counter() - began
            rows.append(
                NamesRow(
                    name,
                    word_accuracy(test.target, guesses),
                    character_error_rate(test.target, guesses),
                    mean_f_score(test.target, guesses),
                    seconds,
                    len(test) / taken,
                    model,
                )
            )
            progress.advance()
    best = rows[-1].learner.n_best(test.source, _N_BEST)
    examples = tuple(
        NameExample("".join(map(str, source)), "".join(map(str, target)), _shares(found))
        for (source, target), found in zip(test, best, strict=True)
    )
    return NamesDemo(train, test, tuple(rows), examples)


def _shares(found: list[tuple[Any, float]]) -> tuple[tuple[str, float], ...]:
    scores = np.array([score for _, score in found])
    weights = np.exp(scores - scores.max()) if len(scores) else scores
    shares = (weights / weights.sum()).tolist() if len(scores) else []
    return tuple(("".join(text), share) for (text, _), share in zip(found, shares, strict=True))
