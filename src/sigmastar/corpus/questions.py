"""Sequences that a model is asked about, coded as the model codes them.

What becomes of symbols that it has never seen is said with the question, else by the estimator that
is asked, else by the policy that the model's alphabet has kept since it was learned.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sigmastar.core.errors import IgnoredSymbolsWarning
from sigmastar.corpus.alphabet import Alphabet, Unknown, policy_of
from sigmastar.corpus.corpus import Corpus, Sequences, as_corpus

__all__ = ["questions"]


def questions(
    asked: Any,
    alphabet: Alphabet,
    X: Sequences,
    *,
    lengths: ArrayLike | None = None,
    unknown: Unknown | None = None,
    scored: bool = False,
) -> Corpus:
    """Encode the sequences of a question.

    Parameters
    ----------
    asked : model or estimator
        Who is asked.
    alphabet : Alphabet
        How it codes symbols.
    X : Corpus or list of sequences
        What it is asked about.
    lengths : array of int, optional
        If given, X is one flat run of symbols, cut into pieces of these lengths.
    unknown : {"error", "ignore", "unk"}, optional
        What to do with symbols that it does not know.
    scored : bool
        Whether to warn where symbols are left out: a score is then that of what remains.
    """
    if unknown is None:
        own = getattr(asked, "unknown", None)
        unknown = own if own in ("error", "ignore", "unk") else None
    policy = policy_of(unknown, alphabet)
    if not (scored and policy == "ignore"):
        return as_corpus(X, lengths=lengths, alphabet=alphabet, unknown=policy)
    given = as_corpus(X, lengths=lengths)
    corpus = given.recode(alphabet, unknown=policy)
    left_out = given.n_symbols - corpus.n_symbols
    if left_out:
        n_sequences = int(np.count_nonzero(given.lengths != corpus.lengths))
        warnings.warn(
            f"{left_out:,} symbols that the model does not know were left out of {n_sequences:,} "
            "sequences, which are scored as if they had not been there. Learn with unknown='unk' "
            "to give new symbols a probability.",
            IgnoredSymbolsWarning,
            stacklevel=4,
        )
    return corpus
