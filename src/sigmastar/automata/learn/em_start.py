"""Where Baum–Welch may start: any model becomes parameters of the wanted family.

A PFA or HMM is taken as it is. A general WFA has no probabilities to start from, and its states are
directions, not places: :func:`pfa_from_wfa` reads it as a predictor instead. Every prefix of the
training data has a predicted future under the WFA; prefixes with similar futures are gathered into
clusters, the clusters become states, and arcs are counted along the prefix tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sigmastar.automata.inference.readout import Readout
from sigmastar.automata.inference.tree import PrefixTree
from sigmastar.automata.kernels.readout import STEPS_A_WEIGHT, clip_rows
from sigmastar.automata.learn.blocks.em_family import Family, HMMFamily, Parameters, PFAFamily
from sigmastar.automata.learn.smoothing import spread_pfa
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.pfa import PFA
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.blas import one_blas_thread
from sigmastar.core.errors import InvalidParameter
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.corpus.corpus import Corpus

__all__ = ["pfa_from_wfa", "smoothed", "start_from"]

_SAMPLE = 20_000  # prefixes that take part in clustering, the most visited ones
_TOLD_APART = 500  # symbols, the end and the rest that describe what a prefix expects
_BLOCK_ENTRIES = 1 << 24  # numbers that describe the prefixes of one block


def start_from(
    model: WFA | HMM,
    family: Family,
    corpus: Corpus,
    *,
    n_states: int | None = None,
    random_state: RandomState = None,
) -> Parameters:
    """Turn a model into parameters of a family; a WFA by clustering the prefixes of a corpus."""
    if model.alphabet != corpus.alphabet:
        raise InvalidParameter(
            "init must have the alphabet of the training sequences; it has another. "
            "Fit it on the same corpus, or pass alphabet=init.alphabet."
        )
    if isinstance(family, HMMFamily):
        if not isinstance(model, HMM):
            raise InvalidParameter(
                f"init must be an HMM to start BaumWelchHMM; got a {type(model).__name__}. "
                "Use BaumWelchPFA for automata."
            )
        return {name: getattr(model, name) for name in HMMFamily.names}
    if isinstance(model, HMM):
        model = model.to_pfa()
    if not isinstance(model, PFA):
        model = pfa_from_wfa(model, corpus, n_states or model.n_states, random_state=random_state)
    return {name: getattr(model, name) for name in PFAFamily.names}


def smoothed(model: PFA, amount: float) -> PFA:
    """Mix every state's outcomes with uniform ones, so that nothing is impossible."""
    outcomes = model.n_symbols + 1
    return spread_pfa(model, amount, np.full(outcomes, 1.0 / outcomes))


def pfa_from_wfa(
    model: WFA,
    corpus: Corpus,
    n_states: int,
    *,
    smoothing: float = 0.02,
    random_state: RandomState = None,
) -> PFA:
    """Cluster the predicted futures of all prefixes into states and count arcs between them.

    ``smoothing`` is the share of uniform outcomes mixed into each state, so that Baum–Welch can
    find other arcs.
    """
    from sklearn.cluster import KMeans  # takes a while to import, and few starts need it

    tree = PrefixTree.grow(corpus)
    visits = tree.visits()
    futures = _Futures.of(model, tree)
    most = np.argsort(-visits, kind="stable")[:_SAMPLE]
    sample = futures.of_nodes(most)
    n_clusters = min(n_states, len(np.unique(sample.round(9), axis=0)))
    seed = int(as_generator(random_state).integers(2**31))
    means = KMeans(n_clusters, n_init=1, max_iter=50, random_state=seed)
    with one_blas_thread():
        means.fit(sample, sample_weight=visits[most])
        state = np.concatenate([means.predict(block) for block in futures.blocks()])
    arcs = np.zeros((model.n_symbols, n_states, n_states))
    np.add.at(arcs, (tree.symbol[1:], state[tree.parent[1:]], state[1:]), visits[1:])
    stops = np.bincount(state, weights=tree.end_counts(), minlength=n_states)
    start = np.zeros(n_states)
    start[state[0]] = 1.0
    return smoothed(PFA.normalized(start, arcs, stops, model.alphabet), smoothing)


@dataclass(frozen=True)
class _Futures:
    """What each prefix expects: its next symbol, and the one after that, whichever came first.

    Of very many symbols the frequent ones are told apart, and the others taken together.
    """

    alpha: FloatArray  # forward vectors of all prefixes
    one: FloatArray  # from them to the weights of the next symbol
    two: FloatArray  # and of that after the next: keeps the description short

    @classmethod
    def of(cls, model: WFA, tree: PrefixTree) -> _Futures:
        """Prepare the futures of all prefixes of a tree."""
        readout = Readout.of(model).weights
        if readout.shape[1] > _TOLD_APART:
            counts = np.bincount(
                tree.symbol[1:], weights=tree.visits()[1:], minlength=model.n_symbols
            )
            apart = np.argsort(-counts, kind="stable")[: _TOLD_APART - 2]
            others = np.delete(readout[:, :-1], apart, axis=1).sum(axis=1)
            readout = np.column_stack([readout[:, apart], others, readout[:, -1]])
        alpha, _ = tree.forward(model)
        return cls(alpha, readout, model.transition_sum @ readout)

    def of_nodes(self, nodes: slice | IndexArray) -> FloatArray:
        """Return square roots of probabilities: Euclidean distance is then Hellinger's."""
        alpha = self.alpha[nodes]
        one, two = alpha @ self.one, alpha @ self.two
        clip_rows.sized(STEPS_A_WEIGHT * one.size)(one, 0.0)
        clip_rows.sized(STEPS_A_WEIGHT * two.size)(two, 0.0)
        return np.sqrt(np.hstack([one, two]))

    def blocks(self) -> Iterator[FloatArray]:
        """Yield the futures of successive runs of prefixes."""
        rows = _BLOCK_ENTRIES // (2 * self.one.shape[1])
        for first in range(0, len(self.alpha), rows):
            yield self.of_nodes(slice(first, first + rows))
