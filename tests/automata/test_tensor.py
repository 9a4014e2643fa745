"""Tensor decomposition: exact moments of an HMM give it back up to the order of its states."""

from dataclasses import replace

import numpy as np
import pytest

import sigmastar as ss
from automata.oracles_moments import separated_hmm
from sigmastar.automata.learn.blocks.tensor import orthogonal_decomposition, symmetrized
from sigmastar.automata.learn.blocks.tensor_regression import complete_by_regression
from sigmastar.automata.learn.blocks.tensor_views import Views, find_emissions
from sigmastar.automata.learn.tensor import learn_tensor


def exact(model, statistics, length=2):
    automaton = model.to_pfa()
    basis = ss.moments.all_basis(model.n_symbols, length)
    moments = ss.moments.exact_moments(automaton, basis, statistics)
    return moments, ss.moments.exact_pairs(automaton)


COMPLETIONS = ["regression", "closed-form"]


def assert_same_up_to_permutation(model, truth, tolerance=1e-8):
    distance = np.abs(model.emission[None] - truth.emission[:, None]).sum(axis=2)
    order = distance.argmin(axis=1)
    assert sorted(order) == list(range(truth.n_states))
    moves = model.transition[np.ix_(order, order)]
    np.testing.assert_allclose(model.emission[order], truth.emission, atol=tolerance)
    np.testing.assert_allclose(moves, truth.transition, atol=tolerance)
    np.testing.assert_allclose(model.stop[order], truth.stop, atol=tolerance)
    np.testing.assert_allclose(model.initial[order], truth.initial, atol=tolerance)


@pytest.mark.parametrize("completion", COMPLETIONS)
@pytest.mark.parametrize("statistics", ["string", "prefix", "substring"])
@pytest.mark.parametrize(("n_states", "seed"), [(2, 1), (3, 0), (5, 2)])
def test_exact_moments_recover_the_hmm_up_to_permutation(statistics, n_states, seed, completion):
    truth = separated_hmm(n_states, seed=seed)
    moments = exact(truth, statistics)
    model = learn_tensor(*moments, n_states=n_states, completion=completion).model
    assert_same_up_to_permutation(model, truth)


@pytest.mark.parametrize("statistics", ["string", "prefix", "substring"])
def test_scaled_rows_and_columns_do_not_change_the_closed_forms(statistics):
    truth = separated_hmm(3)
    moments, pairs = exact(truth, statistics)
    rng = np.random.default_rng(0)
    rows, columns = (rng.uniform(1.0, 900.0, size) for size in moments.shape)
    scaled = replace(moments, n_sequences=1000.0, row_counts=rows, column_counts=columns)
    model = learn_tensor(scaled, pairs, n_states=3, completion="closed-form").model
    assert_same_up_to_permutation(model, truth)


def test_closed_forms_need_the_empty_string():
    truth = separated_hmm(3)
    basis = ss.moments.given_basis(["a", "b", "c"], ["a", "b", "", "c"], truth.alphabet)
    moments = ss.moments.exact_moments(truth.to_pfa(), basis, "prefix")
    pairs = ss.moments.exact_pairs(truth.to_pfa())
    with pytest.raises(ss.errors.InvalidParameter, match="the empty string among prefixes"):
        learn_tensor(moments, pairs, n_states=3, completion="closed-form")


def test_arbitrary_bases_serve_as_well():
    truth = separated_hmm(3)
    automaton = truth.to_pfa()
    basis = ss.moments.given_basis(
        ["", "a", "bc", "d", "ee", "ab"], ["", "b", "ca", "d", "e", "a"], truth.alphabet
    )
    moments = ss.moments.exact_moments(automaton, basis, "prefix")
    model = learn_tensor(moments, ss.moments.exact_pairs(automaton), n_states=3).model
    strings = ["", "abc", "dea", "cc"]
    np.testing.assert_allclose(
        ss.log_proba(model, strings), ss.log_proba(truth, strings), atol=1e-6
    )


