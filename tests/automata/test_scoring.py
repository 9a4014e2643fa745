"""Scores of strings and prefixes agree with plain multiplication."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sigmastar as ss
from automata.oracles import all_strings, random_hmm, random_pfa, random_wfa, value
from sigmastar.automata.inference import scoring, string_weights, tree

STRINGS = all_strings("ab", 6)


@pytest.mark.parametrize("seed", range(3))
def test_log_proba_of_a_pfa_is_the_log_of_the_product(seed):
    model = random_pfa(seed)
    expected = np.log([value(model, x) for x in STRINGS])
    np.testing.assert_allclose(ss.log_proba(model, STRINGS), expected, rtol=1e-12)


def test_an_hmm_scores_as_its_pfa():
    model = random_hmm(0)
    expected = np.log([value(model.to_pfa(), x) for x in STRINGS])
    np.testing.assert_allclose(ss.log_proba(model, STRINGS), expected, rtol=1e-12)


def test_string_weights_may_be_negative():
    model = random_wfa(1)
    expected = [value(model, x) for x in STRINGS]
    assert min(expected) < 0
    np.testing.assert_allclose(string_weights(model, STRINGS), expected, rtol=1e-10)


def test_raw_scoring_of_a_negative_value_is_minus_infinity():
    model = random_wfa(1)
    negative = next(x for x in STRINGS if value(model, x) < 0)
    assert ss.log_proba(model, [negative], scoring="raw")[0] == -np.inf


@pytest.mark.parametrize("seed", range(3))
def test_prefix_probability_sums_over_all_continuations(seed):
    model = random_pfa(seed, stop=20.0)
    total = sum(value(model, "ab" + y) for y in all_strings("ab", 9))
    tail = (1 - model.final.min()) ** 10  # what strings longer than those can carry at most
    assert tail < 0.01 * total
    assert total < np.exp(ss.log_prefix_proba(model, ["ab"])[0]) < total + tail


def test_conditional_scoring_equals_raw_where_the_wfa_is_stochastic():
    pfa = random_pfa(4)
    disguised = ss.WFA(pfa.initial, pfa.transitions, pfa.final, pfa.alphabet)
    conditional = ss.log_proba(disguised, STRINGS, scoring="conditional", floor=0.0)
    np.testing.assert_allclose(conditional, ss.log_proba(pfa, STRINGS), rtol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_conditional_scores_are_a_distribution(seed):
    """Probabilities of all strings up to a length plus those of longer beginnings are one."""
    model = random_wfa(seed)
    strings = all_strings("ab", 5)
    ended = np.exp(ss.log_proba(model, strings)).sum()
    going_on = np.exp(ss.log_prefix_proba(model, all_strings("ab", 6)[len(strings) :])).sum()
    assert ended + going_on == pytest.approx(1.0, abs=1e-12)


def conditional_oracle(model, string, floor):
    """Follow the definition with plain NumPy."""
    q = np.linalg.solve(np.eye(model.n_states) - model.transitions.sum(axis=0), model.final)
    vector, score = model.initial, 0.0
    for code in [*model.alphabet.encode(string), model.n_symbols]:
        weights = np.array([*(vector @ a @ q for a in model.transitions), vector @ model.final])
        weights = weights if weights.sum() >= 0 else -weights
        shares = weights / weights[weights > 0].sum()
        spread = -shares[shares < 0].sum() / len(shares)  # what negative weights say of the error
        shares = np.maximum(shares, max(floor, spread))
        score += np.log(shares[code] / shares.sum())
        vector = vector @ model.transitions[code] if code < model.n_symbols else vector
    return score


@pytest.mark.parametrize("seed", range(3))
def test_conditional_scoring_follows_its_definition(seed):
    model = random_wfa(seed)
    expected = [conditional_oracle(model, x, 1e-3) for x in STRINGS]
    actual = ss.log_proba(model, STRINGS, scoring="conditional", floor=1e-3)
    np.testing.assert_allclose(actual, expected, rtol=1e-8)


@pytest.mark.parametrize("make", [random_pfa, random_wfa])
@pytest.mark.parametrize("score", [ss.log_proba, ss.log_prefix_proba])
def test_small_batches_and_long_sequences_give_the_same_scores(monkeypatch, make, score):
    model = make(2)
    whole = score(model, STRINGS)
    monkeypatch.setattr(tree, "BATCH_BYTES", 8 * 3 * 5)  # five nodes: most strings come alone
    np.testing.assert_allclose(score(model, STRINGS), whole, rtol=1e-12)


@pytest.mark.compiled
def test_a_million_symbols_score_without_underflow():
    model = random_pfa(0)
    codes = np.random.default_rng(0).integers(0, 2, 1_000_000).astype(np.int32)
    corpus = ss.Corpus(codes, [0, len(codes)], model.alphabet)
    half = ss.Corpus(codes[:500_000], [0, 500_000], model.alphabet)
    total, part = ss.log_proba(model, corpus)[0], ss.log_proba(model, half)[0]
    assert np.isfinite(total)
    assert total / part == pytest.approx(2.0, rel=1e-2)


@given(st.lists(st.text("ab", max_size=12), max_size=8), st.integers(0, 50))
def test_scores_do_not_depend_on_the_company_of_other_sequences(strings, seed):
    model = random_pfa(seed)
    together = ss.log_proba(model, [*strings, "abab"])
    alone = [ss.log_proba(model, [x])[0] for x in [*strings, "abab"]]
    np.testing.assert_allclose(together, alone, rtol=1e-12)


def test_scaling_is_exact_where_the_plain_product_underflows():
    model = ss.WFA([1.0], [[[0.5]]], [1.0], ss.Alphabet("a"))
    assert ss.log_proba(model, ["a" * 5000], scoring="raw")[0] == pytest.approx(5000 * np.log(0.5))


def test_unknown_symbols_and_bad_arguments_are_refused():
    model = random_pfa(0)
    with pytest.raises(ss.errors.UnknownSymbol, match="'z' is not in the alphabet"):
        ss.log_proba(model, ["az"])
    with pytest.raises(ss.errors.InvalidParameter, match="scoring must be 'auto', 'raw' or"):
        ss.log_proba(model, ["a"], scoring="best")
    with pytest.raises(ss.errors.InvalidParameter, match="floor"):
        ss.log_proba(model, ["a"], floor=1.5)
    assert scoring.log_proba(model, []).shape == (0,)
