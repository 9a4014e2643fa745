"""Learners by name: what ``sigmastar learn --method`` and the benchmarks can run.

A method is an estimator class with some of its parameters fixed. To offer another, add one line.
Nothing heavy is imported before a method is built: the shell asks this table when it completes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sigmastar.core.errors import InvalidParameter

if TYPE_CHECKING:
    from sigmastar.automata.estimators.base import AutomatonEstimator
    from sigmastar.ngrams.predictor_estimator import PredictorEstimator

__all__ = ["METHODS", "LearningMethod", "find_method"]


@dataclass(frozen=True)
class LearningMethod:
    """An estimator by name; ``fixed`` overrides its defaults."""

    estimator: Callable[[], type[AutomatonEstimator | PredictorEstimator]]
    summary: str
    fixed: Mapping[str, Any] = field(default_factory=dict)

    def build(self, **options: Any) -> AutomatonEstimator | PredictorEstimator:
        """Make the estimator; options that are None keep their defaults.

        An option that the method does not have is refused.
        """
        kind = self.estimator()
        known = inspect.signature(kind).parameters
        given = {key: value for key, value in options.items() if value is not None}
        for key in given:
            if key not in known:
                raise InvalidParameter(
                    f"{key} must be left out: {kind.__name__} has no such parameter. It takes "
                    f"{', '.join(sorted(known))}."
                )
        return kind(**{**self.fixed, **given})


def _spectral() -> type[AutomatonEstimator]:
    from sigmastar.automata.estimators.spectral import SpectralWFA

    return SpectralWFA


def _convex() -> type[AutomatonEstimator]:
    from sigmastar.automata.estimators.convex import ConvexWFA

    return ConvexWFA


def _tensor() -> type[AutomatonEstimator]:
    from sigmastar.automata.estimators.tensor import TensorHMM

    return TensorHMM


def _separable() -> type[AutomatonEstimator]:
    from sigmastar.automata.estimators.separable import SeparablePFA

    return SeparablePFA


def _baum_welch_pfa() -> type[AutomatonEstimator]:
    from sigmastar.automata.estimators.baum_welch import BaumWelchPFA

    return BaumWelchPFA


def _baum_welch_hmm() -> type[AutomatonEstimator]:
    from sigmastar.automata.estimators.baum_welch import BaumWelchHMM

    return BaumWelchHMM


def _separable_baum_welch() -> type[AutomatonEstimator]:
    from sigmastar.automata.estimators.baum_welch import SeparableBaumWelch

    return SeparableBaumWelch


def _gibbs() -> type[AutomatonEstimator]:
    from sigmastar.automata.estimators.gibbs import GibbsPFA

    return GibbsPFA


def _auto() -> type[AutomatonEstimator]:
    from sigmastar.automata.estimators.auto import AutoWFA

    return AutoWFA


def _mixture() -> type[PredictorEstimator]:
    from sigmastar.automata.estimators.mixture import ContextMixture

    return ContextMixture


# Enough states for most problems; the number of steps is chosen on a held-out tenth.
_EM = {"n_states": 40, "max_iter": 200, "tol": 1e-5, "validation_fraction": 0.1, "random_state": 0}
_FROM_SEPARABLE = {**_EM, "n_states": 60, "restart_iter": 20, "patience": 12}

METHODS: Mapping[str, LearningMethod] = {
    name: LearningMethod(estimator, summary, fixed)
    for name, estimator, summary, fixed in (
        ("spectral", _spectral, "spectral, substring statistics", {}),
        ("spectral-prefix", _spectral, "spectral, prefix statistics", {"statistics": "prefix"}),
        ("spectral-string", _spectral, "spectral, string statistics", {"statistics": "string"}),
        ("convex", _convex, "nuclear-norm regression", {}),
        ("tensor", _tensor, "tensor decomposition of an HMM", {}),
        ("separable", _separable, "separable PFA", {}),
        ("em", _baum_welch_pfa, "Baum-Welch, PFA", _EM),
        ("em-hmm", _baum_welch_hmm, "Baum-Welch, HMM", _EM),
        ("bw-sep", _separable_baum_welch, "Baum-Welch from a separable PFA", _FROM_SEPARABLE),
        ("gibbs", _gibbs, "collapsed Gibbs sampling, PFA", {"n_states": 20}),
        ("auto", _auto, "the best within a time budget", {}),
        ("mixture", _mixture, "n-grams, other contexts and automata, mixed", {}),
    )
}


def find_method(name: str) -> LearningMethod:
    """Return a method by name."""
    if name not in METHODS:
        raise InvalidParameter(f"method must be one of {', '.join(METHODS)}; got {name!r}.")
    return METHODS[name]
