"""How well a model's probabilities agree with the true ones, or with what was observed.

PAutomaC perplexity (Verwer, Eyraud and de la Higuera, 2012; Balle, Hamilton and Pineau, 2014):

    2 ^ ( - Σ_x p*(x) log2 p(x) )

over the test strings x as listed, with the true p* and the candidate p each normalised to sum to
one over them; normalised scores below the machine epsilon ε = 2^-52 are then raised to it, so that
one impossible string costs much but not everything. The least possible value is that of p = p*.

Per symbol, with N strings of |x| symbols: the end of a string is predicted like any symbol, so a
string of |x| symbols makes |x| + 1 predictions:

    log-likelihood per symbol = Σ_x ln p(x) / Σ_x (|x| + 1),     perplexity = exp(-that).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from sigmastar.automata import inference
from sigmastar.core.errors import InvalidData
from sigmastar.core.types import FloatArray
from sigmastar.corpus.alphabet import Unknown
from sigmastar.corpus.corpus import Sequences
from sigmastar.metrics.subject import measured

__all__ = [
    "log_likelihood_per_symbol",
    "pautomac_perplexity",
    "perplexity_of_probabilities",
    "perplexity_per_symbol",
]


def perplexity_of_probabilities(log_weight: ArrayLike, solution: ArrayLike) -> float:
    """Return the PAutomaC perplexity of given scores.

    Parameters
    ----------
    log_weight : array (n,)
        Natural logarithm of the score of each test string; ``-inf`` for none.
    solution : array (n,)
        The true probabilities of the same strings; rescaled to sum to one.
    """
    scores: FloatArray = np.asarray(log_weight, dtype=np.float64)
    try:
        truth: FloatArray = np.asarray(solution, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidData("solution must hold numbers: one probability for each string.") from None
    if truth.ndim != 1 or scores.shape != truth.shape:
        raise InvalidData(
            "solution must hold one probability for each test string; "
            f"got shape {truth.shape} for scores of shape {scores.shape}."
        )
    if not (np.isfinite(truth).all() and (truth >= 0).all() and truth.sum() > 0):
        raise InvalidData("solution must hold finite probabilities, none negative, not all zero.")
    if np.isnan(scores).any() or (scores == np.inf).any():
        raise InvalidData("the model's log-scores must be finite or -inf; some are NaN or +inf.")
    total = logsumexp(scores)
    normalised = np.exp(scores - total) if np.isfinite(total) else np.zeros_like(scores)
    raised = np.maximum(normalised, np.finfo(np.float64).eps)
    return float(2.0 ** -((truth / truth.sum()) @ np.log2(raised)))


def pautomac_perplexity(
    model_or_estimator: Any,
    test: Sequences,
    solution: ArrayLike,
    *,
    scoring: str = "auto",
    unknown: Unknown | None = None,
) -> float:
    """Return the perplexity of the PAutomaC competition (lower is better).

    Parameters
    ----------
    model_or_estimator : WFA, PFA, HMM or fitted estimator
        What is judged.
    test : Corpus or iterable of sequences
        The test strings.
    solution : array (len(test),)
        The true probability of each.
    scoring : str
        How a WFA that is no distribution is scored; see :func:`sigmastar.log_proba`.
    unknown : {"error", "ignore", "unk"}, optional
        What to do with symbols that the model does not know, as for :func:`sigmastar.log_proba`.
    """
    model, corpus = measured(model_or_estimator, test, unknown)
    return perplexity_of_probabilities(
        inference.log_proba(model, corpus, scoring=scoring),  # type: ignore[arg-type]
        solution,
    )


def log_likelihood_per_symbol(
    model_or_estimator: Any,
    test: Sequences,
    *,
    scoring: str = "auto",
    unknown: Unknown | None = None,
) -> float:
    """Return the mean natural log-probability of a symbol, the end of a string being one.

    Parameters
    ----------
    model_or_estimator : WFA, PFA, HMM or fitted estimator
        What is judged.
    test : Corpus or list of sequences
        Whole strings.
    scoring : {"auto", "conditional", "raw"}
        As for :func:`sigmastar.log_proba`.
    unknown : {"error", "ignore", "unk"}, optional
        What to do with symbols that the model does not know, as for :func:`sigmastar.log_proba`.
    """
    model, corpus = measured(model_or_estimator, test, unknown)
    if len(corpus) == 0:
        raise InvalidData("test must hold at least one sequence; it is empty.")
    log_probability = inference.log_proba(model, corpus, scoring=scoring)  # type: ignore[arg-type]
    return float(log_probability.sum() / (corpus.n_symbols + len(corpus)))


def perplexity_per_symbol(
    model_or_estimator: Any,
    test: Sequences,
    *,
    scoring: str = "auto",
    unknown: Unknown | None = None,
) -> float:
    """Return exp(-:func:`log_likelihood_per_symbol`): between how many symbols one has to guess.

    Parameters
    ----------
    model_or_estimator : WFA, PFA, HMM or fitted estimator
        What is judged.
    test : Corpus or list of sequences
        Whole strings.
    scoring : {"auto", "conditional", "raw"}
        As for :func:`sigmastar.log_proba`.
    unknown : {"error", "ignore", "unk"}, optional
        What to do with symbols that the model does not know, as for :func:`sigmastar.log_proba`.
    """
    mean = log_likelihood_per_symbol(model_or_estimator, test, scoring=scoring, unknown=unknown)
    return float(np.exp(-mean))
