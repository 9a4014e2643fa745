"""What a transducer can be asked, by the names that its estimators have for it.

Who answers (:mod:`sigmastar.transducers.inference`) is brought in when the first question comes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sigmastar.core.rng import RandomState
from sigmastar.core.types import FloatArray, Symbol
from sigmastar.corpus.alphabet import Alphabet, Unknown
from sigmastar.corpus.corpus import Sequences, as_corpus
from sigmastar.corpus.pairs import PairCorpus

__all__ = ["Transducing"]


class Transducing:
    """A transducer that writes a symbol for each that it reads.

    ``unknown`` ("error", "ignore" or "unk") says what to do with input symbols that it does not
    know; by default what its alphabet says.
    """

    input_alphabet: Alphabet
    output_alphabet: Alphabet

    def _answering(self) -> Any:
        """Give the transducer that answers."""
        return self

    def predict(
        self, X: Sequences, *, beam: int = 20, unknown: Unknown | None = None
    ) -> list[list[Symbol]]:
        """Return the best output of each input, an empty one where there is none."""
        best = self.n_best(X, 1, beam=beam, unknown=unknown)
        return [found[0][0] if found else [] for found in best]

    def n_best(
        self, X: Sequences, k: int = 5, *, beam: int = 20, unknown: Unknown | None = None
    ) -> list[list[tuple[list[Symbol], float]]]:
        """Return the k best outputs of each input with their log-weights, best first."""
        from sigmastar.transducers import inference

        source = as_corpus(X, alphabet=self.input_alphabet, unknown=unknown)
        return inference.best_outputs(self._answering(), source, n_best=k, beam=beam)

    def log_proba(self, X: Any, y: Any = None, *, proper: bool = True) -> FloatArray:
        """Return log P(y | x) of each pair (``proper=False``: of the raw weights)."""
        from sigmastar.transducers import inference

        if y is None and not isinstance(X, PairCorpus):
            X = PairCorpus.from_pairs(X)
        inputs, outputs = (X.source, X.target) if y is None else (X, y)
        pairs = PairCorpus(
            as_corpus(inputs, alphabet=self.input_alphabet),
            as_corpus(outputs, alphabet=self.output_alphabet),
        )
        return inference.log_proba(self._answering(), pairs, proper=proper)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log P(y | x) of a pair (higher is better)."""
        return float(np.mean(self.log_proba(X, y)))

    def sample(
        self, X: Sequences, *, random_state: RandomState = None, unknown: Unknown | None = None
    ) -> list[list[Symbol]]:
        """Draw one output for each input."""
        from sigmastar.transducers import inference

        source = as_corpus(X, alphabet=self.input_alphabet, unknown=unknown)
        drawn = inference.sample_outputs(self._answering(), source, random_state=random_state)
        return [self.output_alphabet.decode(codes) for codes in drawn]
