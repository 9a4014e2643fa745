"""EM never goes downhill, keeps what is fixed, and finds what generated the data."""

import numpy as np
import pytest
from scipy.stats import multinomial
from sklearn.base import clone

import sigmastar as ss
from sensors.hmm.oracles import random_covariances
from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.sensors.hmm.data import as_measurements
from sigmastar.sensors.hmm.learn.moments import frame_moments, moment_chain, standard_points

MOVES = np.full((3, 3), 0.05) + 0.85 * np.eye(3)
MEANS = np.array([[-3.0, 0.0], [0.0, 2.5], [3.0, -1.0]])
SHAPES = ["full", "diag", "tied", "spherical", "low-rank"]


def truth(rng):
    return ss.GaussianHMM.from_parameters(
        np.ones(3) / 3, MOVES, MEANS, random_covariances(3, 2, rng) * 0.5
    )


@pytest.fixture(scope="module")
def stream():
    return truth(np.random.default_rng(0)).sample(1500, 0)


def holes(X, share=0.2):
    X = X.copy()
    X[np.random.default_rng(1).random(X.shape) < share] = np.nan
    return X


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_no_step_lowers_the_likelihood(stream, shape, missing):
    X = holes(stream[0]) if missing else stream[0]
    hmm = ss.GaussianHMM(3, covariance=shape, init="random", max_iter=30, tol=-np.inf)
    hmm.set_params(random_state=3).fit(X, lengths=[700, 800])
    assert len(hmm.info_["objective"]) == 30
    assert np.diff(hmm.info_["objective"]).min() > -1e-7


@pytest.mark.parametrize("shape", ["full", "diag", "low-rank"])
def test_no_step_of_a_mixture_lowers_the_likelihood_with_priors(stream, shape):
    hmm = ss.MixtureHMM(2, 2, covariance=shape, init="random", max_iter=25, tol=-np.inf)
    hmm.set_params(
        scatter_prior=0.5,
        count_prior=1.0,
        mean_weight=0.5,
        transition_prior=2.0,
        weight_prior=1.5,
        random_state=0,
    )
    if shape == "low-rank":
        hmm.set_params(scatter_prior=0.0, count_prior=0.0, mean_weight=0.0)
    hmm.fit(holes(stream[0], 0.05))
    assert np.diff(hmm.info_["objective"]).min() > -1e-7


def test_missing_columns_leave_the_marginal_model():
    """Frames that never show a column learn the others as if it did not exist."""
    rng = np.random.default_rng(2)
    X, _ = truth(rng).sample(600, 1)
    wide = np.column_stack([X, rng.normal(size=600)])
    wide[1:, 2] = np.nan  # seen once, so that the column has a mean
    start = ss.GaussianHMM(2, max_iter=0, random_state=0).fit(X).model_
    means = np.column_stack([start.emission.means, np.zeros(2)])
    matrices = np.zeros((2, 3, 3))
    matrices[:, :2, :2] = start.emission.covariances
    matrices[:, 2, 2] = 1.0
    extended = ss.MeasurementHMM(
        start.initial, start.transitions, ss.emissions.FullGaussian(means, matrices, np.arange(2))
    )
    wide[0, 2] = 0.0
    narrow = ss.GaussianHMM(2, init=start, max_iter=8, tol=-np.inf, variance_floor=0.0).fit(X)
    broad = ss.GaussianHMM(2, init=extended, max_iter=1, variance_floor=0.0).fit(wide)
    np.testing.assert_allclose(
        broad.info_["log_likelihood"][0] + 0.5 * np.log(2 * np.pi),
        narrow.info_["log_likelihood"][0],
        rtol=1e-12,
    )
    np.testing.assert_allclose(
        ss.GaussianHMM.from_model(extended).predict_proba(wide),
        ss.GaussianHMM.from_model(start).predict_proba(X),
        atol=1e-10,
    )


def test_partial_labels_name_the_states(stream):
    X, Z = stream
    y = [int(z) if t % 10 == 0 else None for t, z in enumerate(Z)]
    hmm = ss.GaussianHMM(3, random_state=0).fit(X, y)
    assert (hmm.predict(X) == Z).mean() > 0.95
    swapped = [None if v is None else (v + 1) % 3 for v in y]
    assert (
        ss.GaussianHMM(3, random_state=0).fit(X, swapped).predict(X) == (Z + 1) % 3
    ).mean() > 0.95


