"""Two states are made one where the joint probability of strings and states says so."""

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.automata.kernels.gibbs import StateCounts, count_states
from sigmastar.automata.kernels.gibbs_hmm import MoveCounts, count_moves
from sigmastar.automata.learn.chain import Chain, replay_chain
from sigmastar.automata.learn.gibbs import log_joint
from sigmastar.automata.learn.gibbs_hmm import log_joint_of_moves
from sigmastar.automata.learn.joining import gains_of, joined

# Three states that differ in what they say and in where they go.
TRUTH = ss.HMM.normalized(
    [1.0, 0.2, 0.0],
    [[0.1, 0.9, 0.0], [0.0, 0.3, 0.7], [0.8, 0.0, 0.2]],
    [[0.7, 0.1, 0.0, 0.0], [0.0, 0.0, 0.6, 0.2], [0.1, 0.5, 0.0, 0.3]],
    [0.2, 0.2, 0.1],
    ss.Alphabet("abcd"),
)
TRAIN = ss.sample(TRUTH, 400, random_state=0)
N, A, B = 5, 0.3, 0.07
KINDS = {
    "pfa": (StateCounts, count_states, log_joint),
    "hmm": (MoveCounts, count_moves, log_joint_of_moves),
}


def chained(family, n_states=N, sweeps=20, seed=0):
    chain = Chain(family, TRAIN, n_states, seed)
    chain.begin(1.0)
    for _ in range(sweeps):
        chain.sweep()
    return chain


def to_join(chain):
    return chain._sampler.to_join(chain._counts)


@pytest.mark.parametrize("family", ["hmm", "pfa"])
def test_a_gain_is_what_the_joint_probability_rises_by(family):
    kind, count, joint = KINDS[family]
    chain = chained(family)

    def probability(states):
        drawn = kind.zero(N, 4)
        count(chain._part.symbols, chain._part.offsets, states, drawn)
        return joint(drawn, A, B)

    before, gains = probability(chain._states), gains_of(to_join(chain), A, B)
    for i in range(N):
        for j in range(i):
            after = probability(np.where(chain._states == i, np.int32(j), chain._states))
            assert gains[i, j] == pytest.approx(after - before, rel=1e-9, abs=1e-6)
    assert (np.triu(gains) == 0).all()


@pytest.mark.parametrize("family", ["hmm", "pfa"])
def test_a_state_that_was_cut_in_two_is_one_again(family):
    chain = chained(family, n_states=3, sweeps=60)
    states, rng = chain._states.copy(), np.random.default_rng(0)
    half = (states == 1) & (rng.random(len(states)) < 0.5)
    chain._states[half] = 3
    chain.n_states = 4
    chain._counts = KINDS[family][0].zero(4, 4)
    KINDS[family][1](chain._part.symbols, chain._part.offsets, chain._states, chain._counts)
    assert np.unravel_index(gains_of(to_join(chain), A, B).argmax(), (4, 4)) == (3, 1)
    number = joined(to_join(chain), A, B, 9)
    assert number[3] == number[1]
    assert number.max() < 3


def test_no_state_is_in_two_pairs_at_once():
    chain = chained("hmm", n_states=4, sweeps=0)  # at random: any two are better as one
    gains = gains_of(to_join(chain), A, B)
    assert (gains[np.tril_indices(4, -1)] > 0).all()
    number = joined(to_join(chain), A, B, 9)
    assert np.bincount(number).tolist() == [2, 2]
    i, j = np.unravel_index(gains.argmax(), gains.shape)
    assert number[i] == number[j]  # the best of all
    number = joined(to_join(chain), A, B, 1)
    assert np.bincount(number).max() == 2
    assert (number[i], len(set(number))) == (number[j], 3)


@pytest.mark.parametrize("family", ["hmm", "pfa"])
def test_a_chain_joins_when_it_is_told_and_is_made_again_from_its_phases(family):
    chain = chained(family, n_states=12, sweeps=40)
    chain.begin(1.0)
    assert chain.n_states == 12
    chain.sweep()
    chain.begin(1.0, join=0.25)
    assert chain.n_states in (9, 10, 11)  # a quarter at the most
    gains = gains_of(to_join(chain), *chain.priors)
    assert gains.shape == (chain.n_states, chain.n_states)
    for _ in range(5):
        chain.sweep()
    assert chain.phases == [[1.0, 40, 0], [1.0, 1, 0], [1.0, 5, 0.25]]
    again = replay_chain(family, TRAIN, 12, 0, chain.phases, ())[1]
    for name, array in chain.parameters.items():
        assert np.array_equal(again.parameters[name], array)


def test_counts_are_those_of_the_states_after_joining():
    chain = chained("pfa", n_states=12, sweeps=40)
    chain._join(0.5)
    fresh = StateCounts.zero(chain.n_states, 4)
    count_states(chain._part.symbols, chain._part.offsets, chain._states, fresh)
    for own, other in zip(chain._counts, fresh, strict=True):
        assert np.array_equal(own, other)
    assert set(np.unique(chain._states)) == set(range(chain.n_states))
