"""How many states Baum–Welch should have: one size after the other, by AIC or BIC.

    BIC = k ln N − 2 ln L,     AIC = 2 k − 2 ln L,

with the likelihood L of the training sequences, N events (symbols and ends) and k free parameters:
those that are not zero, but for one of each distribution. Both judge by what was learned from; the
smaller, the better. Sizes grow until some in a row have not been better.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sigmastar.automata.inference.scoring import log_proba
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.pfa import PFA
from sigmastar.core.progress import stage
from sigmastar.core.types import Learned
from sigmastar.corpus.corpus import Corpus

__all__ = ["CRITERIA", "Criteria", "criteria_of", "learn_size"]

CRITERIA = ("bic", "aic")
_SIZES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80)
_PATIENCE = 2  # sizes in a row that may be worse than the best


class Criteria(NamedTuple):
    """Information criteria of a model on a corpus: the smaller, the better."""

    bic: float
    aic: float
    n_parameters: int


def criteria_of(model: PFA | HMM, corpus: Corpus) -> Criteria:
    """Return AIC and BIC of a model on the sequences that it was learned from."""
    likelihood = float(log_proba(model, corpus).sum())
    free = n_parameters(model)
    n_events = corpus.n_symbols + len(corpus)
    return Criteria(free * np.log(n_events) - 2 * likelihood, 2.0 * free - 2 * likelihood, free)


def n_parameters(model: PFA | HMM) -> int:
    """Count the weights that are free: not zero, but for one of each distribution."""
    n = model.n_states
    used = int(np.count_nonzero(model.initial)) - 1
    if isinstance(model, HMM):
        used += int(np.count_nonzero(model.transition)) - n
        return used + int(np.count_nonzero(model.emission) + np.count_nonzero(model.stop)) - n
    return used + int(np.count_nonzero(model.transitions) + np.count_nonzero(model.final)) - n


def learn_size(
    learn: Callable[[int], Learned[Any]], corpus: Corpus, *, most: int, criterion: str
) -> Learned[Any]:
    """Learn models of growing size; keep the one that the criterion likes best.

    ``info["path"]`` lists size, BIC and AIC of what was tried.
    """
    tried: list[dict[str, Any]] = []
    best: Learned[Any] | None = None
    least, since = np.inf, 0
    sizes = [size for size in _SIZES if size < most] + [most]
    with stage("Choosing the size", len(sizes)) as progress:
        for size in sizes:
            learned = learn(size)
            found = criteria_of(learned.model, corpus)
            tried.append({"n_states": size, "bic": found.bic, "aic": found.aic})
            progress.advance(note=f"{size} states")
            cost = found.bic if criterion == "bic" else found.aic
            since = 0 if cost < least else since + 1
            if cost < least or best is None:
                best, least = learned, cost
            if since >= _PATIENCE:
                break
    assert best is not None  # there is at least one size
    return Learned(best.model, {**best.info, "path": tried})