def test_weights_are_repetitions(stream):
    pieces = [stream[0][:300], stream[0][300:500], stream[0][500:900]]
    settings = {"init": truth(np.random.default_rng(0)).model_, "max_iter": 5, "tol": -np.inf}
    weighted = ss.GaussianHMM(3, **settings).fit(pieces, sample_weight=[2.0, 0.0, 1.0])
    repeated = ss.GaussianHMM(3, **settings).fit([pieces[0], pieces[0], pieces[2]])
    np.testing.assert_allclose(weighted.means_, repeated.means_, rtol=1e-9)
    np.testing.assert_allclose(weighted.transmat_, repeated.transmat_, rtol=1e-9)
    np.testing.assert_allclose(
        weighted.info_["log_likelihood"], repeated.info_["log_likelihood"], rtol=1e-12
    )


def test_fixed_entries_stay_and_the_rest_is_learned(stream):
    fixed = np.full((3, 3), np.nan)
    fixed[0, 2], fixed[1, 1] = 0.0, 0.8
    means = np.full((3, 2), np.nan)
    means[1, 0] = 0.25
    for shape in ("full", "diag"):
        hmm = ss.GaussianHMM(
            3,
            covariance=shape,
            fixed_transitions=fixed,
            fixed_initial=[1.0, 0.0, 0.0],
            fixed_means=means,
            max_iter=20,
            tol=-np.inf,
            random_state=0,
        ).fit(stream[0])
        assert hmm.transmat_[0, 2] == 0.0
        np.testing.assert_allclose(hmm.transmat_[1, 1], 0.8, rtol=1e-12)
        assert hmm.startprob_.tolist() == [1.0, 0.0, 0.0]
        assert hmm.means_[1, 0] == 0.25
        assert np.diff(hmm.info_["objective"]).min() > -1e-7


@pytest.mark.parametrize(
    ("structure", "barred"),
    [
        ("left-to-right", lambda i, j: j < i),
        ("linear", lambda i, j: j not in (i, i + 1)),
        ("cyclic", lambda i, j: (j - i) % 4 not in (0, 1)),
        ("banded", lambda i, j: abs(i - j) > 1),
    ],
)
def test_structures_have_their_zeros(stream, structure, barred):
    hmm = ss.GaussianHMM(4, structure=structure, max_iter=5, random_state=0)
    hmm.fit(stream[0], lengths=[50] * 30)
    zero = np.array([[barred(i, j) for j in range(4)] for i in range(4)])
    assert (hmm.transmat_[zero] == 0).all()
    assert (hmm.transmat_[~zero] > 0).any()


def test_tied_states_stay_with_one_probability(stream):
    moves = ss.GaussianHMM(3, structure="tied", random_state=0).fit(stream[0]).transmat_
    np.testing.assert_allclose(np.diagonal(moves), moves[0, 0], rtol=1e-12)
    np.testing.assert_allclose(moves[~np.eye(3, dtype=bool)], moves[0, 1], rtol=1e-12)


def test_states_last_as_long_as_they_must(stream):
    hmm = ss.GaussianHMM(3, min_duration=[1, 4, 6], random_state=0).fit(stream[0])
    path = hmm.predict(stream[0])
    cuts = np.flatnonzero(np.diff(path)) + 1
    runs = list(zip(path[np.r_[0, cuts]], np.diff(np.r_[0, cuts, len(path)]), strict=True))
    assert min(n for state, n in runs[:-1] if state == 1) >= 4
    assert min(n for state, n in runs[:-1] if state == 2) >= 6
    assert hmm.model_.n_links == 11
    assert hmm.predict_proba(stream[0]).shape == (1500, 3)


def test_exact_moments_of_many_frames_recover_the_chain():
    X, _ = truth(np.random.default_rng(0)).sample(60_000, 5)
    data = as_measurements(X)
    rng = np.random.default_rng(0)
    moments = frame_moments(data, standard_points(data), 24, rng)
    assert moments.n_states == 3
    chain = moment_chain(moments, 3, rng)
    order = np.argsort([(chain.emission.tables[:, k] @ moments.centres)[0] for k in range(3)])
    np.testing.assert_allclose(chain.transitions[np.ix_(order, order)], MOVES, atol=0.03)


def test_bic_finds_the_number_of_states(stream):
    hmm = ss.GaussianHMM("auto", max_states=6, random_state=0).fit(stream[0])
    assert hmm.model_.n_states == 3
    sizes = {row["states"]: row["bic"] for row in hmm.info_["validation"]}
    assert min(sizes, key=sizes.get) == 3
    held = ss.GaussianHMM("auto", criterion="held-out", max_states=4, random_state=0)
    assert held.fit(stream[0], lengths=[150] * 10).model_.n_states in (3, 4)


