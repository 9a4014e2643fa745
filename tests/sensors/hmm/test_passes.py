"""Passes along the chain equal sums over all paths, on any number of threads."""

from dataclasses import replace

import numpy as np
import pytest

from sensors.hmm.oracles import (
    enumerate_paths,
    enumerated,
    marginal_density,
    random_chain,
    random_covariances,
)
from sigmastar.core.errors import InvalidData
from sigmastar.sensors.hmm.data import as_measurements
from sigmastar.sensors.hmm.emissions import DiagonalGaussian, FullGaussian
from sigmastar.sensors.hmm.inference import plan
from sigmastar.sensors.hmm.inference.ahead import draw_states
from sigmastar.sensors.hmm.inference.decode import decode
from sigmastar.sensors.hmm.inference.plan import plan_runs
from sigmastar.sensors.hmm.inference.smooth import filtered, smooth
from sigmastar.sensors.hmm.inference.stream import StateStream
from sigmastar.sensors.hmm.measurement_hmm import MeasurementHMM


def tiny_model(rng, n=3, d=2):
    initial, transitions = random_chain(n, rng)
    emission = FullGaussian(rng.normal(size=(n, d)), random_covariances(n, d, rng), np.arange(n))
    return MeasurementHMM(initial, transitions, emission)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_smoothing_equals_the_sum_over_all_paths(n):
    rng = np.random.default_rng(n)
    model = tiny_model(rng, n)
    pieces = [rng.normal(size=(length, 2)) for length in (1, 4, 3)]
    found = smooth(model, as_measurements(pieces))
    moves, at = np.zeros((n, n)), 0
    for i, piece in enumerate(pieces):
        density = marginal_density(piece, model.emission.means, model.emission.covariances)
        total, posterior, own, _, _ = enumerated(model.initial, model.transitions, density)
        np.testing.assert_allclose(found.log_likelihood[i], total, rtol=1e-12)
        np.testing.assert_allclose(found.posterior[at : at + len(piece)], posterior, atol=1e-12)
        moves += own
        at += len(piece)
    np.testing.assert_allclose(found.moves, moves, atol=1e-12)


def test_best_paths_equal_enumeration():
    rng = np.random.default_rng(1)
    model = tiny_model(rng)
    pieces = [rng.normal(size=(length, 2)) for length in (5, 1, 6)]
    found = decode(model, as_measurements(pieces))
    best = []
    for i, piece in enumerate(pieces):
        density = marginal_density(piece, model.emission.means, model.emission.covariances)
        *_, path, value = enumerated(model.initial, model.transitions, density)
        np.testing.assert_allclose(found.log_probability[i], value, rtol=1e-12)
        best.extend(path)
    assert found.states.tolist() == best


def test_missing_values_are_integrated_out():
    rng = np.random.default_rng(2)
    model = tiny_model(rng, 3, 3)
    X = rng.normal(size=(5, 3))
    X[0, 1] = X[2, 0] = X[2, 2] = np.nan
    X[3] = np.nan
    density = marginal_density(X, model.emission.means, model.emission.covariances)
    total, posterior, *_ = enumerated(model.initial, model.transitions, density)
    found = smooth(model, as_measurements(X))
    np.testing.assert_allclose(found.log_likelihood[0], total, rtol=1e-12)
    np.testing.assert_allclose(found.posterior, posterior, atol=1e-12)


