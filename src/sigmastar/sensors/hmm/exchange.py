"""Models of hmmlearn, exactly: from theirs to ours and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from sigmastar.core.errors import InvalidModel, InvalidParameter
from sigmastar.core.extras import require
from sigmastar.core.types import FloatArray
from sigmastar.sensors.hmm.emissions import (
    CategoricalEmission,
    DiagonalGaussian,
    Emission,
    FactorGaussian,
    FullGaussian,
    MixtureEmission,
    MultinomialEmission,
    PoissonEmission,
)
from sigmastar.sensors.hmm.measurement_hmm import MeasurementHMM

__all__ = ["from_hmmlearn", "to_hmmlearn"]


def from_hmmlearn(hmm: Any) -> MeasurementHMM:
    """Return the model of a fitted object of hmmlearn.

    Parameters
    ----------
    hmm : GaussianHMM, GMMHMM, PoissonHMM, MultinomialHMM or CategoricalHMM of hmmlearn
        Also the variational ones, by the means of their posteriors.
    """
    kinds = {
        "GaussianHMM": _from_gaussian,
        "VariationalGaussianHMM": _from_gaussian,
        "GMMHMM": _from_mixture,
        "PoissonHMM": lambda h: PoissonEmission(h.lambdas_),
        "MultinomialHMM": lambda h: MultinomialEmission(_one(h.emissionprob_), _trials(h)),
        "CategoricalHMM": _from_categorical,
        "VariationalCategoricalHMM": _from_categorical,
    }
    name = type(hmm).__name__
    if name not in kinds:
        raise InvalidParameter(f"hmm must be one of hmmlearn's {', '.join(kinds)}; got {name}.")
    if not hasattr(hmm, "transmat_"):
        raise InvalidParameter(
            f"hmm must be fitted, or have its parameters set; this {name} has not."
        )
    return MeasurementHMM(_one(hmm.startprob_), _one(hmm.transmat_), kinds[name](hmm))


def _one(values: Any) -> FloatArray:
    """Return distributions as they are, rescaled only if a model would refuse them."""
    array = np.asarray(values, np.float64)
    sums = array.sum(axis=-1, keepdims=True)
    return array if np.abs(sums - 1.0).max() <= 1e-9 else np.asarray(array / sums, np.float64)


def _trials(hmm: Any) -> int:
    """Return how many counts a frame has; where their number differs, the mean."""
    given = getattr(hmm, "n_trials", None)
    return 1 if given is None else max(round(float(np.mean(given))), 1)


def _gaussians(means: FloatArray, covariances: FloatArray, kind: str) -> Emission:
    """Return Gaussians from hmmlearn's compact covariances; "tied" has one matrix a group."""
    n, d = means.shape
    if kind in ("diag", "spherical"):
        variances = np.broadcast_to(np.asarray(covariances).reshape(n, -1), (n, d))
        return DiagonalGaussian(means, variances, kind == "spherical")
    matrices = np.asarray(covariances).reshape(-1, d, d)
    return FullGaussian(means, matrices, np.arange(n) // (n // len(matrices)))


def _from_gaussian(hmm: Any) -> Emission:
    means = np.asarray(getattr(hmm, "means_", getattr(hmm, "means_posterior_", None)))
    compact = getattr(hmm, "_covars_", None)
    if compact is None:
        compact = hmm.covars_
    if hmm.covariance_type == "spherical":
        compact = np.asarray(compact).reshape(len(means), -1)[:, :1]
    return _gaussians(means, compact, hmm.covariance_type)


def _from_mixture(hmm: Any) -> Emission:
    n, m, d = hmm.means_.shape
    inner = _gaussians(hmm.means_.reshape(n * m, d), hmm.covars_, hmm.covariance_type)
    return MixtureEmission(_one(hmm.weights_), inner)


def _from_categorical(hmm: Any) -> Emission:
    table = getattr(hmm, "emissionprob_", None)
    if table is None:
        table = hmm.emissionprob_posterior_
    table = _one(table)
    return CategoricalEmission(table.T, np.array([0, table.shape[1]]))


def to_hmmlearn(model: MeasurementHMM) -> Any:
    """Return the object of hmmlearn that is the same model.

    Needs the package hmmlearn. States of several links, several emissions a step and covariances
    of low rank have no counterpart there; the last become full.
    """
    theirs = require("hmmlearn.hmm", "dev", "exporting to hmmlearn")
    if not model.is_plain:
        raise InvalidModel("hmmlearn has no states that last; export a model without min_duration.")
    emission = model.emission
    if isinstance(emission, FactorGaussian):
        emission = emission.whole
    n = model.n_states
    if isinstance(emission, (DiagonalGaussian, FullGaussian)):
        kind, covariances = _compact(emission)
        found = theirs.GaussianHMM(n, covariance_type=kind)
        found.means_ = np.array(emission.means)
        found.n_features = model.n_columns
        found.covars_ = covariances
    elif isinstance(emission, MixtureEmission):
        found = _to_mixture(theirs, emission)
    elif isinstance(emission, PoissonEmission):
        found = theirs.PoissonHMM(n)
        found.lambdas_ = np.array(emission.rates)
        found.n_features = model.n_columns
    elif isinstance(emission, MultinomialEmission):
        found = theirs.MultinomialHMM(n, n_trials=emission.trials)
        found.emissionprob_ = np.array(emission.table)
        found.n_features = model.n_columns
    elif isinstance(emission, CategoricalEmission) and emission.n_columns == 1:
        found = theirs.CategoricalHMM(n, n_features=len(emission.tables))
        found.emissionprob_ = emission.table(0)
    else:
        raise InvalidModel(f"hmmlearn has no counterpart of the emission {emission.name!r}.")
    found.startprob_ = np.array(model.initial)
    found.transmat_ = np.array(model.transitions)
    return found


def _compact(emission: DiagonalGaussian | FullGaussian) -> tuple[str, FloatArray]:
    if isinstance(emission, DiagonalGaussian):
        if emission.spherical:
            return "spherical", np.array(emission.variances[:, 0])
        return "diag", np.array(emission.variances)
    if len(emission.covariances) == 1 and emission.n_states > 1:
        return "tied", np.array(emission.covariances[0])
    return "full", np.array(emission.covariances[emission.groups])


def _to_mixture(theirs: Any, emission: MixtureEmission) -> Any:
    n, m = emission.weights.shape
    inner = emission.components
    if isinstance(inner, FactorGaussian):
        inner = inner.whole
    if not isinstance(inner, (DiagonalGaussian, FullGaussian)):
        raise InvalidModel(f"hmmlearn has no mixture of {inner.name!r}.")
    d = inner.n_columns
    kind, covariances = _compact(inner)
    if isinstance(inner, FullGaussian):
        tied = m > 1 and len(inner.covariances) == n
        kind = "tied" if tied else "full"
        covariances = np.array(inner.covariances if tied else inner.covariances[inner.groups])
    shape = {"spherical": (n, m), "diag": (n, m, d), "tied": (n, d, d), "full": (n, m, d, d)}[kind]
    found = theirs.GMMHMM(n, m, covariance_type=kind)
    found.weights_ = np.array(emission.weights)
    found.means_ = np.array(inner.means).reshape(n, m, d)
    found.covars_ = covariances.reshape(shape)
    found.n_features = d
    return found