def test_an_interrupted_run_goes_on_as_if_it_had_not_been(stream, tmp_path):
    settings = {"init": "kmeans", "tol": -np.inf, "random_state": 0, "checkpoint_every": 0.0}
    whole = ss.GaussianHMM(3, max_iter=9, **settings).fit(stream[0])
    path = tmp_path / "run.sigma"
    ss.GaussianHMM(3, max_iter=4, checkpoint=path, **settings).fit(stream[0])
    assert isinstance(ss.load(path), ss.MeasurementHMM)
    with pytest.raises(InvalidParameter, match="other data, settings"):
        ss.GaussianHMM(3, max_iter=9, checkpoint=path, **settings).fit(stream[0][:-1])
    again = ss.GaussianHMM(3, max_iter=9, checkpoint=path, **settings).fit(stream[0])
    assert again.info_["log_likelihood"] == whole.info_["log_likelihood"]
    assert again.model_ == whole.model_


def test_several_emissions_a_step_are_their_product():
    rng = np.random.default_rng(4)
    hidden = np.repeat(rng.integers(0, 2, 60), 10)
    X = {
        "heat": rng.normal(hidden[:, None] * 1.5, 1.0, (600, 2)),
        "clicks": rng.poisson(1.0 + 3.0 * hidden),
        "mode": (rng.random(600) < 0.2 + 0.6 * hidden).astype(int),
    }
    families = {
        "heat": ss.emissions.Gaussian("full"),
        "clicks": ss.emissions.Poisson(),
        "mode": ss.emissions.Categorical(),
    }
    hmm = ss.EmissionHMM(2, families, random_state=0, max_iter=20, tol=-np.inf).fit(X)
    assert np.diff(hmm.info_["objective"]).min() > -1e-7
    agreed = (hmm.predict(X) == hidden).mean()
    assert max(agreed, 1 - agreed) > 0.97
    parts = hmm.model_.emission.parts
    total = sum(
        parts[name].log_density(np.asarray(X[name], float).reshape(600, -1)) for name in families
    )
    joined = hmm.model_.emission.log_density(np.column_stack([*X.values()]).astype(float))
    np.testing.assert_allclose(joined, total, rtol=1e-12)
    as_tuple = ss.EmissionHMM(2, tuple(families.values()), random_state=0, max_iter=20, tol=-np.inf)
    assert as_tuple.fit(tuple(X.values())).score(tuple(X.values())) == hmm.score(X)


@pytest.mark.parametrize(
    "estimator",
    [
        ss.GaussianHMM(2, covariance="low-rank"),
        ss.MixtureHMM(2, 2, covariance="tied"),
        ss.PoissonHMM(2, min_duration=2),
        ss.CategoricalHMM(2),
        ss.MultinomialHMM(2),
        ss.EmissionHMM(2, [ss.emissions.Poisson(), ss.emissions.Gaussian("diag")]),
    ],
    ids=lambda e: type(e).__name__,
)
def test_models_of_every_kind_are_saved_bit_for_bit(estimator, tmp_path):
    X = np.random.default_rng(5).integers(0, 4, (80, 2)).astype(float)
    hmm = clone(estimator).set_params(max_iter=3, random_state=0).fit(X)
    hmm.save(tmp_path / "m.sigma")
    loaded = ss.load(tmp_path / "m.sigma")
    assert loaded == hmm.model_
    assert (
        type(hmm).from_model(loaded).log_proba(X) == hmm.log_proba(X)
        if not isinstance(hmm, ss.EmissionHMM)
        else loaded.n_columns == 2
    )


def test_forecasts_go_to_the_long_run(stream):
    hmm = truth(np.random.default_rng(0))
    ahead = hmm.forecast(stream[0], 200)
    first = hmm.predict_proba(stream[0])[-1] @ MOVES
    np.testing.assert_allclose(ahead.states[0, 0], first, atol=1e-12)
    np.testing.assert_allclose(ahead.states[0, -1], np.ones(3) / 3, atol=1e-9)
    np.testing.assert_allclose(ahead.mean[0, -1], MEANS.mean(axis=0), atol=1e-6)


def test_an_odd_frame_surprises(stream):
    X = stream[0].copy()
    X[700] = [40.0, -40.0]
    assert truth(np.random.default_rng(0)).surprise(X).argmax() == 700


