"""Learners tell what they need before they begin: too much is refused, or done with less."""

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.automata.models.size import most_states
from sigmastar.core.errors import TooLarge

RNG = np.random.default_rng(0)
# Random symbols: there is nothing to learn, and learners say so.
pytestmark = pytest.mark.filterwarnings("ignore::sigmastar.core.errors.PoorModelWarning")
MANY = ss.Corpus.from_sequences([RNG.integers(400, size=6).tolist() for _ in range(400)])


@pytest.mark.parametrize(
    ("estimator", "what"),
    [
        (ss.SpectralWFA(40), "A spectral automaton of 40 states over"),
        (ss.SeparablePFA(40), "A separable automaton of 40 states over"),
        (ss.BaumWelchPFA(40), "Training an automaton of 40 states over"),
        (ss.GibbsPFA(10, em_iter=0), "An average automaton of 80 states over"),
        (ss.TensorHMM(3), "Counting pairs of"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_does_not_fit_is_refused_before_it_begins(estimator, what, monkeypatch):
    monkeypatch.setenv("SIGMASTAR_MAX_MEMORY", "6MB")
    with pytest.raises(TooLarge, match=what) as error:
        estimator.fit(MANY)
    assert "unknown='unk'" in str(error.value)


def test_moments_of_too_many_symbols_are_refused(monkeypatch):
    monkeypatch.setenv("SIGMASTAR_MAX_MEMORY", "1MB")
    with pytest.raises(TooLarge, match="Moments of 300 prefixes over"):
        ss.SpectralWFA(2).fit(MANY)


def test_a_mixture_too_large_is_refused(monkeypatch):
    parts = [ss.datasets.make_pfa(40, 20, random_state=seed) for seed in range(3)]
    monkeypatch.setenv("SIGMASTAR_MAX_MEMORY", "1MB")
    with pytest.raises(TooLarge, match="An automaton of 120 states over 20 symbols"):
        ss.algebra.mixture(parts, [0.2, 0.3, 0.5])


@pytest.mark.parametrize("estimator", [ss.SpectralWFA(), ss.SeparablePFA()])
def test_a_size_left_open_is_chosen_among_those_that_fit(estimator, monkeypatch):
    monkeypatch.setenv("SIGMASTAR_MAX_MEMORY", "6MB")
    model = estimator.fit(MANY).model_
    assert 8 * 3 * model.n_symbols * model.n_states**2 <= 6e6


def test_the_search_keeps_to_its_memory(monkeypatch):
    monkeypatch.setenv("SIGMASTAR_MAX_MEMORY", "6MB")
    est = ss.AutoWFA(time_budget=2.0, random_state=0).fit(MANY)
    assert est.model_.n_states <= most_states(est.model_.n_symbols, copies=2)
    assert np.isfinite(est.score(MANY))


def test_the_most_states_are_those_that_pass_the_check(monkeypatch):
    from sigmastar.automata.models.size import check_weights

    monkeypatch.setenv("SIGMASTAR_MAX_MEMORY", "10MB")
    most = most_states(50, copies=3)
    check_weights(most, 50, "This", copies=3)
    with pytest.raises(TooLarge, match=f"This of {most + 1} states over 50 symbols"):
        check_weights(most + 1, 50, "This", copies=3)


def test_rows_of_sparse_blocks_are_those_of_the_blocks(monkeypatch):
    counted = ss.moments.MomentPlan("prefix", basis_size=60).moments_of(MANY)
    monkeypatch.setattr("sigmastar.automata.moments.hankel._DENSE_ENTRIES", 0)
    thin = ss.moments.MomentPlan("prefix", basis_size=60).moments_of(MANY)
    assert thin.symbol_blocks.dense is None
    symbols, prefixes = np.array([0, 5, 17, 17]), np.array([3, 0, 0, 40])
    wanted = np.stack([
        counted.symbol_blocks.block(s)[p] for s, p in zip(symbols, prefixes, strict=True)
    ])  # fmt: skip
    for moments in (counted, thin):
        np.testing.assert_allclose(moments.symbol_blocks.rows(symbols, prefixes), wanted)
