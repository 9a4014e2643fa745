import math
from types import SimpleNamespace

import numpy as np
import pytest

from metrics.oracles import strings, weight, wrong_predictions
from sigmastar import HMM, PFA, WFA, Alphabet, KneserNey
from sigmastar.core.errors import (
    IgnoredSymbolsWarning,
    InvalidData,
    InvalidModel,
    InvalidParameter,
    UnknownSymbol,
)
from sigmastar.datasets import make_dpfa, make_hmm, make_pfa, make_problem
from sigmastar.metrics import (
    kl_divergence,
    l1_distance,
    log_likelihood_per_symbol,
    pautomac_perplexity,
    perplexity_of_probabilities,
    perplexity_per_symbol,
    word_error_rate,
)

SMALL = dict(n_states=3, n_symbols=2, mean_length=3.0, symbol_sparsity=0.0)
EPSILON = 2.0**-52


@pytest.fixture(scope="module")
def two():
    return make_pfa(**SMALL, random_state=1), make_pfa(**SMALL, random_state=2)


def test_perplexity_follows_the_definition_with_a_floor():
    truth = np.array([0.5, 0.3, 0.2])
    scores = np.array([0.02, 0.06, 0.0])  # unnormalised, one impossible
    normalised = np.maximum(scores / scores.sum(), EPSILON)
    expected = 2 ** -(truth @ np.log2(normalised))
    with np.errstate(divide="ignore"):
        found = perplexity_of_probabilities(np.log(scores), 7 * truth)
    assert found == pytest.approx(expected, rel=1e-12)


def test_all_strings_impossible_costs_the_floor():
    found = perplexity_of_probabilities([-math.inf, -math.inf], [0.5, 0.5])
    assert found == pytest.approx(2.0**52)


def test_true_machine_has_the_least_perplexity():
    problem = make_problem("pfa", **SMALL, n_train=10, n_test=30, random_state=0)
    entropy = -problem.solution @ np.log2(problem.solution)
    found = pautomac_perplexity(problem.model, problem.test, problem.solution)
    assert found == pytest.approx(2**entropy, rel=1e-12)
    other = make_pfa(**SMALL, random_state=5)
    assert pautomac_perplexity(other, problem.test, problem.solution) > found


def test_perplexity_scores_by_enumeration(two):
    test = [list(x) for x in strings(2, 3)]
    truth = np.array([weight(two[0], x) for x in test])
    scores = np.array([weight(two[1], x) for x in test])
    expected = 2 ** -(truth / truth.sum() @ np.log2(scores / scores.sum()))
    assert pautomac_perplexity(two[1], test, truth) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("solution", [[0.5], [0.5, -0.1], [0.0, 0.0], [np.nan, 1.0]])
def test_bad_solutions_are_refused(two, solution):
    with pytest.raises(InvalidData, match="solution must hold"):
        pautomac_perplexity(two[0], [[0], [1]], solution)


def test_likelihood_counts_the_end_as_a_symbol():
    coin = PFA([1.0], [[[0.25]], [[0.25]]], [0.5], Alphabet("ab"))
    test = ["ab", "", "a"]  # three symbols and three ends
    expected = (3 * math.log(0.25) + 3 * math.log(0.5)) / 6
    assert log_likelihood_per_symbol(coin, test) == pytest.approx(expected)
    assert perplexity_per_symbol(coin, test) == pytest.approx(math.exp(-expected))


@pytest.mark.parametrize("seed", range(4))
def test_word_error_rate_is_that_of_brute_force(seed):
    model = make_pfa(n_states=4, n_symbols=3, mean_length=3.0, random_state=seed)
    test = [list(x) for x in strings(3, 3)] + [[0, 0]] * 5
    errors, positions = wrong_predictions(model, test)
    assert word_error_rate(model, test) == pytest.approx(errors / positions, abs=1e-15)


def test_estimators_stand_for_their_model_and_policy(two):
    estimator = SimpleNamespace(model_=two[0], unknown="ignore")
    with pytest.warns(IgnoredSymbolsWarning, match="1 symbols"):
        assert word_error_rate(estimator, [[0, 7, 1]]) == word_error_rate(two[0], [[0, 1]])
    with pytest.raises(InvalidParameter, match=r"got SimpleNamespace. Call fit first"):
        word_error_rate(SimpleNamespace(), [[0]])


def test_a_model_of_another_kind_is_not_told_to_be_fitted():
    fitted = KneserNey(2).fit([[0, 1]] * 3)
    with pytest.raises(InvalidParameter, match=r"KneserNey, which has learned a NgramModel. Use"):
        word_error_rate(fitted, [[0]])
    with pytest.raises(InvalidParameter, match=r"got NgramModel. Use the functions of its own"):
        l1_distance(fitted.model_, fitted.model_, 2)