def test_samples_have_the_moments_of_the_model():
    hmm = truth(np.random.default_rng(0))
    X, Z = hmm.sample(40_000, 3)
    for k in range(3):
        np.testing.assert_allclose(X[Z == k].mean(axis=0), MEANS[k], atol=0.05)
        np.testing.assert_allclose(np.cov(X[Z == k].T), hmm.covars_[k], atol=0.06)
    pairs = np.zeros((3, 3))
    np.add.at(pairs, (Z[:-1], Z[1:]), 1)
    np.testing.assert_allclose(pairs / pairs.sum(axis=1, keepdims=True), MOVES, atol=0.02)
    assert hmm.sample(5, 0, currstate=2)[1][0] == 2


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"n_states": 0}, "n_states must be"),
        ({"covariance": "round"}, "covariance must be"),
        ({"structure": "tree"}, "structure must be"),
        ({"init": "magic"}, "init must be"),
        ({"min_duration": 0}, "min_duration must be"),
        ({"fixed_transitions": np.ones((2, 2))}, "fixed_transitions must leave every row"),
        ({"fixed_transitions": np.ones((3, 3)) / 3}, "fixed_transitions must have shape"),
        ({"fixed_variances": np.ones((2, 2))}, "fixed_variances must go with"),
        ({"frozen": ("rates",)}, "frozen must be"),
        ({"variance_floor": -1.0}, "variance_floor must be"),
    ],
)
def test_bad_parameters_are_named(settings, match):
    with pytest.raises(InvalidParameter, match=match):
        ss.GaussianHMM(2).set_params(**settings).fit(np.zeros((9, 2)))


def test_unknown_parameters_are_refused():
    with pytest.raises(TypeError, match=r"has no parameter 'n_iter' \(.* is max_iter here\)"):
        ss.GaussianHMM(2, n_iter=5)


@pytest.mark.parametrize(
    ("X", "match"),
    [
        ([], "at least one sequence"),
        (np.zeros((0, 2)), "at least one frame"),
        (np.array([[np.inf, 1.0]]), "finite or NaN"),
        ([np.zeros((3, 2)), np.zeros((3, 1))], "same number of values"),
        (np.full((4, 2), np.nan), "holds only NaN"),
        ([["a"]], "must be numbers"),
    ],
)
def test_bad_data_are_named(X, match):
    with pytest.raises(InvalidData, match=match):
        ss.GaussianHMM(1).fit(X)


def test_counts_and_codes_are_checked():
    with pytest.raises(InvalidData, match=r"whole numbers .* got 0\.5"):
        ss.PoissonHMM(2).fit(np.array([[0.5], [1.0]]))
    hmm = ss.CategoricalHMM(2, random_state=0).fit(np.random.default_rng(0).integers(0, 3, (60, 1)))
    with pytest.raises(InvalidData, match="codes of column 0 must be below 3"):
        hmm.predict(np.array([[3]]))
    assert np.isfinite(hmm.score(np.array([[0.0], [np.nan], [2.0]])))


def test_constant_and_tiny_data_do_not_break():
    for shape in SHAPES:
        hmm = ss.GaussianHMM(2, covariance=shape, random_state=0).fit(np.ones((6, 2)))
        assert np.isfinite(hmm.score(np.ones((6, 2))))
    assert np.isfinite(ss.GaussianHMM(3, random_state=0).fit(np.array([[1.0]])).score([[[1.0]]]))


def test_counts_of_a_frame_are_observed_together_or_not_at_all():
    X = np.array([[3.0, 1.0], [np.nan, np.nan], [0.0, 5.0], [4.0, 0.0]])
    hmm = ss.MultinomialHMM(2, random_state=0, max_iter=5).fit(X)
    density = hmm.model_.emission.log_density(X)
    np.testing.assert_array_equal(density[1], 0.0)
    oracle = [multinomial.logpmf(X[0], 4, p) for p in hmm.emissionprob_]
    np.testing.assert_allclose(density[0], oracle, rtol=1e-12)
    X[0, 0] = np.nan
    with pytest.raises(InvalidData, match="all be observed, or none"):
        hmm.score(X)


def test_entries_of_a_multinomial_that_are_fixed_stay():
    X = np.random.default_rng(0).multinomial(9, [0.5, 0.3, 0.2], 60)
    fixed = [[0.0, np.nan, np.nan], [np.nan, np.nan, 0.25]]
    hmm = ss.MultinomialHMM(2, fixed_table=fixed, transition_prior=2.0, max_iter=1, random_state=0)
    X[:30, 0] = 0
    table = hmm.fit(X).emissionprob_
    assert table[0, 0] == 0.0
    assert table[1, 2] == 0.25
    np.testing.assert_allclose(table.sum(axis=1), 1.0, atol=1e-12)


def test_draws_of_a_multinomial_have_its_moments():
    emission = ss.emissions.MultinomialEmission([[0.2, 0.8], [0.7, 0.3]], 10)
    rng = np.random.default_rng(0)
    drawn = emission.draw(np.ones(20_000, np.int64), rng)
    mean, variance = emission.moments()
    np.testing.assert_allclose(drawn.mean(axis=0), mean[1], atol=0.05)
    np.testing.assert_allclose(drawn.var(axis=0), variance[1], atol=0.08)
