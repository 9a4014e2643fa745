"""What the loaders and generators return: frozen bundles of corpora."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np
from scipy.sparse import csr_array

from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.arrays import offsets_of
from sigmastar.core.errors import InvalidData
from sigmastar.core.types import FloatArray
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.frames import Frames
from sigmastar.corpus.pairs import PairCorpus

__all__ = [
    "Continuations",
    "Document",
    "PrefixProblem",
    "Problem",
    "SensorSeries",
    "Splits",
    "TaggedDocuments",
]

CorpusT = TypeVar("CorpusT", Corpus, PairCorpus)


@dataclass(frozen=True, eq=False, repr=False)
class Problem:
    """Strings to learn a distribution from, and the truth to compare with.

    Parameters
    ----------
    train, test : Corpus
        Strings drawn from the machine; those of ``test`` are distinct.
    solution : array (len(test),)
        The machine's probability of each test string, normalised to sum to one over them.
    model : WFA or HMM
        The machine itself.
    name : str
        For titles and messages.
    """

    train: Corpus
    test: Corpus
    solution: FloatArray
    model: WFA | HMM
    name: str

    def __repr__(self) -> str:
        return (
            f"Problem({self.name!r}: {len(self.train):,} strings to learn from, "
            f"{len(self.test):,} to test, {self.model!r})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Continuations:
    """Prefixes, and how good each symbol would be after them.

    Attributes
    ----------
    prefixes : Corpus
        What came first.
    gains : sparse array (len(prefixes), n_symbols + 1)
        What each next symbol is worth: its true probability, or one if it came. The end is last.
    best : array (len(prefixes),)
        The most that a ranking of five can collect, as the makers of the data give it.
    """

    prefixes: Corpus
    gains: csr_array
    best: FloatArray

    def __repr__(self) -> str:
        return f"Continuations({len(self.prefixes):,} prefixes)"


@dataclass(frozen=True, eq=False)
class PrefixProblem:
    """Strings to learn from, and prefixes to continue.

    Attributes
    ----------
    train : Corpus
        Whole strings.
    public, private : Continuations
        Prefixes to choose by, and prefixes to report.
    name : str
        For titles and messages.
    """

    train: Corpus
    public: Continuations
    private: Continuations
    name: str


@dataclass(frozen=True, eq=False)
class Splits(Generic[CorpusT]):
    """The parts of a data set; ``None`` where its makers give no such part.

    Attributes
    ----------
    train, dev, test : Corpus or PairCorpus, or None
        The parts.
    name : str
        The data set.
    """

    train: CorpusT | None
    dev: CorpusT | None
    test: CorpusT | None
    name: str


@dataclass(frozen=True)
class Document:
    """A document of a tagged corpus: its sentences are ``first`` to ``first + n_sentences - 1``.

    Attributes
    ----------
    name, category : str
        What the corpus calls it, and the genre it belongs to.
    first, n_sentences : int
        Its first sentence, and how many it has.
    """

    name: str
    category: str
    first: int
    n_sentences: int


@dataclass(frozen=True, eq=False, repr=False)
class TaggedDocuments:
    """Tagged sentences (``source`` words, ``target`` tags) and the documents they come from.

    Attributes
    ----------
    sentences : PairCorpus
        All sentences, in corpus order.
    documents : tuple of Document
        Which sentences belong together.
    name : str
        The data set.
    """

    sentences: PairCorpus
    documents: tuple[Document, ...]
    name: str

    def __repr__(self) -> str:
        return (
            f"TaggedDocuments({self.name!r}: {len(self.documents):,} documents, "
            f"{len(self.sentences):,} sentences, {self.sentences.source.n_symbols:,} words)"
        )

    def of(self, *names: str) -> PairCorpus:
        """Return the sentences of some documents or categories, in corpus order."""
        rows: list[int] = []
        for document in self.documents:
            if document.name in names or document.category in names:
                rows.extend(range(document.first, document.first + document.n_sentences))
        return self.sentences.take(rows)


@dataclass(frozen=True, eq=False, repr=False, init=False)
class SensorSeries(Frames):
    """Sequences of real vectors with one label for each.

    Parameters
    ----------
    inputs : tuple of arrays (length, n_features)
        The readings of each sequence.
    labels : Corpus
        The labels of each sequence, as long as its readings.
    name : str
        For titles and messages.
    """

    name: str = ""

    def __init__(self, inputs: Sequence[FloatArray], labels: Corpus, name: str) -> None:
        sizes = [len(readings) for readings in inputs]
        if sizes != labels.lengths.tolist():
            raise InvalidData(
                "labels must be as long as the readings, sequence by sequence; they are not."
            )
        super().__init__(
            values=np.concatenate(inputs),
            offsets=offsets_of(sizes),
            codes=labels.symbols.astype(np.int64),
            alphabet=labels.alphabet,
        )
        self.values.setflags(write=False)
        object.__setattr__(self, "name", name)

    @cached_property
    def inputs(self) -> tuple[FloatArray, ...]:
        """The readings of each sequence."""
        return tuple(self.sequences())

    @cached_property
    def labels(self) -> Corpus:
        """The labels of each sequence."""
        codes, alphabet = self.known_labels
        return Corpus(codes, self.offsets, alphabet)

    def __repr__(self) -> str:
        return (
            f"SensorSeries({self.name!r}: {len(self):,} sequences, "
            f"{len(self.values):,} labelled readings)"
        )
