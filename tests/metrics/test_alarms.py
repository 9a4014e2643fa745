"""ROC AUC: the share of pairs in the right order."""

import numpy as np
import pytest

import sigmastar as ss


def test_the_area_is_the_share_of_pairs_in_order():
    rng = np.random.default_rng(0)
    odd, scores = rng.random(60) < 0.3, rng.integers(0, 8, 60).astype(float)
    pairs = [(a > b) + 0.5 * (a == b) for a in scores[odd] for b in scores[~odd]]
    assert ss.metrics.roc_auc(odd, scores) == pytest.approx(np.mean(pairs), rel=1e-12)


@pytest.mark.parametrize(
    ("odd", "scores", "words"),
    [
        ([True, False], [0.1], "equally long"),
        ([1, 0], [0.1, 0.2], "must be bools"),
        ([True, True], [0.1, 0.2], "of both kinds"),
        ([True, False], [0.1, np.nan], "without NaN"),
    ],
)
def test_what_has_no_area_is_refused(odd, scores, words):
    with pytest.raises(ss.errors.InvalidData, match=words):
        ss.metrics.roc_auc(odd, scores)
