"""The choice among candidates: probabilities by hand, and what the features learn to see."""

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.transducers.kernels.operators import Machine
from sigmastar.transducers.kernels.rerank import Ascending, chain_units, train_candidates
from sigmastar.transducers.moments.lattices import allowed_sizes, find_units
from sigmastar.transducers.transliteration.candidates import Candidates
from sigmastar.transducers.transliteration.reranker import (
    FoldCandidates,
    feature_scores,
    train_features,
    unit_marks,
)

# After an a, b is written x; after a c, it is written y.
PAIRS = ss.PairCorpus.from_pairs([("ab", "px"), ("cb", "qy"), ("ab", "py"), ("cb", "qx")])
UNITS = find_units(PAIRS, allowed_sizes([(1, 1)]))


def candidates():
    """Both spellings of ab and of cb, and one of a word of which none is right."""
    source = PAIRS.source.take([0, 1, 0])
    letters = {(int(x[0]), int(y[0])): i for i, (x, y) in enumerate(zip(*sides(), strict=True))}
    rows = [(0, "ab", "px"), (0, "ab", "py"), (1, "cb", "qx"), (1, "cb", "qy"), (2, "ab", "px")]
    path = [
        letters[PAIRS.source.alphabet.index(a), PAIRS.target.alphabet.index(b)]
        for _, x, y in rows
        for a, b in zip(x, y, strict=True)
    ]
    return Candidates(
        source,
        np.array([row[0] for row in rows]),
        np.zeros(5),
        np.array(path, np.int32),
        np.arange(0, 11, 2),
        ss.Corpus.from_sequences([y for _, _, y in rows], alphabet=PAIRS.target.alphabet),
    )


def sides():
    return UNITS.inputs, UNITS.outputs


RIGHT = np.array([1.0, 0.0, 0.0, 1.0, 0.0])


def one_pass(found, base, rate, state):
    return train_candidates(
        found.arrays(),
        found.groups,
        unit_marks(UNITS),
        RIGHT,
        base,
        Ascending(*state),
        np.arange(3),
        rate,
    )


def test_a_pass_without_a_step_gives_the_softmax_of_the_base_scores():
    base = np.array([0.5, -1.0, 2.0, 0.25, 9.0])
    found = one_pass(candidates(), base, 0.0, (np.zeros(64), np.zeros(64)))
    log_softmax = [0.5 - np.logaddexp(0.5, -1.0), 0.25 - np.logaddexp(2.0, 0.25)]
    assert found == pytest.approx(np.mean(log_softmax))


def test_every_pass_makes_the_right_candidates_likelier():
    state = (np.zeros(1 << 12), np.zeros(1 << 12))
    found = [one_pass(candidates(), np.zeros(5), 0.1, state) for _ in range(6)]
    assert (np.diff(found) > 0).all()
    assert found[-1] > np.log(0.9)


def test_features_see_the_neighbours_of_a_letter():
    found = candidates()
    weights = train_features(
        [FoldCandidates(found, UNITS, np.zeros(5), RIGHT)],
        n_weights=1 << 12,
        n_epochs=4,
        rate=0.1,
        rng=np.random.default_rng(0),
    )
    scores = feature_scores(found, UNITS, weights)
    assert scores[0] > scores[1] + 1.0
    assert scores[3] > scores[2] + 1.0
    assert scores[4] == scores[0]


def test_each_unit_has_twenty_features():
    np.testing.assert_array_equal(feature_scores(candidates(), UNITS, np.ones(256)), 40.0)


def test_a_chain_multiplies_shares_and_starts_anew_below_the_floor():
    # Two units of one state: shares 0.5 and 0.25; the third operator is the end.
    operators = np.array([0.5, 0.25, 1e-9]).reshape(3, 1, 1)
    scores = np.empty(2)
    units, offsets = np.array([0, 1, 0], np.int32), np.array([0, 2, 3])
    chain_units(units, offsets, Machine(np.ones(1), operators, np.ones(1)), 1e-3, scores)
    np.testing.assert_allclose(np.exp(scores), [0.5 * 0.25 * 1e-3, 0.5 * 1e-3])
