"""Counts, bases and Hankel blocks agree with enumeration; counts form a monoid."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sigmastar as ss
from automata.oracles import all_strings, random_pfa, value
from automata.oracles_moments import corpus_of, plain_block, plain_count, some_strings
from sigmastar.automata.moments import hankel
from sigmastar.ngrams import counts as counting

STRINGS = some_strings(0)
CORPUS = corpus_of(STRINGS)


@pytest.mark.parametrize("statistic", ["substring", "prefix", "suffix", "string"])
def test_counts_are_those_of_enumeration(statistic):
    counts = ss.moments.count_ngrams(CORPUS, 5)
    wanted = [tuple(map(int, s)) for s in all_strings("012", 4)]
    codes, lengths = counting.pack(wanted, 3)
    expected = [plain_count(STRINGS, w, statistic) for w in wanted]
    np.testing.assert_array_equal(counts.count(codes, lengths, statistic), expected)


def test_the_greatest_depth_fills_all_64_bits():
    counts = ss.moments.count_ngrams(corpus_of(some_strings(1, longest=40)), 32)
    assert counting.greatest_depth(3) == 32
    string = counting.unpack(counts.windows[-1:], 3)[0]
    codes, lengths = counting.pack([string], 3)
    found = counts.count(codes, lengths, "substring")[0]
    assert found == plain_count(some_strings(1, longest=40), string, "substring") > 0


@given(st.lists(st.lists(st.integers(0, 2), max_size=12), min_size=1, max_size=12), st.data())
def test_merged_under_any_partition_counts_equal_the_whole(strings, data):
    owners = data.draw(st.lists(st.integers(0, 2), min_size=len(strings), max_size=len(strings)))
    parts = [
        ss.moments.NgramCounts.zero(3, 4).add(
            corpus_of([s for s, owner in zip(strings, owners, strict=True) if owner == part])
        )
        for part in range(3)
    ]
    whole = ss.moments.count_ngrams(corpus_of(strings), 4)
    assert parts[2].merge(parts[0]).merge(parts[1]) == whole
    assert whole.merge(ss.moments.NgramCounts.zero(3, 4)) == whole


def test_counting_in_chunks_changes_nothing(monkeypatch):
    whole = ss.moments.count_ngrams(CORPUS, 4)
    monkeypatch.setattr(counting, "_CHUNK", 7)
    assert ss.moments.count_ngrams(CORPUS, 4) == whole


def test_frequent_basis_takes_the_most_frequent_with_ties_by_length_then_code():
    counts = ss.moments.count_ngrams(CORPUS, 5)
    basis = ss.moments.frequent_basis(counts, "substring", size=12, max_length=2)
    wanted = [tuple(map(int, s)) for s in all_strings("012", 2)[1:]]
    ranked = sorted(wanted, key=lambda w: (-plain_count(STRINGS, w, "substring"), len(w), w))
    assert basis.prefixes == [(), *ranked[:11]] == basis.suffixes
    once = ss.moments.count_ngrams(corpus_of([(0, 1)]), 5)  # all n-grams occur once
    basis = ss.moments.frequent_basis(once, "substring", size=9, max_length=2)
    assert basis.prefixes == [(), (0,), (1,), (0, 1)]


@pytest.mark.parametrize("limit", [hankel._DENSE_ENTRIES, 0], ids=["dense", "sparse"])
@pytest.mark.parametrize("statistic", ["substring", "prefix", "string"])
def test_blocks_are_complete_tables_of_counts(statistic, limit, monkeypatch):
    monkeypatch.setattr(hankel, "_DENSE_ENTRIES", limit)
    monkeypatch.setattr(hankel, "_CHUNK", 50)
    counts = ss.moments.count_ngrams(CORPUS, 8)
    basis = ss.moments.frequent_basis(counts, statistic, size=9, max_length=3)
    moments = ss.moments.hankel_moments(counts, basis, statistic, CORPUS.alphabet)
    block = moments.block if isinstance(moments.block, np.ndarray) else moments.block.toarray()
    np.testing.assert_allclose(block, plain_block(STRINGS, basis, statistic), atol=1e-15)
    for symbol in range(3):
        expected = plain_block(STRINGS, basis, statistic, (symbol,))
        np.testing.assert_allclose(moments.symbol_blocks.block(symbol), expected, atol=1e-15)


@pytest.mark.parametrize("limit", [hankel._DENSE_ENTRIES, 0], ids=["dense", "sparse"])
def test_projections_of_symbol_blocks(limit, monkeypatch):
    monkeypatch.setattr(hankel, "_DENSE_ENTRIES", limit)
    counts = ss.moments.count_ngrams(CORPUS, 5)
    basis = ss.moments.frequent_basis(counts, "substring", size=7, max_length=2)
    blocks = ss.moments.hankel_moments(counts, basis, "substring", CORPUS.alphabet).symbol_blocks
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(2, 7)), rng.normal(size=(7, 3))
    for symbol in range(3):
        expected = left @ blocks.block(symbol) @ right
        np.testing.assert_allclose(blocks.project(left, right)[symbol], expected, atol=1e-12)
        np.testing.assert_allclose(blocks.right(right)[symbol], blocks.block(symbol) @ right)
        np.testing.assert_allclose(blocks.left(left[0])[symbol], left[0] @ blocks.block(symbol))
    np.testing.assert_allclose(blocks.total(), sum(blocks.block(symbol) for symbol in range(3)))


def test_mass_splits_into_what_goes_on_and_what_ends():
    plan = ss.moments.MomentPlan("prefix", basis_size=20, max_length=2)
    moments = plan.moments(plan.count(CORPUS), CORPUS.alphabet)
    total = moments.next_mass.sum(axis=0) + moments.end_column
    np.testing.assert_allclose(total, moments.mass, atol=1e-15)


@pytest.mark.parametrize("statistic", ["string", "prefix", "substring"])
def test_exact_moments_are_sums_over_strings(statistic):
    model = random_pfa(3, n_states=2, stop=20.0)  # long strings carry next to nothing
    basis = ss.moments.all_basis(2, 1)
    moments = ss.moments.exact_moments(model, basis, statistic)
    texts = all_strings("ab", 10)
    codes = [tuple(map("ab".index, text)) for text in texts]
    weights = np.array([value(model, text) for text in texts])
    for (row, column), u, v in [((1, 2), (0,), (1,)), ((0, 1), (), (0,))]:
        seen = np.array([plain_count([s], (*u, *v), statistic) for s in codes])
        assert moments.block[row, column] == pytest.approx(seen @ weights, abs=1e-7)
        seen = np.array([plain_count([s], (*u, 0, *v), statistic) for s in codes])
        assert moments.symbol_blocks.block(0)[row, column] == pytest.approx(
            seen @ weights, abs=1e-7
        )


def test_empirical_moments_converge_to_exact_ones():
    model = random_pfa(1, n_states=3)
    corpus = ss.sample(model, 40_000, random_state=0)
    plan = ss.moments.MomentPlan("substring", basis_size=20, max_length=2)
    moments = plan.moments(plan.count(corpus), corpus.alphabet)
    exact = ss.moments.exact_moments(model, moments.basis, "substring")
    assert np.abs(moments.block - exact.block).max() < 0.05
    np.testing.assert_allclose(moments.start_row, exact.start_row, atol=0.02)
    np.testing.assert_allclose(moments.end_column, exact.end_column, atol=0.02)
    np.testing.assert_allclose(moments.next_mass, exact.next_mass, atol=0.05)


def test_user_bases_are_checked_and_used():
    plan = ss.moments.MomentPlan("substring", basis=(["", "ab"], ["", "b"]))
    corpus = ss.Corpus.from_sequences(["abab", "b"])
    moments = plan.moments(plan.count(corpus), corpus.alphabet)
    np.testing.assert_allclose(moments.block, [[7 / 2, 3 / 2], [1.0, 0.0]])
    with pytest.raises(ss.errors.InvalidParameter, match="distinct"):
        ss.moments.given_basis(["a", "a"], ["b"], corpus.alphabet)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ss.errors.InvalidParameter, match="depth must be between 1 and 32"):
        ss.moments.NgramCounts.zero(3, 33)
    with pytest.raises(ss.errors.InvalidParameter, match="max_length must be at most 15"):
        ss.moments.MomentPlan(max_length=16).count(CORPUS)
    basis, shallow = ss.moments.all_basis(3, 2), ss.moments.count_ngrams(CORPUS, 3)
    with pytest.raises(ss.errors.InvalidParameter, match="at least 5 deep"):
        ss.moments.hankel_moments(shallow, basis, "substring", CORPUS.alphabet)
    model = ss.WFA([1.0], [[[1.5]]], [1.0], ss.Alphabet("a"))
    with pytest.raises(ss.errors.InvalidParameter, match="finite mass"):
        ss.moments.exact_moments(model, ss.moments.all_basis(1, 1), "prefix")


def test_pair_moments_are_counts_and_their_expectations():
    counts = ss.moments.count_ngrams(CORPUS, 2)
    pairs = ss.moments.pair_moments(counts)
    assert pairs.pairs[1, 2] * len(STRINGS) == plain_count(STRINGS, (1, 2), "substring")
    assert pairs.symbols[2] * len(STRINGS) == pytest.approx(plain_count(STRINGS, (2,), "substring"))
    model = random_pfa(5)
    exact = ss.moments.exact_pairs(model)
    basis = ss.moments.all_basis(2, 1)
    whole = ss.moments.exact_moments(model, basis, "substring")
    np.testing.assert_allclose(exact.pairs, whole.block[1:, 1:], atol=1e-12)
    np.testing.assert_allclose(exact.firsts, whole.start_row[1:], atol=1e-12)
