"""What the estimators of transducers over pairs of equal length share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sigmastar.core.errors import InvalidData
from sigmastar.core.estimator import ModelEstimator
from sigmastar.core.rng import RandomState
from sigmastar.core.rules import Choice, Rule, check
from sigmastar.core.types import FloatArray, Learned, Symbol
from sigmastar.corpus.alphabet import Unknown
from sigmastar.corpus.corpus import Corpus, Sequences, as_corpus
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.transducers import inference as ask
from sigmastar.transducers.models.transducer import Transducer

__all__ = ["TransducerEstimator", "as_pairs"]


def as_pairs(X: Any, y: Any = None, **alphabets: Any) -> PairCorpus:
    """Take pairs as a PairCorpus, as an iterable of two-sided pairs, or as inputs and outputs."""
    unknown = alphabets.pop("unknown", "error")
    if isinstance(X, PairCorpus) and y is None:
        source, target = X.source, X.target
        if alphabets:
            source = source.recode(alphabets["source_alphabet"], unknown=unknown)
            target = target.recode(alphabets["target_alphabet"], unknown=unknown)
        return PairCorpus(source, target)
    if y is None:
        return PairCorpus.from_pairs(X, unknown=unknown, **alphabets)
    return PairCorpus(
        as_corpus(X, alphabet=alphabets.get("source_alphabet"), unknown=unknown),
        as_corpus(y, alphabet=alphabets.get("target_alphabet"), unknown=unknown),
    )


@dataclass(kw_only=True, eq=False, repr=False)
class TransducerEstimator(ModelEstimator):
    """Learns P(y | x) from pairs of equal length."""

    unknown: Unknown = "error"

    _rules: ClassVar[Mapping[str, Rule]] = {"unknown": Choice("error", "ignore", "unk")}

    @abstractmethod
    def _learn(self, corpus: PairCorpus) -> Learned[Transducer]:
        """Learn from encoded pairs; parameters are checked already."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from pairs.

        Parameters
        ----------
        X : PairCorpus, iterable of pairs, or iterable of inputs
            The pairs, or with ``y`` their inputs.
        y : iterable of sequences, optional
            The outputs, each as long as its input.
        """
        self._check_parameters()
        pairs = as_pairs(X, y)
        if not pairs.is_aligned:
            off = int(np.argmax(pairs.source.lengths != pairs.target.lengths))
            raise InvalidData(
                f"input and output must be equally long; pair {off} has "
                f"{pairs.source.lengths[off]} and {pairs.target.lengths[off]} symbols. "
                "Use Transliterator for pairs of unequal lengths."
            )
        if pairs.source.n_symbols == 0:
            raise InvalidData("X must hold at least one pair that is not empty; it holds none.")
        learned = self._learn(pairs)
        self.model_: Transducer = learned.model
        self.info_ = learned.info
        return self

    def _pairs(self, X: Any, y: Any) -> PairCorpus:
        check_is_fitted(self, "model_")
        if self.unknown != "ignore":
            return as_pairs(
                X,
                y,
                unknown=self.unknown,
                source_alphabet=self.model_.input_alphabet,
                target_alphabet=self.model_.output_alphabet,
            )
        # Dropping a symbol of one side alone would shift the alignment: drop both or neither.
        raise InvalidData(
            "unknown='ignore' cannot score pairs: dropping a symbol of one side would shift the "
            "alignment. Use unknown='error' or 'unk'."
        )

    def _inputs(self, X: Sequences) -> Corpus:
        check_is_fitted(self, "model_")
        return as_corpus(X, alphabet=self.model_.input_alphabet, unknown=self.unknown)

    def log_proba(self, X: Any, y: Any = None, *, proper: bool = True) -> FloatArray:
        """Return log P(y | x) of each pair (``proper=False``: of the raw weights)."""
        return ask.log_proba(self.model_, self._pairs(X, y), proper=proper)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log P(y | x) of a pair (higher is better)."""
        return float(np.mean(self.log_proba(X, y)))

    def n_best(
        self, X: Sequences, k: int = 5, *, beam: int = 20
    ) -> list[list[tuple[list[Symbol], float]]]:
        """Return the k best outputs of each input with their log-weights, best first."""
        source = self._inputs(X)
        return ask.best_outputs(self.model_, source, n_best=k, beam=beam)

    def predict(
        self, X: Sequences, *, decoding: str = "beam", beam: int = 20
    ) -> list[list[Symbol]]:
        """Return an output for each input.

        Parameters
        ----------
        X : Corpus or iterable of sequences
            Inputs.
        decoding : {"beam", "marginal"}
            The likeliest output as a whole, or the likeliest symbol at each position.
        beam : int
            How many prefixes to keep.
        """
        source = self._inputs(X)
        alphabet = self.model_.output_alphabet
        if decoding == "marginal":
            return [
                alphabet.decode(ask.marginals(self.model_, source.codes(row)).argmax(axis=1))
                for row in range(len(source))
            ]
        check("decoding", decoding, Choice("beam", "marginal"))
        best = self.n_best(source, 1, beam=beam)
        return [found[0][0] if found else [] for found in best]

    def predict_next(
        self, x: Iterable[Symbol], y: Iterable[Symbol], k: int = 1
    ) -> list[tuple[Symbol, float]]:
        """Return the k likeliest next outputs after y, given one more input than outputs."""
        check_is_fitted(self, "model_")
        source = self.model_.input_alphabet.encode(x, unknown=self.unknown)
        target = self.model_.output_alphabet.encode(y, unknown=self.unknown)
        shares = ask.next_output(self.model_, source, target)
        order = np.argsort(-shares, kind="stable")[:k]
        return [(self.model_.output_alphabet[int(code)], float(shares[code])) for code in order]

    def sample(self, X: Sequences, *, random_state: RandomState = None) -> list[list[Symbol]]:
        """Draw one output for each input."""
        drawn = ask.sample_outputs(self.model_, self._inputs(X), random_state=random_state)
        return [self.model_.output_alphabet.decode(codes) for codes in drawn]
