"""Automata out of black boxes: exact where there is one inside, close where there is none."""

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.core.errors import InvalidData, InvalidParameter


def hidden(seed, n_states=6, n_symbols=3):
    return ss.datasets.make_pfa(n_states, n_symbols, transition_sparsity=0.4, random_state=seed)


class Recurrent:
    """A recurrent net of one layer with random weights: it predicts the next symbol or the end."""

    def __init__(self, seed, n_hidden=4, n_symbols=2):
        rng = np.random.default_rng(seed)
        self.enter = rng.standard_normal((n_symbols, n_hidden))
        self.turn = 0.5 * rng.standard_normal((n_hidden, n_hidden))
        self.leave = rng.standard_normal((n_hidden, n_symbols + 1))
        self.asked = []

    def __call__(self, strings):
        self.asked += [tuple(string) for string in strings]
        rows = []
        for string in strings:
            state = np.zeros(len(self.turn))
            for symbol in string:
                state = np.tanh(state @ self.turn + self.enter["ab".index(symbol)])
            score = np.exp(state @ self.leave + [0, 0, 1])
            rows.append(score / score.sum())
        return np.array(rows)


@pytest.mark.parametrize("seed", range(5))
def test_a_hidden_automaton_is_found_exactly(seed):
    truth = hidden(seed)
    found = ss.extract(lambda s: ss.inference.string_weights(truth, s), range(3), random_state=seed)
    strings = ss.sample(truth, 300, random_state=seed)
    weights = ss.inference.string_weights(truth, strings)
    assert found.model.n_states <= truth.n_states
    np.testing.assert_allclose(
        ss.inference.string_weights(found.model, strings), weights, rtol=0, atol=1e-8
    )


def test_negative_weights_are_found_too():
    rng = np.random.default_rng(0)
    truth = ss.WFA(
        rng.standard_normal(4), 0.4 * rng.standard_normal((2, 4, 4)), rng.standard_normal(4),
        ss.Alphabet("ab"),
    )  # fmt: skip
    found = ss.extract(lambda s: ss.inference.string_weights(truth, s), "ab")
    assert found.model.n_states == 4
    strings = ["", "ab", "bba", "abababab", "bbbbbbabab"]
    np.testing.assert_allclose(
        ss.inference.string_weights(found.model, strings),
        ss.inference.string_weights(truth, strings),
        rtol=1e-8,
        atol=1e-10,
    )


def test_next_symbols_say_as_much_as_strings():
    truth = hidden(1, 4, 2)

    def ask(strings):
        return ss.next_distribution(truth, strings)

    found = ss.extract(ask, range(2), gives="next")
    strings = ss.sample(truth, 100, random_state=0)
    np.testing.assert_allclose(
        ss.inference.string_weights(found.model, strings),
        ss.inference.string_weights(truth, strings),
        atol=1e-8,
    )


def test_a_recurrent_net_is_approximated_the_better_the_more_states_there_are():
    net = Recurrent(3)
    errors = []
    contexts = ["", "a", "ab", "bba", "abab", "bbbb", "aabba"]
    wanted = net([list(context) for context in contexts])
    for size in (2, 6, 12):
        found = ss.extract(net, "ab", gives="next", max_states=size, tol=1e-6)
        assert found.model.n_states <= size
        got = ss.next_distribution(found.model, contexts)
        errors.append(float(np.abs(got - wanted).max()))
    assert errors[2] < 0.01 < errors[0]


def test_nothing_is_asked_twice():
    net = Recurrent(0)
    found = ss.extract(net, "ab", gives="next", max_states=5)
    assert len(net.asked) == len(set(net.asked)) == found.info["n_queries"]


def test_a_pfa_is_trained_on_what_the_automaton_draws():
    truth = hidden(2, 3, 2)
    found = ss.extract(
        lambda s: ss.inference.string_weights(truth, s), range(2), kind="pfa", n_strings=2000
    )
    assert isinstance(found.model, ss.PFA)
    fresh = ss.sample(truth, 500, random_state=1)
    assert np.mean(ss.log_proba(truth, fresh) - ss.log_proba(found.model, fresh)) < 0.05


@pytest.mark.parametrize("answer", [[1.0], [[1.0, 2.0]] * 9, float("nan")])
def test_answers_of_another_shape_are_refused(answer):
    with pytest.raises(InvalidData, match="function must return finite numbers of shape"):
        ss.extract(lambda strings: answer, "ab")


def test_a_function_that_is_zero_is_refused():
    with pytest.raises(InvalidData, match="must not be zero"):
        ss.extract(lambda strings: np.zeros(len(strings)), "ab")


def test_an_alphabet_is_needed():
    with pytest.raises(InvalidParameter, match="at least one symbol"):
        ss.extract(len, "")
