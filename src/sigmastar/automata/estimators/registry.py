"""Learners by name: what ``sigmastar learn --method`` and the benchmarks can run.

A method is an estimator class with some of its parameters fixed. To offer another, add one line.
Other packages offer theirs by an entry point of the group ``sigmastar.learners``: its name is the
method's, and it leads to a class (or a function that makes an object) with ``fit`` and then an
automaton as ``model_``.
Nothing heavy is imported before a method is built: the shell asks this table when it completes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from sigmastar.core.errors import InvalidParameter

if TYPE_CHECKING:
    from sigmastar.automata.estimators.base import AutomatonEstimator
    from sigmastar.ngrams.predictor_estimator import PredictorEstimator

__all__ = ["GROUP", "METHODS", "LearningMethod", "find_method", "offered_by_others"]

GROUP = "sigmastar.learners"  # of entry points
_USUAL = ("random_state", "unknown")


@dataclass(frozen=True)
class LearningMethod:
    """An estimator by name; ``fixed`` overrides its defaults."""

    estimator: str
    summary: str
    fixed: Mapping[str, Any] = field(default_factory=dict)
    maker: Callable[..., Any] | None = None  # of another package

    def parameters(self) -> list[str]:
        """Name what it can be built with."""
        return sorted(inspect.signature(self._kind()).parameters)

    def build(self, **options: Any) -> Any:
        """Make the estimator; options that are None keep their defaults.

        An option that the method does not have is refused.
        """
        kind, known = self._kind(), self.parameters()
        given = {key: value for key, value in options.items() if value is not None}
        # What every command passes: n-grams draw nothing, and others need not know of it.
        given = {k: v for k, v in given.items() if k in known or k not in _USUAL}
        for key in given:
            if key not in known:
                name = getattr(kind, "__name__", kind)
                raise InvalidParameter(
                    f"{key} must be left out: {name} has no such parameter. It takes "
                    f"{', '.join(known)}."
                )
        return kind(**{**self.fixed, **given})

    def _kind(self) -> Callable[..., Any]:
        return _estimator(self.estimator) if self.maker is None else self.maker


def _estimator(name: str) -> type[AutomatonEstimator | PredictorEstimator]:
    """Return a class by name, its module imported only now."""
    from sigmastar.automata.estimators.auto import AutoWFA
    from sigmastar.automata.estimators.baum_welch import BaumWelchHMM, BaumWelchPFA
    from sigmastar.automata.estimators.convex import ConvexWFA
    from sigmastar.automata.estimators.gibbs import GibbsPFA
    from sigmastar.automata.estimators.merged import MergedPFA
    from sigmastar.automata.estimators.mixture import ContextMixture
    from sigmastar.automata.estimators.moment_baum_welch import (
        SeparableBaumWelch,
        TensorBaumWelch,
    )
    from sigmastar.automata.estimators.separable import SeparablePFA
    from sigmastar.automata.estimators.spectral import SpectralWFA
    from sigmastar.automata.estimators.tensor import TensorHMM
    from sigmastar.ngrams.estimator import KneserNey

    kinds: tuple[type[AutomatonEstimator | PredictorEstimator], ...] = (
        SpectralWFA,
        ConvexWFA,
        TensorHMM,
        SeparablePFA,
        BaumWelchPFA,
        BaumWelchHMM,
        SeparableBaumWelch,
        TensorBaumWelch,
        GibbsPFA,
        MergedPFA,
        AutoWFA,
        ContextMixture,
        KneserNey,
    )
    return next(kind for kind in kinds if kind.__name__ == name)


# Enough states for most problems; the number of steps is chosen on a held-out tenth.
_EM = {"n_states": 40, "max_iter": 200, "tol": 1e-5, "validation_fraction": 0.1, "random_state": 0}
_FROM_SEPARABLE = {**_EM, "n_states": 60, "restart_iter": 20, "patience": 12}

# No more states than symbols, so many steps cost little.
_FROM_TENSOR = {**_FROM_SEPARABLE, "n_states": 40}
_CLOSED = {"completion": "closed-form"}
_JOINT = {"decomposition": "joint-schur"}
_COUPLED = {"coupled": True}

METHODS: Mapping[str, LearningMethod] = {
    name: LearningMethod(estimator, summary, fixed)
    for name, estimator, summary, fixed in (
        ("spectral", "SpectralWFA", "spectral, substring statistics", {}),
        ("spectral-prefix", "SpectralWFA", "spectral, prefix statistics", {"statistics": "prefix"}),
        ("spectral-string", "SpectralWFA", "spectral, string statistics", {"statistics": "string"}),
        ("convex", "ConvexWFA", "nuclear-norm regression", {}),
        ("tensor", "TensorHMM", "tensor decomposition of an HMM", {}),
        ("tensor-closed", "TensorHMM", "the same, all in closed form as published", _CLOSED),
        ("joint-schur", "TensorHMM", "joint Schur decomposition of an HMM", _JOINT),
        ("separable", "SeparablePFA", "separable PFA", {}),
        ("separable-coupled", "SeparablePFA", "the same, one constraint a state", _COUPLED),
        ("em", "BaumWelchPFA", "Baum-Welch, PFA", _EM),
        ("em-hmm", "BaumWelchHMM", "Baum-Welch, HMM", _EM),
        ("bw-sep", "SeparableBaumWelch", "Baum-Welch from a separable PFA", _FROM_SEPARABLE),
        ("em-tensor", "TensorBaumWelch", "Baum-Welch from a tensor decomposition", _FROM_TENSOR),
        ("gibbs", "GibbsPFA", "collapsed Gibbs sampling, PFA", {"n_states": 20}),
        ("merged", "MergedPFA", "state merging, a deterministic PFA", {}),
        ("auto", "AutoWFA", "the best within a time budget", {}),
        ("mixture", "ContextMixture", "n-grams, other contexts and automata, mixed", {}),
        ("kneser-ney", "KneserNey", "n-grams with Kneser-Ney smoothing", {}),
    )
}


def find_method(name: str) -> LearningMethod:
    """Return a method by name."""
    if name in METHODS:
        return METHODS[name]
    others = {point.name: point for point in entry_points(group=GROUP)}
    if name not in others:
        known = ", ".join([*METHODS, *others])
        raise InvalidParameter(f"method must be one of {known}; got {name!r}.")
    point = others[name]
    try:
        maker = point.load()
    except Exception as error:  # whatever another package does when it is imported
        raise InvalidParameter(
            f"method {name!r} of the entry point {point.value!r} cannot be loaded: {error}."
        ) from error
    if not callable(maker):
        raise InvalidParameter(
            f"method {name!r} must be a class with fit, or a function that makes an object with "
            f"it; the entry point {point.value!r} is {maker!r}."
        )
    return LearningMethod(point.value, f"{name} ({point.value})", {}, maker)


def offered_by_others() -> list[str]:
    """Return the names of the methods that other packages offer."""
    return sorted(point.name for point in entry_points(group=GROUP))
