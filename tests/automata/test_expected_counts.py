"""Expected counts over prefix trees equal an enumeration of all paths."""

import sys

import numpy as np
import pytest

import sigmastar as ss
from automata.oracles import all_strings, paths, random_pfa
from sigmastar.automata.inference import tree_blocks as counting
from sigmastar.automata.inference.expected_counts import Forest

STRINGS = [*all_strings("ab", 4), "ab", "ab", "abba", ""]


def counts_oracle(model, strings, weights):
    initial = np.zeros_like(model.initial)
    arcs = np.zeros_like(model.transitions)
    final = np.zeros_like(model.final)
    likelihood = 0.0
    for string, weight in zip(strings, weights, strict=True):
        by_path = paths(model, string, model.final)
        total = sum(by_path.values())
        likelihood += weight * np.log(total)
        for states, path_weight in by_path.items():
            share = weight * path_weight / total
            initial[states[0]] += share
            final[states[-1]] += share
            for position, code in enumerate(model.alphabet.encode(string)):
                arcs[code, states[position], states[position + 1]] += share
    return initial, arcs, final, likelihood


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("blocks", [1, 5])
@pytest.mark.parametrize("weighted", [False, True])
def test_expected_counts_equal_enumeration(monkeypatch, weighted, blocks, large):
    monkeypatch.setattr(counting, "LARGE", 0 if large else 1 << 20)
    monkeypatch.setattr(counting, "NODES", 8 if blocks > 1 else 1 << 20)
    model = random_pfa(0)
    rng = np.random.default_rng(0)
    weights = rng.random(len(STRINGS)) if weighted else np.ones(len(STRINGS))
    corpus = ss.Corpus.from_sequences(STRINGS, alphabet=model.alphabet)
    forest = Forest(corpus, weights if weighted else None)
    assert (forest.n_blocks > 1) == (blocks > 1)
    counts = forest.expected_counts(model.initial, model.transitions, model.final)
    initial, arcs, final, likelihood = counts_oracle(model, STRINGS, weights)
    np.testing.assert_allclose(counts.initial, initial, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(counts.transitions, arcs, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(counts.final, final, rtol=1e-12, atol=1e-12)
    assert counts.log_likelihood == pytest.approx(likelihood, rel=1e-13)
    assert counts.impossible == 0


def test_wide_runs_take_the_blas_branch_and_still_agree():
    """Many strings that share depth and symbol are multiplied as one block."""
    model = random_pfa(1, n_states=2, symbols="abc")
    strings = all_strings("abc", 4)
    corpus = ss.Corpus.from_sequences(strings, alphabet=model.alphabet)
    counts = Forest(corpus).expected_counts(model.initial, model.transitions, model.final)
    initial, arcs, final, _ = counts_oracle(model, strings, np.ones(len(strings)))
    np.testing.assert_allclose(counts.initial, initial, rtol=1e-12)
    np.testing.assert_allclose(counts.transitions, arcs, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(counts.final, final, rtol=1e-12)


def test_the_number_of_threads_changes_no_bit(monkeypatch):
    monkeypatch.setattr(counting, "NODES", 64)
    model = random_pfa(2, n_states=5, symbols="abc")
    forest = Forest(ss.sample(model, 3000, random_state=0))
    assert forest.n_blocks > 3
    results = [
        forest.expected_counts(model.initial, model.transitions, model.final, n_jobs=jobs)
        for jobs in (1, 2, 3)
    ]
    for other in results[1:]:
        assert np.array_equal(results[0].transitions, other.transitions)
        assert results[0].log_likelihood == other.log_likelihood


@pytest.mark.parametrize("symbols", ["ab", "abcdefghijklmnopqrstuvwxyz"])
def test_trees_of_sorted_sequences_have_each_prefix_once(monkeypatch, symbols):
    monkeypatch.setattr(counting, "LARGE", 0)
    monkeypatch.setattr(counting, "NODES", 200)
    monkeypatch.setattr(counting, "ROWS", 1)
    rng = np.random.default_rng(len(symbols))
    strings = ["".join(rng.choice(list(symbols), size=rng.integers(0, 9))) for _ in range(300)]
    strings += [string * 9 for string in strings[::7]] + strings[:20]  # long, and some twice
    corpus = ss.Corpus.from_sequences(strings)
    blocks = list(counting.blocks_of_trees(corpus, 4))
    assert len(blocks) > 2
    assert sorted(np.concatenate([rows for rows, _ in blocks])) == list(range(len(strings)))
    for rows, tree in blocks:
        spelled = [""]
        for parent, code in zip(tree.parent[1:], tree.symbol[1:], strict=True):
            spelled.append(spelled[parent] + corpus.alphabet[int(code)])
        wanted = {strings[row][:n] for row in rows for n in range(len(strings[row]) + 1)}
        assert len(spelled) == len(wanted)
        assert set(spelled) == wanted
        assert [spelled[end] for end in tree.ends] == [strings[row] for row in rows]
        keys = [(len(s), s[-1:]) for s in spelled]
        assert keys == sorted(keys)


def test_trees_grown_in_each_pass_count_the_same_bits_in_less_memory(monkeypatch):
    monkeypatch.setattr(counting, "LARGE", 0)
    monkeypatch.setattr(counting, "NODES", 500)
    monkeypatch.setattr(counting, "ROWS", 1)
    model = random_pfa(5, n_states=4, symbols="abcdefghijklmnopqrstuvwxyz", stop=0.05)
    corpus = ss.sample(model, 2000, random_state=2)
    kept, compact = Forest(corpus, n_states=4), Forest(corpus, n_states=4, compact=True)
    assert (compact.n_nodes, compact.n_blocks) == (kept.n_nodes, kept.n_blocks)
    assert kept.n_blocks > 2
    assert 2 * sys.getsizeof(compact) < sys.getsizeof(kept)
    weights = model.initial, model.transitions, model.final
    for _ in range(2):  # the second pass finds no work space of the first
        one, other = kept.expected_counts(*weights), compact.expected_counts(*weights)
        for name in ("initial", "transitions", "final", "log_likelihood"):
            assert np.array_equal(getattr(one, name), getattr(other, name))
        assert not compact._spare
    assert compact.log_likelihood(*weights) == kept.log_likelihood(*weights)
    weighted = Forest(corpus, np.full(len(corpus), 2.0), n_states=4, compact=True)
    assert weighted.expected_counts(*weights).log_likelihood == 2 * one.log_likelihood


def test_trees_of_sequences_that_share_much_are_kept(monkeypatch):
    monkeypatch.setattr(counting, "LARGE", 0)
    corpus = ss.Corpus.from_sequences(["abcab", "abc"] * 1000)
    assert sys.getsizeof(Forest(corpus, compact=True)) == sys.getsizeof(Forest(corpus)) < 1000


def test_counts_add_up_to_the_corpus():
    model = random_pfa(3, n_states=4)
    corpus = ss.sample(model, 500, random_state=0)
    counts = Forest(corpus).expected_counts(model.initial, model.transitions, model.final)
    assert counts.initial.sum() == pytest.approx(len(corpus))
    assert counts.final.sum() == pytest.approx(len(corpus))
    np.testing.assert_allclose(
        counts.transitions.sum(axis=(1, 2)), np.bincount(corpus.symbols, minlength=2)
    )


def test_the_likelihood_alone_is_that_of_the_scores():
    model = random_pfa(4)
    corpus = ss.sample(model, 300, random_state=1)
    value, impossible = Forest(corpus).log_likelihood(model.initial, model.transitions, model.final)
    assert value == pytest.approx(ss.log_proba(model, corpus).sum(), rel=1e-12)
    assert impossible == 0


def test_impossible_strings_are_reported_and_left_out():
    model = ss.PFA([1.0], [[[0.5]], [[0.0]]], [0.5], ss.Alphabet("ab"))
    forest = Forest(ss.Corpus.from_sequences(["aa", "ab", "b"], alphabet=model.alphabet))
    counts = forest.expected_counts(model.initial, model.transitions, model.final)
    assert counts.impossible == 2
    assert counts.log_likelihood == pytest.approx(3 * np.log(0.5))
    assert np.isfinite(counts.transitions).all()


def test_a_very_long_string_keeps_counts_in_range():
    model = random_pfa(5, n_states=3)
    corpus = ss.sample(model, 2, length=20_000, random_state=0)
    counts = Forest(corpus).expected_counts(model.initial, model.transitions, model.final)
    assert counts.transitions.sum() == pytest.approx(40_000)
