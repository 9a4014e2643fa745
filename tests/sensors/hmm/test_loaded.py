"""A model read from a file answers all that the estimator answers that learned it."""

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.core.errors import InvalidData

RNG = np.random.default_rng(7)
X = RNG.normal(size=(60, 2)) + np.repeat([[0.0, 0.0], [4.0, 1.0], [0.0, 0.0]], 20, axis=0)
COUNTS = np.round(np.abs(X))
FEW = {"max_iter": 3, "random_state": 0}
BOTH = {"speed": X[:, :1], "gear": COUNTS[:, 1:] % 3}
FAMILIES = {"speed": ss.emissions.Gaussian("diag"), "gear": ss.emissions.Categorical()}
COVARIANCES = ("full", "diag", "tied", "spherical", "low-rank")
ESTIMATORS = [
    *((ss.GaussianHMM(2, covariance=covariance, **FEW), X) for covariance in COVARIANCES),
    (ss.GaussianHMM(2, min_duration=3, **FEW), X),
    (ss.MixtureHMM(2, n_components=2, **FEW), X),
    (ss.PoissonHMM(2, **FEW), COUNTS),
    (ss.MultinomialHMM(2, **FEW), COUNTS),
    (ss.CategoricalHMM(2, **FEW), COUNTS[:, :1] % 3),
    (ss.EmissionHMM(2, FAMILIES, **FEW), BOTH),
]
QUESTIONS = {
    "predict": lambda asked, data: asked.predict(data),
    "predict by frame": lambda asked, data: asked.predict(data, algorithm="map"),
    "predict_proba": lambda asked, data: asked.predict_proba(data),
    "decode": lambda asked, data: np.append(*asked.decode(data)),
    "score": lambda asked, data: asked.score(data),
    "score_samples": lambda asked, data: asked.score_samples(data)[1],
    "log_proba": lambda asked, data: asked.log_proba([data, data]),
    "surprise": lambda asked, data: asked.surprise(data),
    "forecast": lambda asked, data: np.hstack([part.ravel() for part in forecast(asked, data)]),
    "sample": lambda asked, data: np.column_stack(asked.sample(9, random_state=3)),
    "sample_states": lambda asked, data: asked.sample_states(data, 4, random_state=3),
    "bic": lambda asked, data: asked.bic(data),
    "aic": lambda asked, data: asked.aic(data),
}


def forecast(asked, data):
    found = asked.forecast(data, 3)
    return found.states, found.mean, found.deviation


@pytest.mark.parametrize(("estimator", "data"), ESTIMATORS, ids=lambda v: type(v).__name__)
def test_a_loaded_model_answers_as_its_estimator(estimator, data, tmp_path):
    estimator.fit(data)
    estimator.save(tmp_path / "m.sigma")
    model = ss.load(tmp_path / "m.sigma")
    assert isinstance(model, ss.MeasurementHMM)
    assert model == estimator.model_
    for name, ask in QUESTIONS.items():
        np.testing.assert_array_equal(ask(model, data), ask(estimator, data), err_msg=name)
    rows = np.column_stack([data[name] for name in FAMILIES]) if isinstance(data, dict) else data
    one, other = model.stream(lag=1), estimator.stream(lag=1)
    for row in rows[:4]:
        np.testing.assert_array_equal(one.push_proba(row), other.push_proba(row))


def test_a_loaded_model_refuses_frames_of_another_width():
    model = ss.GaussianHMM(2, **FEW).fit(X).model_
    with pytest.raises(InvalidData, match="2 values each"):
        model.predict(X[:, :1])
