"""Transliteration: strings to strings of other lengths, in any pair of alphabets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sigmastar.core.ahead import compiling_ahead
from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.core.estimator import ModelEstimator
from sigmastar.core.rng import RandomState
from sigmastar.core.rules import Choice, Integer, Rule, check
from sigmastar.core.types import Learned
from sigmastar.corpus.alphabet import Unknown
from sigmastar.corpus.corpus import Sequences
from sigmastar.corpus.partitions import Partitions
from sigmastar.transducers.estimators.base import as_pairs
from sigmastar.transducers.moments.lattices import allowed_sizes
from sigmastar.transducers.transliteration.answers import as_shares
from sigmastar.transducers.transliteration.learn import learn_transliterator
from sigmastar.transducers.transliteration.model import TransliterationModel
from sigmastar.transducers.transliteration.of_parts import learn_transliterator_of_parts
from sigmastar.transducers.transliteration.recipe import JUDGES, Recipe
from sigmastar.transducers.transliteration.rehearsal import rehearsed

__all__ = ["Transliterator"]


@dataclass(eq=False, repr=False, kw_only=True)
class Transliterator(ModelEstimator, Recipe):
    """Learns to write one string for another: transliteration, pronunciation, normalised spelling.

    Pairs are aligned into units of a few input and output symbols by EM over all alignments;
    what is learned over the units depends on the method.

    Parameters
    ----------
    method : {"combined", "discriminative", "joint-ngram", "joint-spectral", "learnfst", "em"}
        ``"combined"`` (the most accurate): candidates of a joint n-gram model and of networks or
        a discriminative transducer, chosen by a log-linear combination of scorers and features.
        ``"discriminative"``, ``"joint-ngram"``: one of the two alone.
        ``"joint-spectral"``: a spectral automaton over units. ``"learnfst"`` and ``"em"``: a
        conditional transducer with few states, by moments or by EM over alignments and states.
    units : tuple of (inputs, outputs)
        Allowed sizes of a unit.
    order : int
        The longest n-gram of joint n-gram models.
    n_states : int or "auto"
        States of the transducers; ``"auto"``: 3, and for the spectral automaton over units 40
        (10 for fewer than 2,000 pairs).
    scorers : "auto" or tuple of str
        What judges the candidates of ``"combined"``, among ``"reverse"`` (the joint model from
        right to left), ``"short"`` (of order 3), ``"target"`` (outputs alone), ``"spectral"``,
        ``"discriminative"``, ``"learnfst"``, ``"em"`` and ``"neural"`` (small networks that see the
        whole input). ``"auto"``: ``"reverse"``, ``"target"`` and ``"neural"``, of fewer than
        300 pairs the first three.
    n_folds : int
        Parts of the training data on which the combination is fitted; with networks, only on as
        many of them as hold 500 pairs together.
    n_candidates, beam : int
        How many candidates to judge, and hypotheses to keep while searching; half as many beside
        networks, which find candidates of their own.
    alignments : {"sum", "best"}
        What ``"joint-ngram"`` ranks outputs by: the probabilities of their alignments added up, or
        that of the best one, which is what the machine written by ``to_att`` does.
    align_iter, max_iter : int
        Rounds of EM over alignments, and over states for ``"em"``.
    state_iter : int
        Rounds in which ``"learnfst"`` is learned again, from alignments weighed by its last result.
    inputs : {"independent", "exact", "reweighted"}
        The estimator of ``"learnfst"``; see :class:`SpectralTransducer`.
    source_form : {"auto", "given", "composed", "decomposed", "folded"}
        What counts as an input symbol: characters as given, in Unicode's NFC or NFD (which cuts
        Korean blocks into letters), or without capitals. ``"auto"`` takes the form by which joint
        n-gram models get most training words right that were held out (``info_["forms_tried"]``),
        of fewer than 30 words the given one.
    target_form : {"auto", "given", "decomposed", "split"}
        The same for outputs; ``"split"`` cuts phones of several characters into base and
        modifiers. Outputs are written as they were given.
    n_models : int
        At most how many discriminative transducers make an ensemble, which is as fast as one; of
        10,000 pairs or more, one.
    n_networks : int
        How many networks make an ensemble; every second one reads from right to left.
    n_epochs, rate : int, float
        Passes and learning rate of the features' training; with networks there are no features.
    random_state : int, Generator or None
        Makes results repeatable.
    unknown : {"ignore", "error"}
        Inputs' symbols that were not learned are left out (and counted in ``report_``), or
        refused.

    Examples
    --------
    >>> import sigmastar as ss
    >>> pairs = [("max", "макс"), ("anna", "анна"), ("axa", "акса"), ("nana", "нана")] * 5
    >>> names = ss.Transliterator(method="joint-ngram").fit(pairs)
    >>> names.predict(["xana"])
    ['ксана']
    """

    unknown: Unknown = "ignore"

    _rules: ClassVar[Mapping[str, Rule]] = Recipe.rules() | {"unknown": Choice("ignore", "error")}

    def fit(self, X: Any, y: Any = None, *, dev: Any = None) -> Self:
        """Learn from pairs.

        Parameters
        ----------
        X : PairCorpus, iterable of pairs, iterable of inputs, or Partitions
            The pairs, or with ``y`` their inputs; or parts of joined pairs, for the method
            ``"joint-ngram"``. Pairs with an empty side and pairs that no
            sequence of allowed units spells are left out and counted in ``info_``.
        y : iterable of sequences, optional
            The outputs.
        dev : PairCorpus or iterable of pairs, optional
            Development pairs, to balance the combination; by default some of the training
            pairs are held out for that (and then learned from as well).
        """
        self._check_parameters()
        for name in () if self.scorers == "auto" else self.scorers:
            check("each of scorers", name, Choice(*JUDGES))
        allowed_sizes(self.units)
        if isinstance(X, Partitions):
            if y is not None or dev is not None:
                raise InvalidParameter(
                    "y and dev must be left out with Partitions, which hold both sides of pairs."
                )
            return self._keep(learn_transliterator_of_parts(X, self))
        pairs = as_pairs(X, y)
        alphabets = {
            "source_alphabet": pairs.source.alphabet,
            "target_alphabet": pairs.target.alphabet,
        }
        judged = None if dev is None else as_pairs(dev, unknown="ignore", **alphabets)
        networks = self.method == "combined" and "neural" in self.judges(len(pairs))
        with compiling_ahead(*rehearsed(networks=networks)):  # aligning comes first
            return self._keep(learn_transliterator(pairs, self, judged))

    def _keep(self, learned: Learned[TransliterationModel]) -> Self:
        self.model_: TransliterationModel = learned.model
        self.info_: Mapping[str, Any] = learned.info
        return self

    def n_best(
        self, X: Sequences, k: int = 5, *, beam: int | None = None, probabilities: bool = False
    ) -> list[list[tuple[Any, float]]]:
        """Return up to k outputs of each input with their log-scores, best first.

        With ``probabilities``, scores are the shares of the outputs returned, which sum to one.
        Outputs are strings if those learned from were, else lists of symbols. ``report_`` then
        counts the inputs that were empty, held unknown symbols, or got no output.
        """
        check_is_fitted(self, "model_")
        check("k", k, Integer(1))
        result, self.report_ = self.model_.apply(X, k, beam=beam, unknown=self.unknown)
        return [as_shares(found) for found in result] if probabilities else result

    def predict(self, X: Sequences, *, beam: int | None = None) -> list[Any]:
        """Return the best output of each input (an empty one where there is none)."""
        found = self.n_best(X, 1, beam=beam)  # which tells when there is no model yet
        return self.model_.firsts(found)

    def sample(
        self, X: Sequences, *, draws: int = 1, random_state: RandomState = None
    ) -> list[Any]:
        """Draw an output for each input, or the commonest of several (empty where there is none).

        For the methods ``"learnfst"``, ``"em"`` and ``"joint-spectral"``: each piece of output is
        drawn given the input so far and the pieces before it.
        """
        check_is_fitted(self, "model_")
        result, self.report_ = self.model_.apply(
            X, 1, unknown=self.unknown, draws=draws, random_state=random_state
        )
        return self.model_.firsts(result)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the share of inputs whose best output is right."""
        pairs = as_pairs(X, y)
        if len(pairs) == 0:
            raise InvalidData("X must hold at least one pair to be scored; it is empty.")
        outputs = self.predict(pairs.source)
        right = [
            list(guess) == list(truth) for guess, truth in zip(outputs, pairs.target, strict=True)
        ]
        return float(np.mean(right))
