"""Algebra of automata against enumeration and as laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sigmastar as ss
from automata.oracles import all_strings, random_hmm, random_pfa, random_wfa, value
from sigmastar.core.errors import InvalidModel, InvalidParameter

STRINGS = all_strings("ab", 6)
SEEDS = st.integers(0, 10_000)


def values(model, strings=STRINGS):
    return np.array([value(model, x) for x in strings])


def short_lived_pfa(seed):
    """Give a PFA whose strings rarely have more than a few symbols."""
    return random_pfa(seed, stop=40.0)


def test_prefix_function_sums_all_continuations():
    model = short_lived_pfa(0)
    prefix = ss.algebra.convert(model, "string", "prefix")
    for x in all_strings("ab", 2):
        summed = sum(value(model, x + v) for v in all_strings("ab", 9))
        assert value(prefix, x) == pytest.approx(summed, rel=1e-6)


def test_substring_function_counts_all_occurrences():
    model = short_lived_pfa(1)
    substring = ss.algebra.convert(model, "string", "substring")
    contexts = all_strings("ab", 5)
    for x in all_strings("ab", 2):
        summed = sum(value(model, u + x + v) for u in contexts for v in contexts)
        assert value(substring, x) == pytest.approx(summed, rel=1e-5)


@given(SEEDS, st.sampled_from(["prefix", "substring"]))
def test_conversion_there_and_back_leaves_values(seed, function):
    model = random_wfa(seed)
    back = ss.algebra.convert(ss.algebra.convert(model, "string", function), function, "string")
    np.testing.assert_allclose(values(back), values(model), rtol=1e-6, atol=1e-7)


@given(SEEDS)
def test_conversion_from_prefix_to_substring_goes_through_strings(seed):
    model = random_pfa(seed)
    prefix = ss.algebra.convert(model, "string", "prefix")
    direct = ss.algebra.convert(model, "string", "substring")
    via = ss.algebra.convert(prefix, "prefix", "substring")
    np.testing.assert_allclose(values(via), values(direct), rtol=1e-7, atol=1e-9)


def test_conversion_names_the_radius_and_the_remedy():
    model = ss.WFA([1.0], [[[1.25]]], [1.0], ss.Alphabet("a"))
    with pytest.raises(InvalidModel, match=r"1\.25.*damped"):
        ss.algebra.convert(model, "string", "prefix")


def test_conversion_ignores_states_that_take_no_part():
    # State 1 loops for ever but nothing enters it.
    model = ss.PFA([1, 0], [[[0.5, 0], [0, 1.0]]], [0.5, 0], ss.Alphabet("a"))
    prefix = ss.algebra.convert(model, "string", "prefix")
    assert value(prefix, "aa") == pytest.approx(0.25)


def test_unknown_function_is_refused():
    with pytest.raises(InvalidParameter, match="wanted must be 'string', 'prefix' or 'substring'"):
        ss.algebra.convert(random_pfa(0), "string", "suffix")


@given(SEEDS, st.floats(-3, 3))
def test_scaled_multiplies_values(seed, factor):
    model = random_wfa(seed)
    np.testing.assert_allclose(values(ss.algebra.scaled(model, factor)), factor * values(model))


@given(SEEDS, SEEDS)
def test_add_adds_values_over_united_alphabets(first, second):
    f, g = random_wfa(first, symbols="ab"), random_hmm(second, symbols="bc").to_pfa()
    total = ss.algebra.add(f, g)
    for x in all_strings("abc", 3):
        apart = (value(f, x) if "c" not in x else 0.0) + (value(g, x) if "a" not in x else 0.0)
        assert value(total, x) == pytest.approx(apart, rel=1e-9, abs=1e-12)


@given(SEEDS, SEEDS, st.floats(0, 1))
def test_mixture_of_pfas_is_a_pfa_of_mixed_values(first, second, share):
    f, g = random_pfa(first), random_hmm(second)
    mixed = ss.algebra.mixture([f, g], [share, 1 - share])
    assert isinstance(mixed, ss.PFA)
    expected = share * values(f) + (1 - share) * values(g.to_pfa())
    np.testing.assert_allclose(values(mixed), expected, rtol=1e-9, atol=1e-15)


def test_mixture_with_a_wfa_is_a_wfa():
    mixed = ss.algebra.mixture([random_pfa(0), random_wfa(1)], [0.25, 0.75])
    assert type(mixed) is ss.WFA
    expected = 0.25 * values(random_pfa(0)) + 0.75 * values(random_wfa(1))
    np.testing.assert_allclose(values(mixed), expected)


@pytest.mark.parametrize("weights", [[0.5, 0.6], [1.5, -0.5], [1.0], [[0.5, 0.5]], [np.nan, 1.0]])
def test_mixture_refuses_weights_that_are_no_distribution(weights):
    with pytest.raises(InvalidParameter, match="weights must"):
        ss.algebra.mixture([random_pfa(0), random_pfa(1)], weights)


@given(SEEDS, SEEDS)
def test_change_of_basis_leaves_values(seed, matrix_seed):
    model = random_wfa(seed)
    matrix = np.random.default_rng(matrix_seed).normal(size=(3, 3)) + 4 * np.eye(3)
    changed = ss.algebra.change_basis(model, matrix)
    np.testing.assert_allclose(values(changed), values(model), rtol=1e-8, atol=1e-8)


def test_change_of_basis_refuses_a_singular_matrix():
    with pytest.raises(InvalidParameter, match="rank is 1 of 3"):
        ss.algebra.change_basis(random_pfa(0), np.ones((3, 3)))


def test_trim_drops_states_off_every_path_and_keeps_values():
    core = random_wfa(3)
    n = core.n_states
    arcs = np.zeros((2, n + 2, n + 2))
    arcs[:, :n, :n] = core.transitions
    arcs[0, n, 0] = 1.0  # never entered
    arcs[1, 0, n + 1] = 1.0  # never left
    model = ss.WFA([*core.initial, 0, 0], arcs, [*core.final, 0, 0], core.alphabet)
    trimmed = ss.algebra.trim(model)
    assert trimmed.n_states == n
    np.testing.assert_allclose(values(trimmed), values(model))


def test_trim_keeps_a_pfa_a_pfa():
    # State 1 is reached and never stops; state 2 is not reached.
    arcs = [[[0.2, 0.3, 0], [0, 1.0, 0], [0.5, 0, 0]]]
    model = ss.PFA([1, 0, 0], arcs, [0.5, 0, 0.5], ss.Alphabet("a"))
    trimmed = ss.algebra.trim(model)
    assert isinstance(trimmed, ss.PFA)
    assert trimmed.n_states == 2
    np.testing.assert_allclose(values(trimmed, ["", "a", "aa"]), values(model, ["", "a", "aa"]))


def test_trim_of_zero_keeps_one_state():
    zero = ss.algebra.trim(ss.WFA([1.0, 0], [np.zeros((2, 2))], [0, 1.0], ss.Alphabet("a")))
    assert zero.n_states == 1
    assert value(zero, "a") == 0.0


def test_damped_bounds_the_radius_and_scales_by_length():
    model = ss.WFA([1.0], [[[1.6]], [[0.4]]], [1.0], ss.Alphabet("ab"))
    tame = ss.algebra.damped(model, 0.5)
    assert tame.spectral_radius == pytest.approx(0.5)
    lengths = np.array([len(x) for x in STRINGS])
    np.testing.assert_allclose(values(tame), values(model) * 0.25**lengths)


def test_damped_leaves_a_tame_model():
    model = random_pfa(5)
    assert ss.algebra.damped(model) is model


@given(SEEDS)
def test_to_wfa_of_an_hmm_keeps_values(seed):
    hmm = random_hmm(seed)
    wfa = ss.algebra.to_wfa(hmm)
    assert type(wfa) is ss.WFA
    emit = [np.diag(hmm.emission[:, s]) @ hmm.transition for s in range(2)]
    for x in all_strings("ab", 3):
        row = hmm.initial
        for symbol in x:
            row = row @ emit["ab".index(symbol)]
        assert value(wfa, x) == pytest.approx(row @ hmm.stop)


def test_algebra_refuses_what_is_no_model():
    with pytest.raises(InvalidParameter, match="a WFA, a PFA or an HMM"):
        ss.algebra.to_wfa([1, 2, 3])
