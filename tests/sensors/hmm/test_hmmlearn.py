"""Every step of EM equals hmmlearn's from the same start; models go there and back."""

import numpy as np
import pytest
from hmmlearn import hmm as theirs

import sigmastar as ss
from sensors.hmm.oracles import random_chain, random_covariances
from sigmastar.core.errors import InvalidParameter

STEPS = 12


def make_data(rng, kind="gauss"):
    lengths = np.array([200, 1, 350, 2, 60])
    hidden = np.repeat(rng.integers(0, 3, 70), 9)[: lengths.sum()]
    if kind == "counts":
        return rng.poisson(np.array([[1, 8], [6, 2], [12, 12]])[hidden]), lengths
    if kind == "codes":
        return ((hidden * 2 + rng.integers(0, 3, len(hidden))) % 7)[:, None], lengths
    return rng.normal(size=(len(hidden), 3)) + np.array([[-2], [0], [2.5]])[hidden], lengths


def prepared(hmm, rng, **arrays):
    hmm.startprob_, hmm.transmat_ = random_chain(hmm.n_components, rng, 3.0)
    for name, value in arrays.items():
        setattr(hmm, name, value)
    return hmm


def assert_same_steps(ours, hmm, X, lengths, rtol=1e-8):
    """Fit both from hmmlearn's parameters and compare the log-likelihood of every step."""
    start = ss.from_hmmlearn(hmm)
    ours.set_params(n_states=start.n_states, init=start, max_iter=STEPS, tol=-np.inf)
    ours.fit(X, lengths=lengths)
    hmm.fit(X, lengths)
    np.testing.assert_allclose(ours.info_["log_likelihood"], hmm.monitor_.history, rtol=rtol)
    assert len(hmm.monitor_.history) == STEPS
    value, path = hmm.decode(X, lengths)
    our_value, our_path = ours.decode(X, lengths=lengths)
    np.testing.assert_allclose(our_value, value, rtol=1e-8)
    if X.dtype.kind == "f":  # paths over few codes may tie
        assert np.array_equal(our_path, path)
    np.testing.assert_allclose(
        ours.predict_proba(X, lengths=lengths), hmm.predict_proba(X, lengths), atol=1e-7
    )
    np.testing.assert_allclose(ours.score(X, lengths=lengths), hmm.score(X, lengths), rtol=1e-8)


COMMON = {"n_iter": STEPS, "tol": -np.inf, "init_params": ""}


# hmmlearn's "scaling" gives up on the tied start below: "forward pass failed with underflow".
@pytest.mark.parametrize(
    ("kind", "implementation"),
    [("full", "log"), ("diag", "log"), ("tied", "log"), ("spherical", "log"), ("full", "scaling")],
)
def test_gaussian_steps(kind, implementation):
    rng = np.random.default_rng(0)
    X, lengths = make_data(rng)
    full = random_covariances(3, 3, rng)
    covars = {
        "full": full,
        "diag": np.abs(rng.normal(size=(3, 3))) + 0.5,
        "tied": full[0],
        "spherical": np.array([1.0, 2.0, 0.7]),
    }[kind]
    hmm = prepared(
        theirs.GaussianHMM(3, kind, implementation=implementation, **COMMON),
        rng,
        means_=rng.normal(size=(3, 3)),
        covars_=covars,
    )
    # hmmlearn adds its prior of 0.01 to every entry of a matrix, not to the diagonal alone.
    prior = np.full((3, 3), 1e-2) if kind in ("full", "tied") else 1e-2
    ours = ss.GaussianHMM(covariance=kind, variance_floor=0.0, scatter_prior=prior)
    assert_same_steps(ours, hmm, X, lengths)


def test_gaussian_steps_with_priors():
    rng = np.random.default_rng(1)
    X, lengths = make_data(rng)
    hmm = prepared(
        theirs.GaussianHMM(
            3,
            "diag",
            startprob_prior=2.0,
            transmat_prior=3.0,
            means_prior=0.5,
            means_weight=4.0,
            covars_prior=0.3,
            covars_weight=6.0,
            **COMMON,
        ),
        rng,
        means_=rng.normal(size=(3, 3)),
        covars_=np.ones((3, 3)),
    )
    ours = ss.GaussianHMM(
        covariance="diag",
        variance_floor=0.0,
        initial_prior=2.0,
        transition_prior=3.0,
        mean_prior=0.5,
        mean_weight=4.0,
        scatter_prior=0.3,
        count_prior=5.0,
    )
    assert_same_steps(ours, hmm, X, lengths)
    assert ours.info_["smallest_gain"] > -1e-9  # of likelihood and prior together


