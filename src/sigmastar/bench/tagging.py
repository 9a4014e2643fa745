"""Kempe's Tables 1 and 2 on public corpora.

The paper's corpora are not public. For English the lexicon and the untagged text come from 90 % of
the Brown corpus, transition and class probabilities from 20,000 of its words, and the test set from
the other 10 %; other languages are treebanks. Only the ordering and the gaps can be compared with
the paper, not the values. Machines that grow do so on text of the training part; their speed is
that of the first pass over the test part, so that new arcs are paid for.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from sigmastar.bench.papers.published_tagging import MACHINES
from sigmastar.core.jit import without_patience
from sigmastar.core.threads import limited_threads
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.datasets import load_brown, load_demo_english, load_ud
from sigmastar.tagging.estimators.hmm_tagger import HMMTagger
from sigmastar.tagging.fst.lazy import LazyTransducer
from sigmastar.tagging.learn.brill import learn_rules
from sigmastar.tagging.lexicon.counts import Lexicon
from sigmastar.tagging.lexicon.marks import split_mark
from sigmastar.tagging.taggers.fst_tagger import FSTTagger
from sigmastar.tagging.taggers.sentences import words_of
from sigmastar.tagging.taggers.tagger import Tagger

__all__ = [
    "MachineFigures",
    "Task",
    "brown_split",
    "compile_machines",
    "demo_task",
    "languages",
    "machines",
    "measure",
    "on_one_core",
    "six_languages",
]

DataHome = str | os.PathLike[str] | None
Given = ParamSpec("Given")
Line = TypeVar("Line")

_TEXTS = ((20_000, "20K"), (50_000, "50K"), (100_000, "100K"), (10**9, "1M"))
_GROWN_ON = 100_000  # words of training text for machines that grow
_TIMED_WORDS = 2_000_000  # tagged again and again, so that a clock tick does not count
# Treebanks of the paper's languages.
_TREEBANKS = (
    ("en", "English (EWT)"),
    ("nl", "Dutch (LassySmall)"),
    ("fr", "French (Sequoia)"),
    ("de", "German (UTB)"),
    ("pt", "Portuguese (Bosque)"),
    ("es", "Spanish (GSD)"),
)


@dataclass(frozen=True)
class Task:
    """Tagged text to learn from and to test on; ``n_words`` of it give the probabilities."""

    name: str
    train: PairCorpus
    test: PairCorpus
    n_words: int = 20_000

    def tagger(self, order: int = 1) -> HMMTagger:
        """Train a tagger over ambiguity classes, with the lexicon of all the training text."""
        hmm = _over_classes(order)
        return hmm.fit(_sample(self.train, self.n_words), lexicon=Lexicon.from_tagged(self.train))

    def sizes(self) -> dict[str, int]:
        """Count words that give the probabilities, words to test on, tags and classes."""
        hmm = self.tagger()
        return {
            "training words": _sample(self.train, self.n_words).source.n_symbols,
            "test words": self.test.source.n_symbols,
            "tags": len(hmm.tags_),
            "classes": hmm.trained_model.n_classes,
        }

    def text(self, n_words: int) -> list[list[str]]:
        """Return so many words of the training text without their tags, or all there are."""
        return words_of(_sample(self.train, n_words))


@dataclass(frozen=True)
class MachineFigures:
    """One line of a table: a machine and what was measured of it."""

    name: str
    accuracy: float
    agreement: float | None = None
    n_states: int | None = None
    n_arcs: int | None = None
    build_seconds: float | None = None
    tokens_per_second: float | None = None


def on_one_core(measured: Callable[Given, Iterator[Line]]) -> Callable[Given, Iterator[Line]]:
    """Use one thread while rows are measured: speeds are those of one core."""

    @wraps(measured)
    def alone(*args: Given.args, **kwargs: Given.kwargs) -> Iterator[Line]:
        lines = measured(*args, **kwargs)
        while True:
            with limited_threads(1):
                line = next(lines, None)
            if line is None:
                return
            yield line

    return alone


def brown_split(
    data_home: DataHome = None, *, joined: bool = True
) -> tuple[PairCorpus, PairCorpus]:
    """Load Brown; every tenth sentence is for testing.

    Marks of titles, headlines, citations and foreign words are dropped; joined tags (182 tags in
    the training part) are kept, or cut at the plus (104).
    """
    if not joined:
        corpus = load_brown(data_home=data_home).sentences
    else:
        full = load_brown(tags="full", data_home=data_home).sentences
        names = [_plain(str(tag)) for tag in full.target.alphabet]
        alphabet = Alphabet(sorted(set(names)))
        codes = alphabet.encode(names)[full.target.symbols]
        corpus = PairCorpus(full.source, Corpus(codes, full.target.offsets, alphabet))
    number = np.arange(len(corpus))
    return corpus.take(number[number % 10 != 9]), corpus.take(number[number % 10 == 9])


def _plain(tag: str) -> str:
    tag = tag.removeprefix("fw-")
    while tag.endswith(("-tl", "-hl", "-nc")):
        tag = tag[:-3]
    return tag


def _over_classes(order: int) -> HMMTagger:
    return HMMTagger(order, classes="sets", threshold=0.1, max_classes=300)


def _sample(corpus: PairCorpus, n_words: int, first: int = 0) -> PairCorpus:
    """Take sentences at equal distances, from ``first`` on, until they hold so many words."""
    step = max(1, int(corpus.source.n_symbols // n_words))
    rows = np.arange(first, len(corpus), step)
    enough = int(np.searchsorted(np.cumsum(corpus.source.lengths[rows]), n_words)) + 1
    return corpus.take(rows[:enough])


def demo_task(n_sentences: int = 10**9) -> Task:
    """Return a small task out of the sentences that come with the package."""
    parts = load_demo_english()
    assert parts.train is not None
    assert parts.test is not None
    return Task("demo", parts.train[:n_sentences], parts.test, n_words=2_000)


def brown_task(data_home: DataHome = None) -> Task:
    """Return the task of Table 1."""
    return Task("English (Brown)", *brown_split(data_home, joined=False))


def six_languages(data_home: DataHome = None) -> Iterator[Task]:
    """Load the languages of Table 2, English twice; where there is no training part, take dev."""
    yield brown_task(data_home)
    for code, name in _TREEBANKS:
        parts = load_ud(code, data_home=data_home)
        assert parts.test is not None
        if parts.train is not None:
            yield Task(name, parts.train, parts.test)
        elif parts.dev is not None:
            yield Task(name, parts.dev, parts.test, n_words=10**9)


def measure(
    name: str,
    tagger: Tagger,
    test: PairCorpus,
    expected: Any = None,
    *,
    build_seconds: float | None = None,
) -> MachineFigures:
    """Tag the test part; ``expected`` are tags by name to agree with.

    What grows is timed on its first pass, all else on many.
    """
    codes, starts = tagger.to_classes(words_of(test))
    plain = np.array([split_mark(tag)[0] for tag in tagger.tags_])
    # By the processor's clock, so that other work on the machine disturbs the figure little.
    began = time.process_time()
    tags = tagger.tag_classes(codes, starts)
    seconds = time.process_time() - began
    rounds = 1
    if not _grows(tagger):
        rounds = max(1, _TIMED_WORDS // max(1, len(codes)))
        began = time.process_time()
        for _ in range(rounds):
            tagger.tag_classes(codes, starts)
        seconds = time.process_time() - began
    names = np.array([str(tag) for tag in test.target.alphabet])
    info = tagger.info if isinstance(tagger, FSTTagger) else {}
    return MachineFigures(
        name=name,
        accuracy=float((plain[tags] == names[test.target.symbols]).mean()),
        agreement=None if expected is None else float(np.mean(plain[tags] == expected)),
        n_states=info.get("n_states"),
        n_arcs=info.get("n_arcs"),
        build_seconds=info.get("build_seconds") if build_seconds is None else build_seconds,
        tokens_per_second=rounds * len(codes) / max(seconds, 1e-9),
    )


def _grows(tagger: Tagger) -> bool:
    return isinstance(tagger, FSTTagger) and (
        isinstance(tagger.machine, LazyTransducer) or tagger.as_one() is not None
    )


def _tags_by_name(tagger: Tagger, test: PairCorpus) -> Any:
    return np.array(tagger.tags_)[tagger.tag_classes(*tagger.to_classes(words_of(test)))]


@on_one_core
def machines(task: Task, *, long: bool = False, min_gain: int = 8) -> Iterator[MachineFigures]:
    """Give the rows of Table 1 one by one, then those of the kinds that the paper does not have.

    ``long`` adds all subsequences up to three classes; ``min_gain`` is what a learned rule must
    correct.
    """
    test = task.test
    hmm = task.tagger()
    expected = _tags_by_name(hmm, test)
    yield measure("HMM", hmm, test)
    for kind in ("n0", "n1"):
        yield measure(kind, FSTTagger.from_hmm(hmm, kind), test, expected)
    for size, label in _TEXTS:
        text = task.text(size)
        for count in (1, 2, 4, 8):
            name = f"s+n1 {label} F{count}"
            if name in MACHINES:
                tagger = FSTTagger.from_hmm(hmm, "s+n1", corpus=text, min_count=count)
                yield measure(name, tagger, test, expected)
    for length in (2, 3) if long else (2,):
        tagger = FSTTagger.from_hmm(hmm, "s+n1", max_length=length)
        yield measure(f"s+n1 ≤{length}", tagger, test, expected)
    yield from _other_machines(task, hmm, expected, min_gain)


def compile_machines() -> None:
    """Make every kind of machine from a few sentences, so that compiling is not timed later."""
    with without_patience():
        for _ in machines(demo_task(120), min_gain=1):
            pass


def _other_machines(
    task: Task, hmm: HMMTagger, expected: Any, min_gain: int
) -> Iterator[MachineFigures]:
    """Give the rows that the paper announces or leaves to its methods."""
    test, text = task.test, task.text(_GROWN_ON)
    yield measure("s+n0 100K F1", FSTTagger.from_hmm(hmm, "s+n0", corpus=text), test, expected)
    grown = {kind: FSTTagger.from_hmm(hmm, kind, corpus=text) for kind in ("b", "lazy", "s+n1")}
    for kind in ("b", "lazy"):
        yield measure(kind, grown[kind], test, expected)
    # Rules correct what the tagger does with words that its probabilities were not trained on.
    other = _sample(task.train, _GROWN_ON, first=1)
    rules = learn_rules(other, hmm.predict(words_of(other)), min_gain=min_gain)
    for kind, name in (("s+n1", "s+n1 100K F1"), ("lazy", "lazy")):
        began = time.perf_counter()
        corrected = grown[kind].with_rules(rules, corpus=text)
        seconds = time.perf_counter() - began
        label = f"{name}, {len(rules)} rules"
        yield measure(label, corrected, test, expected, build_seconds=seconds)
        if kind == "s+n1":
            began = time.perf_counter()
            marked = corrected.with_phrases()
            marked.tag_classes(*marked.to_classes(text))
            seconds = time.perf_counter() - began
            yield measure(f"{label}, phrases", marked, test, expected, build_seconds=seconds)
    second = task.tagger(2)
    yield measure("HMM, order 2", second, test)
    tags = _tags_by_name(second, test)
    yield measure("n2", FSTTagger.from_hmm(second, "n2"), test, tags)
    yield measure("s+n2 100K F1", FSTTagger.from_hmm(second, "s+n2", corpus=text), test, tags)
    blind = _over_classes(1).fit(text, lexicon=Lexicon.from_tagged(task.train))
    yield measure("HMM, untagged text", blind, test)
    tags = _tags_by_name(blind, test)
    unseen = FSTTagger.from_hmm(blind, "s+n1", corpus=text)
    yield measure("s+n1 100K F1, untagged text", unseen, test, tags)


@on_one_core
def languages(tasks: Iterator[Task] | Sequence[Task]) -> Iterator[tuple[str, MachineFigures]]:
    """Give the rows of Table 2: several languages, first-order taggers over ambiguity classes."""
    for task in tasks:
        name, test = task.name, task.test
        hmm = task.tagger()
        yield name, measure("HMM", hmm, test)
        for kind in ("n0", "n1"):
            yield name, measure(kind, FSTTagger.from_hmm(hmm, kind), test)
        for size, label in _TEXTS[:3]:
            text = task.text(size)
            for count in (1, 2, 4, 8) if label == "100K" else (1,):
                tagger = FSTTagger.from_hmm(hmm, "s+n1", corpus=text, min_count=count)
                yield name, measure(f"s+n1 {label} F{count}", tagger, test)
        yield name, measure("s+n1 ≤2", FSTTagger.from_hmm(hmm, "s+n1", max_length=2), test)
