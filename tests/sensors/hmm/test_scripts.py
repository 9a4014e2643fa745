"""Scripts of hmmlearn's kind run after the changes that the documentation names."""

import numpy as np
import pytest

import sigmastar as ss


def weather(rng, n=600):
    """Return days of two regimes: wet or dry, and what was measured."""
    hidden = np.repeat(rng.integers(0, 2, n // 10), 10)
    return hidden, rng.normal(np.where(hidden, 18.0, 9.0)[:, None], [2.0, 1.0])


def test_sampling_from_a_model_made_by_hand():
    """As hmmlearn's "sampling from HMM": parameters set, frames drawn, decoded again."""
    model = ss.GaussianHMM.from_parameters(
        initial=[0.6, 0.3, 0.1, 0.0],
        transitions=[
            [0.7, 0.2, 0.0, 0.1],
            [0.3, 0.5, 0.2, 0.0],
            [0.0, 0.3, 0.5, 0.2],
            [0.2, 0.0, 0.2, 0.6],
        ],
        means=[[0.0, 0.0], [0.0, 11.0], [9.0, 10.0], [11.0, -1.0]],
        covariances=np.tile(0.5 * np.eye(2), (4, 1, 1)),
    )
    X, Z = model.sample(500, random_state=0)
    scores = []
    for n in (2, 3, 4):
        for seed in range(2):
            fitted = ss.GaussianHMM(n, covariance="diag", max_iter=10, random_state=seed).fit(
                X[:250]
            )
            scores.append((fitted.score(X[250:]), n))
    assert max(scores)[1] == 4
    assert (model.predict(X) == Z).all()


def test_learning_and_choosing_by_bic():
    _, X = weather(np.random.default_rng(0))
    found = {n: ss.GaussianHMM(n, max_iter=40, random_state=1).fit(X).bic(X) for n in (1, 2, 3)}
    assert min(found, key=found.get) == 2


def test_counts_of_earthquakes():
    """As hmmlearn's "Poisson HMM on earthquakes": counts in one column, a few rates."""
    rng = np.random.default_rng(1)
    hidden = np.repeat(rng.integers(0, 3, 40), 12)
    X = rng.poisson(np.array([12, 20, 35])[hidden])[:, None]
    model = ss.PoissonHMM(3, n_restarts=4, max_iter=100, random_state=0).fit(X)
    np.testing.assert_allclose(np.sort(model.lambdas_[:, 0]), [12, 20, 35], rtol=0.12)
    assert model.predict(X).shape == (480,)


def test_a_dishonest_casino():
    """As hmmlearn's "dishonest casino": codes, a loaded die that rarely comes into play."""
    rng = np.random.default_rng(2)
    made = ss.CategoricalHMM.from_model(
        ss.MeasurementHMM(
            [1.0, 0.0],
            [[0.95, 0.05], [0.1, 0.9]],
            ss.emissions.CategoricalEmission(
                np.array([[1 / 6] * 6, [0.1] * 5 + [0.5]]).T, np.array([0, 6])
            ),
        )
    )
    rolls, loaded = made.sample(6000, rng)
    model = ss.CategoricalHMM(2, init=made.model_, max_iter=50).fit(rolls)
    np.testing.assert_allclose(model.emissionprob_[1, 5], 0.5, atol=0.06)
    assert (model.predict(rolls) == loaded).mean() > 0.75


def test_topics_of_sentences():
    """As hmmlearn's "multinomial HMM": counts of a few words in every sentence, two topics."""
    rng = np.random.default_rng(5)
    topics = np.repeat(rng.integers(0, 2, 30), 8)
    chances = np.array([[0.5, 0.3, 0.1, 0.1], [0.1, 0.1, 0.4, 0.4]])
    X = np.array([rng.multinomial(5, chances[topic]) for topic in topics])
    model = ss.MultinomialHMM(2, max_iter=50, random_state=0).fit(X, lengths=[120, 120])
    states = model.predict(X, lengths=[120, 120])
    assert max((states == topics).mean(), (states != topics).mean()) > 0.93
    np.testing.assert_allclose(
        np.sort(model.emissionprob_[:, 0]), np.sort(chances[:, 0]), atol=0.06
    )


def test_a_mixture_a_state_and_lengths():
    rng = np.random.default_rng(3)
    hidden = np.repeat(rng.integers(0, 2, 50), 12)
    part = rng.integers(0, 2, 600)
    X = rng.normal(np.column_stack([hidden * 8.0 + part * 3.0, part - hidden * 1.0]), 0.5)
    model = ss.MixtureHMM(2, n_components=2, covariance="diag", random_state=0)
    log_probability, states = model.fit(X, lengths=[300, 300]).decode(X, lengths=[300, 300])
    assert np.isfinite(log_probability)
    agreed = (states == hidden).mean()
    assert max(agreed, 1 - agreed) > 0.99


@pytest.mark.parametrize("algorithm", ["viterbi", "map"])
def test_every_way_to_decode(algorithm):
    hidden, X = weather(np.random.default_rng(4))
    model = ss.GaussianHMM(2, random_state=0).fit(X)
    _, states = model.decode(X, algorithm=algorithm)
    assert np.array_equal(states, model.predict(X, algorithm=algorithm))
    assert max((states == hidden).mean(), (states != hidden).mean()) > 0.97
    total, table = model.score_samples(X)
    assert total == pytest.approx(model.score(X), rel=1e-12)
    np.testing.assert_allclose(table.sum(axis=1), 1.0, rtol=1e-12)
