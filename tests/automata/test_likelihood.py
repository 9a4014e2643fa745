"""Likelihoods of what came next: by enumeration of paths, for WFAs by the clipped rows."""

import numpy as np
import pytest

import sigmastar as ss
from automata.oracles import all_strings, paths, random_hmm, random_pfa, random_wfa
from sigmastar.automata.inference import tree
from sigmastar.automata.learn.smoothing import spread_pfa

STRINGS = [*all_strings("ab", 4), "ab", "abbabab"]


def by_paths(model, string, ends):
    """Divide sums over all paths of states: of the prefix with the symbol, by that without."""
    found = []
    for cut, symbol in enumerate(string):
        ones = np.ones(model.n_states)
        weight = {s: sum(paths(model, string[:cut] + s, ones).values()) for s in "ab"}
        stop = sum(paths(model, string[:cut], model.final).values()) if ends else 0.0
        found.append(weight[symbol] / (weight["a"] + weight["b"] + stop))
    return found


@pytest.mark.parametrize("ends", [False, True])
@pytest.mark.parametrize("make", [random_pfa, random_hmm])
def test_likelihoods_equal_enumeration_over_paths(make, ends):
    model = make(2)
    automaton = model.to_pfa() if isinstance(model, ss.HMM) else model
    strings = ["abba", "", "bab", "ab"]
    expected = [p for string in strings for p in by_paths(automaton, string, ends)]
    np.testing.assert_allclose(ss.next_likelihoods(model, strings, ends=ends), expected, rtol=1e-12)


def test_likelihoods_of_a_wfa_are_those_of_its_clipped_rows():
    model = random_wfa(4)
    expected = [
        ss.next_distribution(model, [string[:cut]])[0, model.alphabet.index(symbol)]
        for string in STRINGS
        for cut, symbol in enumerate(string)
    ]
    np.testing.assert_allclose(ss.next_likelihoods(model, STRINGS, ends=True), expected, rtol=1e-9)


@pytest.mark.parametrize("room", [1, 8 * 3 * 12])
@pytest.mark.parametrize("make", [random_pfa, random_wfa])
def test_likelihoods_do_not_depend_on_batches(monkeypatch, make, room):
    model = make(3)
    whole = ss.next_likelihoods(model, STRINGS)
    monkeypatch.setattr(tree, "BATCH_BYTES", room)
    np.testing.assert_allclose(ss.next_likelihoods(model, STRINGS), whole, rtol=1e-9)


def test_skipped_symbols_are_read_but_not_counted():
    model = random_pfa(1)
    each = ss.next_likelihoods(model, ["abba", "a", "bab"])
    counted = each[[2, 3, 7]]
    strings = ["abba", "a", "bab"]
    assert ss.mean_next_likelihood(model, strings, skip=2) == pytest.approx(counted.mean())
    assert ss.bits_per_symbol(model, strings, skip=2) == pytest.approx(-np.log2(counted).mean())


def test_an_impossible_symbol_costs_infinitely_many_bits_unless_there_is_a_floor():
    model = ss.PFA([1.0], [[[0.5]], [[0.0]]], [0.5], ss.Alphabet("ab"))
    assert ss.bits_per_symbol(model, ["ab"]) == np.inf
    assert ss.bits_per_symbol(model, ["ab"], floor=0.25) == pytest.approx(
        -np.log2([1 / 1.25, 0.25 / 1.25]).mean()
    )


def test_skipping_everything_is_refused():
    with pytest.raises(ss.errors.InvalidData, match="Lower skip"):
        ss.mean_next_likelihood(random_pfa(1), ["ab"], skip=2)


def test_a_spread_start_keeps_every_arc_possible():
    model = ss.PFA([1.0, 0.0], [[[0.5, 0.0], [0.0, 0.0]]], [0.5, 1.0], ss.Alphabet("a"))
    start = spread_pfa(model, 0.5, np.array([0.75, 0.25]))
    assert (start.transitions > 0).all()
    np.testing.assert_allclose(start.initial, [0.75, 0.25])
    np.testing.assert_allclose(start.transitions[0, 1], [0.1875, 0.1875])
    np.testing.assert_allclose(start.final, [0.375, 0.625])
