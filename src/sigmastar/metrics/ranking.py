"""Normalised discounted cumulative gain: how good the symbols ranked first are.

As in SPiCe (Balle, Eyraud, Luque, Quattoni and Verwer, 2016): of a ranking a_1 … a_5 of what may
follow a prefix,

    NDCG-5 = Σ_k p(a_k) / log₂(k + 1)   divided by the same sum for the best ranking,

where p is the true probability of a symbol (or one for what came, zero for all else), averaged over
the prefixes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sigmastar.automata.inference import next_distribution
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.core.rules import Integer, check
from sigmastar.core.types import FloatArray
from sigmastar.corpus.alphabet import Unknown
from sigmastar.corpus.corpus import Sequences
from sigmastar.corpus.questions import questions
from sigmastar.ngrams.predictor import Predictor

__all__ = ["ndcg", "ndcg_of_rows"]


def ndcg(
    model_or_estimator: Any,
    prefixes: Sequences,
    gains: Any,
    best: ArrayLike | None = None,
    *,
    k: int = 5,
    unknown: Unknown | None = None,
) -> float:
    """Return the normalised discounted cumulative gain of the k likeliest continuations.

    Parameters
    ----------
    model_or_estimator : WFA, PFA, HMM, KneserNey, ContextMixture, …
        What is judged: a model, or a fitted estimator.
    prefixes : Corpus or list of sequences
        What came first.
    gains : array or sparse array (len(prefixes), n_symbols + 1)
        What each continuation is worth, the end last.
    best : array (len(prefixes),), optional
        What the best ranking collects; by default found from ``gains``.
    k : int
        How long rankings are.
    unknown : {"error", "ignore", "unk"}, optional
        What to do with symbols that the model does not know, as for :func:`sigmastar.log_proba`.

    Examples
    --------
    >>> import numpy as np
    >>> import sigmastar as ss
    >>> est = ss.KneserNey(order=2).fit(["ab", "ab", "b"] * 10)
    >>> ss.metrics.ndcg(est, ["a"], np.array([[0.0, 1.0, 0.0]]))  # b is right, and ranked first
    1.0
    """
    model = getattr(model_or_estimator, "model_", model_or_estimator)
    if not isinstance(model, WFA | HMM | Predictor):
        raise InvalidParameter(
            "model_or_estimator must predict symbols (an automaton, n-grams or a mixture), or be "
            f"an estimator fitted to one; got {type(model_or_estimator).__name__}. Call fit first."
        )
    corpus = questions(model_or_estimator, model.alphabet, prefixes, unknown=unknown)
    return ndcg_of_rows(next_distribution(model, corpus), gains, best, k=k)


def ndcg_of_rows(
    rows: FloatArray, gains: Any, best: ArrayLike | None = None, *, k: int = 5
) -> float:
    """Return the gain of rankings by given scores, one row for each prefix.

    Among equals the earlier symbol is ranked first; a last column for the end may be missing.
    """
    check("k", k, Integer(1))
    true = np.asarray(gains.toarray() if hasattr(gains, "toarray") else gains, dtype=np.float64)
    if true.ndim != 2 or len(true) != len(rows) or not 0 <= true.shape[1] - rows.shape[1] <= 1:
        raise InvalidData(
            "gains must have a row for each prefix and a column for each symbol and the end; "
            f"got shape {true.shape} for predictions of shape {rows.shape}."
        )
    if len(true) == 0:
        raise InvalidData("prefixes must hold at least one sequence; they hold none.")
    discounts = 1.0 / np.log2(np.arange(min(k, true.shape[1])) + 2)
    ranked = np.argsort(-rows, axis=1, kind="stable")[:, :k]
    collected = np.take_along_axis(true, ranked, axis=1) @ discounts[: ranked.shape[1]]
    ideal = -np.sort(-true, axis=1)[:, :k] @ discounts if best is None else np.asarray(best)
    if not (np.isfinite(true).all() and (true >= 0).all() and (ideal > 0).all()):
        raise InvalidData("gains must be finite, none negative, and some positive in every row.")
    return float(np.mean(collected / ideal))
