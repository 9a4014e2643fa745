"""Joint Schur recovery of hidden Markov models: from exact moments and from samples."""

import numpy as np
import pytest

import sigmastar as ss
from automata.oracles_moments import separated_hmm
from sigmastar.automata.learn.recover_hmm import recover_hmm


def exact(model, statistics):
    automaton = model.to_pfa()
    basis = ss.moments.all_basis(model.n_symbols, 2)
    moments = ss.moments.exact_moments(automaton, basis, statistics)
    return moments, ss.moments.exact_pairs(automaton)


@pytest.mark.parametrize("statistics", ["string", "prefix", "substring"])
@pytest.mark.parametrize(("n_states", "seed"), [(2, 1), (3, 0), (5, 2)])
def test_exact_moments_recover_the_hmm_up_to_permutation(statistics, n_states, seed):
    truth = separated_hmm(n_states, seed=seed)
    found = recover_hmm(*exact(truth, statistics), n_states=n_states)
    model = found.model
    distance = np.abs(model.emission[None] - truth.emission[:, None]).sum(axis=2)
    order = distance.argmin(axis=1)
    assert sorted(order) == list(range(n_states))
    np.testing.assert_allclose(model.emission[order], truth.emission, atol=1e-8)
    np.testing.assert_allclose(model.transition[np.ix_(order, order)], truth.transition, atol=1e-8)
    np.testing.assert_allclose(model.stop[order], truth.stop, atol=1e-8)
    np.testing.assert_allclose(model.initial[order], truth.initial, atol=1e-8)
    assert found.info["lower_energy"] < 1e-18
    assert found.info["moved"] < 1e-8


def test_a_sample_gives_a_model_near_the_truth():
    truth = separated_hmm(3, seed=0)
    data = ss.sample(truth, 4000, random_state=0)
    found = ss.TensorHMM(3, decomposition="joint-schur").fit(data)
    strings = ss.sample(truth, 200, random_state=1)
    gaps = found.log_proba(strings) - ss.log_proba(truth, strings)
    assert np.abs(gaps).mean() < 0.3
    assert found.info_["lower_energy"] > 0


def test_more_states_than_the_data_have_are_refused():
    truth = separated_hmm(3)
    moments = exact(truth, "prefix")
    with pytest.raises(ss.errors.InvalidParameter, match="at most 3, the rank"):
        recover_hmm(*moments, n_states=4)
    with pytest.raises(ss.errors.InvalidParameter, match="size of the alphabet"):
        recover_hmm(*moments, n_states=truth.n_symbols + 1)


def test_closed_forms_go_with_the_tensor_only():
    est = ss.TensorHMM(2, decomposition="joint-schur", completion="closed-form")
    with pytest.raises(ss.errors.InvalidParameter, match=r"completion must be.*regression"):
        est.fit(["ab", "abab"] * 20)
