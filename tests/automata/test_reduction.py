"""Smaller automata: the bound of balanced truncation, and reduction through EM."""

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.automata.gramians import gramians
from sigmastar.core.errors import InvalidModel, InvalidParameter

LARGE = ss.datasets.make_pfa(12, 4, transition_sparsity=0.7, random_state=3)


def random_wfa(rng):
    n = int(rng.integers(2, 6))
    arcs = rng.standard_normal((2, n, n))
    growth = sum(np.kron(a, a) for a in arcs)
    arcs *= np.sqrt(rng.uniform(0.2, 0.6) / np.abs(np.linalg.eigvals(growth)).max())
    return ss.WFA(rng.standard_normal(n), arcs, rng.standard_normal(n), ss.Alphabet("ab"))


def squares(first, second, length):
    """Sum (f - g)² over all strings up to a length, one after the other in no cleverer way."""
    vectors = [model.initial[None, :] for model in (first, second)]
    total = 0.0
    for _ in range(length + 1):
        values = [v @ m.final for v, m in zip(vectors, (first, second), strict=True)]
        total += float(((values[0] - values[1]) ** 2).sum())
        vectors = [
            np.concatenate([v @ arcs for arcs in m.transitions])
            for v, m in zip(vectors, (first, second), strict=True)
        ]
    return total


def test_the_bound_holds_on_a_thousand_machines():
    rng = np.random.default_rng(0)
    tight = 0
    for _ in range(1000):
        model = random_wfa(rng)
        reduced = ss.algebra.reduce(model, int(rng.integers(1, model.n_states)))
        found = np.sqrt(squares(model, reduced.model, 6))
        bound, distance = reduced.info["bound"], reduced.info["distance"]
        assert found <= bound * (1 + 1e-9)
        assert found <= distance * (1 + 1e-6) <= bound * (1 + 1e-5)
        tight += found > 0.5 * bound
    assert tight > 100  # a bound ten times as large would pass the lines above, but not this one


def test_the_distance_is_the_sum_over_all_strings():
    model = random_wfa(np.random.default_rng(5))
    reduced = ss.algebra.reduce(model, 1)
    enumerated = np.sqrt(squares(model, reduced.model, 16))
    assert reduced.info["distance"] == pytest.approx(enumerated, rel=1e-3)


def test_both_gramians_of_the_balanced_automaton_are_the_singular_values():
    full = ss.algebra.reduce(LARGE, 12)
    found = gramians(full.model)
    for root in found:
        np.testing.assert_allclose(root @ root.T, np.diag(full.info["singular_values"]), atol=1e-9)


def test_nothing_is_lost_at_full_rank():
    twice = ss.algebra.mixture([LARGE, LARGE], [0.5, 0.5])
    reduced = ss.algebra.reduce(twice, 12)
    strings = ss.sample(LARGE, 50, random_state=0)
    np.testing.assert_allclose(
        ss.inference.string_weights(reduced.model, strings),
        ss.inference.string_weights(LARGE, strings),
        rtol=1e-7,
    )
    with pytest.raises(InvalidParameter, match="n_states must be at most 12, the rank"):
        ss.algebra.reduce(twice, 13)


def test_a_pfa_stays_one_through_em_and_beats_the_truncated_one():
    small = ss.algebra.reduce(LARGE, 6, method="em", n_strings=1000)
    assert isinstance(small.model, ss.PFA)
    fresh = ss.sample(LARGE, 1000, random_state=9)
    truth = ss.log_proba(LARGE, fresh).mean()
    lost = truth - ss.log_proba(small.model, fresh).mean()
    truncated = ss.algebra.reduce(LARGE, 6).model
    assert lost < truth - ss.log_proba(truncated, fresh).mean()
    assert lost == pytest.approx(small.info["divergence"], abs=0.1)


def test_what_is_not_square_summable_is_refused():
    endless = ss.WFA([1.0], [[[1.5]]], [1.0], ss.Alphabet("a"))
    with pytest.raises(InvalidModel, match="square-summable"):
        ss.algebra.reduce(endless, 1)