@pytest.mark.parametrize("kind", ["full", "diag", "tied", "spherical"])
def test_mixture_steps(kind):
    rng = np.random.default_rng(2)
    X, lengths = make_data(rng)
    n, m, d = 2, 3, 3
    full = random_covariances(n * m, d, rng)
    covars = {
        "full": full.reshape(n, m, d, d),
        "diag": np.ones((n, m, d)),
        "tied": full[:n],
        "spherical": np.ones((n, m)),
    }[kind]
    hmm = prepared(
        theirs.GMMHMM(n, m, covariance_type=kind, **COMMON),
        rng,
        weights_=rng.dirichlet(np.ones(m), n),
        means_=rng.normal(size=(n, m, d)) * 2,
        covars_=covars,
    )
    count = (d - m) / d if kind == "spherical" else 0.0
    ours = ss.MixtureHMM(
        n_components=m, covariance=kind, variance_floor=0.0, about="old", count_prior=count
    )
    assert_same_steps(ours, hmm, X, lengths)


def test_poisson_steps():
    rng = np.random.default_rng(3)
    X, lengths = make_data(rng, "counts")
    hmm = prepared(theirs.PoissonHMM(3, **COMMON), rng, lambdas_=rng.uniform(1, 9, (3, 2)))
    assert_same_steps(ss.PoissonHMM(), hmm, X, lengths)


def test_multinomial_steps(caplog):
    rng = np.random.default_rng(8)
    _, lengths = make_data(rng)
    hidden = np.repeat(rng.integers(0, 3, 70), 9)[: lengths.sum()]
    X = rng.multinomial(12, rng.dirichlet(np.ones(4), 3)[hidden])
    hmm = prepared(
        theirs.MultinomialHMM(3, n_trials=12, **COMMON),
        rng,
        emissionprob_=rng.dirichlet(np.ones(4), 3),
        n_features=4,
    )
    assert_same_steps(ss.MultinomialHMM(), hmm, X, lengths)


@pytest.mark.parametrize("prior", [1.0, 1.5])
def test_categorical_steps(prior):
    rng = np.random.default_rng(4)
    X, lengths = make_data(rng, "codes")
    hmm = prepared(
        theirs.CategoricalHMM(3, emissionprob_prior=prior, **COMMON),
        rng,
        emissionprob_=rng.dirichlet(np.ones(7), 3),
    )
    assert_same_steps(ss.CategoricalHMM(table_prior=prior), hmm, X, lengths)


def test_params_are_what_is_not_frozen():
    rng = np.random.default_rng(5)
    X, lengths = make_data(rng)
    hmm = prepared(
        theirs.GaussianHMM(3, "diag", params="tm", covars_prior=0.0, **COMMON),
        rng,
        means_=rng.normal(size=(3, 3)),
        covars_=np.ones((3, 3)),
    )
    ours = ss.GaussianHMM(covariance="diag", frozen=("initial", "covariances"))
    assert_same_steps(ours, hmm, X, lengths)


@pytest.mark.parametrize("kind", ["full", "diag", "tied", "spherical"])
@pytest.mark.parametrize("mixed", [False, True])
def test_models_go_there_and_back(kind, mixed):
    rng = np.random.default_rng(6)
    X, lengths = make_data(rng)
    ours = (ss.MixtureHMM(2, 2) if mixed else ss.GaussianHMM(3)).set_params(
        covariance=kind, max_iter=5, random_state=0
    )
    ours.fit(X, lengths=lengths)
    there = ss.to_hmmlearn(ours.model_)
    np.testing.assert_allclose(there.score(X, lengths), ours.score(X, lengths=lengths), rtol=1e-10)
    back = ss.from_hmmlearn(there)
    for name, array in ours.model_.to_stored().arrays.items():
        np.testing.assert_allclose(back.to_stored().arrays[name], array, rtol=1e-14)


def test_counts_and_codes_go_there_and_back():
    rng = np.random.default_rng(7)
    kinds = (
        (ss.PoissonHMM(2), "counts"),
        (ss.CategoricalHMM(2), "codes"),
        (ss.MultinomialHMM(2), "counts"),
    )
    for estimator, kind in kinds:
        X, lengths = make_data(rng, kind)
        if isinstance(estimator, ss.MultinomialHMM):
            X = np.column_stack([X[:, 0] % 7, 6 - X[:, 0] % 7])  # hmmlearn wants equal totals
        estimator.set_params(max_iter=4, random_state=0).fit(X, lengths=lengths)
        there = ss.to_hmmlearn(estimator.model_)
        theirs_score = there.score(X.astype(int), lengths)
        np.testing.assert_allclose(theirs_score, estimator.score(X, lengths=lengths), rtol=1e-10)
        assert ss.from_hmmlearn(there) == estimator.model_


def test_what_cannot_be_brought_over_is_named():
    with pytest.raises(InvalidParameter, match=r"one of hmmlearn's .* got dict"):
        ss.from_hmmlearn({})
    with pytest.raises(InvalidParameter, match="must be fitted"):
        ss.from_hmmlearn(theirs.PoissonHMM(2))
