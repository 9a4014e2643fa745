"""Smoothing entry by entry, and what a held-out part may cost."""

import numpy as np
import pytest

import sigmastar as ss
from automata.oracles import random_hmm, random_pfa
from sigmastar.automata.learn import heldout
from sigmastar.automata.learn.smoothing import background_of, smooth_hmm, smooth_pfa, spread_pfa

BACKGROUND = np.array([0.5, 0.15, 0.1, 0.25])  # of three symbols and the end
PFA = random_pfa(0, n_states=3, symbols="abc")
HMM = random_hmm(0, n_states=3, symbols="abc")


def test_a_smoothed_state_acts_at_times_as_a_source_and_goes_on_as_at_the_beginning():
    smooth = smooth_pfa(PFA, 0.1, BACKGROUND)
    for state in range(3):
        for symbol in range(3):
            for target in range(3):
                plain = PFA.transitions[symbol, state, target]
                extra = BACKGROUND[symbol] * PFA.initial[target]
                expected = 0.9 * plain + 0.1 * extra
                assert smooth.transitions[symbol, state, target] == pytest.approx(expected)
        assert smooth.final[state] == pytest.approx(0.9 * PFA.final[state] + 0.1 * 0.25)
    np.testing.assert_array_equal(smooth.initial, PFA.initial)
    assert smooth_pfa(PFA, 0.0, BACKGROUND) is PFA


def test_a_spread_state_moves_anywhere():
    spread = spread_pfa(PFA, 0.3, BACKGROUND)
    arcs = 0.7 * PFA.transitions + 0.3 * BACKGROUND[:3, None, None] / 3
    np.testing.assert_allclose(spread.transitions, arcs, atol=1e-12)
    np.testing.assert_allclose(spread.final, 0.7 * PFA.final + 0.3 * 0.25, atol=1e-12)
    np.testing.assert_allclose(spread.initial, 0.7 * PFA.initial + 0.1, atol=1e-12)


def test_a_smoothed_hmm_emits_at_times_as_a_source():
    smooth = smooth_hmm(HMM, 0.1, BACKGROUND)
    np.testing.assert_allclose(smooth.emission, 0.9 * HMM.emission + 0.1 * BACKGROUND[:3])
    np.testing.assert_allclose(smooth.stop, 0.9 * HMM.stop + 0.1 * 0.25)
    np.testing.assert_array_equal(smooth.transition, HMM.transition)
    np.testing.assert_array_equal(smooth.initial, HMM.initial)
    assert smooth_hmm(HMM, 0.0, BACKGROUND) is HMM


def test_the_background_counts_symbols_and_ends_and_one_more_of_each():
    corpus = ss.Corpus.from_sequences(["aab", "b", ""], alphabet=ss.Alphabet("abc"))
    np.testing.assert_allclose(background_of(corpus), np.array([3, 3, 1, 4]) / 11)


def test_a_held_out_part_is_a_share_and_never_large(monkeypatch):
    corpus = ss.Corpus.from_sequences(["abc"] * 400)
    held, rest = heldout.hold_out(corpus, 0.25, np.random.default_rng(0), 5)
    assert held.n_sequences + len(rest) == 400
    assert held.n_sequences == pytest.approx(100, abs=30)
    monkeypatch.setattr(heldout, "_MOST_SYMBOLS", 60)
    held, rest = heldout.hold_out(corpus, 0.25, np.random.default_rng(0), 5)
    assert 1 <= held.n_sequences <= 40  # about 20 of three symbols each
    assert held.n_sequences + len(rest) == 400
    monkeypatch.setattr(heldout, "_MOST_WEIGHTS", 6)
    held, _ = heldout.hold_out(corpus, 0.25, np.random.default_rng(0), 5)
    assert held.n_sequences <= 5


def test_a_held_out_score_is_the_mean_of_clipped_conditional_scores():
    corpus = ss.sample(PFA, 50, random_state=0)
    held = heldout.HeldOut(corpus, 3, np.full(len(corpus.alphabet) + 1, 0.25))
    assert held.score(PFA) == pytest.approx(ss.log_proba(PFA, corpus).mean())


def test_two_sequences_are_needed_to_hold_one_out():
    one = ss.Corpus.from_sequences(["ab"])
    with pytest.raises(ss.errors.InvalidData, match="needs at least 2 sequences; got 1"):
        heldout.hold_out(one, 0.2, np.random.default_rng(0), 2)
    two = ss.Corpus.from_sequences(["ab", "b"])
    held, rest = heldout.hold_out(two, 0.2, np.random.default_rng(0), 2)
    assert (held.n_sequences, len(rest)) == (1, 1)
