"""Baum–Welch that starts from what moments give: BW-SepPFA and EM-Tensor."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from sigmastar.automata.estimators.baum_welch import BaumWelchPFA, memory_sample
from sigmastar.automata.learn.blocks.em_family import Family, Parameters
from sigmastar.automata.learn.moment_start import (
    LearnStart,
    best_start,
    separable_starts,
    tensor_starts,
)
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.partitions import Data

__all__ = ["SeparableBaumWelch", "TensorBaumWelch"]


class _MomentBaumWelch(BaumWelchPFA):
    """Tries several starts for ``restart_iter`` steps each, and goes on from the best."""

    @abstractmethod
    def _learners(
        self, corpus: Corpus, rng: np.random.Generator, n_states: int
    ) -> list[LearnStart]:
        """List how to learn the models to start from."""

    def _start(
        self, family: Family, corpus: Data, rng: np.random.Generator, n_states: int
    ) -> Parameters | None:
        sample = memory_sample(corpus)
        learners = self._learners(sample, rng, n_states)
        return best_start(
            sample, family, learners, n_iter=self.restart_iter, rng=rng, n_jobs=self.n_jobs
        )


class SeparableBaumWelch(_MomentBaumWelch):
    """Baum–Welch from separable PFAs (BW-SepPFA), the start chosen by short runs.

    Separable PFAs of prefix and of substring statistics, of ``n_states`` states, a half and a third
    of that, with the usual shrinkage and with so much that the most frequent prefixes are chosen,
    are each trained ``restart_iter`` steps on a part of the training sequences; the one that does
    best on the rest is the start. Parameters are those of :class:`BaumWelchPFA`; ``init``
    and ``n_restarts`` are not looked at. On the command line it is ``--method bw-sep``.

    Attributes
    ----------
    model_ : PFA
        What was learned.
    info_ : dict
        As for :class:`BaumWelchPFA`.

    Examples
    --------
    >>> strings = ["ab", "abab", "ababab"] * 10
    >>> est = SeparableBaumWelch(2, restart_iter=2, max_iter=20, random_state=0).fit(strings)
    >>> est.model_.n_states
    2
    """

    def _learners(
        self, corpus: Corpus, rng: np.random.Generator, n_states: int
    ) -> list[LearnStart]:
        return separable_starts(n_states)


class TensorBaumWelch(_MomentBaumWelch):
    """Baum–Welch from tensor decompositions (EM-Tensor), the start chosen by short runs.

    Hidden Markov models by tensor decomposition (:class:`TensorHMM`) of prefix, substring and
    string statistics, of ``n_states`` states (or as many as there are symbols, if that is fewer), a
    half and a third of that, are each trained ``restart_iter`` steps on a part of the training
    sequences, as automata; the one that does best on the rest is the start. Parameters are
    those of :class:`BaumWelchPFA`; ``init`` and ``n_restarts`` are not looked at. On the command
    line it is ``--method em-tensor``.

    Attributes
    ----------
    model_ : PFA
        What was learned.
    info_ : dict
        As for :class:`BaumWelchPFA`.

    Examples
    --------
    >>> strings = ["ab", "abab", "ababab"] * 10
    >>> est = TensorBaumWelch(9, restart_iter=2, max_iter=20, random_state=0).fit(strings)
    >>> est.model_.n_states
    2
    """

    def _learners(
        self, corpus: Corpus, rng: np.random.Generator, n_states: int
    ) -> list[LearnStart]:
        seed = int(rng.integers(2**31))
        return tensor_starts(n_states, len(corpus.alphabet), random_state=seed)
