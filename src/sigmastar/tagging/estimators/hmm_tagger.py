"""The HMM tagger as an estimator: from tagged sentences, or from a lexicon and untagged ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sigmastar.core.errors import InvalidParameter
from sigmastar.core.rules import Rule
from sigmastar.corpus.continuing import ResumableEstimator
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.corpus.partitions import Partitions
from sigmastar.tagging.estimators.kept_sentences import (
    joined_sentences,
    kept_sentences,
    sentences_to_keep,
)
from sigmastar.tagging.learn.baum_welch import learn_untagged
from sigmastar.tagging.learn.finer import finer_corpus, with_names
from sigmastar.tagging.learn.parts import learn_tagger_of_parts
from sigmastar.tagging.learn.supervised import learn_tagger
from sigmastar.tagging.lexicon.counts import Lexicon
from sigmastar.tagging.settings import RULES, TaggerParameters, TaggerSettings
from sigmastar.tagging.taggers.hmm import HMMTaggerModel, HMMTagging
from sigmastar.tagging.taggers.sentences import as_sentences, as_tagged

__all__ = ["HMMTagger"]


@dataclass(eq=False, repr=False)
class HMMTagger(HMMTagging, TaggerParameters, ResumableEstimator):
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
    threshold : float, optional
        A tag is a candidate if it has at least this share of the best one's probability: 0.02 by
        default, 0.001 for discriminative training.
    rare_count : int
        Words seen at most this often teach the guesser.
    max_suffix : int
        The longest ending that the guesser looks at.
    decoding : {"viterbi", "posterior"}
        The best sequence of tags, or the best tag at each place.
    training : {"counts", "discriminative"}
        Scores from frequencies; or, with ``classes="words"``, trained to tell right
        tags from wrong ones (a conditional random field with features of the word and of its
        neighbours), which is more accurate and takes longer.
    n_passes : int
        Discriminative training: how often to go through the corpus.
    penalty : float
        Discriminative training: strength of the L2 penalty on the weights of words' features; on
        development data none was best.
    n_models : int
        Discriminative training: how many models, learned from the sentences in different orders,
        to take the mean of. It tags as fast as one.
    n_neighbours : int
        Discriminative training: words have something to say on the tags of the words before and
        after them; those that say nearly the same before a word share one of so many rows. More
        rows are more exact and make more states of a transducer; with 0 words say nothing, as the
        transducers that are tables need it.
    random_state : int
        Discriminative training: seed of the order in which sentences are learned.
    max_iter, tol : int, float
        Baum-Welch (training without tags): iterations at most, and the gain in log-likelihood of a
        token at which to stop.

    Attributes
    ----------
    model_ : HMMTaggerModel
        Classes, candidates and transition scores (a TagModel), and the vocabulary; what
        :func:`sigmastar.load` gives back, which tags as the estimator does.
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

    model_: HMMTaggerModel = field(init=False)
    _rules: ClassVar[Mapping[str, Rule]] = RULES

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        lexicon: Lexicon | None = None,
        raw: Iterable[Sequence[str]] | None = None,
        finer: Any = None,
    ) -> Self:
        """Train from tagged sentences; or, without tags but with a lexicon, by Baum-Welch.

        Parameters
        ----------
        X : PairCorpus, Partitions, or sequence of sentences (lists of words)
            A PairCorpus holds the tags as well. So do Partitions whose symbols are pairs (word,
            tag), as ``Partitions.from_files(…, column="form+upos")`` reads them.
        y : sequence of lists of tags, optional
            The tags of X.
        lexicon : Lexicon, optional
            Words with their possible tags, to be used instead of the training corpus's own; needed
            without tags. Takes ``classes="sets"``.
        raw : sentences, optional
            Untagged sentences of the language, as lists of words, the more the better: words that
            stand between the same words there share what is learned of their tags. Takes
            ``training="discriminative"``.
        finer : PairCorpus or sequence of lists of tags, optional
            What else is known of each word of X, another column of a treebank for instance. The
            tagger tells words with the same tag but different ones of these apart while it tags,
            which makes it more accurate; it gives out the tags of y.
        """
        settings = TaggerSettings(**self.get_params(deep=False))
        tagged: PairCorpus | None = None
        if self.training == "discriminative" and self.classes != "words":
            raise InvalidParameter(
                f'training="discriminative" needs classes="words"; got {self.classes!r}. Ambiguity '
                'classes take training="counts".'
            )
        if lexicon is not None and self.classes != "sets":
            raise InvalidParameter(
                f'a lexicon needs classes="sets"; got {self.classes!r}. Words of their own take '
                "their scores from the training corpus."
            )
        if raw is not None and self.training != "discriminative":
            raise InvalidParameter(
                f'raw needs training="discriminative"; got {self.training!r}. Counts of tagged '
                "words have no use for untagged ones."
            )
        if finer is not None and (isinstance(X, Partitions) or lexicon is not None):
            raise InvalidParameter("finer must be left out with Partitions and with a lexicon.")
        if isinstance(X, Partitions):
            if y is not None or lexicon is not None:
                raise InvalidParameter("y and lexicon must be left out with Partitions of pairs.")
            learned = learn_tagger_of_parts(X, settings)
        elif y is not None or isinstance(X, PairCorpus):
            tagged = as_tagged(X, y)
            if finer is None:
                learned = learn_tagger(tagged, settings, lexicon, raw)
            else:
                learned = with_names(learn_tagger(finer_corpus(tagged, finer), settings, None, raw))
        elif lexicon is not None:
            learned = learn_untagged(as_sentences(X), lexicon, settings)
        else:
            raise InvalidParameter(
                "training without tags needs a lexicon: pass lexicon=Lexicon.from_tagged(…), or "
                "the tags as y."
            )
        self.model_, self.info_ = learned.model, dict(learned.info)
        # What else was learned from is not kept, and to go on without it would be another tagger.
        alone = lexicon is None and raw is None and finer is None
        self._tagged = tagged if alone else None
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Add tagged sentences to those learned from, and learn anew from all of them.

        The tagger is that of one ``fit`` on all sentences, new words and new tags included. After
        :meth:`resume` it goes on where a saved tagger stopped.

        Parameters
        ----------
        X : PairCorpus, or sequence of sentences (lists of words)
            What to add; a PairCorpus holds the tags as well.
        y : sequence of lists of tags, optional
            The tags of X.
        """
        more = as_tagged(X, y)
        return self.fit(joined_sentences(self._to_go_on_from(), more))

    def _to_go_on_from(self) -> PairCorpus | None:
        before: PairCorpus | None = self.__dict__.get("_tagged")
        if before is None and hasattr(self, "model_"):
            raise InvalidParameter(
                "to learn on takes the tagged sentences that this HMMTagger has learned from, and "
                "they are not here (Partitions, a lexicon, finer tags or raw text, or a file that "
                "was not saved with resumable=True). Fit all of it together."
            )
        return before

    def _kept(self) -> dict[str, np.ndarray[Any, Any]]:
        """Give the tagged sentences."""
        return sentences_to_keep(self._to_go_on_from())

    def _take_up(self, model: Any, kept: dict[str, np.ndarray[Any, Any]]) -> None:
        """Take up the tagged sentences."""
        if not isinstance(model, HMMTaggerModel):
            raise InvalidParameter(f"resume must read an HMMTagger; the file has a {model.kind}.")
        self._tagged = kept_sentences(kept)

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags, by the name that models have for them."""
        return self.tags_

    @property
    def trained_model(self) -> HMMTaggerModel:
        """The model, as soon as there is one."""
        check_is_fitted(self, "model_")
        return self.model_