def test_hmm_scores_as_its_automaton():
    hmm = make_hmm(**SMALL, random_state=0)
    test = [[0, 1], [1], []]
    assert word_error_rate(hmm, test) == word_error_rate(hmm.to_pfa(), test)
    assert float(l1_distance(hmm, hmm.to_pfa(), 5)) == 0.0


def test_l1_distance_is_the_sum_over_all_strings(two):
    a, b = two
    every = strings(2, 6)
    found = l1_distance(a, b, 6)
    assert found.value == pytest.approx(sum(abs(weight(a, x) - weight(b, x)) for x in every))
    assert found.left_out_a == pytest.approx(1 - sum(weight(a, x) for x in every))
    assert found.left_out_b == pytest.approx(1 - sum(weight(b, x) for x in every))


def test_kl_divergence_is_the_sum_over_all_strings(two):
    a, b = two
    expected = 0.0
    for x in strings(2, 6):
        p, q = weight(a, x), weight(b, x)
        expected += p * math.log(p / q) if p > 0 else 0.0
    assert kl_divergence(a, b, 6).value == pytest.approx(expected, rel=1e-10)


def test_blocks_of_any_size_give_the_same_distance(two, monkeypatch):
    whole = l1_distance(*two, 7)
    monkeypatch.setattr("sigmastar.metrics.distances._BLOCK", 3)
    pieces = l1_distance(*two, 7)
    assert pieces.value == pytest.approx(whole.value, rel=1e-12)
    assert pieces.n_strings == whole.n_strings


def test_branches_without_weight_are_not_visited():
    model = make_dpfa(n_states=4, n_symbols=3, symbol_sparsity=0.6, random_state=0)
    possible = sum(np.any(_forward(model, x) != 0) for x in strings(3, 5))
    assert l1_distance(model, model, 5).n_strings == possible < len(strings(3, 5))


def _forward(model, string):
    vector = model.initial
    for code in string:
        vector = vector @ model.transitions[code]
    return vector


def test_symbols_known_to_one_side_only_weigh_nothing_on_the_other():
    a = PFA([1.0], [[[0.5]]], [0.5], Alphabet("a"))
    b = PFA([1.0], [[[0.5]]], [0.5], Alphabet("b"))
    assert l1_distance(a, b, 3).value == pytest.approx(2 * (0.25 + 0.125 + 0.0625))
    assert kl_divergence(a, b, 3).value == math.inf


def test_long_strings_of_one_symbol_are_no_deeper_than_memory():
    model = PFA([1.0], [[[0.999]]], [0.001], Alphabet("a"))
    found = kl_divergence(model, model, 5000)
    assert found.value == 0.0
    assert found.left_out_a == pytest.approx(0.999**5001)


def test_too_many_strings_are_refused():
    model = make_pfa(n_states=2, n_symbols=10, random_state=0)
    with pytest.raises(InvalidParameter, match="10 symbols up to length 8 make more"):
        l1_distance(model, model, 8)


def test_divergence_refuses_negative_weights():
    negative = WFA([1.0], [[[-0.5]]], [1.0], Alphabet("a"))
    with pytest.raises(InvalidModel, match=r"a string has weight -0.5"):
        kl_divergence(negative, negative, 2)


def test_endless_models_leave_all_mass_out():
    endless = HMM([1.0], [[1.0]], [[1.0]], [0.0], Alphabet("a"))
    assert l1_distance(endless, endless, 3).value == 0.0


UNKNOWN = [
    perplexity_per_symbol,
    log_likelihood_per_symbol,
    word_error_rate,
    lambda model, test, **how: pautomac_perplexity(model, test, [0.5, 0.5], **how),
]


@pytest.mark.parametrize("metric", UNKNOWN)
def test_a_question_says_what_becomes_of_unknown_symbols(metric, two):
    model, new = two[0], [["a", "new", "b"], ["b"]]
    known = [[symbol for symbol in text if symbol != "new"] for text in new]
    renamed = PFA(model.initial, model.transitions, model.final, Alphabet("ab"))
    with pytest.raises(UnknownSymbol, match="'new'"):
        metric(renamed, new)
    with pytest.warns(IgnoredSymbolsWarning, match="1 symbols .* left out of 1 sequences"):
        assert metric(renamed, new, unknown="ignore") == metric(renamed, known)
    with pytest.raises(InvalidParameter, match="needs an alphabet with a symbol for the unknown"):
        metric(renamed, new, unknown="unk")


def test_a_policy_of_an_estimator_gives_way_to_that_of_the_question():
    learner = KneserNey(2, unknown="unk").fit([["open", "read"], ["open", "close"]] * 5)
    new, marked = [["open", "erase"]], [["open", "<unk>"]]
    assert perplexity_per_symbol(learner, new) == perplexity_per_symbol(learner, marked)
    with pytest.raises(UnknownSymbol, match="'erase'"):
        perplexity_per_symbol(learner, new, unknown="error")
