"""Predictions of the next symbol, their errors, sampling and the likeliest strings."""

import tracemalloc

import numpy as np
import pytest

import sigmastar as ss
from automata.oracles import all_strings, random_hmm, random_pfa, random_wfa, value
from sigmastar.automata.inference import next_symbol_errors, tree

STRINGS = all_strings("ab", 5)


@pytest.mark.parametrize("seed", range(3))
def test_next_distribution_is_the_ratio_of_prefix_probabilities(seed):
    model = random_pfa(seed)
    for prefix in ["", "a", "abba"]:
        base = np.exp(ss.log_prefix_proba(model, [prefix])[0])
        following = np.exp(ss.log_prefix_proba(model, [prefix + "a", prefix + "b"]))
        expected = np.append(following, value(model, prefix)) / base
        np.testing.assert_allclose(ss.next_distribution(model, [prefix])[0], expected, rtol=1e-10)


def test_predict_next_names_the_end_and_sorts_by_probability():
    model = ss.PFA([1.0], [[[0.3]], [[0.1]]], [0.6], ss.Alphabet("ab"))
    best = ss.predict_next(model, ["ab"], 2)[0]
    assert [symbol for symbol, _ in best] == [ss.END, "a"]
    assert [p for _, p in best] == pytest.approx([0.6, 0.3])


def errors_oracle(model, strings):
    wrong = 0
    for string in strings:
        for cut in range(len(string) + 1):
            probabilities = ss.next_distribution(model, [string[:cut]])[0]
            actual = model.alphabet.index(string[cut]) if cut < len(string) else model.n_symbols
            wrong += int(np.argmax(probabilities) != actual)
    return wrong, sum(len(x) + 1 for x in strings)


@pytest.mark.parametrize("make", [random_pfa, random_wfa])
def test_next_symbol_errors_follow_their_definition(make):
    model = make(3)
    strings = [*STRINGS, "ab", "ab", ""]
    assert next_symbol_errors(model, strings) == errors_oracle(model, strings)


def test_next_symbol_errors_do_not_depend_on_batches(monkeypatch):
    model = random_wfa(3)
    whole = next_symbol_errors(model, STRINGS)
    monkeypatch.setattr(tree, "BATCH_BYTES", 8 * 3 * 4)
    assert next_symbol_errors(model, STRINGS) == whole


@pytest.mark.compiled
@pytest.mark.parametrize("disguise", [False, True])
def test_samples_follow_the_model(disguise):
    model = random_pfa(5)
    drawn_from = (
        ss.WFA(model.initial, model.transitions, model.final, model.alphabet) if disguise else model
    )
    corpus = ss.sample(drawn_from, 40_000, random_state=0)
    counts = {x: 0 for x in all_strings("ab", 3)}
    for sequence in corpus:
        key = "".join(sequence)
        if key in counts:
            counts[key] += 1
    for string, count in counts.items():
        p = value(model, string)
        assert abs(count - 40_000 * p) < 5 * np.sqrt(40_000 * p * (1 - p)) + 1e-9


def test_the_same_seed_draws_the_same_strings():
    model = random_hmm(0)
    assert ss.sample(model, 50, random_state=3) == ss.sample(model, 50, random_state=3)
    assert ss.sample(model, 50, random_state=3) != ss.sample(model, 50, random_state=4)


def test_beginnings_of_a_fixed_length_never_stop():
    assert (ss.sample(random_pfa(0), 20, length=30, random_state=0).lengths == 30).all()
    assert (ss.sample(random_wfa(0), 20, length=30, random_state=0).lengths == 30).all()


def test_a_model_that_does_not_stop_is_refused():
    endless = ss.HMM([1.0], [[1.0]], [[1.0]], [0.0], ss.Alphabet("a"))
    with pytest.raises(ss.errors.InvalidModel, match="did not stop within max_length=100"):
        ss.sample(endless, 1, max_length=100)


@pytest.mark.parametrize("seed", range(3))
def test_likeliest_strings_are_those_of_an_enumeration(seed):
    model = random_pfa(seed)
    ranked = sorted(((value(model, x), x) for x in all_strings("ab", 9)), reverse=True)[:8]
    found = ss.likeliest_strings(model, 8)
    np.testing.assert_allclose([p for _, p in found], [p for p, _ in ranked], rtol=1e-9)
    assert ["".join(x) for x, _ in found] == [x for _, x in ranked]


def test_prefixes_share_their_memory_in_the_search():
    # The empty string is the likeliest, but 7,600 prefixes are likelier still.
    model = ss.PFA([1.0], [[[0.999]]], [0.001], ss.Alphabet("a"))
    tracemalloc.start()
    found = ss.likeliest_strings(model, 2)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert ["".join(x) for x, _ in found] == ["", "a"]
    assert peak < 20e6


def test_the_search_forgets_what_it_can_never_open():
    endless = ss.PFA([1.0], np.full((500, 1, 1), 0.002), [0.0], ss.Alphabet(range(500)))
    tracemalloc.start()
    assert ss.likeliest_strings(endless, 2, max_opened=200) == []
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2e6
