"""What becomes of starts and sizes: the race between them, and what speaks for a model."""

from types import SimpleNamespace

import numpy as np
import pytest

import sigmastar as ss
from sensors.hmm.oracles import enumerated, marginal_density
from sigmastar.core.errors import InvalidData
from sigmastar.core.types import Learned
from sigmastar.sensors.hmm.data import Measurements, as_measurements
from sigmastar.sensors.hmm.emissions import Gaussian
from sigmastar.sensors.hmm.emissions.counts import PoissonEmission
from sigmastar.sensors.hmm.learn import sizes
from sigmastar.sensors.hmm.learn.em import Problem
from sigmastar.sensors.hmm.learn.fit import Plan, criteria
from sigmastar.sensors.hmm.measurement_hmm import MeasurementHMM
from sigmastar.sensors.hmm.structure import chain_rules

RNG = np.random.default_rng(0)
NOISE = np.concatenate([RNG.normal(size=(60, 2)), RNG.normal(2.0, 1.0, (60, 2))])


def test_criteria_are_the_formulas_of_schwarz_and_akaike():
    """Labels say nothing for a model, weights count, and what is decided beforehand is not free."""
    initial, moves = np.array([0.3, 0.7]), np.array([[0.9, 0.1], [0.5, 0.5]])
    means, matrices = np.array([[0.0, 1.0], [2.0, 0.0]]), np.stack([np.eye(2), 2 * np.eye(2)])
    model = ss.GaussianHMM.from_parameters(initial, moves, means, matrices).model_
    values = np.random.default_rng(1).normal(size=(7, 2))
    data = Measurements(values, np.array([0, 3, 7]), np.zeros(7, np.int64), np.array([2.0, 0.5]))
    fixed = [[0.9, 0.1], [np.nan, np.nan]]
    problem = Problem(data, Gaussian(), chain_rules(2, fixed_transitions=fixed))
    found = criteria(problem, model)
    density = marginal_density(values, means, matrices)
    parts = [enumerated(initial, moves, density[part])[0] for part in (slice(0, 3), slice(3, 7))]
    total, n = 2.0 * parts[0] + 0.5 * parts[1], 1 + 1 + 4 + 6
    assert found.log_likelihood == pytest.approx(total)
    assert found.n_parameters == n
    assert found.bic == pytest.approx(n * np.log(2.0 * 3 + 0.5 * 4) - 2 * total)
    assert found.aic == pytest.approx(2 * n - 2 * total)


@pytest.mark.parametrize(("max_iter", "seed"), [(15, 0), (4, 3)])
def test_the_start_that_leads_after_ten_steps_goes_on(max_iter, seed):
    hmm = ss.GaussianHMM(4, init="random", n_restarts=4, max_iter=max_iter, tol=-np.inf)
    info = hmm.set_params(random_state=seed).fit(NOISE).info_
    reached = [start["log_likelihood"] for start in info["starts"]]
    assert len(set(reached)) == 4
    assert max(range(4), key=reached.__getitem__) not in (0, 3)
    assert info["objective"][min(max_iter, 10) - 1] == max(reached)
    assert info["iterations"] == len(info["objective"]) == max_iter
    assert info["smallest_gain"] == np.diff(info["objective"]).min()


@pytest.mark.parametrize(
    ("options", "kinds"),
    [
        ({}, ["moments", "kmeans", "kmeans"]),
        ({"structure": "left-to-right"}, ["kmeans", "kmeans"]),
        ({"labels": True}, ["kmeans", "kmeans"]),
        ({"init": "random"}, ["random", "random"]),
        ({"max_iter": 0}, []),
        ({"n_restarts": 1, "init": "kmeans"}, []),
    ],
)
def test_moments_race_where_states_have_no_names_and_no_order(options, kinds):
    settings = {"n_restarts": 2, "max_iter": 2, "random_state": 0, **options}
    labels = [0, *[None] * 119] if settings.pop("labels", False) else None
    info = ss.GaussianHMM(2, **settings).fit(NOISE, labels).info_
    assert [start["start"] for start in info["starts"]] == kinds


def test_a_run_has_converged_if_its_last_step_gained_too_little():
    tol = 1e-3
    info = ss.GaussianHMM(2, init="kmeans", tol=tol, random_state=0).fit(NOISE).info_
    gains = np.diff(info["objective"])
    assert tol / 120 < gains[-1] < tol * 120 < gains[:-1].min()
    assert info["converged"]
    short = ss.GaussianHMM(2, init="kmeans", tol=tol, max_iter=2, random_state=0).fit(NOISE)
    assert not short.info_["converged"]


