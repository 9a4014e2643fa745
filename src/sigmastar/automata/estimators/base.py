"""What every estimator of automata shares: what a learned automaton can be asked."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, Self

from sigmastar.automata.learn.room import leave_room, share_of_new
from sigmastar.automata.learn.unigram import (
    MOST_SEQUENCES,
    compare_with_unigram,
    weigh_empty_sequence,
)
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.questions import Answering
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.errors import PoorModelWarning
from sigmastar.core.types import Learned
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.estimator import SequenceEstimator
from sigmastar.corpus.partitions import Data

__all__ = ["AutomatonEstimator"]


@dataclass(kw_only=True, eq=False, repr=False)
class AutomatonEstimator(Answering, SequenceEstimator):
    """Learns one automaton from sequences.

    A subclass defines its parameters, their rules, and :meth:`_learn`.
    """

    model_: WFA | HMM = field(init=False)

    @abstractmethod
    def _learn(self, corpus: Corpus) -> Learned[WFA | HMM]:
        """Learn from an encoded corpus; parameters are checked already."""

    def _share_of_new(self, corpus: Data) -> float:
        return share_of_new(corpus)

    def _keep(self, learned: Learned[Any], corpus: Data) -> Self:
        if corpus.alphabet.unk is not None:
            share = self._share_of_new(corpus)
            room = leave_room(learned.model, share)
            learned = Learned(room, {**learned.info, "unknown_share": share})
        super()._keep(learned, corpus)
        # Of parts that lie elsewhere the first sequences are enough: no more are looked at anyway.
        some = corpus if isinstance(corpus, Corpus) else corpus[:MOST_SEQUENCES]
        compared = compare_with_unigram(Learned(self.model_, self.info_), some)
        self.info_ = {**self.info_, **compared.info}
        for found in (compared, weigh_empty_sequence(self.model_, some)):
            if found.is_poor:
                warnings.warn(found.warning(type(self).__name__), PoorModelWarning, stacklevel=3)
                break
        return self
