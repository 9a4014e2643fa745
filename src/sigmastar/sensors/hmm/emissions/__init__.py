"""What states emit: Gaussians, mixtures, counts, codes, and several of them a step.

``Gaussian``, ``Mixture``, ``Poisson``, ``Multinomial``, ``Categorical`` are families: they say
what to learn, and go into :class:`~sigmastar.sensors.hmm.estimators.counts.EmissionHMM`. What has
been learned is an emission such as ``FullGaussian``.
"""

from sigmastar.sensors.hmm.emissions.base import EMISSIONS, Emission, Family
from sigmastar.sensors.hmm.emissions.counts import (
    Categorical,
    CategoricalEmission,
    Poisson,
    PoissonEmission,
)
from sigmastar.sensors.hmm.emissions.diagonal import DiagonalGaussian
from sigmastar.sensors.hmm.emissions.factors import FactorGaussian
from sigmastar.sensors.hmm.emissions.full import FullGaussian
from sigmastar.sensors.hmm.emissions.gaussian import Gaussian
from sigmastar.sensors.hmm.emissions.mixture import Mixture, MixtureEmission
from sigmastar.sensors.hmm.emissions.multinomial import Multinomial, MultinomialEmission
from sigmastar.sensors.hmm.emissions.several import Several, SeveralEmission

__all__ = [
    "EMISSIONS",
    "Categorical",
    "CategoricalEmission",
    "DiagonalGaussian",
    "Emission",
    "FactorGaussian",
    "Family",
    "FullGaussian",
    "Gaussian",
    "Mixture",
    "MixtureEmission",
    "Multinomial",
    "MultinomialEmission",
    "Poisson",
    "PoissonEmission",
    "Several",
    "SeveralEmission",
]
