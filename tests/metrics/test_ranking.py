"""NDCG: by hand, and the most that is possible."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import sigmastar as ss
from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.metrics.ranking import ndcg_of_rows

ROWS = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
GAINS = np.array([[0.2, 0.7, 0.1], [0.0, 1.0, 0.0]])


def test_gains_are_discounted_by_rank():
    # Ranked a b end, and end a b (equals in the order of the alphabet).
    first = 0.2 + 0.7 / np.log2(3) + 0.1 / 2
    most = 0.7 + 0.2 / np.log2(3) + 0.1 / 2
    assert ndcg_of_rows(ROWS, GAINS) == pytest.approx((first / most + 0.5) / 2, rel=1e-15)


def test_only_the_first_k_count():
    assert ndcg_of_rows(ROWS, GAINS, k=1) == pytest.approx((0.2 / 0.7 + 0.0) / 2)


def test_the_true_ranking_has_all_there_is():
    gains = np.random.default_rng(0).dirichlet(np.ones(9), 20)
    assert ndcg_of_rows(gains, gains) == pytest.approx(1.0)
    assert ndcg_of_rows(-gains, gains) < 0.9


def test_a_given_best_and_sparse_gains_are_taken():
    assert ndcg_of_rows(ROWS, csr_array(GAINS)) == ndcg_of_rows(ROWS, GAINS)
    assert ndcg_of_rows(ROWS, GAINS, [2.0, 2.0], k=1) == pytest.approx(0.05)


def test_models_estimators_and_files_are_judged_alike(tmp_path):
    est = ss.KneserNey(2).fit(["ab", "ab", "b"] * 10)
    gains = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    value = ss.metrics.ndcg(est, ["a", "ab"], gains)
    assert value == ss.metrics.ndcg(est.model_, ["a", "ab"], gains) == 1.0
    pfa = ss.BaumWelchPFA(2, random_state=0).fit(["ab", "ab", "b"] * 10)
    assert ss.metrics.ndcg(pfa, ["a", "ab"], gains) == 1.0
    without_ends = ss.KneserNey(2, ends=False).fit(["ab"] * 9)
    assert ss.metrics.ndcg(without_ends, ["a"], [[0.0, 1.0, 0.0]]) == 1.0


def test_what_does_not_fit_is_refused():
    with pytest.raises(InvalidData, match="shape"):
        ndcg_of_rows(ROWS, GAINS[:1])
    with pytest.raises(InvalidData, match="some positive in every row"):
        ndcg_of_rows(ROWS, GAINS * [[1], [0]])
    with pytest.raises(InvalidData, match="hold none"):
        ndcg_of_rows(ROWS[:0], GAINS[:0])
    with pytest.raises(InvalidParameter, match="Call fit first"):
        ss.metrics.ndcg(ss.KneserNey(), ["a"], GAINS)


def test_what_is_new_in_a_prefix_follows_the_policy():
    learner = ss.KneserNey(2).fit(["ab", "ab", "b"] * 10)
    right = np.array([[0.0, 1.0, 0.0]])
    with pytest.raises(ss.errors.UnknownSymbol, match="'x'"):
        ss.metrics.ndcg(learner, ["xa"], right)
    assert ss.metrics.ndcg(learner, ["xa"], right, unknown="ignore") == 1.0
