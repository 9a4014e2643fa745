"""What a step of EM adds up, against smoothing first and adding up afterwards."""

from dataclasses import replace

import numpy as np
import pytest

from sensors.hmm.oracles import random_chain, random_covariances
from sigmastar.sensors.hmm.data import as_measurements
from sigmastar.sensors.hmm.emissions import (
    DiagonalGaussian,
    FactorGaussian,
    FullGaussian,
    MixtureEmission,
    SeveralEmission,
)
from sigmastar.sensors.hmm.inference import plan
from sigmastar.sensors.hmm.inference.densities import lay_densities
from sigmastar.sensors.hmm.inference.smooth import expect, log_masses, smooth
from sigmastar.sensors.hmm.measurement_hmm import MeasurementHMM

RNG = np.random.default_rng(0)
MEANS = RNG.normal(size=(3, 2)) + 5.0
EMISSIONS = {
    "diag": DiagonalGaussian(MEANS, RNG.uniform(0.5, 2.0, (3, 2))),
    "full": FullGaussian(MEANS, random_covariances(3, 2, RNG), np.arange(3)),
    "tied": FullGaussian(MEANS, random_covariances(1, 2, RNG), np.zeros(3, np.int64)),
    "low-rank": FactorGaussian(MEANS, RNG.normal(size=(3, 2, 1)), RNG.uniform(0.5, 1.0, (3, 2))),
}
OTHERS = {
    "steep": DiagonalGaussian(MEANS * 1e4, np.ones((3, 2))),
    "mixture": MixtureEmission(
        np.array([[0.5, 0.5], [1.0, 0.0]]),
        DiagonalGaussian(RNG.normal(size=(4, 2)), np.ones((4, 2))),
    ),
    "several": SeveralEmission(
        {name: DiagonalGaussian(MEANS[:, :1], np.ones((3, 1))) for name in ("a", "b")}
    ),
}


def lasting(emission):
    """Return a model of two links in each state."""
    initial, transitions = random_chain(2 * emission.n_states, np.random.default_rng(1))
    return MeasurementHMM(initial, transitions, emission, np.repeat(range(emission.n_states), 2))


@pytest.mark.parametrize("kind", EMISSIONS)
def test_densities_as_products_are_the_densities(kind):
    model = lasting(EMISSIONS[kind])
    data = as_measurements(RNG.normal(size=(70, 2)) + 5.0, [30, 40])
    runs = plan.plan_runs(model, data)
    laid = lay_densities(model, runs, runs.groups()[0])
    assert laid.columns is not None
    density = model.emission.log_density(data.values)[:, model.emits]
    np.testing.assert_allclose(laid.lanes.likelihood[:, :, 0], density, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", [*EMISSIONS, *OTHERS])
@pytest.mark.parametrize("short", [100, 5000])
def test_expected_sums_are_those_of_the_smoothed_states(kind, short, monkeypatch):
    monkeypatch.setattr(plan, "_SHORT", short)
    model = lasting((EMISSIONS | OTHERS)[kind])
    data = as_measurements(RNG.normal(size=(1500, 2)) + 5.0, [600, 1, 899])
    states = np.full(1500, -1)
    states[[5, 700]] = 1
    data = replace(data, weights=np.array([1.0, 0.0, 2.5]), states=states)
    found, smoothed = expect(model, data), smooth(model, data)
    whole = model.emission.gather(data.values, smoothed.posterior @ model.membership)
    for name, value in whole.items():
        np.testing.assert_allclose(found.statistics[name], value, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.moves, smoothed.moves, rtol=1e-10)
    starts = smoothed.posterior[data.offsets[:-1]].sum(axis=0)
    np.testing.assert_allclose(found.starts, starts, rtol=1e-10, atol=1e-14)
    total = (smoothed.log_likelihood * data.weights).sum()
    assert found.log_likelihood == pytest.approx(total, rel=1e-12)
    logs = log_masses(model, replace(data, states=None))
    unlabelled = smooth(model, replace(data, states=None)).log_likelihood
    np.testing.assert_allclose(np.add.reduceat(logs, data.offsets[:-1]), unlabelled, rtol=1e-12)


def test_sequences_that_need_logarithms_count_as_the_others_do():
    emission = DiagonalGaussian([[0.0], [1000.0]], [[1.0], [1.0]])
    model = MeasurementHMM([1.0, 0.0], [[1.0 - 1e-200, 1e-200], [0.0, 1.0]], emission)
    hard = np.array([[0.0], [0.0], [1000.0]])
    easy = [np.zeros((length, 1)) for length in (1200, 1500)]
    both, alone = (expect(model, as_measurements(X)) for X in ([hard, *easy], easy))
    only = expect(model, as_measurements(hard)).plus(alone)
    np.testing.assert_allclose(both.starts, [3.0, 0.0])
    np.testing.assert_allclose(both.moves, only.moves)
    np.testing.assert_allclose(both.statistics["counts"], [[2702.0], [1.0]])
    assert both.log_likelihood == pytest.approx(only.log_likelihood, rel=1e-12)


def test_products_that_would_lose_digits_are_not_taken():
    near = np.array([[[1.0, 1 - 1e-8], [1 - 1e-8, 1.0]]])
    assert FullGaussian([[0.0, 0.0]], near, np.zeros(1, np.int64)).products() is None
    assert OTHERS["steep"].products() is None
