"""What a model says about strings: free functions on (model, sequences).

Scoring and prediction pass over the prefix tree of the sequences, so common prefixes cost once.
"""

from sigmastar.automata.inference.anomalies import Anomalies, alarm_threshold, anomaly_scores
from sigmastar.automata.inference.likelihood import (
    bits_per_symbol,
    mean_next_likelihood,
    next_likelihoods,
)
from sigmastar.automata.inference.nextsymbol import (
    next_distribution,
    next_symbol_errors,
    predict_next,
)
from sigmastar.automata.inference.posterior import posterior
from sigmastar.automata.inference.sampling import sample
from sigmastar.automata.inference.scoring import log_prefix_proba, log_proba, string_weights
from sigmastar.automata.inference.search import likeliest_strings
from sigmastar.automata.inference.tree import PrefixTree
from sigmastar.automata.inference.viterbi import Decoded, viterbi
from sigmastar.corpus.end import END

__all__ = [
    "END",
    "Anomalies",
    "Decoded",
    "PrefixTree",
    "alarm_threshold",
    "anomaly_scores",
    "bits_per_symbol",
    "likeliest_strings",
    "log_prefix_proba",
    "log_proba",
    "mean_next_likelihood",
    "next_distribution",
    "next_likelihoods",
    "next_symbol_errors",
    "posterior",
    "predict_next",
    "sample",
    "string_weights",
    "viterbi",
]
