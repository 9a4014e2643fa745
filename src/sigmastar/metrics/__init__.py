"""How good a model is: perplexities, error rates, string and automaton distances."""

from sigmastar.metrics.alarms import roc_auc
from sigmastar.metrics.annotation import text_scores
from sigmastar.metrics.distances import Distance, kl_divergence, l1_distance
from sigmastar.metrics.errors import word_error_rate
from sigmastar.metrics.perplexity import (
    log_likelihood_per_symbol,
    pautomac_perplexity,
    perplexity_of_probabilities,
    perplexity_per_symbol,
)
from sigmastar.metrics.ranking import ndcg
from sigmastar.metrics.strings import (
    character_error_rate,
    edit_distance,
    lcs_length,
    mean_f_score,
    normalized_edit_distance,
    word_accuracy,
)
from sigmastar.metrics.structure import same_structure

__all__ = [
    "Distance",
    "character_error_rate",
    "edit_distance",
    "kl_divergence",
    "l1_distance",
    "lcs_length",
    "log_likelihood_per_symbol",
    "mean_f_score",
    "ndcg",
    "normalized_edit_distance",
    "pautomac_perplexity",
    "perplexity_of_probabilities",
    "perplexity_per_symbol",
    "roc_auc",
    "same_structure",
    "text_scores",
    "word_accuracy",
    "word_error_rate",
]
