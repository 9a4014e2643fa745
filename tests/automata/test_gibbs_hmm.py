"""Sampling the states of an HMM draws from the posterior that an enumeration gives."""

from itertools import product

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.automata.inference.expected_counts import Forest
from sigmastar.automata.kernels.gibbs_hmm import MoveCounts, count_moves, sweep_moves
from sigmastar.automata.learn.blocks.em_family import HMMFamily
from sigmastar.automata.learn.blocks.em_step import held_out_score
from sigmastar.automata.learn.chain import Chain
from sigmastar.automata.learn.gibbs_hmm import expected_parameters, log_joint_of_moves

CORPUS = ss.Corpus.from_sequences(["ab", "b"], alphabet=ss.Alphabet("ab"))
A, B = 0.7, 0.4


def counts_of(states, n=2, k=2):
    counts = MoveCounts.zero(n, k)
    count_moves(CORPUS.symbols, CORPUS.offsets, np.array(states, dtype=np.int32), counts)
    return counts


def test_the_joint_probability_is_a_product_of_predictive_probabilities():
    """The chain rule, one choice at a time, with counts that grow as it goes."""
    states = (0, 1, 1, 1, 0)
    starts, moves, outcomes = np.zeros(2), np.zeros((2, 2)), np.zeros((2, 3))
    total = 0.0

    def choose(row, choice, prior):
        nonlocal total
        total += np.log((row[choice] + prior) / (row.sum() + prior * len(row)))
        row[choice] += 1

    for string, path in (((0, 1), states[:3]), ((1,), states[3:])):
        choose(starts, path[0], B)
        for x, p, q in zip(string, path[:-1], path[1:], strict=True):
            choose(outcomes[p], x, A)
            choose(moves[p], q, B)
        choose(outcomes[path[-1]], 2, A)
    assert log_joint_of_moves(counts_of(states), A, B) == pytest.approx(total, rel=1e-12)


@pytest.mark.compiled
def test_sweeps_visit_state_sequences_as_often_as_their_posterior_says():
    everything = list(product(range(2), repeat=5))
    weights = np.exp([log_joint_of_moves(counts_of(states), A, B) for states in everything])
    weights /= weights.sum()
    rng = np.random.default_rng(0)
    states = np.zeros(5, dtype=np.int32)
    counts = counts_of(states)
    visits = dict.fromkeys(everything, 0)
    draws = 60_000
    for _ in range(draws):
        sweep_moves(CORPUS.symbols, CORPUS.offsets, states, counts, A, B, rng)
        visits[tuple(states.tolist())] += 1
    observed = np.array(list(visits.values())) / draws
    # Successive sweeps are correlated: allow six times the error of independent draws.
    assert (np.abs(observed - weights) < 6 * np.sqrt(weights / draws)).all()
    for mine, fresh in zip(counts, counts_of(states), strict=True):
        np.testing.assert_array_equal(mine, fresh)


def test_expected_parameters_are_distributions_of_counts_and_priors():
    parameters = expected_parameters(counts_of((0, 1, 1, 1, 0)), A, B)
    # State 1 emits b twice and ends once, and moves once to each state.
    np.testing.assert_allclose(parameters["emission"][1], [A / (3 + 3 * A), (2 + A) / (3 + 3 * A)])
    np.testing.assert_allclose(parameters["stop"][1], (1 + A) / (3 + 3 * A))
    np.testing.assert_allclose(parameters["transition"][1], [0.5, 0.5])
    np.testing.assert_allclose(parameters["initial"], [0.5, 0.5])


@pytest.mark.compiled
def test_sweeps_find_the_model_behind_strings():
    truth = ss.datasets.make_hmm(5, 6, random_state=3)
    train, fresh = ss.sample(truth, 3000, random_state=0), ss.sample(truth, 3000, random_state=1)
    family = HMMFamily()
    start = family.random(np.random.default_rng(0), 10, len(train.alphabet))
    held = Forest(fresh, n_states=10)
    chain = Chain("hmm", train, 10, 0, start)
    chain.begin(1.0)
    for _ in range(150):
        chain.sweep()
    best = float(ss.log_proba(truth, fresh).mean())
    before = held_out_score(held, family, start, 1)
    assert held_out_score(held, family, chain.parameters, 1) > best - 0.02 * (best - before)
