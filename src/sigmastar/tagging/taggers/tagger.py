"""What every tagger does: from words to classes, from classes to tags, and tags by name."""

from __future__ import annotations

from abc import abstractmethod
from itertools import pairwise
from typing import Any, BinaryIO

from sigmastar.core.confusion import accuracy
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.corpus.readers.source import Source
from sigmastar.tagging.lexicon.marks import split_mark
from sigmastar.tagging.lexicon.vocabulary import Vocabulary, cut_names
from sigmastar.tagging.taggers.lemmatizer import Lemmatizer
from sigmastar.tagging.taggers.sentences import (
    Sentences,
    as_sentences,
    as_tagged,
    check_tags,
    tags_of,
    words_of,
)
from sigmastar.tagging.text.stream import tag_file

__all__ = ["Tagger"]


class Tagger:
    """Whatever tags sentences: a model, or an estimator that has learned one."""

    @property
    def trained_model(self) -> Any:
        """What has ``tags`` and a ``vocabulary``: a model itself, the model of an estimator."""
        return self

    @property
    def tags_(self) -> tuple[str, ...]:
        """The tags."""
        return tuple(self.trained_model.tags)

    @property
    def vocabulary_(self) -> Vocabulary:
        """From words to classes."""
        vocabulary: Vocabulary = self.trained_model.vocabulary
        return vocabulary

    @abstractmethod
    def tag_classes(self, codes: SymbolArray, starts: IndexArray) -> SymbolArray:
        """Return the tags of class sequences, as numbers into ``tags_``."""

    def to_classes(self, X: Sentences) -> tuple[SymbolArray, IndexArray]:
        """Return the class of every word, and where each sentence begins."""
        return self.vocabulary_.classes(as_sentences(X))

    def predict(self, X: Sentences) -> list[list[str]]:
        """Return the tags of each sentence."""
        codes, starts = self.to_classes(X)
        return cut_names(self.tag_classes(codes, starts), self.tags_, starts)

    def confidence(self, X: Sentences) -> list[FloatArray]:
        """Return, for each word, the posterior probability of the tag that predict gives it.

        Where only a rule gives a word its tag, it is 0.
        """
        return self.predict_with_confidence(X)[1]

    def predict_with_confidence(self, X: Sentences) -> tuple[list[list[str]], list[FloatArray]]:
        """Return the tags of each sentence, and for each word how likely its tag is."""
        codes, starts = self.to_classes(X)
        tags = self.tag_classes(codes, starts)
        chances = self._chances(codes, starts, tags)
        ends = starts.tolist()
        return cut_names(tags, self.tags_, starts), [chances[a:b] for a, b in pairwise(ends)]

    @abstractmethod
    def _chances(self, codes: SymbolArray, starts: IndexArray, tags: SymbolArray) -> FloatArray:
        """Return how likely the tags of class sequences are, one after the other."""

    def score(self, X: Any, y: Any = None) -> float:
        """Return the accuracy: the share of words that get the right tag."""
        gold = as_tagged(X, y)
        given = self.predict(words_of(gold))
        if not gold.source.n_symbols:
            return 0.0
        check_tags(self.tags_, tags_of(gold))
        return accuracy(tags_of(gold), (split_mark(tag)[0] for tags in given for tag in tags))

    def tag_file(
        self,
        source: BinaryIO | Source,
        target: BinaryIO,
        *,
        input_format: str = "lines",
        output_format: str = "word/TAG",
        column: str | None = None,
        lemmatizer: Lemmatizer | None = None,
    ) -> tuple[int, int]:
        """Tag a binary stream of text; return the number of sentences and of words.

        Parameters
        ----------
        source : binary stream or Source
            Where to read from, compressed or not; a pipe is answered line by line.
        target : binary stream
            Where to write to.
        input_format : {"lines", "tokens", "conllu"}
            One sentence a line with spaces between tokens; one token a line (more columns are
            ignored) with a blank line after each sentence; or CoNLL-U.
        output_format : {"word/TAG", "tsv", "conllu"}
            ``conllu`` keeps the columns of CoNLL-U input and sets tags, or makes new ones.
        column : {"upos", "xpos"}, optional
            The column of CoNLL-U that tags go into; both by default. Marks of phrases go into MISC.
        lemmatizer : Lemmatizer, optional
            Sets the column LEMMA of CoNLL-U output.
        """
        return tag_file(
            source,
            target,
            self.vocabulary_,
            self.tag_classes,
            self.tags_,
            input_format=input_format,
            output_format=output_format,
            column=column,
            lemma=None if lemmatizer is None else lemmatizer.lemma,
        )
