"""Passes along a list of arcs give what products of matrices give, and all paths."""

import numpy as np
import pytest

import sigmastar as ss
from automata.oracles import all_strings, random_pfa
from automata.test_expected_counts import counts_oracle
from sigmastar.automata.inference import arc_lists, tree_blocks
from sigmastar.automata.inference import expected_counts as counting
from sigmastar.automata.inference.arc_lists import arc_list
from sigmastar.automata.inference.expected_counts import Forest
from sigmastar.automata.learn.blocks.em_family import PFAFamily
from sigmastar.automata.learn.blocks.em_step import em_step, held_out_score
from sigmastar.datasets import make_dpfa, make_pfa


@pytest.fixture
def always_listed(monkeypatch):
    monkeypatch.setattr(counting, "SMALL_TREE", 0)
    monkeypatch.setattr(arc_lists, "STATES", 1)
    monkeypatch.setattr(arc_lists, "VISIT", 1e-9)


def sparse_machine(seed=0):
    return make_pfa(
        20, 4, symbol_sparsity=0.4, transition_sparsity=0.92, mean_length=9, random_state=seed
    )


def weights_of(model):
    return model.initial, model.transitions, model.final


def test_a_list_holds_every_arc_at_its_place():
    model = sparse_machine()
    arcs = arc_list(model.transitions)
    again = np.zeros_like(model.transitions)
    for symbol, source in np.ndindex(model.transitions.shape[:2]):
        own = slice(arcs.starts[symbol, source], arcs.starts[symbol, source + 1])
        again[symbol, source, arcs.target[own]] = arcs.weight[own]
    assert np.array_equal(again, model.transitions)


def test_counts_along_a_list_equal_enumeration(always_listed):
    model = random_pfa(0, n_states=4)
    arcs = np.where(np.random.default_rng(1).random(model.transitions.shape) < 0.8, 0.0, 1.0)
    arcs[:, :, 0] = 1.0
    arcs[0, :, 1:] = 0.0
    sparse = ss.PFA.normalized(model.initial, model.transitions * arcs, model.final, model.alphabet)
    transitions = np.zeros((2, 12, 12))  # states that nothing leads to make it sparse enough
    transitions[:, :4, :4] = sparse.transitions
    strings = [*all_strings("ab", 4), "abba", ""]
    corpus = ss.Corpus.from_sequences(strings, alphabet=model.alphabet)
    padded = np.pad(sparse.initial, (0, 8)), transitions, np.pad(sparse.final, (0, 8))
    forest = Forest(corpus)
    assert forest._listed(padded[0], transitions) is not None
    counts = forest.expected_counts(*padded)
    initial, expected, final, likelihood = counts_oracle(sparse, strings, np.ones(len(strings)))
    np.testing.assert_allclose(counts.initial[:4], initial, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(counts.transitions[:, :4, :4], expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(counts.final[:4], final, rtol=1e-12, atol=1e-12)
    assert counts.log_likelihood == pytest.approx(likelihood, rel=1e-13)


@pytest.mark.parametrize("seed", range(4))
def test_counts_along_a_list_equal_those_of_products(monkeypatch, seed):
    model, other = sparse_machine(seed), sparse_machine(seed + 100)
    # Strings of another machine: some of them are impossible.
    corpus = ss.Corpus.from_sequences(
        [*ss.sample(model, 600, random_state=0), *ss.sample(other, 50, random_state=0)],
        alphabet=model.alphabet,
    )
    results = {}
    for way, visit in (("list", 1e-9), ("products", 10**12)):
        monkeypatch.setattr(arc_lists, "VISIT", visit)
        forest = Forest(corpus)
        assert (forest._listed(model.initial, model.transitions) is None) == (way == "products")
        results[way] = forest.expected_counts(*weights_of(model))
        value = forest.log_likelihood(*weights_of(model))
        assert value[0] == pytest.approx(results[way].log_likelihood, rel=1e-13)
        assert value[1] == results[way].impossible > 0
    one, two = results["list"], results["products"]
    scale = two.transitions.max()
    np.testing.assert_allclose(one.transitions, two.transitions, rtol=1e-12, atol=1e-12 * scale)
    np.testing.assert_allclose(one.initial, two.initial, rtol=1e-12, atol=1e-12 * scale)
    np.testing.assert_allclose(one.final, two.final, rtol=1e-12, atol=1e-12 * scale)
    assert one.log_likelihood == pytest.approx(two.log_likelihood, rel=1e-13)
    assert one.impossible == two.impossible


def test_every_step_along_a_list_is_non_decreasing(always_listed):
    truth = sparse_machine(7)
    corpus = ss.sample(truth, 800, random_state=1)
    rng = np.random.default_rng(2)
    noisy = truth.transitions * rng.uniform(0.2, 5.0, truth.transitions.shape)
    start = ss.PFA.normalized(truth.initial, noisy, truth.final, truth.alphabet)
    forest, family = Forest(corpus), PFAFamily()
    parameters = {name: getattr(start, name) for name in family.names}
    objectives = []
    for _ in range(15):
        assert forest._listed(parameters["initial"], parameters["transitions"]) is not None
        step = em_step(forest, family, parameters, n_jobs=1)
        parameters = step.parameters
        objectives.append(step.objective)
    objectives.append(held_out_score(forest, family, parameters, 1))
    assert np.all(np.diff(objectives) >= -1e-12)
    assert objectives[-1] - objectives[0] > 0.1


def test_threads_along_a_list_change_no_bit(always_listed, monkeypatch):
    monkeypatch.setattr(tree_blocks, "NODES", 64)
    model = sparse_machine(3)
    forest = Forest(ss.sample(model, 2000, random_state=0))
    assert forest.n_blocks > 3
    one, two = (forest.expected_counts(*weights_of(model), n_jobs=jobs) for jobs in (1, 2))
    assert np.array_equal(one.transitions, two.transitions)
    assert one.log_likelihood == two.log_likelihood


def test_lists_are_for_machines_that_are_in_few_states():
    model = make_dpfa(40, 6, random_state=0)
    forest = Forest(ss.sample(model, 500, random_state=0))
    assert forest._listed(model.initial, model.transitions) is not None
    spread = model.transitions.copy()
    spread[:, :, :8] += 0.01  # a fifth of the arcs, but it may be in any of eight states
    assert np.count_nonzero(spread) <= spread.size // 4
    assert forest._listed(model.initial, spread) is None


def test_shares_too_small_for_a_product_keep_within_their_room(always_listed):
    """States whose weights underflow are reached once, not again and again."""
    n = 12
    transitions = np.zeros((1, n, n))
    transitions[0, :, 0] = 1e-200
    transitions[0, 0, 1:3] = 1e-160
    initial, final = np.full(n, 1e-170), np.full(n, 0.5)
    corpus = ss.Corpus.from_sequences(["a" * 6] * 3)
    counts = Forest(corpus).expected_counts(initial, transitions, final)
    assert np.all(np.isfinite(counts.transitions))
    assert counts.impossible in (0.0, 3.0)
