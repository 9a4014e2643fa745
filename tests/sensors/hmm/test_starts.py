"""Where EM starts: weights, moves and moments counted one by one."""

from dataclasses import dataclass, field
from itertools import pairwise, product

import numpy as np
import pytest

from sensors.hmm.oracles import enumerated
from sigmastar.sensors.hmm.data import Measurements
from sigmastar.sensors.hmm.emissions import Gaussian
from sigmastar.sensors.hmm.learn import starts
from sigmastar.sensors.hmm.learn.moments import frame_moments, moment_chain, standard_points
from sigmastar.sensors.hmm.learn.starts import Starter
from sigmastar.sensors.hmm.structure import chain_rules


@dataclass(frozen=True)
class Watched(Gaussian):
    """Gaussian emissions that remember the weights they started from."""

    seen: list = field(default_factory=list)

    def start(self, values, weights):
        self.seen.append(weights.copy())
        return super().start(values, weights)


def measured(values, offsets, states=None):
    states = None if states is None else np.asarray(states, np.int64)
    return Measurements(np.asarray(values, float), np.asarray(offsets, np.int64), states)


def started(data, kind, n_states, **options):
    family = Watched(covariance="diag").prepared(data.values)
    starter = Starter(data, family, np.random.default_rng(0))
    model = starter.start(kind, n_states, chain_rules(n_states, **options))
    return model, family.seen[-1]


def counted(weights, offsets):
    """Half a start and one move more than there are, of all, as shares."""
    n = weights.shape[1]
    begun, moves = np.full(n, 0.5), np.ones((n, n))
    for begin, end in pairwise(offsets):
        begun += weights[begin]
        for t in range(begin, end - 1):
            moves += np.outer(weights[t], weights[t + 1])
    return begun / begun.sum(), moves / moves.sum(axis=1, keepdims=True)


BLOBS = np.array([[0.0], [0.1], [9.0], [9.1], [0.2], [9.2], [0.0], [0.1]])


def test_clusters_are_counted_as_if_they_were_the_states():
    model, weights = started(measured(BLOBS, [0, 4, 8]), "kmeans", 2)
    low = BLOBS[:, 0] < 5
    assert (weights.sum(axis=1) == 1).all()
    assert (weights[:, 0] == low).all() or (weights[:, 1] == low).all()
    initial, moves = counted(weights, [0, 4, 8])
    assert sorted(initial) == [0.5 / 3, 2.5 / 3]
    np.testing.assert_allclose(model.initial, initial)
    np.testing.assert_allclose(model.transitions, moves)


def test_known_states_are_as_told_and_others_the_nearest():
    """Labelled means come first; a state without labels takes the centre farthest from them."""
    values = [[0.0], [1.0], [10.0], [10.4], [20.0], [20.2], [9.8], [0.4]]
    known = [0, 0, -1, -1, 2, -1, 0, 2]  # the last two are told against all appearances
    model, weights = started(measured(values, [0, 8], known), "kmeans", 3)
    assert weights.argmax(axis=1).tolist() == [0, 0, 2, 2, 2, 1, 0, 2]
    assert (weights.sum(axis=1) == 1).all()
    np.testing.assert_allclose(model.transitions, counted(weights, [0, 8])[1])


def test_states_without_labels_take_the_centres_farthest_from_all_taken():
    centres = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0], [1.0, 0.0]])
    points = np.array([[0.0, 1.0], [0.0, -1.0], [5.0, 5.0], [1.0, 1.0]])
    found = starts._labelled(centres, points, np.array([0, 0, -1, 2]))
    np.testing.assert_array_equal(found, [[0, 0], [0, 4], [1, 1], [3, 0]])
    nothing = starts._labelled(centres, points, np.full(4, -1))
    np.testing.assert_array_equal(nothing[0], centres[0])
    assert sorted(map(tuple, nothing)) == sorted(map(tuple, centres))


