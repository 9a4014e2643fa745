"""What a chain may do: structures by name, entries that stay, states that last.

All of it is one array of entries for the initial distribution and one for the transitions: NaN
where EM decides, a number where that number stays. Left-to-right is a triangle of zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sigmastar.core.errors import InvalidParameter
from sigmastar.core.rules import Choice, Integer, check
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.sensors.hmm.emissions.base import completed, log_of

__all__ = ["STRUCTURES", "ChainRules", "chain_rules"]

STRUCTURES = ("full", "left-to-right", "linear", "cyclic", "banded", "tied")
_SURE = 1e-12


@dataclass(frozen=True)
class ChainRules:
    """What is decided of a chain before it is learned.

    Attributes
    ----------
    structure : str
        One of ``STRUCTURES``.
    emits : array (n_links,)
        The state of each link.
    initial, transitions : arrays
        Entries that stay; NaN where EM decides.
    initial_prior, transition_prior : float or array
        Dirichlet priors; 1 is none.
    frozen : tuple of str
        Of "initial" and "transitions": what stays as it started.
    """

    structure: str
    emits: IndexArray
    initial: FloatArray
    transitions: FloatArray
    initial_prior: Any = 1.0
    transition_prior: Any = 1.0
    frozen: tuple[str, ...] = ()

    @property
    def ordered(self) -> bool:
        """Whether states come one after the other, so that a start cuts sequences into segments."""
        return self.structure in ("left-to-right", "linear")

    def started(self, initial: FloatArray, moves: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Spread a guess of states over the links; what is free shares what is left."""
        guess = np.where(np.diff(self.emits, prepend=-1) != 0, initial[self.emits], 0.0)
        between = moves[np.ix_(self.emits, self.emits)]
        return (
            completed(guess[None], self.initial[None])[0],
            self._same(completed(between, self.transitions)),
        )

    def maximised(
        self, old: tuple[FloatArray, FloatArray], starts: FloatArray, moves: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the distributions of greatest expected log probability, and prior."""
        initial, transitions = old
        if "initial" not in self.frozen:
            counts = np.where(initial > 0, np.maximum(starts + self.initial_prior - 1.0, 0.0), 0.0)
            initial = completed(counts[None], self.initial[None], initial[None])[0]
        if "transitions" not in self.frozen:
            counts = np.maximum(moves + self.transition_prior - 1.0, 0.0)
            counts = np.where(transitions > 0, counts, 0.0)
            if self.structure == "tied":
                transitions = self._same(counts)
            else:
                transitions = completed(counts, self.transitions, transitions)
        return initial, transitions

    def _same(self, weights: FloatArray) -> FloatArray:
        """With "tied": every state stays with one probability, and leaves to any other alike."""
        n = len(weights)
        if self.structure != "tied" or n == 1:
            return weights
        stay = np.trace(weights) / weights.sum()
        leave = (1.0 - stay) / (n - 1)
        return np.asarray(np.where(np.eye(n) > 0, stay, leave), np.float64)

    def n_tied(self, n_links: int) -> int:
        """Return how many numbers fewer are free than entries of the chain are not zero."""
        fixed = int((self.transitions > 0).sum() + (self.initial > 0).sum())
        if self.structure == "tied":
            return n_links * (n_links - 1) - 1
        whole_rows = int((~np.isnan(self.transitions)).all(axis=1).sum())
        whole_rows += int((~np.isnan(self.initial)).all())
        return fixed - whole_rows

    def log_prior(self, initial: FloatArray, transitions: FloatArray) -> float:
        """Return the log density of the Dirichlet priors, without their constants."""
        total = 0.0
        for prior, values in ((self.initial_prior, initial), (self.transition_prior, transitions)):
            excess = np.broadcast_to(np.asarray(prior, np.float64) - 1.0, values.shape)
            used = (excess != 0) & (values > 0)
            total += float((excess[used] * log_of(values[used])).sum())
        return total


def chain_rules(
    n_states: int,
    *,
    structure: str = "full",
    bandwidth: int = 1,
    min_duration: int | Sequence[int] = 1,
    fixed_initial: ArrayLike | None = None,
    fixed_transitions: ArrayLike | None = None,
    initial_prior: Any = 1.0,
    transition_prior: Any = 1.0,
    frozen: tuple[str, ...] = (),
) -> ChainRules:
    """Turn what a user says of the chain into arrays; check that it can be kept."""
    check("structure", structure, Choice(*STRUCTURES))
    check("bandwidth", bandwidth, Integer(low=1))
    lasting = np.asarray(min_duration)
    if lasting.dtype.kind not in "iu" or lasting.ndim > 1 or (lasting < 1).any():
        raise InvalidParameter(
            "min_duration must be frames of at least 1, one number or one a state; "
            f"got {min_duration!r}."
        )
    if lasting.ndim == 1 and len(lasting) != n_states:
        raise InvalidParameter(
            f"min_duration must give one number for each of {n_states} states; got {len(lasting)}."
        )
    durations = np.broadcast_to(lasting, (n_states,))
    if structure == "tied" and (durations > 1).any():
        raise InvalidParameter(
            "min_duration must be 1 with structure='tied'; use another structure."
        )
    initial = _given("fixed_initial", fixed_initial, (n_states,))
    moves = _given("fixed_transitions", fixed_transitions, (n_states, n_states))
    if structure != "tied":
        moves = np.where(_barred(structure, n_states, bandwidth) & np.isnan(moves), 0.0, moves)
    elif fixed_transitions is not None:
        raise InvalidParameter("fixed_transitions must be None with structure='tied'.")
    if structure in ("left-to-right", "linear") and fixed_initial is None:
        initial = np.eye(n_states)[0]
    _check_room("fixed_initial", initial[None])
    _check_room("fixed_transitions", moves)
    emits = np.repeat(np.arange(n_states), durations)
    n = len(emits)
    first = np.concatenate([[0], np.cumsum(durations)[:-1]])
    last = first + durations - 1
    links = np.zeros((n, n))
    for k in range(n_states):
        for link in range(first[k], last[k]):
            links[link, link + 1] = 1.0
        links[last[k], first] = moves[k]
        links[last[k], first[k]] = 0.0
        links[last[k], last[k]] = moves[k, k]
    begins = np.zeros(n)
    begins[first] = initial
    return ChainRules(
        structure, emits.astype(np.int64), begins, links, initial_prior, transition_prior, frozen
    )


def _barred(structure: str, n: int, bandwidth: int) -> Any:
    """Return which moves a structure rules out."""
    step = np.arange(n)[None, :] - np.arange(n)[:, None]
    if structure == "left-to-right":
        return step < 0
    if structure == "linear":
        return (step < 0) | (step > 1)
    if structure == "cyclic":
        return (step % n != 0) & (step % n != 1)
    if structure == "banded":
        return np.abs(step) > bandwidth
    return np.zeros((n, n), np.bool_)


def _given(name: str, value: ArrayLike | None, shape: tuple[int, ...]) -> FloatArray:
    if value is None:
        return np.full(shape, np.nan)
    try:
        array = np.array(value, np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidParameter(f"{name} must be numbers, NaN where free: {error}.") from None
    if array.shape != shape:
        raise InvalidParameter(f"{name} must have shape {shape}; got {array.shape}.")
    if (array < 0).any() or (array > 1).any():
        raise InvalidParameter(f"{name} must lie between 0 and 1, NaN where free.")
    return array


def _check_room(name: str, rows: FloatArray) -> None:
    sums = np.nansum(rows, axis=1)
    whole = ~np.isnan(rows).any(axis=1)
    bad = np.atleast_1d((sums > 1.0 + _SURE) | (whole & (np.abs(sums - 1.0) > 1e-9)))
    if bad.any():
        at = int(np.argmax(bad))
        none_free = not np.isnan(rows[at]).any()
        raise InvalidParameter(
            f"{name} must leave every row a sum of 1; row {at} comes to {sums[at]:.6g}"
            f"{' with nothing free' if none_free else ''}. Lower an entry, or free one with NaN."
        )
