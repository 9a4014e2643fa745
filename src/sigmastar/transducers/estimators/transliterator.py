"""Transliteration: strings to strings of other lengths, in any pair of alphabets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sigmastar.core.errors import InvalidData
from sigmastar.core.estimator import ModelEstimator
from sigmastar.core.rng import RandomState
from sigmastar.core.rules import AnyOf, Choice, Instance, Integer, Real, Rule, check
from sigmastar.corpus.alphabet import Unknown
from sigmastar.corpus.corpus import Sequences
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.transducers.estimators.base import as_pairs
from sigmastar.transducers.moments.lattices import allowed_sizes
from sigmastar.transducers.transliteration.learn import Recipe, learn_transliterator
from sigmastar.transducers.transliteration.model import TransliterationModel

__all__ = ["Transliterator"]

_METHODS = ("combined", "joint-ngram", "joint-spectral", "learnfst", "em")
_SCORERS = ("reverse", "short", "target", "spectral", "learnfst", "em")


class Transliterator(ModelEstimator):
    """Learns to write one string for another: transliteration, pronunciation, normalised spelling.

    Pairs are aligned into units of a few input and output symbols by EM over all alignments;
    what is learned over the units depends on the method.

    Parameters
    ----------
    method : {"combined", "joint-ngram", "joint-spectral", "learnfst", "em"}
        ``"combined"`` (the most accurate): candidates of a joint n-gram model, chosen by a
        log-linear combination of scorers and features. ``"joint-ngram"``: that model alone.
        ``"joint-spectral"``: a spectral automaton over units. ``"learnfst"`` and ``"em"``: a
        conditional transducer with few states, by moments or by EM over alignments and states.
    units : tuple of (inputs, outputs)
        Allowed sizes of a unit.
    order : int
        The longest n-gram of joint n-gram models.
    n_states : int or "auto"
        States of the transducers; ``"auto"``: 3, and for the spectral automaton over units 40
        (10 for fewer than 2,000 pairs).
    scorers : tuple of str
        What judges the candidates of ``"combined"``, among ``"reverse"`` (the joint model from
        right to left), ``"short"`` (of order 3), ``"target"`` (outputs alone), ``"spectral"``,
        ``"learnfst"`` and ``"em"``.
    n_folds : int
        Parts of the training data on which the combination is fitted.
    n_candidates, beam : int
        How many candidates to judge, and hypotheses to keep while searching.
    align_iter, max_iter : int
        Rounds of EM over alignments, and over states for ``"em"``.
    inputs : {"independent", "exact", "reweighted"}
        The estimator of ``"learnfst"``; see :class:`SpectralTransducer`.
    n_epochs, rate : int, float
        Passes and learning rate of the features' training.
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

    _rules: ClassVar[Mapping[str, Rule]] = {
        "method": Choice(*_METHODS),
        "units": Instance(tuple, list, words="a tuple of pairs (inputs, outputs)"),
        "order": Integer(1, 20),
        "n_states": AnyOf(Integer(1), Choice("auto")),
        "scorers": Instance(tuple, list, words="a tuple of scorers' names"),
        "n_folds": Integer(2),
        "n_candidates": Integer(1),
        "beam": Integer(1),
        "align_iter": Integer(0),
        "max_iter": Integer(0),
        "inputs": Choice("independent", "exact", "reweighted"),
        "n_epochs": Integer(0),
        "rate": Real(0),
        "unknown": Choice("ignore", "error"),
    }

    def __init__(
        self,
        method: str = "combined",
        *,
        units: tuple[tuple[int, int], ...] = ((1, 0), (1, 1), (1, 2), (1, 3)),
        order: int = 6,
        n_states: int | str = "auto",
        scorers: tuple[str, ...] = ("reverse", "short", "target", "spectral"),
        n_folds: int = 5,
        n_candidates: int = 10,
        beam: int = 20,
        align_iter: int = 12,
        max_iter: int = 20,
        inputs: str = "independent",
        n_epochs: int = 4,
        rate: float = 0.02,
        random_state: RandomState = 0,
        unknown: Unknown = "ignore",
    ) -> None:
        self.method = method
        self.units = units
        self.order = order
        self.n_states = n_states
        self.scorers = scorers
        self.n_folds = n_folds
        self.n_candidates = n_candidates
        self.beam = beam
        self.align_iter = align_iter
        self.max_iter = max_iter
        self.inputs = inputs
        self.n_epochs = n_epochs
        self.rate = rate
        self.random_state = random_state
        self.unknown = unknown

    def fit(self, X: Any, y: Any = None, *, dev: Any = None) -> Self:
        """Learn from pairs.

        Parameters
        ----------
        X : PairCorpus, iterable of pairs, or iterable of inputs
            The pairs, or with ``y`` their inputs. Pairs with an empty side and pairs that no
            sequence of allowed units spells are left out and counted in ``info_``.
        y : iterable of sequences, optional
            The outputs.
        dev : PairCorpus or iterable of pairs, optional
            Development pairs, to balance the combination; by default a tenth of the training
            pairs is held out for that (and then learned from as well).
        """
        self._check_parameters()
        for name in self.scorers:
            check("each of scorers", name, Choice(*_SCORERS))
        allowed_sizes(self.units)
        pairs = as_pairs(X, y)
        alphabets = {
            "source_alphabet": pairs.source.alphabet,
            "target_alphabet": pairs.target.alphabet,
        }
        judged = None if dev is None else as_pairs(dev, unknown="ignore", **alphabets)
        learned = learn_transliterator(pairs, self._recipe(pairs), judged)
        self.model_: TransliterationModel = learned.model
        self.info_: Mapping[str, Any] = learned.info
        return self

    def _recipe(self, pairs: PairCorpus) -> Recipe:
        size = self.n_states
        joint = (40 if len(pairs) >= 2000 else 10) if size == "auto" else int(size)
        return Recipe(
            method=self.method,
            units=tuple((int(p), int(q)) for p, q in self.units),
            order=self.order,
            n_states=3 if size == "auto" else int(size),
            scorers=tuple(self.scorers),
            n_folds=self.n_folds,
            beam=self.beam,
            n_candidates=self.n_candidates,
            inputs=self.inputs,
            align_iter=self.align_iter,
            max_iter=self.max_iter,
            n_epochs=self.n_epochs,
            rate=self.rate,
            text=all(isinstance(s, str) and len(s) == 1 for s in pairs.target.alphabet),
            random_state=self.random_state,
            spectral={"n_states": joint, "n_basis": 3000},
        )

    def n_best(
        self, X: Sequences, k: int = 5, *, beam: int | None = None
    ) -> list[list[tuple[Any, float]]]:
        """Return up to k outputs of each input with their log-scores, best first.

        Outputs are strings if those learned from were, else lists of symbols. ``report_`` then
        counts the inputs that were empty, held unknown symbols, or got no output.
        """
        check_is_fitted(self, "model_")
        check("k", k, Integer(1))
        result, self.report_ = self.model_.apply(X, k, beam=beam, unknown=self.unknown)
        return result

    def predict(self, X: Sequences, *, beam: int | None = None) -> list[Any]:
        """Return the best output of each input (an empty one where there is none)."""
        best = self.n_best(X, 1, beam=beam)
        empty: Any = "" if self.model_.settings["text"] else []
        return [found[0][0] if found else empty for found in best]

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
