"""Whether two deterministic automata are one and the same machine."""

from __future__ import annotations

import numpy as np

from sigmastar.automata.kernels.deterministic import Text, count_arcs
from sigmastar.automata.models.pfa import PFA
from sigmastar.core.errors import InvalidModel
from sigmastar.core.rules import Integer, check
from sigmastar.core.types import BoolArray, SymbolArray
from sigmastar.corpus.corpus import Sequences, as_corpus

__all__ = ["same_structure"]


def same_structure(first: PFA, second: PFA, X: Sequences, *, seen: int = 1) -> bool:
    """Tell whether two deterministic automata are isomorphic over the arcs that sequences take.

    States may be numbered otherwise, and probabilities differ. An arc counts if the sequences take
    it ``seen`` times at least: where a rare one leads, no learner can know.

    Parameters
    ----------
    first, second : PFA
        One initial state, one target for each state and symbol; over one alphabet.
    X : Corpus or list of sequences
        What both have to explain.
    seen : int
        How often an arc must be taken.

    Examples
    --------
    >>> import sigmastar as ss
    >>> words = ["ab", "abab", "ab", "ababab"] * 20
    >>> one = ss.MergedPFA().fit(words).model_
    >>> other = ss.MergedPFA("bic", smoothing=0).fit(words).model_
    >>> ss.metrics.same_structure(one, other, words)
    True
    """
    check("seen", seen, Integer(1))
    targets = [_targets("first", first), _targets("second", second)]
    if first.alphabet != second.alphabet:
        raise InvalidModel("both automata must have the same alphabet; they have different ones.")
    corpus = as_corpus(X, alphabet=first.alphabet)
    text = Text(corpus.symbols, corpus.offsets)
    ours, theirs = (_taken(text, target, seen) for target in targets)
    partner = {0: 0}
    to_visit = [0]
    while to_visit:
        state = to_visit.pop()
        if (ours[state] != theirs[partner[state]]).any():
            return False
        for symbol in np.flatnonzero(ours[state]):
            following = int(targets[0][state, symbol])
            counterpart = int(targets[1][partner[state], symbol])
            if following not in partner:
                to_visit.append(following)
            if partner.setdefault(following, counterpart) != counterpart:
                return False
    return len(set(partner.values())) == len(partner)


def _targets(name: str, model: PFA) -> SymbolArray:
    """Return where each symbol leads from each state, the start first; -1: nowhere."""
    if not isinstance(model, PFA):
        raise InvalidModel(f"{name} must be a PFA; got a {type(model).__name__}.")
    arcs = model.transitions.transpose(1, 0, 2) > 0
    if np.count_nonzero(model.initial) != 1 or (arcs.sum(axis=2) > 1).any():
        raise InvalidModel(
            f"{name} must be deterministic: one initial state, one target for each state and "
            "symbol. Learn it with MergedPFA."
        )
    order = np.argsort(model.initial == 0, kind="stable")
    number = np.argsort(order)
    table = arcs[order]
    return np.where(table.any(axis=2), number[table.argmax(axis=2)], -1).astype(np.int32)


def _taken(text: Text, target: SymbolArray, seen: int) -> BoolArray:
    counts = np.zeros((len(target), target.shape[1] + 1), dtype=np.int64)
    count_arcs(text, target, counts, np.empty(len(text.symbols), dtype=np.int32))
    enough: BoolArray = counts[:, :-1] >= seen
    return enough
