"""What is odd about a sequence: how much each event surprises a model, and when to raise alarm.

The surprise of an event is −log₂ P(event | what precedes it), in bits; the end of a sequence is an
event, too, where the model predicts ends. A sequence is as odd as its oddest event (``by="max"``:
one impossible step in a long log stands out) or as its events on the mean (``by="mean"``: something
is wrong all along). An event whose symbol the model has never seen surprises by ``UNKNOWN_BITS``,
and the model then goes on as if it had not been there.

The threshold for a wanted rate of false alarms is that quantile of the scores of normal sequences
which were not learned from: of any number of new normal ones, so large a share will be above it.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from sigmastar.automata.inference.likelihood import next_likelihoods
from sigmastar.automata.inference.scoring import FLOOR, log_prefix_proba, log_proba
from sigmastar.automata.models.subject import machine_of
from sigmastar.core.errors import InvalidData
from sigmastar.core.rules import Choice, Real, check
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.corpus.corpus import Corpus, Sequences, as_corpus
from sigmastar.ngrams.predictor import Predictor

__all__ = ["UNKNOWN_BITS", "Anomalies", "alarm_threshold", "anomaly_scores"]

By = Literal["max", "mean"]
UNKNOWN_BITS = float(-np.log2(FLOOR))  # as surprising as the least that clipping leaves a symbol
_EQUAL = 0.01  # bits
_MOST_BITS = 1000.0  # of an impossible event: infinities cannot be averaged


class Anomalies(NamedTuple):
    """How odd sequences are, and which of their events.

    Attributes
    ----------
    scores : array (n_sequences,)
        In bits; the larger, the odder.
    oddest : array (n_sequences,)
        Place of the oddest event, the first of several that are equally odd; the number of symbols
        if it is the end.
    surprises : list of arrays
        Bits of each event; the last is the end of the sequence.
    """

    scores: FloatArray
    oddest: IndexArray
    surprises: list[FloatArray]


def anomaly_scores(model: Any, X: Sequences, *, by: By = "max") -> Anomalies:
    """Return how odd each sequence is, and what is odd about it.

    Parameters
    ----------
    model : WFA, PFA, HMM, model of n-grams or contexts, or an estimator fitted to one
        What is normal.
    X : Corpus or list of sequences
        What to look at; symbols that the model has never seen are very odd.
    by : {"max", "mean"}
        Whether a sequence is as odd as its oddest event, or as its events on the mean.

    Examples
    --------
    >>> import sigmastar as ss
    >>> model = ss.KneserNey(2).fit([["open", "read", "close"]] * 20)
    >>> found = ss.anomaly_scores(model, [["open", "read", "close"], ["open", "erase", "close"]])
    >>> bool(found.scores[0] < 2.0 < found.scores[1]), found.oddest.tolist()[1]
    (True, 1)
    """
    check("by", by, Choice("max", "mean"))
    machine = machine_of(model)
    given = as_corpus(X)
    names = machine.alphabet
    other = -1 if names.unk is None else names.index(names.unk)
    code = np.array([names.index(s) if s in names else other for s in given.alphabet], np.int32)
    places = code[given.symbols] if len(code) else given.symbols
    known = places >= 0
    owners = np.repeat(np.arange(len(given)), given.lengths)
    lengths = np.bincount(owners[known], minlength=len(given))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    corpus = Corpus(places[known], offsets, names)
    bits, at_end = _bits(machine, corpus)
    each = np.full(given.n_symbols, UNKNOWN_BITS)
    each[known] = bits
    surprises = [
        np.append(each[a:b], end)
        for a, b, end in zip(given.offsets[:-1], given.offsets[1:], at_end, strict=True)
    ]
    score = np.max if by == "max" else np.mean
    return Anomalies(
        np.array([float(score(found)) for found in surprises]),
        # Of events that are equally odd, but for rounding, the first: the others may be its doing.
        np.array([int((found > found.max() - _EQUAL).argmax()) for found in surprises], np.int64),
        surprises,
    )


def alarm_threshold(
    model: Any, normal: Sequences, *, false_alarms: float = 0.01, by: By = "max"
) -> float:
    """Return the score above which no more than a share of normal sequences lie.

    Parameters
    ----------
    model
        As for :func:`anomaly_scores`.
    normal : Corpus or list of sequences
        Normal ones that the model has not learned from.
    false_alarms : float
        The share of them that may be called odd.
    by : {"max", "mean"}
        As for :func:`anomaly_scores`.
    """
    check("false_alarms", false_alarms, Real(0, 1, open_low=True, open_high=True))
    scores = anomaly_scores(model, normal, by=by).scores
    fewest = int(np.ceil(1.0 / false_alarms))
    if len(scores) < fewest:
        raise InvalidData(
            f"normal must hold at least {fewest} sequences to tell a share of {false_alarms:g}; "
            f"it holds {len(scores)}. Give more, or allow more false alarms."
        )
    return float(np.quantile(scores, 1.0 - false_alarms, method="higher"))


def _bits(machine: Any, corpus: Corpus) -> tuple[FloatArray, FloatArray]:
    """Return the surprise of every symbol, and of the end of each sequence."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if isinstance(machine, Predictor):
            likelihoods, ends = machine.likelihoods(corpus)
            bits, last = -np.log2(likelihoods), -np.log2(ends)
        else:
            bits = -np.log2(next_likelihoods(machine, corpus, ends=True))
            last = (log_prefix_proba(machine, corpus) - log_proba(machine, corpus)) / np.log(2.0)
    return _bounded(bits), _bounded(last)


def _bounded(bits: FloatArray) -> FloatArray:
    return np.clip(np.nan_to_num(bits, nan=_MOST_BITS, posinf=_MOST_BITS), 0.0, _MOST_BITS)
