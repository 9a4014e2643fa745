"""Learners by name: what ``sigmastar learn --method`` and the benchmarks can run.

A method is an estimator class with some of its parameters fixed. To offer another, add one line.
Nothing heavy is imported before a method is built: the shell asks this table when it completes.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sigmastar.core.errors import InvalidParameter

if TYPE_CHECKING:
    from sigmastar.automata.estimators.base import AutomatonEstimator
    from sigmastar.ngrams.predictor import PredictorEstimator

__all__ = ["METHODS", "Method", "find_method"]


@dataclass(frozen=True)
class Method:
    """An estimator by name; ``fixed`` overrides its defaults."""

    module: str
    name: str
    summary: str
    fixed: Mapping[str, Any] = field(default_factory=dict)

    def build(self, **options: Any) -> AutomatonEstimator | PredictorEstimator:
        """Make the estimator; options that are None keep their defaults.

        An option that the method does not have is refused.
        """
        kind = getattr(import_module(f"sigmastar.automata.estimators.{self.module}"), self.name)
        known = inspect.signature(kind).parameters
        given = {key: value for key, value in options.items() if value is not None}
        for key in given:
            if key not in known:
                raise InvalidParameter(
                    f"{key} must be left out: {self.name} has no such parameter. It takes "
                    f"{', '.join(sorted(known))}."
                )
        estimator: AutomatonEstimator | PredictorEstimator = kind(**{**self.fixed, **given})
        return estimator


# Enough states for most problems; the number of steps is chosen on a held-out tenth.
_EM = {"n_states": 40, "max_iter": 200, "tol": 1e-5, "validation_fraction": 0.1, "random_state": 0}

METHODS: Mapping[str, Method] = {
    "spectral": Method("spectral", "SpectralWFA", "spectral, substring statistics"),
    "spectral-prefix": Method(
        "spectral", "SpectralWFA", "spectral, prefix statistics", {"statistics": "prefix"}
    ),
    "spectral-string": Method(
        "spectral", "SpectralWFA", "spectral, string statistics", {"statistics": "string"}
    ),
    "convex": Method("convex", "ConvexWFA", "nuclear-norm regression"),
    "tensor": Method("tensor", "TensorHMM", "tensor decomposition of an HMM"),
    "separable": Method("separable", "SeparablePFA", "separable PFA"),
    "em": Method("baum_welch", "BaumWelchPFA", "Baum-Welch, PFA", _EM),
    "em-hmm": Method("baum_welch", "BaumWelchHMM", "Baum-Welch, HMM", _EM),
    "bw-sep": Method(
        "baum_welch",
        "SeparableBaumWelch",
        "Baum-Welch from a separable PFA",
        {**_EM, "n_states": 60, "restart_iter": 20, "patience": 12},
    ),
    "gibbs": Method("gibbs", "GibbsPFA", "collapsed Gibbs sampling, PFA", {"n_states": 20}),
    "auto": Method("auto", "AutoWFA", "the best within a time budget"),
    "mixture": Method("mixture", "ContextMixture", "n-grams, other contexts and automata, mixed"),
}


def find_method(name: str) -> Method:
    """Return a method by name."""
    if name not in METHODS:
        raise InvalidParameter(f"method must be one of {', '.join(METHODS)}; got {name!r}.")
    return METHODS[name]