def test_the_objective_is_the_likelihood_and_the_density_of_the_priors():
    """Of Dirichlet priors of two on all transitions: the sum of their logarithms."""
    moves = np.array([[0.9, 0.1], [0.3, 0.7]])
    start = ss.GaussianHMM.from_parameters([0.5, 0.5], moves, np.eye(2), [np.eye(2)] * 2).model_
    hmm = ss.GaussianHMM(2, init=start, transition_prior=2.0, max_iter=1).fit(NOISE)
    (objective,), (likelihood,) = hmm.info_["objective"], hmm.info_["log_likelihood"]
    assert objective - likelihood == pytest.approx(np.log(moves).sum())
    assert hmm.info_["smallest_gain"] == 0.0
    counts, rates = np.arange(12.0)[:, None] % 5, np.array([[1.0], [3.0]])
    start = MeasurementHMM(np.full(2, 0.5), moves, PoissonEmission(rates))
    hmm = ss.PoissonHMM(2, init=start, prior_sum=2.0, prior_count=0.5, max_iter=1).fit(counts)
    (objective,), (likelihood,) = hmm.info_["objective"], hmm.info_["log_likelihood"]
    assert objective - likelihood == pytest.approx((2.0 * np.log(rates) - 0.5 * rates).sum())


@pytest.fixture
def learned(monkeypatch):
    """Put sizes in the place of models; costs are what a test says they are."""
    calls = []

    def learn_hmm(problem, n_states, plan, starter):
        calls.append((problem.data, n_states, plan.init))
        return Learned(n_states, {"size": n_states})

    monkeypatch.setattr(sizes, "learn_hmm", learn_hmm)
    return calls


def choose(monkeypatch, costs, *, criterion="bic", hinted=1, data=NOISE, judged=None):
    def criteria(_, size):
        other = -100.0 * size
        bic, aic = (costs[size - 1], other) if criterion == "bic" else (other, costs[size - 1])
        return SimpleNamespace(bic=bic, aic=aic)

    def log_likelihood(size, held):
        if judged is not None:
            judged.append(held)
        return -costs[size - 1] * 7.0

    monkeypatch.setattr(sizes, "criteria", criteria)
    monkeypatch.setattr(sizes, "log_likelihood", log_likelihood)
    starter = SimpleNamespace(
        rng=np.random.default_rng(0), moments=lambda most: SimpleNamespace(n_states=hinted)
    )
    return sizes.learn_size(
        as_measurements(data), Gaussian(), chain_rules, Plan(), starter, most=6, criterion=criterion
    )


@pytest.mark.parametrize("criterion", ["bic", "aic"])
@pytest.mark.parametrize(("hinted", "best", "tried"), [(1, 2, 4), (4, 2, 4), (5, 5, 6), (9, 5, 6)])
def test_two_sizes_in_a_row_without_a_gain_end_the_search(
    learned, monkeypatch, criterion, hinted, best, tried
):
    costs = [10.0, 8.0, 8.0, 9.0, 1.0, 2.0]  # of equals the first; no size below the hint ends it
    found = choose(monkeypatch, costs, criterion=criterion, hinted=hinted)
    assert found.model == found.info["size"] == best
    assert [row["states"] for row in found.info["validation"]] == list(range(1, tried + 1))
    assert [row[criterion] for row in found.info["validation"]] == costs[:tried]
    assert found.info["hinted_states"] == min(hinted, 6)


def test_held_out_sequences_judge_and_all_teach_the_size_they_choose(learned, monkeypatch):
    pieces = [NOISE[begin : begin + 12] for begin in range(0, 120, 12)]
    costs = [3.0, 1.0, 2.0, 2.5, 9.0, 9.0]
    judged = []
    found = choose(monkeypatch, costs, criterion="held-out", data=pieces, judged=judged)
    *tries, last = learned
    assert {data.n_frames for data, *_ in tries} == {96}  # a fifth is held out
    together = np.concatenate([tries[0][0].values, judged[0].values])
    assert sorted(map(tuple, together)) == sorted(map(tuple, NOISE))
    assert (last[0].n_frames, *last[1:]) == (120, 2, 2)
    shown = [row["held_out"] for row in found.info["validation"]]
    np.testing.assert_allclose(shown, [-cost * 7.0 / 24 for cost in costs[:4]])
    two = choose(monkeypatch, costs, criterion="held-out", data=[NOISE[:60], NOISE[60:]])
    assert two.model == 2
    with pytest.raises(InvalidData, match="at least two sequences"):
        choose(monkeypatch, costs, criterion="held-out", data=NOISE)
