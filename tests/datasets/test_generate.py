import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.oracles import weight
from sigmastar.automata.models.wfa import useful_states
from sigmastar.core.errors import InvalidParameter
from sigmastar.datasets import make_dpfa, make_hmm, make_pfa, make_problem, problem_from_model

MAKERS = {"hmm": make_hmm, "pfa": make_pfa, "dpfa": make_dpfa}
kinds = st.sampled_from(list(MAKERS))
sizes = st.integers(1, 12)
sparsities = st.floats(0, 0.99)


def _automaton(model):
    return model.to_pfa() if hasattr(model, "to_pfa") else model


@given(kinds, sizes, sizes, sparsities, sparsities, st.integers(0, 10**6))
def test_every_state_is_reachable_and_can_stop(kind, n_states, n_symbols, symbols, stops, seed):
    sparsity = {"symbol_sparsity": symbols, "stop_sparsity": stops}
    if kind != "dpfa":
        sparsity["transition_sparsity"] = stops
    model = MAKERS[kind](n_states, n_symbols, **sparsity, mean_length=50.0, random_state=seed)
    assert useful_states(_automaton(model)).all()
    assert _automaton(model).total_mass() == pytest.approx(1.0, abs=1e-9)


@given(kinds, st.floats(0.2, 40.0), st.integers(0, 10**6))
def test_strings_have_the_mean_length_asked_for(kind, mean_length, seed):
    model = _automaton(MAKERS[kind](6, 4, mean_length=mean_length, random_state=seed))
    # Σ_k k Pr[length = k] = initialᵀ A (I - A)^-2 final
    inverse = np.linalg.inv(np.eye(6) - model.transition_sum)
    found = model.initial @ model.transition_sum @ inverse @ inverse @ model.final
    assert found == pytest.approx(mean_length, rel=1e-8)


@given(sizes, sizes, sparsities, st.integers(0, 10**6))
def test_dpfa_is_deterministic(n_states, n_symbols, sparsity, seed):
    model = make_dpfa(n_states, n_symbols, symbol_sparsity=sparsity, random_state=seed)
    assert (model.initial > 0).sum() == 1
    assert ((model.transitions > 0).sum(axis=2) <= 1).all()


@pytest.mark.parametrize("kind", MAKERS)
def test_same_seed_same_machine(kind):
    assert MAKERS[kind](random_state=3) == MAKERS[kind](random_state=3)
    assert MAKERS[kind](random_state=3) != MAKERS[kind](random_state=4)


def test_sparsities_are_met():
    hmm = make_hmm(20, 10, symbol_sparsity=0.7, transition_sparsity=0.6, random_state=0)
    assert (hmm.emission == 0).mean() == pytest.approx(0.7)
    assert (hmm.transition == 0).mean() == pytest.approx(0.6)
    pfa = make_pfa(20, 10, symbol_sparsity=0.7, transition_sparsity=0.6, random_state=0)
    pairs = pfa.transitions.any(axis=2)
    assert (~pairs).mean() == pytest.approx(0.7)
    assert (pfa.transitions[pairs] == 0).mean() == pytest.approx(0.6)
    stops = make_dpfa(20, 10, stop_sparsity=0.5, random_state=0).final
    assert (stops == 0).sum() == 10


def test_mean_length_out_of_reach_is_refused():
    with pytest.raises(InvalidParameter, match="Lower stop_sparsity"):
        make_dpfa(20, 2, stop_sparsity=0.9, mean_length=0.01, random_state=0)
    with pytest.raises(InvalidParameter, match="n_states must be an integer of at least 1"):
        make_hmm(0)


@settings(max_examples=5)
@given(kinds, st.integers(0, 10**6))
def test_problem_has_distinct_tests_and_a_normalised_solution(kind, seed):
    problem = make_problem(kind, n_states=4, n_symbols=3, n_train=20, n_test=25, random_state=seed)
    assert len({tuple(x) for x in problem.test}) == len(problem.test) == 25
    assert len(problem.train) == 20
    assert problem.solution.sum() == pytest.approx(1.0, abs=1e-14)
    raw = [weight(_automaton(problem.model), x) for x in problem.test]
    np.testing.assert_allclose(problem.solution, np.array(raw) / sum(raw), rtol=1e-9)


def test_same_seed_same_problem():
    first, second = (make_problem("hmm", n_train=50, n_test=20, random_state=9) for _ in "ab")
    assert first.train == second.train
    assert first.test == second.test
    assert first.model == second.model
    assert first.train != make_problem("hmm", n_train=50, n_test=20, random_state=8).train


def test_too_few_strings_to_test_on_are_reported():
    model = make_dpfa(1, 1, mean_length=0.01, random_state=0)
    with pytest.raises(InvalidParameter, match="n_test must not exceed"):
        problem_from_model(model, 5, 100, random_state=0)


def test_unknown_kinds_and_parameters_are_refused():
    with pytest.raises(InvalidParameter, match="kind must be 'hmm', 'pfa' or 'dpfa'"):
        make_problem("fsa")
    with pytest.raises(InvalidParameter, match="n_sates"):
        make_problem("pfa", n_sates=3)
