"""Two spectral baselines over pairs of equal length: a joint HMM, and one HMM for each input."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from sigmastar.core.rules import Choice, Integer, Rule
from sigmastar.core.types import Learned
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.transducers.estimators.base import TransducerEstimator
from sigmastar.transducers.learn.baselines import learn_joint_hmm, learn_k_hmm
from sigmastar.transducers.models.transducer import Transducer
from sigmastar.transducers.moments.trigrams import AlignedMoments, Positions, aligned_moments

__all__ = ["JointHMMTransducer", "KHMMTransducer"]


@dataclass(eq=False, repr=False)
class _TrigramBaseline(TransducerEstimator):
    """What the two spectral baselines share: they learn from three consecutive pairs."""

    n_states: int = 2
    _: KW_ONLY
    positions: Positions = "first"

    _rules: ClassVar[Mapping[str, Rule]] = {
        "n_states": Integer(1),
        "positions": Choice("first", "all"),
    }

    def _moments(self, corpus: PairCorpus) -> AlignedMoments:
        return aligned_moments(corpus, positions=self.positions)


class JointHMMTransducer(_TrigramBaseline):
    """A baseline: one spectral HMM over input:output pairs, conditioned on the input.

    Parameters
    ----------
    n_states : int
        How many states.
    positions : {"first", "all"}
        Which three consecutive symbols to count.
    unknown : {"error", "ignore", "unk"}
        What to do with symbols that were not in the training pairs.
    """

    def _learn(self, corpus: PairCorpus) -> Learned[Transducer]:
        return learn_joint_hmm(self._moments(corpus), n_states=self.n_states)


class KHMMTransducer(_TrigramBaseline):
    """A baseline: one spectral HMM for each input symbol.

    Parameters
    ----------
    n_states : int
        How many states each of them has.
    positions : {"first", "all"}
        Which three consecutive symbols to count.
    unknown : {"error", "ignore", "unk"}
        What to do with symbols that were not in the training pairs.
    """

    def _learn(self, corpus: PairCorpus) -> Learned[Transducer]:
        return learn_k_hmm(self._moments(corpus), n_states=self.n_states)
