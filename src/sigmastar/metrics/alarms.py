"""How well scores tell what is odd from what is normal."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sigmastar.core.errors import InvalidData

__all__ = ["roc_auc"]


def roc_auc(odd: ArrayLike, scores: ArrayLike) -> float:
    """Return the area under the ROC curve: P(odd scores above normal), ties counted half.

    Parameters
    ----------
    odd : array of bool
        What is odd; there must be both.
    scores : array
        Such as those of :func:`~sigmastar.anomaly_scores`; the larger, the odder.

    Examples
    --------
    >>> roc_auc([False, False, True, True], [0.1, 0.4, 0.4, 0.8])
    0.875
    """
    from sklearn.metrics import roc_auc_score

    truth, given = np.asarray(odd), np.asarray(scores, dtype=np.float64)
    if truth.shape != given.shape or truth.ndim != 1:
        raise InvalidData(
            f"odd and scores must be flat and equally long; got shapes {truth.shape} and "
            f"{given.shape}."
        )
    if truth.dtype != bool or truth.all() or not truth.any() or np.isnan(given).any():
        raise InvalidData("odd must be bools, of both kinds, and scores numbers without NaN.")
    return float(roc_auc_score(truth, given))