def test_emissions_are_rescaled_to_distributions():
    """A tensor that is too large by a factor gives the same emissions, and tells the factor."""
    truth = separated_hmm(3)
    views = Views.of(exact(truth, "prefix")[0], 3, 0.0)
    larger = replace(views, blocks=replace(views.blocks, dense=1.3 * views.blocks.dense))
    found = find_emissions(larger, 3, np.random.default_rng(0))
    np.testing.assert_allclose(found.info["emission_sums"], 1.3, atol=1e-8)
    emission = truth.emission / truth.emission.sum(axis=1, keepdims=True)
    distance = np.abs(found.distributions[None] - emission[:, None]).max(axis=2)
    assert distance.min(axis=1).max() < 1e-8
    assert found.info["conditioning"] < 1


def test_the_mean_stop_holds_back_little_where_there_are_data():
    truth = separated_hmm(3, seed=2)
    emission = truth.emission / truth.emission.sum(axis=1, keepdims=True)
    pairs = ss.moments.exact_pairs(truth.to_pfa())
    model = complete_by_regression(emission, pairs, 3000.0, truth.alphabet)
    np.testing.assert_allclose(model.stop, truth.stop, atol=0.01)
    assert np.ptp(truth.stop) > 0.2


def test_stops_that_the_data_leave_open_are_drawn_to_the_mean():
    """States that go on alike: any stops of one mean would do."""
    truth = separated_hmm(3, seed=2)
    alike = ss.HMM(
        truth.initial,
        np.tile(truth.transition[:1], (3, 1)),
        truth.emission,
        truth.stop,
        truth.alphabet,
    )
    emission = truth.emission / truth.emission.sum(axis=1, keepdims=True)
    pairs = ss.moments.exact_pairs(alike.to_pfa())
    model = complete_by_regression(emission, pairs, 3000.0, truth.alphabet)
    assert np.ptp(model.stop) < 0.1 < np.ptp(truth.stop)


def test_orthogonal_tensors_are_decomposed():
    rng = np.random.default_rng(0)
    vectors = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    values = np.array([3.0, 2.0, 1.5, 1.0])
    tensor = np.einsum("i,ai,bi,ci->abc", values, vectors, vectors, vectors)
    found, directions = orthogonal_decomposition(tensor, rng)
    order = np.argsort(-found)
    np.testing.assert_allclose(found[order], values, atol=1e-10)
    np.testing.assert_allclose(directions[:, order], vectors, atol=1e-8)


def test_symmetrising_leaves_symmetric_tensors_alone():
    tensor = np.random.default_rng(0).normal(size=(3, 3, 3))
    once = symmetrized(tensor)
    np.testing.assert_allclose(symmetrized(once), once, atol=1e-15)
    np.testing.assert_allclose(once, once.transpose(2, 0, 1), atol=1e-15)


@pytest.mark.compiled
def test_a_large_sample_comes_close_to_the_truth():
    truth = separated_hmm(3, symbols="abcdef", seed=1)  # emissions far from each other
    train, test = (ss.sample(truth, 20_000, random_state=seed) for seed in (0, 1))
    least = np.mean(ss.log_proba(truth, test))
    gaps = {}
    for completion in COMPLETIONS:
        est = ss.TensorHMM(3, completion=completion).fit(train)
        assert isinstance(est.model_, ss.HMM)
        gaps[completion] = least - est.score(test)
    assert -0.02 < gaps["regression"] < 0.05
    assert gaps["regression"] < gaps["closed-form"] < 0.05


def test_auto_stays_within_the_alphabet():
    train = ss.sample(separated_hmm(2, symbols="abc"), 2000, random_state=0)
    est = ss.TensorHMM().fit(train)
    assert 1 <= est.model_.n_states <= 3
    assert max(trial["n_states"] for trial in est.info_["path"]) <= 3


def test_rank_deficiency_is_told():
    with pytest.raises(ss.errors.InvalidParameter, match="at most 5, the size of the alphabet"):
        learn_tensor(*exact(separated_hmm(3), "prefix"), n_states=6)
    truth = separated_hmm(3)
    twins = ss.HMM.normalized(
        truth.initial, truth.transition, truth.emission[[0, 0, 1]], truth.stop, truth.alphabet
    )
    with pytest.raises(ss.errors.InvalidParameter, match="n_states must be at most 2"):
        learn_tensor(*exact(twins, "prefix"), n_states=3)
