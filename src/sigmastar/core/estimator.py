"""What every estimator shares: parameter rules as data, and a model that can be saved.

An estimator stores its arguments untouched, checks them in ``fit`` against ``_rules`` and leaves
all work to a pure ``learn_*`` function, whose result it keeps in ``model_`` and ``info_``. One that
is a dataclass (``eq=False, repr=False``; all parameters but the first by keyword) inherits its
parameters as it inherits its rules.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sigmastar.core.rules import Rule, check_all

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["ModelEstimator", "RuledEstimator"]

S = TypeVar("S", bound="DataclassInstance")


class RuledEstimator(BaseEstimator):
    """An estimator whose parameters have rules."""

    _rules: ClassVar[Mapping[str, Rule]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        """Let a class keep the rules of the classes it extends, and add its own."""
        super().__init_subclass__(**options)
        inherited = [vars(base).get("_rules", {}) for base in reversed(cls.__mro__)]
        cls._rules = {name: rule for rules in inherited for name, rule in rules.items()}

    def _check_parameters(self) -> None:
        """Raise :class:`InvalidParameter` for the first parameter that breaks its rule."""
        check_all(self.get_params(deep=False), self._rules)

    def _settings(self, kind: type[S]) -> S:
        """Gather the parameters that a record of settings names."""
        return kind(
            **{f.name: getattr(self, f.name) for f in fields(kind) if hasattr(self, f.name)}
        )


class ModelEstimator(RuledEstimator):
    """An estimator that learns one model, and can write it to a file."""

    model_: Any
    info_: Mapping[str, Any]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the learned model, and how it came about, to a file.

        :func:`sigmastar.load` reads the model back; :func:`sigmastar.write_report` also draws what
        ``info_`` recorded.
        """
        check_is_fitted(self, "model_")
        self.model_.save(path, history={"method": type(self).__name__, **self.info_})
