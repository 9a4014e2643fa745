"""English is tagged by a hidden Markov model, and by transducers that the model is compiled into.

The taggers learn from the training part of the embedded sentences and are tested on the rest, once.
Speeds are those of decoding alone on one thread, words looked up already: all taggers work in turn
on the same copies of the test sentences, and the best round of each counts, so that other work on
the machine disturbs the comparison little. What grows while it tags has grown before the clock
starts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sigmastar.bench.clock import timed
from sigmastar.bench.demo.common import Savable, both_parts
from sigmastar.core.confusion import Confusion, confusion
from sigmastar.core.progress import stage
from sigmastar.core.threads import limited_threads
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.datasets import Splits, load_demo_english
from sigmastar.tagging.estimators.hmm_tagger import HMMTagger
from sigmastar.tagging.taggers.evaluation import evaluate_tagger
from sigmastar.tagging.taggers.fst_tagger import FSTTagger
from sigmastar.tagging.taggers.sentences import words_of

__all__ = ["TaggedExample", "TextDemo", "TextRow", "demo_text"]

_COPIES = 200  # of the test sentences, for the clock
_ROUNDS = 7
_MACHINES = {
    "n1": "transducer, greedy",
    "lazy": "transducer, exact",
}


@dataclass(frozen=True, eq=False)
class TextRow:
    """One tagger: accuracies as shares, agreement with Viterbi, size and speed.

    Sizes are None for what is no transducer, agreement and speed for the baseline.
    """

    method: str
    accuracy: float
    known_accuracy: float | None
    unknown_accuracy: float | None
    agreement: float | None = None
    n_states: int | None = None
    n_arcs: int | None = None
    tokens_per_second: float | None = None
    tagger: HMMTagger | FSTTagger | None = None


@dataclass(frozen=True)
class TaggedExample:
    """A test sentence with the right tags and the exact transducer's."""

    words: tuple[str, ...]
    true: tuple[str, ...]
    given: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class TextDemo:
    """What the second part found.

    ``rows`` are the baseline, the HMM and its transducers, the exact one last; ``examples`` all
    test sentences; ``confusion`` is that of the exact transducer.
    """

    train: PairCorpus
    test: PairCorpus
    rows: tuple[TextRow, ...]
    examples: tuple[TaggedExample, ...]
    confusion: Confusion

    @property
    def models(self) -> Mapping[str, Savable]:
        """What is worth saving, by name."""
        return {
            "tagger-" + ("hmm" if isinstance(row.tagger, HMMTagger) else "fst"): row.tagger
            for row in self.rows
            if row.tagger is not None
        }

    def summary(self) -> dict[str, Any]:
        """Give the figures alone."""
        return {
            "train_sentences": len(self.train),
            "test_sentences": len(self.test),
            "test_words": int(self.test.source.n_symbols),
            "rows": [
                {name: value for name, value in vars(row).items() if name != "tagger"}
                for row in self.rows
            ],
            "confusion": {"tags": self.confusion.labels, "counts": self.confusion.counts},
        }


def demo_text(splits: Splits[PairCorpus] | None = None) -> TextDemo:
    """Train and compile taggers, and test them; on the embedded English unless told otherwise."""
    train, test = both_parts(splits or load_demo_english())
    words, text = words_of(test), words_of(train)
    with stage("Compiling taggers", 2 + len(_MACHINES)) as progress:
        progress.advance(0, note="HMM")
        hmm = HMMTagger().fit(train)
        progress.advance()
        taggers: dict[str, HMMTagger | FSTTagger] = {"HMM, Viterbi": hmm}
        for kind, name in _MACHINES.items():
            progress.advance(0, note=name)
            taggers[name] = FSTTagger.from_hmm(hmm, kind, corpus=text)
            progress.advance()
        expected = hmm.tag_classes(*hmm.to_classes(words))
        speeds = _speeds(taggers, words)
        progress.advance()
    rows = [_baseline(train, test)]
    for name, tagger in taggers.items():
        found = evaluate_tagger(tagger, test)
        same = tagger.tag_classes(*tagger.to_classes(words)) == expected
        info = tagger.info if isinstance(tagger, FSTTagger) else {}
        rows.append(
            TextRow(
                method=name,
                accuracy=found["accuracy"],
                known_accuracy=found["known_accuracy"],
                unknown_accuracy=found["unknown_accuracy"],
                agreement=float(same.mean()),
                n_states=info.get("n_states"),
                n_arcs=info.get("n_arcs"),
                tokens_per_second=speeds[name],
                tagger=tagger,
            )
        )
    given = taggers[_MACHINES["lazy"]].predict(words)
    examples = tuple(
        TaggedExample(tuple(sentence), tuple(map(str, tags)), tuple(guess))
        for sentence, tags, guess in zip(words, test.target, given, strict=True)
    )
    mistaken = confusion(
        [tag for example in examples for tag in example.true],
        [tag for example in examples for tag in example.given],
    )
    return TextDemo(train, test, tuple(rows), examples, mistaken)


def _baseline(train: PairCorpus, test: PairCorpus) -> TextRow:
    """Give every word its most frequent tag, and unknown words the most frequent of all."""
    counts: dict[str, Counter[str]] = {}
    overall: Counter[str] = Counter()
    for words, tags in train:
        for word, tag in zip(words, tags, strict=True):
            counts.setdefault(str(word).lower(), Counter())[str(tag)] += 1
            overall[str(tag)] += 1
    fallback = overall.most_common(1)[0][0]
    right: list[bool] = []
    known: list[bool] = []
    for words, tags in test:
        for word, tag in zip(words, tags, strict=True):
            seen = counts.get(str(word).lower())
            right.append(str(tag) == (seen.most_common(1)[0][0] if seen else fallback))
            known.append(seen is not None)
    hit, old = np.array(right), np.array(known)
    return TextRow(
        method="commonest tag",
        accuracy=float(hit.mean()),
        known_accuracy=float(hit[old].mean()),
        unknown_accuracy=float(hit[~old].mean()) if not old.all() else None,
    )


def _speeds(
    taggers: Mapping[str, HMMTagger | FSTTagger], words: list[list[str]]
) -> dict[str, float]:
    """Return tokens a second of each tagger, the best of rounds in which all take turns."""
    coded = {name: tagger.to_classes(words * _COPIES) for name, tagger in taggers.items()}
    found: dict[str, list[float]] = {name: [] for name in taggers}
    with limited_threads(1):
        for name, tagger in taggers.items():
            tagger.tag_classes(*coded[name])
        for _ in range(_ROUNDS):
            for name, tagger in taggers.items():
                taken = timed(tagger.tag_classes, *coded[name])
                found[name].append(len(coded[name][0]) / max(taken, 1e-9))
    return {name: max(values) for name, values in found.items()}