@pytest.mark.parametrize("kind", ["kmeans", "random"])
def test_states_in_order_start_from_segments_of_equal_length(kind):
    data = measured(np.arange(16.0)[:, None], [0, 6, 8, 9, 16])
    model, weights = started(data, kind, 3, structure="left-to-right")
    segments = [0, 0, 1, 1, 2, 2, 0, 1, 0, 0, 0, 0, 1, 1, 2, 2]
    if kind == "random":  # one frame's worth of a segment, and a random share of every state
        np.testing.assert_allclose(weights.sum(axis=1), 1.0)
        own = weights[np.arange(16), segments]
        assert (own[:, None] >= 0.5 * (weights - 1e-12)).all()
        assert 0 < weights.min() < weights.max() < 1
    else:
        np.testing.assert_array_equal(weights, np.eye(3)[segments])
    assert model.initial.tolist() == [1.0, 0.0, 0.0]


def test_more_states_than_different_frames_share_the_centres():
    _, weights = started(measured([[0.0], [5.0], [0.0], [5.0]], [0, 4]), "kmeans", 3)
    used = weights.argmax(axis=1)
    assert used[0] == used[2] != used[1] == used[3]


def test_random_centres_are_frames_each_drawn_once():
    values = np.arange(5.0)[:, None] * 10
    _, weights = started(measured(values, [0, 5]), "random", 5)
    assert sorted(weights.argmax(axis=1)) == [0, 1, 2, 3, 4]
    _, weights = started(measured(values[:2], [0, 2]), "random", 4)
    assert weights.shape == (2, 4)


@pytest.mark.parametrize(
    ("offsets", "kept"),
    [
        ([0, 4, 10, 12], [0, 4, 10]),
        ([0, 4, 15], [0, 4]),
        ([0, 11, 12], [0, 10]),
        ([0, 10], [0, 10]),
    ],
)
def test_starts_are_made_from_the_leading_frames(offsets, kept, monkeypatch):
    monkeypatch.setattr(starts, "MOST_FRAMES", 10)
    n = offsets[-1]
    data = measured(np.arange(float(n))[:, None], offsets, np.arange(n) % 2)
    part = Starter(data, Gaussian(), np.random.default_rng(0)).part
    assert part.offsets.tolist() == kept
    assert part.values[:, 0].tolist() == list(range(kept[-1]))
    assert part.states.tolist() == [t % 2 for t in range(kept[-1])]


@pytest.mark.parametrize(
    ("n_frames", "n_states", "wanted"), [(2000, 3, 32), (2000, 7, 64), (200, 3, 20), (40, 6, 7)]
)
def test_moments_have_centres_enough_for_the_states(n_frames, n_states, wanted):
    values = np.random.default_rng(0).normal(size=(n_frames, 2))
    starter = Starter(measured(values, [0, n_frames]), Gaussian(), np.random.default_rng(0))
    assert starter.found_correlations() == []
    moments = starter.moments(n_states)
    assert len(moments.centres) == wanted
    assert starter.moments(n_states) is moments
    assert starter.found_correlations() == moments.correlations[:50].tolist()


def test_standard_units_have_no_mean_and_a_spread_of_one():
    values = np.array([[1.0, 7.0], [3.0, 7.0], [np.nan, 7.0], [5.0, 7.0]])
    points = standard_points(measured(values, [0, 4]))
    spread = np.std([1.0, 3.0, 5.0])
    expected = [[-2 / spread, 0], [0, 0], [0, 0], [2 / spread, 0]]
    np.testing.assert_allclose(points, expected)


# Two states and three readings whose triples all come up a whole number of times in 3,072.
MOVES = np.array([[0.75, 0.25], [0.5, 0.5]])
VISITS = np.array([2 / 3, 1 / 3])
READINGS = np.array([[0.5, 0.25], [0.25, 0.25], [0.25, 0.5]])


def every_triple():
    """Give sequences of three readings, each as often as the chain has it in 3,072."""
    sequences = []
    for triple in product(range(3), repeat=3):
        share = sum(
            VISITS[path[0]]
            * MOVES[path[0], path[1]]
            * MOVES[path[1], path[2]]
            * np.prod([READINGS[r, h] for r, h in zip(triple, path, strict=True)])
            for path in product(range(2), repeat=3)
        )
        assert 3072 * share == pytest.approx(round(3072 * share), abs=1e-9)
        sequences += [triple] * round(3072 * share)
    assert len(sequences) == 3072
    return np.array(sequences)


