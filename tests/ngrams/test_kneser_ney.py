import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sigmastar as ss
from ngrams.oracles import BEGIN, END, kneser_ney
from sigmastar.ngrams.discounts import discounts


def text(n_sequences=30, seed=0, symbols="abc"):
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(len(symbols)))
    lengths = rng.integers(0, 12, n_sequences)
    return ["".join(rng.choice(list(symbols), length, p=weights)) for length in lengths]


@pytest.mark.parametrize("ends", [True, False])
@pytest.mark.parametrize("order", [1, 2, 4])
def test_probabilities_equal_those_of_the_definition(order, ends):
    train = text()
    est = ss.KneserNey(order, ends=ends).fit(train)
    probability, _ = kneser_ney(train, order, "abc", ends, est.info_["discounts"])
    for context in ["", "a", "cab", "bbbbbbb", *text(5, seed=1)]:
        names = [*"abc", *([END] if ends else [])]
        expected = [probability(name, (BEGIN, *context)) for name in names]
        np.testing.assert_allclose(est.next_distribution([context])[0], expected, rtol=1e-12)


def test_likelihoods_of_a_text_equal_the_rows_of_its_contexts():
    est = ss.KneserNey(3).fit(text())
    sequence = "abcaabbca"
    rows = est.next_distribution([sequence[:i] for i in range(len(sequence) + 1)])
    expected = [rows[i, "abc".index(s)] for i, s in enumerate(sequence)]
    np.testing.assert_allclose(est.next_likelihoods([sequence]), expected, rtol=1e-12)
    whole = np.log(expected).sum() + np.log(rows[-1, 3])
    np.testing.assert_allclose(est.log_proba([sequence]), [whole], rtol=1e-12)


def test_discounts_follow_chen_and_goodman():
    counts = np.repeat([1, 2, 3, 4, 9], [40, 20, 12, 8, 5])
    y = 40 / 80
    expected = [0, 1 - 2 * y * 20 / 40, 2 - 3 * y * 12 / 20, 3 - 4 * y * 8 / 12]
    np.testing.assert_allclose(discounts(counts), expected)


def test_discounts_of_counts_that_cannot_tell_are_the_usual_ones():
    np.testing.assert_array_equal(discounts(np.array([7, 7, 7])), [0, 0.5, 1, 1.5])


def test_an_order_with_one_discount_below_zero_takes_the_usual_ones_throughout():
    counts = np.repeat([1, 2, 3, 4], [10, 10, 1, 5])  # D(3+) = 3 - 4/3 · 5
    np.testing.assert_array_equal(discounts(counts), [0, 0.5, 1, 1.5])


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.text("ab", max_size=8), min_size=1, max_size=12),
    st.integers(1, 6),
    st.booleans(),
    st.text("ab", max_size=9),
)
def test_probabilities_sum_to_one_after_any_context(train, order, ends, context):
    alphabet = ss.Alphabet("ab")
    est = ss.KneserNey(order, ends=ends, alphabet=alphabet).fit(train)
    row = est.next_distribution([context])[0]
    assert (row > 0).all()
    assert row.sum() == pytest.approx(1.0, abs=1e-12)


def test_strings_up_to_a_length_have_the_mass_that_is_not_longer():
    est = ss.KneserNey(2).fit(["a", "ab", "b", "aab", ""] * 4)
    short = ["", "a", "b", "aa", "ab", "ba", "bb"]
    longer = ss.KneserNey.next_distribution(est, ["aa", "ab", "ba", "bb"])[:, :2].sum(axis=1)
    starts = np.exp(est.log_proba(short[3:])) / est.next_distribution(short[3:])[:, 2]
    total = np.exp(est.log_proba(short)).sum() + (starts * longer).sum()
    assert total == pytest.approx(1.0, abs=1e-12)


def test_a_saved_model_scores_the_same(tmp_path):
    est = ss.KneserNey(4).fit(text())
    est.model_.save(tmp_path / "ngram.sigma")
    again = ss.load(tmp_path / "ngram.sigma")
    corpus = ss.Corpus.from_sequences(text(seed=3), alphabet=est.alphabet_)
    for one, other in zip(est.model_.likelihoods(corpus), again.likelihoods(corpus), strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_order_beyond_64_bits_is_refused_with_the_most_there_is():
    with pytest.raises(ss.errors.InvalidParameter, match="at most 21"):
        ss.KneserNey(22).fit(text())


def test_likeliest_continuation_may_be_the_end():
    est = ss.KneserNey(3).fit(["ab"] * 20)
    assert est.predict_next(["ab"])[0][0][0] is ss.END


def test_samples_follow_the_model():
    est = ss.KneserNey(2).fit(text())
    drawn = ["".join(s) for s in est.sample(4000, random_state=0)]
    for string in ["", "a", "cb"]:
        expected = float(np.exp(est.log_proba([string])[0]))
        error = np.sqrt(expected * (1 - expected) / len(drawn))
        assert abs(drawn.count(string) / len(drawn) - expected) < 4 * error


def test_running_text_is_drawn_to_a_length():
    est = ss.KneserNey(2, ends=False).fit(["abab" * 5])
    assert [len(s) for s in est.sample(2, length=7, random_state=0)] == [7, 7]
    with pytest.raises(ss.errors.InvalidParameter, match="length must be given"):
        est.sample(1)


def test_scores_do_not_depend_on_what_else_is_scored():
    rng = np.random.default_rng(3)
    texts = ["".join(rng.choice(list("abcd"), size=rng.integers(1, 60))) for _ in range(400)]
    model = ss.KneserNey(4).fit(texts[:200])
    together = model.log_proba(texts)
    assert together.tolist() == [float(model.log_proba([text])[0]) for text in texts]
