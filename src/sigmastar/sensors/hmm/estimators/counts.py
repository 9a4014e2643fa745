"""HMMs over counts, codes, and several emissions a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from sigmastar.core.errors import InvalidParameter
from sigmastar.core.rules import Real, Rule
from sigmastar.core.types import FloatArray
from sigmastar.sensors.hmm.data import Measurements, as_measurements
from sigmastar.sensors.hmm.emissions.base import Family
from sigmastar.sensors.hmm.emissions.counts import Categorical, Poisson
from sigmastar.sensors.hmm.emissions.multinomial import Multinomial
from sigmastar.sensors.hmm.emissions.several import Several
from sigmastar.sensors.hmm.estimators.base import MeasurementEstimator

__all__ = ["CategoricalHMM", "EmissionHMM", "MultinomialHMM", "PoissonHMM"]


@dataclass(eq=False, repr=False)
class PoissonHMM(MeasurementEstimator):
    """A hidden Markov model over counts, with a rate for every state and column.

    Parameters
    ----------
    n_states : int or "auto"
        Hidden states.
    prior_sum, prior_count : float
        Gamma prior: as if ``prior_count`` frames with a sum of ``prior_sum`` had been seen.
    fixed_rates : array (n_states, n_columns), optional
        Entries that stay, NaN where EM decides.
    init, max_iter, structure, frozen, random_state, …
        What all HMMs over measurements have: see :class:`MeasurementEstimator`.
    """

    _rules: ClassVar[Mapping[str, Rule]] = {
        "prior_sum": Real(low=0.0),
        "prior_count": Real(low=0.0),
    }
    _names: ClassVar[tuple[str, ...]] = ("rates",)

    _: KW_ONLY
    prior_sum: float = 0.0
    prior_count: float = 0.0
    fixed_rates: ArrayLike | None = None

    def _family(self, data: Measurements) -> Family[Any]:
        return Poisson(self.prior_sum, self.prior_count, self.fixed_rates, self._emission_frozen())

    @property
    def lambdas_(self) -> FloatArray:
        """Rates of the states, by hmmlearn's name."""
        rates: FloatArray = self.model_.emission.rates  # type: ignore[attr-defined]
        return rates


@dataclass(eq=False, repr=False)
class MultinomialHMM(MeasurementEstimator):
    """A hidden Markov model over counts of several kinds, whose total tells nothing of the state.

    Parameters
    ----------
    n_states : int or "auto"
        Hidden states.
    table_prior : float
        Dirichlet prior of every state's probabilities; 1 is none.
    fixed_table : array (n_states, n_columns), optional
        Entries that stay, NaN where EM decides.
    init, max_iter, structure, frozen, random_state, …
        What all HMMs over measurements have: see :class:`MeasurementEstimator`.

    Examples
    --------
    >>> import numpy as np
    >>> words = np.repeat([[9, 1, 0], [1, 2, 7]], 20, axis=0)
    >>> np.sort(MultinomialHMM(2, random_state=0).fit(words).emissionprob_[:, 0]).round(1)
    array([0.1, 0.9])
    """

    _rules: ClassVar[Mapping[str, Rule]] = {"table_prior": Real(low=0.0)}
    _names: ClassVar[tuple[str, ...]] = ("table",)

    _: KW_ONLY
    table_prior: float = 1.0
    fixed_table: ArrayLike | None = None

    def _family(self, data: Measurements) -> Family[Any]:
        return Multinomial(self.table_prior, self.fixed_table, self._emission_frozen())

    @property
    def emissionprob_(self) -> FloatArray:
        """Probabilities (n_states, n_columns) of the kinds, by hmmlearn's name."""
        table: FloatArray = self.model_.emission.table  # type: ignore[attr-defined]
        return table


@dataclass(eq=False, repr=False)
class CategoricalHMM(MeasurementEstimator):
    """A hidden Markov model over codes 0, 1, …, one or several columns of them.

    For sequences of any symbols, with ends, see :class:`sigmastar.BaumWelchHMM`.

    Parameters
    ----------
    n_states : int or "auto"
        Hidden states.
    n_categories : int or sequence of int, optional
        How many codes a column has; by default one more than its largest.
    table_prior : float
        Dirichlet prior of the tables; 1 is none.
    fixed_tables : array (n_states, n_codes), optional
        Entries that stay, NaN where EM decides.
    init, max_iter, structure, frozen, random_state, …
        What all HMMs over measurements have: see :class:`MeasurementEstimator`.
    """

    _rules: ClassVar[Mapping[str, Rule]] = {"table_prior": Real(low=0.0)}
    _names: ClassVar[tuple[str, ...]] = ("tables",)

    _: KW_ONLY
    n_categories: int | Sequence[int] | None = None
    table_prior: float = 1.0
    fixed_tables: ArrayLike | None = None

    def _family(self, data: Measurements) -> Family[Any]:
        return Categorical(
            self.n_categories, self.table_prior, self.fixed_tables, self._emission_frozen()
        )

    @property
    def emissionprob_(self) -> FloatArray:
        """Probabilities (n_states, n_codes) of the only column, by hmmlearn's name."""
        emission: Any = self.model_.emission
        table: FloatArray = emission.table(0) if emission.n_columns == 1 else emission.tables.T
        return table


@dataclass(eq=False, repr=False)
class EmissionHMM(MeasurementEstimator):
    """A hidden Markov model with several emissions a step, of any families.

    Parameters
    ----------
    n_states : int or "auto"
        Hidden states.
    emissions : mapping or sequence of Family
        What is emitted, by name: ``{"speed": ss.emissions.Gaussian("diag"), "gear":
        ss.emissions.Categorical()}``. Given the state they are independent.
    init, max_iter, structure, frozen, random_state, …
        What all HMMs over measurements have: see :class:`MeasurementEstimator`.

    Notes
    -----
    Data are a mapping (or a tuple) of arrays with the same names, or a list of those, one for each
    sequence. ``frozen`` names ``"initial"`` and ``"transitions"``; emissions have their own.
    """

    emissions: Mapping[str, Family[Any]] | Sequence[Family[Any]] = ()

    def _families(self) -> dict[str, Family[Any]]:
        given = self.emissions
        named = (
            dict(given) if isinstance(given, Mapping) else {str(i): f for i, f in enumerate(given)}
        )
        wrong = [name for name, family in named.items() if not isinstance(family, Family)]
        if not named or wrong or any("." in name for name in named):
            raise InvalidParameter(
                "emissions must be families such as ss.emissions.Gaussian('diag'), by name (no "
                f"dots in it) or in order; got {given!r}."
            )
        return named

    def _measured(self, X: Any, lengths: ArrayLike | None) -> Measurements:
        names = list(self._families())
        data = as_measurements(X, lengths, parts=names)
        self._last_widths = self._widths(X, names, data.values.shape[1])
        return data

    def _widths(self, X: Any, names: list[str], total: int) -> tuple[int, ...]:
        """Return how many columns each emission takes."""
        one = X[0] if isinstance(X, list) and len(X) else X
        if isinstance(one, Mapping):
            parts = [one[name] for name in names]
        elif isinstance(one, tuple):
            parts = list(one)
        elif total == len(names):
            return (1,) * total
        else:
            raise InvalidParameter(
                f"X must be a mapping or tuple of {len(names)} arrays, one for each emission, or "
                f"have one column for each; it has {total} columns."
            )
        return tuple(1 if np.ndim(part) == 1 else np.shape(part)[1] for part in parts)

    def _family(self, data: Measurements) -> Family[Any]:
        return Several(self._families(), self._last_widths)
