"""Viterbi paths and state posteriors agree with an enumeration of all paths."""

import numpy as np
import pytest

import sigmastar as ss
from automata.oracles import paths, random_hmm, random_pfa, random_wfa


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_viterbi_finds_the_best_of_all_paths(seed, whole):
    model = random_pfa(seed)
    final = model.final if whole else np.ones(model.n_states)
    for string in ["", "a", "abba", "bbabab"]:
        weights = paths(model, string, final)
        decoded = ss.viterbi(model, [string], whole=whole)
        best = max(weights, key=weights.get)
        assert decoded.log_proba[0] == pytest.approx(np.log(weights[best]), rel=1e-12)
        assert tuple(decoded.states[0]) == best


@pytest.mark.parametrize("whole", [True, False])
def test_posterior_is_the_share_of_paths_through_each_state(whole):
    model = random_hmm(1).to_pfa()
    final = model.final if whole else np.ones(model.n_states)
    string = "abbab"
    weights = paths(model, string, final)
    expected = np.zeros((len(string) + 1, model.n_states))
    for states, weight in weights.items():
        expected[np.arange(len(string) + 1), states] += weight
    expected /= sum(weights.values())
    actual = ss.posterior(random_hmm(1), [string], whole=whole)[0]
    np.testing.assert_allclose(actual, expected, rtol=1e-11)


def test_long_sequences_decode_without_underflow():
    model = random_hmm(2)
    string = ["ab"[i % 2] for i in range(20_000)]
    decoded = ss.viterbi(model, [string])
    assert np.isfinite(decoded.log_proba[0])
    np.testing.assert_allclose(ss.posterior(model, [string])[0].sum(axis=1), 1.0, rtol=1e-12)


def test_a_wfa_has_no_paths_to_decode():
    with pytest.raises(ss.errors.InvalidModel, match="only in a PFA or an HMM"):
        ss.viterbi(random_wfa(0), ["ab"])


def test_an_impossible_sequence_has_no_posterior():
    model = ss.PFA([1.0], [[[0.5]], [[0.0]]], [0.5], ss.Alphabet("ab"))
    assert ss.viterbi(model, ["b"]).log_proba[0] == -np.inf
    with pytest.raises(ss.errors.InvalidData, match="sequence 0 has probability zero"):
        ss.posterior(model, ["b"])