def same_when_cut(model, data, monkeypatch):
    whole, path = smooth(model, data), decode(model, data)
    alone, logs = filtered(model, data)
    monkeypatch.setattr(plan, "_SHORT", 100)
    cut, other = smooth(model, data), decode(model, data)
    np.testing.assert_allclose(cut.log_likelihood, whole.log_likelihood, rtol=1e-12)
    np.testing.assert_allclose(cut.posterior, whole.posterior, atol=1e-11)
    np.testing.assert_allclose(cut.moves, whole.moves, rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(other.states, path.states)
    np.testing.assert_allclose(other.log_probability, path.log_probability, rtol=1e-12)
    states, again = filtered(model, data)
    np.testing.assert_allclose(states, alone, atol=1e-11)
    np.testing.assert_allclose(again, logs, atol=1e-10)


@pytest.mark.parametrize("n", [1, 4, 17])
def test_sequences_cut_into_runs_equal_the_same_in_one_piece(n, monkeypatch):
    rng = np.random.default_rng(n)
    model = tiny_model(rng, n)
    data = as_measurements(rng.normal(size=(2040, 2)), [1, 1300, 70, 669])
    same_when_cut(model, replace(data, weights=np.array([1.0, 0.5, 0.0, 2.0])), monkeypatch)
    assert plan_runs(model, data).margin < 100 < 2040 // plan_runs(model, data).length * 100


@pytest.mark.parametrize("n_frames", [2000, 5000])  # done again with more, and in one piece
def test_a_run_that_began_in_the_wrong_state_is_found_out(n_frames, monkeypatch):
    # States that never change and can hardly be told apart are never forgotten.
    rng = np.random.default_rng(0)
    emission = DiagonalGaussian([[0.0], [0.02]], [[1.0], [1.0]])
    model = MeasurementHMM([0.9, 0.1], [[1 - 1e-9, 1e-9], [1e-9, 1 - 1e-9]], emission)
    data = as_measurements(rng.normal(size=(n_frames, 1)))
    monkeypatch.setattr(plan, "_memory", lambda *_: 5)
    monkeypatch.setattr(plan, "_SHORT", 5000)
    same_when_cut(model, data, monkeypatch)
    assert plan_runs(model, data).length < 200
    assert plan_runs(model, data, cut=False).length == n_frames


def test_the_number_of_threads_changes_no_bit(monkeypatch):
    rng = np.random.default_rng(4)
    model = tiny_model(rng, 4)
    data = as_measurements(rng.normal(size=(90_000, 2)), [40_000, 20_000, 100, 29_900])
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("SIGMASTAR_THREADS", threads)
        found.append(smooth(model, data))
    assert np.array_equal(found[0].moves, found[1].moves)
    assert np.array_equal(found[0].posterior, found[1].posterior)


def test_a_frame_that_fits_only_a_state_all_but_ruled_out_is_not_lost():
    # State 1 is reached with probability 1e-200; the last frames fit it alone.
    emission = DiagonalGaussian([[0.0], [1000.0]], [[1.0], [1.0]])
    model = MeasurementHMM([1.0, 0.0], [[1.0 - 1e-200, 1e-200], [0.0, 1.0]], emission)
    X = np.array([[0.0], [0.0], [1000.0], [1000.0]])
    density = model.emission.log_density(X)
    values = [v for _, v in enumerate_paths(model.initial, model.transitions, density)]
    found = smooth(model, as_measurements([X, X[:1]]))
    np.testing.assert_allclose(found.log_likelihood[0], np.logaddexp.reduce(values), rtol=1e-12)
    assert found.posterior[:4].argmax(axis=1).tolist() == [0, 0, 1, 1]
    np.testing.assert_allclose(
        filtered(model, as_measurements(X))[1].sum(), found.log_likelihood[0]
    )


def test_an_impossible_sequence_is_named():
    emission = DiagonalGaussian([[0.0], [1e6]], [[1e-6], [1e-6]])
    model = MeasurementHMM([1.0, 0.0], np.eye(2), emission)
    assert smooth(model, as_measurements([[0.0]] * np.ones((1, 1)))).log_likelihood[0] > 0
    with pytest.raises(InvalidData, match="finite or NaN"):
        as_measurements(np.array([[np.inf]]))


def test_the_filter_gives_each_frame_given_those_before():
    rng = np.random.default_rng(5)
    model = tiny_model(rng)
    X = rng.normal(size=(6, 2))
    states, logs = filtered(model, as_measurements(X))
    for t in range(6):
        so_far = smooth(model, as_measurements(X[: t + 1]))
        np.testing.assert_allclose(logs[: t + 1].sum(), so_far.log_likelihood[0], rtol=1e-12)
        np.testing.assert_allclose(states[t], so_far.posterior[-1], atol=1e-12)


@pytest.mark.parametrize("lag", [0, 1, 3])
def test_a_stream_equals_smoothing_with_that_lag(lag):
    rng = np.random.default_rng(6)
    model = tiny_model(rng)
    X = rng.normal(size=(8, 2))
    X[3, 0] = np.nan
    stream = StateStream(model, lag)
    for t in range(8):
        now = stream.push(X[t])
        if t >= lag:
            expected = smooth(model, as_measurements(X[: t + 1])).posterior[t - lag]
            np.testing.assert_allclose(now.probabilities, expected, atol=1e-12)
        else:
            assert now.probabilities is None
    whole = smooth(model, as_measurements(X)).posterior
    np.testing.assert_allclose(
        np.array(stream.rest()).reshape(lag, 3), whole[8 - lag :], atol=1e-12
    )


def test_drawn_paths_have_the_posterior():
    rng = np.random.default_rng(7)
    model = tiny_model(rng)
    data = as_measurements([rng.normal(size=(4, 2)), rng.normal(size=(2, 2))])
    drawn = draw_states(model, data, 20_000, rng)
    share = np.stack([(drawn == k).mean(axis=0) for k in range(3)], axis=1)
    np.testing.assert_allclose(share, smooth(model, data).posterior, atol=0.015)
    pairs = np.zeros((3, 3))
    for path in drawn[:, :4]:
        np.add.at(pairs, (path[:-1], path[1:]), 1 / len(drawn))
    alone = smooth(model, data.take([0])).moves
    np.testing.assert_allclose(pairs, alone, atol=0.03)
