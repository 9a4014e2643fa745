"""Discriminative taggers beside hidden Markov models: English on two columns, and five languages.

English treebank taggers tell tags apart by the other column inside (``finer``), once without and
once with the help of untagged text (Wikipedia, cut by the rules that know no language).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sigmastar.bench.tagging import DataHome, Task, brown_split, six_languages
from sigmastar.corpus.readers.source import Source
from sigmastar.datasets import load_ud, sources
from sigmastar.datasets.store import find_file
from sigmastar.tagging.estimators.hmm_tagger import HMMTagger
from sigmastar.tagging.taggers.fst_tagger import FSTTagger
from sigmastar.tagging.taggers.sentences import tags_of, words_of
from sigmastar.tagging.taggers.tokenizer import Tokenizer
from sigmastar.tagging.text.raw import paragraphs

__all__ = ["TrainedFigures", "trained"]


@dataclass(frozen=True)
class TrainedFigures:
    """One tagger on one test part; unknown words are those that the training part does not have.

    ``agreement`` is that of the lazy transducer with the tagger's own Viterbi, ``seconds`` the time
    of training on all cores.
    """

    corpus: str
    name: str
    accuracy: float
    unknown_accuracy: float
    n_words: int
    n_unknown: int
    agreement: float
    seconds: float


def trained(data_home: DataHome = None) -> Iterator[TrainedFigures]:
    """Give the rows one by one."""
    yield from _english(data_home)
    yield from _both(Task("Brown", *brown_split(data_home)))
    for task in six_languages(data_home):
        if not task.name.startswith(("Brown", "English")):
            yield from _both(task)


def _english(data_home: DataHome) -> Iterator[TrainedFigures]:
    columns = {
        column: load_ud("en", column=column, data_home=data_home)  # type: ignore[arg-type]
        for column in ("xpos", "upos")
    }
    raw: list[list[str]] = []
    for column, other in (("xpos", "upos"), ("upos", "xpos")):
        train, test, finer = columns[column].train, columns[column].test, columns[other].train
        assert train is not None
        assert test is not None
        task = Task(f"EWT {column.upper()}", train, test)
        yield _measured(task, "HMM", HMMTagger())
        yield _measured(task, "HMM, finer", HMMTagger(), finer=finer)
        crf = HMMTagger(training="discriminative")
        yield _measured(task, "CRF", crf)
        yield _measured(task, "CRF, finer", crf, finer=finer)
        raw = raw or _raw_text(data_home)
        yield _measured(task, "CRF, finer, raw text", crf, finer=finer, raw=raw)


def _both(task: Task) -> Iterator[TrainedFigures]:
    yield _measured(task, "HMM", HMMTagger())
    yield _measured(task, "CRF", HMMTagger(training="discriminative"))


def _raw_text(data_home: DataHome) -> list[list[str]]:
    cut = Tokenizer.default()
    with Source(str(find_file(sources.wikipedia_text(), data_home))) as source:
        return [words for text in paragraphs(source) for words in cut.tokenize(text)]


def _measured(task: Task, name: str, tagger: HMMTagger, **help: Any) -> TrainedFigures:
    began = time.perf_counter()
    tagger.fit(task.train, **help)
    seconds = time.perf_counter() - began
    sentences = words_of(task.test)
    codes, starts = tagger.to_classes(sentences)
    given = tagger.tag_classes(codes, starts)
    names = np.array(tagger.tags_)[given]
    machine = FSTTagger.from_hmm(tagger, "lazy", corpus=words_of(task.train)[:2000])
    agreement = float(np.mean(machine.tag_classes(codes, starts) == given))
    right = names == np.array(tags_of(task.test))
    met = {word for sentence in words_of(task.train) for word in sentence}
    new = np.array([word not in met for sentence in sentences for word in sentence], bool)
    return TrainedFigures(
        corpus=task.name,
        name=name,
        accuracy=float(right.mean()),
        unknown_accuracy=float(right[new].mean()) if new.any() else 0.0,
        n_words=len(right),
        n_unknown=int(new.sum()),
        agreement=agreement,
        seconds=seconds,
    )
