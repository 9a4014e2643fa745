"""Kempe's Tables 1 and 2 on public corpora, and accuracy beside other taggers'.

The paper's English corpora are not public. Here the lexicon and the untagged text come from 90 % of
the Brown corpus, transition and class probabilities from 20,000 of its words, and the test set from
the other 10 %. Only the ordering and the gaps can be compared with the paper, not the values.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from sigmastar.core.threads import limited_threads
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.datasets import load_brown, load_ud
from sigmastar.tagging.estimators.hmm_tagger import HMMTagger
from sigmastar.tagging.learn.brill import held_out_tags, learn_rules
from sigmastar.tagging.lexicon.counts import Lexicon
from sigmastar.tagging.taggers.fst_tagger import FSTTagger
from sigmastar.tagging.taggers.sentences import words_of
from sigmastar.tagging.taggers.tagger import Tagger

__all__ = ["PAPER", "PEERS", "MachineFigures", "accuracies", "brown_split", "languages", "machines"]

DataHome = str | os.PathLike[str] | None
Given = ParamSpec("Given")
Line = TypeVar("Line")

# Kempe 1997, Table 1: accuracy in per cent, states, arcs, seconds to build.
PAPER: dict[str, tuple[float, int | None, int | None, float | None]] = {
    "HMM": (96.77, None, None, None),
    "n0": (83.53, 1, 297, 16),
    "n1": (94.19, 71, 21_087, 17),
    "s+n1 20K F1": (94.74, 927, 203_853, 180),
    "s+n1 50K F1": (94.92, 2_675, 564_887, 600),
    "s+n1 100K F1": (95.05, 4_709, 976_785, 1_380),
    "s+n1 100K F2": (94.76, 476, 107_728, 120),
    "s+n1 100K F4": (94.60, 211, 52_624, 76),
    "s+n1 100K F8": (94.49, 154, 41_598, 62),
    "s+n1 1M F2": (95.67, 2_049, 418_536, 420),
    "s+n1 1M F4": (95.36, 799, 167_952, 240),
    "s+n1 1M F8": (95.09, 432, 96_712, 180),
    "s+n1 ≤2": (95.06, 9_796, 1_311_962, 2_340),
    "s+n1 ≤3": (95.95, 92_463, 13_681_113, 169_200),
}
# HunPos on the same splits, in per cent.
PEERS = {"EWT XPOS": 93.55, "EWT UPOS": 93.91, "Brown": 97.31}
_TRAINING_WORDS = 20_000
_TIMED_WORDS = 2_000_000  # tagged again and again, so that a clock tick does not count


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


def _on_one_core(measure: Callable[Given, Iterator[Line]]) -> Callable[Given, Iterator[Line]]:
    """Use one thread while rows are measured: speeds are those of one core."""

    @wraps(measure)
    def measured(*args: Given.args, **kwargs: Given.kwargs) -> Iterator[Line]:
        lines = measure(*args, **kwargs)
        while True:
            with limited_threads(1):
                line = next(lines, None)
            if line is None:
                return
            yield line

    return measured


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


def _sample(corpus: PairCorpus, n_words: int) -> PairCorpus:
    """Take sentences at equal distances until they hold so many words."""
    step = max(1, int(corpus.source.n_symbols // n_words))
    rows = np.arange(0, len(corpus), step)
    enough = int(np.searchsorted(np.cumsum(corpus.source.lengths[rows]), n_words)) + 1
    return corpus.take(rows[:enough])


def _measure(name: str, tagger: Tagger, test: PairCorpus, expected: Any = None) -> MachineFigures:
    codes, starts = tagger.to_classes(words_of(test))
    tags = tagger.tag_classes(codes, starts)
    names = np.array([str(tag) for tag in test.target.alphabet])
    all_tags = np.array(tagger.tags_)
    right = all_tags[tags] == names[test.target.symbols]
    # By the processor's clock, so that other work on the machine disturbs the figure little.
    rounds = max(1, _TIMED_WORDS // max(1, len(codes)))
    began = time.process_time()
    for _ in range(rounds):
        tagger.tag_classes(codes, starts)
    speed = rounds * len(codes) / max(time.process_time() - began, 1e-9)
    info = tagger.info if isinstance(tagger, FSTTagger) else {}
    return MachineFigures(
        name=name,
        accuracy=float(right.mean()),
        agreement=None if expected is None else float(np.mean(tags == expected)),
        n_states=info.get("n_states"),
        n_arcs=info.get("n_arcs"),
        build_seconds=info.get("build_seconds"),
        tokens_per_second=speed,
    )


@_on_one_core
def machines(data_home: DataHome = None, *, long: bool = False) -> Iterator[MachineFigures]:
    """Give the rows of Table 1 one by one; ``long`` adds all subsequences up to three classes."""
    train, test = brown_split(data_home, joined=False)
    lexicon = Lexicon.from_tagged(train)
    hmm = HMMTagger(1, classes="sets", threshold=0.1, max_classes=300)
    hmm.fit(_sample(train, _TRAINING_WORDS), lexicon=lexicon)
    codes, starts = hmm.to_classes(words_of(test))
    expected = hmm.tag_classes(codes, starts)
    yield _measure("HMM", hmm, test)
    for kind in ("n0", "n1"):
        yield _measure(kind, FSTTagger.from_hmm(hmm, kind), test, expected)
    for size, label in ((20_000, "20K"), (50_000, "50K"), (100_000, "100K"), (10**9, "1M")):
        text = words_of(train if size > train.source.n_symbols else _sample(train, size))
        for count in (1, 2, 4, 8):
            name = f"s+n1 {label} F{count}"
            if name in PAPER:
                tagger = FSTTagger.from_hmm(hmm, "s+n1", corpus=text, min_count=count)
                yield _measure(name, tagger, test, expected)
    for length in (2, 3) if long else (2,):
        tagger = FSTTagger.from_hmm(hmm, "s+n1", max_length=length)
        yield _measure(f"s+n1 ≤{length}", tagger, test, expected)
    yield _measure("lazy", FSTTagger.from_hmm(hmm, "lazy", corpus=words_of(test)), test, expected)


@_on_one_core
def languages(data_home: DataHome = None) -> Iterator[tuple[str, MachineFigures]]:
    """Give the rows of Table 2: several languages, first-order taggers over ambiguity classes."""
    brown = brown_split(data_home, joined=False)
    sets = [("English (Brown)", *brown)]
    for code, name in (("en", "English (EWT)"), ("fr", "French (Sequoia)"), ("de", "German (UTB)")):
        splits = load_ud(code, data_home=data_home)
        if splits.train is not None and splits.test is not None:
            sets.append((name, splits.train, splits.test))
    for name, train, test in sets:
        hmm = HMMTagger(1, classes="sets", threshold=0.1, max_classes=300)
        hmm.fit(_sample(train, _TRAINING_WORDS), lexicon=Lexicon.from_tagged(train))
        yield name, _measure("HMM", hmm, test)
        for kind in ("n0", "n1"):
            yield name, _measure(kind, FSTTagger.from_hmm(hmm, kind), test)
        for size, label in ((20_000, "20K"), (50_000, "50K"), (100_000, "100K")):
            text = words_of(_sample(train, min(size, train.source.n_symbols)))
            tagger = FSTTagger.from_hmm(hmm, "s+n1", corpus=text)
            yield name, _measure(f"s+n1 {label} F1", tagger, test)
        yield name, _measure("s+n1 ≤2", FSTTagger.from_hmm(hmm, "s+n1", max_length=2), test)


@_on_one_core
def accuracies(data_home: DataHome = None) -> Iterator[tuple[str, MachineFigures]]:
    """Give the accuracy of second-order taggers, their exact transducers, and these with rules.

    Lines that begin with CRF are those of discriminative training.
    """
    brown = brown_split(data_home)
    sets = []
    for column in ("xpos", "upos"):
        splits = load_ud("en", column=column, data_home=data_home)  # type: ignore[arg-type]
        if splits.train is not None and splits.test is not None:
            sets.append((f"EWT {column.upper()}", splits.train, splits.test))
    sets.append(("Brown", *brown))
    for name, train, test in sets:
        for mark, training in (("", "counts"), ("CRF ", "discriminative")):
            hmm = HMMTagger(2, training=training).fit(train)
            codes, starts = hmm.to_classes(words_of(test))
            expected = hmm.tag_classes(codes, starts)
            yield name, _measure(f"{mark or 'HMM '}order 2", hmm, test)
            lazy = FSTTagger.from_hmm(hmm, "lazy", corpus=words_of(test))
            yield name, _measure(f"{mark}lazy", lazy, test, expected)
            rules = learn_rules(train, held_out_tags(hmm, train))
            corrected = lazy.with_rules(rules)
            yield name, _measure(f"{mark}lazy, {len(rules)} rules", corrected, test)