def test_the_moments_of_all_triples_are_those_of_the_chain():
    triples = every_triple()
    data = measured(triples.reshape(-1, 1), np.arange(0, 3 * 3072 + 1, 3))
    moments = frame_moments(data, standard_points(data), 8, np.random.default_rng(0))
    names = np.unique(moments.codes[data.values[:, 0].argsort(kind="stable")])
    assert len(moments.centres) == len(names) == 3  # no more centres than different frames
    pairs = READINGS @ (VISITS[:, None] * MOVES @ MOVES) @ READINGS.T
    scale = 1 / np.sqrt(pairs.sum(axis=1))
    expected = np.linalg.svd(scale[:, None] * pairs * scale, compute_uv=False)
    np.testing.assert_allclose(moments.correlations[:2], expected[:2], atol=1e-9)
    assert moments.correlations[2:].max(initial=0) < 1e-9
    assert moments.noise == pytest.approx(2.3 * np.sqrt(3 / 3072))
    assert moments.n_states == 1 + (expected[1] > moments.noise)
    code = [moments.codes[data.values[:, 0] == r][0] for r in range(3)]
    left, right = moments.left[code][:, :2], moments.right[code][:, :2]
    np.testing.assert_allclose(left.T @ pairs @ right, np.diag(expected[:2]), atol=1e-9)


def test_the_chain_of_all_triples_is_the_one_that_they_come_from():
    """But for the little that a start does not rule out."""
    triples = every_triple()
    data = measured(triples.reshape(-1, 1), np.arange(0, 3 * 3072 + 1, 3))
    moments = frame_moments(data, standard_points(data), 3, np.random.default_rng(0))
    chain = moment_chain(moments, 2, np.random.default_rng(1))
    code = [moments.codes[data.values[:, 0] == r][0] for r in range(3)]
    tables = chain.emission.tables[code]
    order = np.argsort(-tables[0])
    np.testing.assert_allclose(tables[:, order], READINGS, atol=1e-9)
    np.testing.assert_allclose(chain.initial[order], VISITS, atol=1e-9)
    joint = VISITS[:, None] * MOVES + 1e-4 * np.outer(VISITS, VISITS)
    joint /= joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(chain.transitions[np.ix_(order, order)], joint, atol=1e-9)
    assert moment_chain(moments, 3, np.random.default_rng(1)) is None


@pytest.mark.parametrize("labelled", [False, True])
def test_moments_start_from_what_their_chain_makes_of_each_frame(labelled):
    """Unless states have names: then from clusters."""
    triples = every_triple()
    known = np.where(np.arange(triples.size) == 0, 1, -1) if labelled else None
    data = measured(triples.reshape(-1, 1), np.arange(0, 3 * 3072 + 1, 3), known)
    model, weights = started(data, "moments", 2)
    if labelled:
        assert set(np.unique(weights)) == {0.0, 1.0}
        np.testing.assert_allclose(model.transitions, counted(weights, data.offsets)[1])
        return
    order = np.argsort(-weights[data.values[:, 0] == 0].mean(axis=0))
    joint = VISITS[:, None] * MOVES + 1e-4 * np.outer(VISITS, VISITS)
    joint /= joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.transitions[np.ix_(order, order)], joint, atol=1e-9)
    for row in range(0, 3072, 97):
        density = np.log(READINGS[triples[row]])
        posterior = enumerated(VISITS, joint, density)[1]
        found = weights[3 * row : 3 * row + 3][:, order]
        np.testing.assert_allclose(found, posterior, atol=1e-7)


def test_more_states_than_moments_tell_apart_start_from_clusters():
    triples = every_triple()
    data = measured(triples.reshape(-1, 1), np.arange(0, 3 * 3072 + 1, 3))
    _, weights = started(data, "moments", 3)
    assert set(np.unique(weights)) == {0.0, 1.0}
    assert (weights.sum(axis=0) > 0).all()
