"""What transducers say, against enumeration over states and outputs."""

from itertools import product

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.core.errors import InvalidData, InvalidModel
from sigmastar.transducers import inference as ask
from sigmastar.transducers.kernels.beams import lowest_kept
from transducers.oracles import path_sum, random_parameters

TRUTH = random_parameters(2, 3, 2, 0)
MODEL = TRUTH.to_transducer()
X = [0, 1, 1, 0]
OUTPUTS = list(product(range(3), repeat=4))


def corpus(pairs):
    return ss.PairCorpus.from_pairs(
        pairs, source_alphabet=MODEL.input_alphabet, target_alphabet=MODEL.output_alphabet
    )


def test_scores_are_sums_over_state_sequences():
    pairs = corpus([(X, list(y)) for y in OUTPUTS])
    expected = [path_sum(TRUTH, X, y) for y in OUTPUTS]
    np.testing.assert_allclose(ask.weights(MODEL, pairs), expected, rtol=1e-12)
    np.testing.assert_allclose(ask.log_proba(MODEL, pairs, proper=False), np.log(expected))
    np.testing.assert_allclose(ask.log_proba(MODEL, pairs, floor=0.0), np.log(expected))


def test_proper_scores_of_any_operators_are_distributions():
    rng = np.random.default_rng(1)
    wild = ss.Transducer.from_dense(
        rng.standard_normal(2),
        rng.standard_normal((2, 3, 2, 2)),
        rng.standard_normal(2),
        MODEL.input_alphabet,
        MODEL.output_alphabet,
    )
    scores = ask.log_proba(wild, corpus([(X, list(y)) for y in OUTPUTS]))
    assert np.exp(scores).sum() == pytest.approx(1.0)
    assert not wild.is_proper


def test_long_pairs_do_not_underflow():
    rng = np.random.default_rng(0)
    pairs = corpus([(rng.integers(2, size=200_000), rng.integers(3, size=200_000))])
    raw = ask.log_proba(MODEL, pairs, proper=False)[0]
    assert np.isfinite(raw)
    assert ask.log_proba(MODEL, pairs, floor=0.0)[0] == pytest.approx(raw, rel=1e-9)


def test_marginals_sum_over_all_outputs():
    prob = np.array([path_sum(TRUTH, X, y) for y in OUTPUTS])
    expected = np.zeros((4, 3))
    for y, p in zip(OUTPUTS, prob, strict=True):
        expected[np.arange(4), y] += p
    np.testing.assert_allclose(ask.marginals(MODEL, np.array(X)), expected, atol=1e-12)


def test_a_wide_beam_finds_the_best_outputs_in_order():
    prob = np.array([path_sum(TRUTH, X, y) for y in OUTPUTS])
    best = np.argsort(-prob)[:10]
    source = ss.Corpus.from_sequences([X], alphabet=MODEL.input_alphabet)
    scores, paths = ask.beam_outputs(MODEL, source, n_best=10, beam=100)
    np.testing.assert_allclose(scores[0], np.log(prob[best]), rtol=1e-10)
    assert [tuple(path) for path in paths[0]] == [OUTPUTS[i] for i in best]


def test_next_outputs_are_ratios_of_prefix_weights():
    y = (2, 0)
    joint = [path_sum(TRUTH, X[:3], (*y, b)) for b in range(3)]
    found = ask.next_output(MODEL, np.array(X[:3]), np.array(y), floor=0.0)
    np.testing.assert_allclose(found, np.array(joint) / sum(joint))
    with pytest.raises(InvalidData, match="one more input"):
        ask.next_output(MODEL, np.array(X), np.array(y))


def test_samples_follow_the_conditional_distribution():
    source = ss.Corpus.from_sequences([X[:2]] * 4000, alphabet=MODEL.input_alphabet)
    drawn = ask.sample_outputs(MODEL, source, random_state=0)
    again = ask.sample_outputs(MODEL, source, random_state=0)
    assert all(np.array_equal(a, b) for a, b in zip(drawn, again, strict=True))
    counts = np.zeros((3, 3))
    np.add.at(counts, tuple(np.array(drawn).T), 1)
    expected = [[path_sum(TRUTH, X[:2], (a, b)) for b in range(3)] for a in range(3)]
    assert np.abs(counts / 4000 - expected).max() < 0.03  # four standard deviations


def test_a_saved_transducer_comes_back_bit_for_bit(tmp_path):
    for model in (MODEL, TRUTH):
        model.save(tmp_path / "m.sigma")
        assert ss.load(tmp_path / "m.sigma") == model


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"table": [[0, 1, 2], [3, 4, 9]]}, "between -1 and 5"),
        ({"table": [[0, 1], [2, 3]]}, r"shape \(2, 3\)"),
        ({"initial": [np.nan, 1.0]}, "finite"),
    ],
)
def test_broken_transducers_are_refused(change, message):
    parts = {
        "initial": MODEL.initial,
        "operators": MODEL.operators,
        "final": MODEL.final,
        "table": MODEL.table,
        "input_alphabet": MODEL.input_alphabet,
        "output_alphabet": MODEL.output_alphabet,
    } | change
    with pytest.raises(InvalidModel, match=message):
        ss.Transducer(**parts)


def test_a_beam_keeps_the_best_output_among_many_that_tie():
    # After the first symbol the second state writes x or y alike: 2⁶ outputs tie. The first state,
    # which always writes y, is better than all of them, and comes last.
    model = ss.ParametricTransducer(
        [0.5, 0.5],
        [np.eye(2)],
        [[0.0, 1.0], [0.5, 0.5]],
        ss.Alphabet("a"),
        ss.Alphabet("xy"),
    ).to_transducer()
    source = ss.Corpus.from_sequences(["aaaaaa"], alphabet=model.input_alphabet)
    scores, paths = ask.beam_outputs(model, source, n_best=1, beam=4)
    assert paths[0, 0].tolist() == [1] * 6
    assert np.exp(scores[0, 0]) == pytest.approx(0.5 + 0.5**7)


def test_the_cut_of_a_beam_has_room_for_all_better_ones():
    scores = np.array([3.0, 1.0, 1.0, 2.0, 1.0, 0.0])
    assert lowest_kept(scores, 0, 6, np.empty(3)) == (1.0, 1)
    assert lowest_kept(scores, 0, 6, np.empty(4)) == (1.0, 2)
    assert lowest_kept(scores, 0, 6, np.empty(2)) == (2.0, 1)
    assert lowest_kept(scores, 0, 6, np.empty(6))[0] == -np.inf
