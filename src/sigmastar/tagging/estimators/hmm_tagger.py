"""The tagger as a hidden Markov model: training, decoding, confidence, saving."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, BinaryIO, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.core.model_files import Stored, write_stored
from sigmastar.core.rules import AnyOf, Choice, Integer, Nothing, Real, Rule, check_all
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.tagging.kernels.decode import viterbi_many
from sigmastar.tagging.kernels.posterior import tag_posteriors
from sigmastar.tagging.learn.baum_welch import learn_from_classes
from sigmastar.tagging.learn.supervised import TrainingOptions, learn_guesser_of, learn_tagger
from sigmastar.tagging.lexicon.class_sets import build_class_sets
from sigmastar.tagging.lexicon.counts import Lexicon
from sigmastar.tagging.lexicon.vocabulary import Vocabulary, cut_names
from sigmastar.tagging.model import TagModel
from sigmastar.tagging.text.stream.stream import tag_file

__all__ = [
    "HMMTagger",
    "as_sentences",
    "as_tagged",
    "decode_classes",
    "model_arrays",
    "share_right",
]

Sentences = Corpus | Iterable[Sequence[str]]


def as_sentences(sentences: Any) -> list[Sequence[str]]:
    """Take sentences as lists of words from a corpus or any iterable."""
    if isinstance(sentences, PairCorpus):
        sentences = sentences.source
    if isinstance(sentences, (str, bytes)):
        raise InvalidData(
            f"expected a list of sentences, each a list of words; got {sentences[:40]!r}. "
            "Wrap and split it: [text.split()]."
        )
    found = list(sentences)
    strange = next((s for s in found if isinstance(s, (str, bytes))), None)
    if strange is not None:
        raise InvalidData(
            f"a sentence must be a list of words; got the string {strange[:40]!r}. "
            "Split it into words first."
        )
    return found


def as_tagged(X: Any, y: Any) -> PairCorpus:
    """Take a tagged corpus, or sentences and their tags."""
    if isinstance(X, PairCorpus):
        if y is not None:
            raise InvalidParameter("y must be None if X is a PairCorpus, which has the tags.")
        return X
    pairs = PairCorpus(
        X if isinstance(X, Corpus) else Corpus.from_sequences(as_sentences(X)),
        y if isinstance(y, Corpus) else Corpus.from_sequences(as_sentences(y)),
    )
    if not pairs.is_aligned:
        wrong = int(np.argmax(pairs.source.lengths != pairs.target.lengths))
        raise InvalidData(
            f"sentence {wrong} has {pairs.source.lengths[wrong]} words and "
            f"{pairs.target.lengths[wrong]} tags; it must have as many tags as words."
        )
    return pairs


def model_arrays(model: TagModel) -> tuple[Any, ...]:
    """Pack a model's classes in the form that the kernels take."""
    return model.offsets, model.candidates, model.scores, model.context_rows, model.context


def decode_classes(model: TagModel, codes: SymbolArray, starts: IndexArray) -> SymbolArray:
    """Return the Viterbi tags of class sequences."""
    tags = np.empty(len(codes), np.int32)
    scores = np.empty(len(starts) - 1, np.int64)
    viterbi_many(codes, starts, model_arrays(model), model.bigram, model.trigram, tags, scores)
    return tags


