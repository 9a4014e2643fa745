"""Best paths are those of the plain recursion, however states are left out and frames cut."""

import numpy as np
import pytest

from sensors.hmm.oracles import plain_viterbi, random_chain
from sigmastar.core.errors import InvalidData
from sigmastar.sensors.hmm.data import as_measurements
from sigmastar.sensors.hmm.emissions import CategoricalEmission, DiagonalGaussian
from sigmastar.sensors.hmm.inference import plan
from sigmastar.sensors.hmm.inference.decode import decode
from sigmastar.sensors.hmm.measurement_hmm import MeasurementHMM

LENGTHS = [1, 700, 2, 260, 1037]


def expected(model, data):
    """Give the path of all frames and the value of every sequence by the plain recursion."""
    density = model.emission.log_density(data.values)
    pieces = np.split(density, data.offsets[1:-1])
    found = [plain_viterbi(model.initial, model.transitions, piece) for piece in pieces]
    return np.concatenate([path for path, _ in found]), [value for _, value in found]


def agrees(model, data):
    path, values = expected(model, data)
    found = decode(model, data)
    np.testing.assert_array_equal(found.states, path)
    np.testing.assert_allclose(found.log_probability, values, rtol=1e-12, atol=1e-9)


def zeros(kind, chain):
    """Rule out moves, as structures of chains do."""
    n = len(chain)
    mask = {
        "none": np.ones((n, n)),
        "left-to-right": np.triu(np.ones((n, n))),
        "one": np.ones((n, n)),
    }[kind]
    if kind == "one" and n > 1:
        mask[n - 1, 0] = 0.0
    chain = chain * mask
    return chain / chain.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("short", [100, 2048])
@pytest.mark.parametrize("spread", [0.3, 4.0])  # all states may have come before, or hardly any
@pytest.mark.parametrize("kind", ["none", "left-to-right", "one"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 13, 40])
def test_paths_are_those_of_the_plain_recursion(n, kind, spread, short, monkeypatch):
    monkeypatch.setattr(plan, "_SHORT", short)
    rng = np.random.default_rng(n)
    initial, transitions = random_chain(n, rng)
    emission = DiagonalGaussian(spread * rng.normal(size=(n, 3)), rng.uniform(0.5, 2, (n, 3)))
    model = MeasurementHMM(initial, zeros(kind, transitions), emission)
    X = np.concatenate([model.emission.draw(rng.integers(0, n, size), rng) for size in LENGTHS])
    agrees(model, as_measurements(X, LENGTHS))


@pytest.mark.parametrize("short", [100, 2048])
@pytest.mark.parametrize("n", [3, 9])
def test_missing_values_and_moves_of_hardly_any_probability(n, short, monkeypatch):
    monkeypatch.setattr(plan, "_SHORT", short)
    rng = np.random.default_rng(n)
    transitions = np.full((n, n), 1e-40)
    transitions += np.eye(n) * 0.9 + np.roll(np.eye(n), 1, axis=1) * 0.1
    transitions /= transitions.sum(axis=1, keepdims=True)
    emission = DiagonalGaussian(rng.normal(size=(n, 2)), np.ones((n, 2)))
    model = MeasurementHMM(np.full(n, 1 / n), transitions, emission)
    X = rng.normal(size=(2000, 2))
    agrees(model, as_measurements(X, LENGTHS))
    X[rng.random(X.shape) < 0.2] = np.nan
    agrees(model, as_measurements(X, LENGTHS))


@pytest.mark.parametrize("n", [2, 4, 6])
def test_of_equal_paths_the_one_through_lower_numbers_is_taken(n, monkeypatch):
    # Halves are summed without rounding, so ties are ties; each state has a twin.
    monkeypatch.setattr(plan, "_SHORT", 100)
    rng = np.random.default_rng(n)
    tables = np.repeat(0.25 + 0.25 * np.eye(3), 2, axis=1)  # (codes, states)
    transitions = np.full((n, n), 1 / n)
    model = MeasurementHMM(
        np.full(n, 1 / n), transitions, CategoricalEmission(tables[:, :n], [0, 3])
    )
    data = as_measurements(rng.integers(0, 3, (2000, 1)).astype(float), LENGTHS)
    found = decode(model, data)
    np.testing.assert_array_equal(found.states, expected(model, data)[0])
    assert not (found.states % 2).any()


def test_frames_far_from_all_states_lose_no_path(monkeypatch):
    # Log densities of 1e12 have few digits left, and what is left out must allow for it.
    monkeypatch.setattr(plan, "_SHORT", 100)
    rng = np.random.default_rng(0)
    emission = DiagonalGaussian(rng.normal(size=(9, 1)), np.ones((9, 1)))
    model = MeasurementHMM(*random_chain(9, rng), emission)
    X = rng.normal(size=(2000, 1))
    X[::50] = 1e6
    path, values = expected(model, as_measurements(X))
    found = decode(model, as_measurements(X))
    np.testing.assert_allclose(found.log_probability, values, rtol=1e-12)
    assert (found.states == path).mean() > 0.99


@pytest.mark.parametrize("n", [3, 9])
def test_known_states_and_impossible_sequences_have_a_path(n):
    emission = CategoricalEmission(np.tile([[1.0], [0.0]], (1, n)), [0, 2])
    model = MeasurementHMM(np.full(n, 1 / n), np.eye(n), emission)
    data = as_measurements(np.array([[0.0], [1.0], [0.0], [0.0]]), [3, 1])
    try:
        found = decode(model, data)
    except InvalidData:
        return
    assert found.log_probability[0] == -np.inf
    assert found.log_probability[1] == pytest.approx(-np.log(n))
    assert ((found.states >= 0) & (found.states < n)).all()


@pytest.mark.parametrize("n", [4, 12])
def test_the_number_of_threads_changes_no_path(n, monkeypatch):
    rng = np.random.default_rng(n)
    emission = DiagonalGaussian(rng.normal(size=(n, 2)), np.ones((n, 2)))
    model = MeasurementHMM(*random_chain(n, rng), emission)
    data = as_measurements(rng.normal(size=(60_000, 2)), [40_000, 100, 19_900])
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("SIGMASTAR_THREADS", threads)
        found.append(decode(model, data))
    assert np.array_equal(found[0].states, found[1].states)
    assert np.array_equal(found[0].log_probability, found[1].log_probability)


@pytest.mark.parametrize("n", [4, 12])
def test_paths_are_those_of_hmmlearn(n):
    hmmlearn = pytest.importorskip("hmmlearn.hmm")
    rng = np.random.default_rng(n)
    initial, transitions = random_chain(n, rng)
    means, variances = rng.normal(size=(n, 3)) * 2, rng.uniform(0.5, 2, (n, 3))
    theirs = hmmlearn.GaussianHMM(n, covariance_type="diag")
    theirs.startprob_, theirs.transmat_ = initial, transitions
    theirs.means_, theirs.covars_ = means, variances
    X = rng.normal(size=(9000, 3)) * 2
    value, path = theirs.decode(X, [4000, 5000])
    model = MeasurementHMM(initial, transitions, DiagonalGaussian(means, variances))
    found = decode(model, as_measurements(X, [4000, 5000]))
    np.testing.assert_array_equal(found.states, path)
    np.testing.assert_allclose(found.log_probability.sum(), value, rtol=1e-10)
