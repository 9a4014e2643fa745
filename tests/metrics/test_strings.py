import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.oracles import common_subsequence, levenshtein
from sigmastar import Corpus
from sigmastar.core.errors import InvalidData
from sigmastar.metrics import (
    character_error_rate,
    edit_distance,
    lcs_length,
    mean_f_score,
    normalized_edit_distance,
    word_accuracy,
)

words = st.text(alphabet="abc", max_size=7)
pairs = st.lists(st.tuples(words, words), min_size=1, max_size=5)


@given(words, words)
def test_edit_distance_is_the_recursive_one(a, b):
    assert edit_distance(a, b) == levenshtein(a, b)


@given(words, words)
def test_lcs_length_is_the_recursive_one(a, b):
    assert lcs_length(a, b) == common_subsequence(a, b)


@given(words, words, words)
def test_edit_distance_is_a_metric(a, b, c):
    assert edit_distance(a, b) == edit_distance(b, a)
    assert edit_distance(a, c) <= edit_distance(a, b) + edit_distance(b, c)


def test_symbols_need_not_be_characters():
    assert edit_distance([1, "x", None], [1, None]) == 1
    assert lcs_length(np.array([3, 1, 2]), [3, 2]) == 2


@given(pairs)
def test_averages_are_those_of_the_definitions(both):
    references, hypotheses = zip(*both, strict=True)
    distance = [levenshtein(r, h) for r, h in both]
    normalised = np.mean([d / max(len(r), 1) for d, r in zip(distance, references, strict=True)])
    assert normalized_edit_distance(references, hypotheses) == pytest.approx(normalised)
    characters = max(1, sum(map(len, references)))
    rate = character_error_rate(references, hypotheses)
    assert rate == pytest.approx(sum(distance) / characters)
    assert word_accuracy(references, hypotheses) == np.mean([r == h for r, h in both])


@given(pairs)
def test_f_score_is_the_harmonic_mean_of_precision_and_recall(both):
    scores = []
    for reference, hypothesis in both:
        common = common_subsequence(reference, hypothesis)
        if not reference and not hypothesis:
            scores.append(1.0)
        elif common == 0:
            scores.append(0.0)
        else:
            precision, recall = common / len(hypothesis), common / len(reference)
            scores.append(2 * precision * recall / (precision + recall))
    assert mean_f_score(*zip(*both, strict=True)) == pytest.approx(np.mean(scores))


def test_corpora_with_other_codings_are_compared_by_symbol():
    # The first is coded a=0, b=1, the second b=0, c=1.
    first, second = Corpus.from_sequences(["ab"]), Corpus.from_sequences(["bc"])
    assert normalized_edit_distance(first, second) == 1.0
    assert mean_f_score(first, second) == 0.5


def test_unequal_numbers_of_strings_are_refused():
    with pytest.raises(InvalidData, match="equally many; got 2 and 1"):
        word_accuracy(["a", "b"], ["a"])
    with pytest.raises(InvalidData, match="at least one"):
        mean_f_score([], [])