class HMMTagger(BaseEstimator):
    """A hidden Markov model that gives each word of a sentence its tag.

    Parameters
    ----------
    order : {1, 2}
        How many tags back transitions look.
    classes : {"words", "sets"}
        What the model observes: each word with its own scores (accurate), or ambiguity classes,
        the sets of tags of Kempe (1997), which make small transducers.
    n_lexical : int
        With ``classes="sets"``: how many frequent ambiguous words are classes of their own.
    max_classes : int, optional
        With ``classes="sets"``: how many ambiguous sets of tags to keep, the most frequent ones;
        words of other sets lose their least likely tags. Fewer classes make smaller transducers.
    smoothing : {"witten-bell", "deleted"}
        How transition probabilities are smoothed.
    strength : float
        Strength of the Witten-Bell smoothing.
    prior : float
        How many occurrences the guesser's word on a known word's tags is worth.
    context_weight : float
        With ``classes="words"``: weight of P(word | tag before, tag) against P(word | tag).
    threshold : float
        A tag is a candidate if it has at least this share of the best one's probability.
    rare_count : int
        Words seen at most this often teach the guesser.
    max_suffix : int
        The longest ending that the guesser looks at.
    decoding : {"viterbi", "posterior"}
        The best sequence of tags, or the best tag at each place.
    max_iter, tol : int, float
        Baum-Welch (training without tags): iterations at most, and the gain in log-likelihood of a
        token at which to stop.

    Attributes
    ----------
    model_ : TagModel
        Classes, candidates and transition scores.
    vocabulary_ : Vocabulary
        From words to classes.
    tags_ : tuple of str
        The tags.
    info_ : dict
        What there is to know about the training.

    Examples
    --------
    >>> sentences = [["the", "dog", "barks"], ["dogs", "bark"], ["the", "bark"]]
    >>> tags = [["DT", "NN", "VBZ"], ["NNS", "VB"], ["DT", "NN"]]
    >>> tagger = HMMTagger(order=1).fit(sentences, tags)
    >>> tagger.predict([["the", "dog"]])
    [['DT', 'NN']]
    """

    _rules: ClassVar[Mapping[str, Rule]] = {
        "order": Choice(1, 2),
        "classes": Choice("words", "sets"),
        "n_lexical": Integer(0),
        "max_classes": AnyOf(Integer(0), Nothing()),
        "smoothing": Choice("witten-bell", "deleted"),
        "strength": Real(0, open_low=True),
        "prior": Real(0),
        "context_weight": Real(0, 1, open_high=True),
        "threshold": Real(0, 1, open_low=True),
        "rare_count": Integer(1),
        "max_suffix": Integer(1, 40),
        "decoding": Choice("viterbi", "posterior"),
        "max_iter": Integer(1),
        "tol": Real(0),
    }
    kind: ClassVar[str] = "HMMTagger"

    def __init__(
        self,
        order: int = 2,
        *,
        classes: str = "words",
        n_lexical: int = 0,
        max_classes: int | None = None,
        smoothing: str = "witten-bell",
        strength: float = 5.0,
        prior: float = 0.5,
        context_weight: float = 0.4,
        threshold: float = 0.02,
        rare_count: int = 10,
        max_suffix: int = 8,
        decoding: str = "viterbi",
        max_iter: int = 50,
        tol: float = 1e-4,
    ) -> None:
        self.order = order
        self.classes = classes
        self.n_lexical = n_lexical
        self.max_classes = max_classes
        self.smoothing = smoothing
        self.strength = strength
        self.prior = prior
        self.context_weight = context_weight
        self.threshold = threshold
        self.rare_count = rare_count
        self.max_suffix = max_suffix
        self.decoding = decoding
        self.max_iter = max_iter
        self.tol = tol

    def _options(self) -> TrainingOptions:
        check_all(self.get_params(deep=False), self._rules)
        names = TrainingOptions.__dataclass_fields__
        return TrainingOptions(**{name: getattr(self, name) for name in names})

    def fit(self, X: Any, y: Any = None, *, lexicon: Lexicon | None = None) -> Self:
        """Train from tagged sentences; or, without tags but with a lexicon, by Baum-Welch.

        Parameters
        ----------
        X : PairCorpus, or sequence of sentences (lists of words)
            A PairCorpus holds the tags as well.
        y : sequence of lists of tags, optional
            The tags of X.
        lexicon : Lexicon, optional
            Words with their possible tags, to be used instead of the training corpus's own; needed
            without tags. Takes ``classes="sets"``.
        """
        options = self._options()
        if lexicon is not None and self.classes != "sets":
            raise InvalidParameter(
                f'a lexicon needs classes="sets"; got {self.classes!r}. Words of their own take '
                "their scores from the training corpus."
            )
        if y is None and not isinstance(X, PairCorpus):
            return self._fit_untagged(as_sentences(X), lexicon, options)
        learned = learn_tagger(as_tagged(X, y), options, lexicon)
        return self._take(*learned.model, learned.info)

    def _fit_untagged(
        self, sentences: list[Sequence[str]], lexicon: Lexicon | None, options: TrainingOptions
    ) -> Self:
        if lexicon is None:
            raise InvalidParameter(
                "training without tags needs a lexicon: pass lexicon=Lexicon.from_tagged(…), or "
                "the tags as y."
            )
        guesser = learn_guesser_of(lexicon, options)
        sets = build_class_sets(
            lexicon,
            guesser,
            n_lexical=self.n_lexical,
            threshold=self.threshold,
            guess_threshold=options.guess_threshold,
            max_classes=options.max_classes,
        )
        codes, starts = sets.vocabulary.classes(sentences)
        learned = learn_from_classes(
            sets,
            lexicon.tags,
            codes,
            starts,
            order=self.order,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        return self._take(learned.model, sets.vocabulary, learned.info)

    def _take(self, model: TagModel, vocabulary: Vocabulary, info: Mapping[str, Any]) -> Self:
        self.model_ = model
        self.vocabulary_ = vocabulary
        self.tags_ = model.tags
        self.info_ = dict(info)
        return self

    def to_classes(self, X: Sentences) -> tuple[SymbolArray, IndexArray]:
        """Return the class of every word, and where each sentence begins."""
        check_is_fitted(self, "model_")
        return self.vocabulary_.classes(as_sentences(X))

    def tag_classes(self, codes: SymbolArray, starts: IndexArray) -> SymbolArray:
        """Return the tags of class sequences, as numbers into ``tags_``."""
        if self.decoding == "viterbi":
            return decode_classes(self.model_, codes, starts)
        places, chances = self._posteriors(codes, starts)
        best = np.array([np.argmax(x) for x in np.split(chances, places[1:])], np.int64)
        tags: SymbolArray = self.model_.candidates[self.model_.offsets[codes] + best]
        return tags

    def predict(self, X: Sentences) -> list[list[str]]:
        """Return the tags of each sentence."""
        codes, starts = self.to_classes(X)
        return cut_names(self.tag_classes(codes, starts), self.tags_, starts)

    def confidence(self, X: Sentences) -> list[FloatArray]:
        """Return, for each word, the posterior probability of the tag that predict gives it."""
        codes, starts = self.to_classes(X)
        tags = self.tag_classes(codes, starts)
        places, chances = self._posteriors(codes, starts)
        model = self.model_
        counts = np.diff(model.offsets)[codes]
        owner = np.repeat(np.arange(len(codes)), counts)
        item = np.repeat(model.offsets[codes] - places, counts) + np.arange(len(owner))
        chosen = model.candidates[item] == tags[owner]
        return np.split(chances[chosen], starts[1:-1]) if len(starts) > 1 else []

    def predict_proba(self, X: Sentences) -> list[list[dict[str, float]]]:
        """Return, for each word, the probabilities of its candidate tags given the sentence."""
        codes, starts = self.to_classes(X)
        places, chances = self._posteriors(codes, starts)
        result: list[list[dict[str, float]]] = []
        for a, b in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            sentence = []
            for code, place in zip(codes[a:b].tolist(), places[a:b].tolist(), strict=True):
                first, last = self.model_.offsets[code : code + 2].tolist()
                names = (self.tags_[t] for t in self.model_.candidates[first:last].tolist())
                values = chances[place : place + last - first].tolist()
                sentence.append(dict(zip(names, values, strict=True)))
            result.append(sentence)
        return result

    def _posteriors(self, codes: SymbolArray, starts: IndexArray) -> tuple[IndexArray, FloatArray]:
        model = self.model_
        counts = np.diff(model.offsets)[codes]
        places = np.cumsum(counts) - counts
        chances = np.empty(int(counts.sum()))
        classes = model_arrays(model)
        tag_posteriors(codes, starts, classes, model.bigram, model.trigram, places, chances)
        return places, chances

    def score(self, X: Any, y: Any = None) -> float:
        """Return the share of words that get the right tag."""
        return share_right(self.predict, X, y)

    def tag_file(
        self,
        source: BinaryIO,
        target: BinaryIO,
        *,
        input_format: str = "lines",
        output_format: str = "word/TAG",
    ) -> tuple[int, int]:
        """Tag a binary stream of text; return the number of sentences and of words."""
        check_is_fitted(self, "model_")
        return tag_file(
            source,
            target,
            self.vocabulary_,
            self.tag_classes,
            self.tags_,
            input_format=input_format,
            output_format=output_format,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a file that :func:`sigmastar.load` reads."""
        write_stored(path, self.to_stored(), self.info_)

    def facts(self) -> dict[str, Any]:
        """Return what the tagger knows, in numbers."""
        check_is_fitted(self, "model_")
        return {
            "order": self.model_.order,
            "tags": self.model_.n_tags,
            "classes": self.model_.n_classes,
            "ambiguous_classes": int(self.model_.is_ambiguous.sum()),
            "known_forms": len(self.vocabulary_.forms),
        }

    def to_stored(self) -> Stored:
        """Give the named arrays and metadata of the tagger."""
        check_is_fitted(self, "model_")
        model = self.model_
        names = ("bigram", "trigram", "offsets", "candidates", "scores", "context_rows", "context")
        arrays = {name: getattr(model, name) for name in names} | self.vocabulary_.to_arrays()
        return Stored(
            self.kind, arrays, {"tags": list(model.tags), "parameters": self.get_params(deep=False)}
        )

    @classmethod
    def from_stored(cls, stored: Stored) -> HMMTagger:
        """Rebuild from named arrays and metadata."""
        tags, parameters = stored.meta.get("tags"), stored.meta.get("parameters")
        if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
            raise InvalidData("the tags of the model file are malformed.")
        if not isinstance(parameters, dict) or not set(parameters) <= set(cls._rules):
            raise InvalidData("the parameters of the model file are malformed.")
        names = ("bigram", "trigram", "offsets", "candidates", "scores", "context_rows", "context")
        model = TagModel(tuple(tags), *(stored.array(name) for name in names))
        vocabulary = Vocabulary.from_arrays(stored.array, model.n_classes)
        tagger = cls(**parameters)
        check_all(tagger.get_params(deep=False), cls._rules)
        return tagger._take(model, vocabulary, {})


def share_right(predict: Callable[[list[list[str]]], list[list[str]]], X: Any, y: Any) -> float:
    """Return the share of words that a tagger's ``predict`` gives the right tag."""
    gold = as_tagged(X, y)
    guessed = predict([[str(word) for word in sentence] for sentence in gold.source])
    right = sum(
        a == b
        for sentence, tags in zip(gold.target, guessed, strict=True)
        for a, b in zip(sentence, tags, strict=True)
    )
    return right / max(1, gold.source.n_symbols)
