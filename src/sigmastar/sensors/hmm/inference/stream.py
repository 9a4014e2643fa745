"""Frames as they come: the state now, the state a few frames ago, and how odd a frame was."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sigmastar.core.errors import InvalidData
from sigmastar.core.rules import Integer, check
from sigmastar.core.types import FloatArray
from sigmastar.sensors.hmm.model import StateModel

__all__ = ["Now", "StateStream"]


class Now(NamedTuple):
    """What a stream says after a frame.

    ``probabilities`` are those of the states ``lag`` frames ago (None until there are so many);
    ``surprise`` is -log P(this frame | all before).
    """

    probabilities: FloatArray | None
    surprise: float


class StateStream:
    """Filters one stream, or smooths it with a fixed lag.

    Parameters
    ----------
    model : StateModel
        The model.
    lag : int
        Frames to wait before a state is given; 0 gives it at once. What is given equals
        smoothing of all frames so far.
    """

    def __init__(self, model: StateModel, lag: int = 0) -> None:
        check("lag", lag, Integer(low=0))
        self.model = model
        self.lag = lag
        self.reset()

    def reset(self) -> None:
        """Forget the stream so far, as at the beginning of a new sequence."""
        self._state: FloatArray | None = None
        self._recent: deque[tuple[FloatArray, FloatArray]] = deque(maxlen=self.lag + 1)

    def push(self, frame: ArrayLike) -> Now:
        """Read one frame; NaN is what was not observed."""
        try:
            values = np.asarray(frame, np.float64).reshape(1, -1)
        except (TypeError, ValueError):  # text, or rows of different lengths
            values = np.empty((1, 0))
        if values.shape[1] != self.model.n_columns or np.isinf(values).any():
            raise InvalidData(
                f"a frame must be {self.model.n_columns} numbers, finite or NaN; got {frame!r}."
            )
        self.model.emission.check_values(values)
        logs = self.model.emission.log_density(values)[0][self.model.emits]
        came = self.model.initial if self._state is None else self._state @ self.model.transitions
        # The largest of what can be: no state that is possible is lost to one that is not.
        top = logs[came > 0].max()
        if not np.isfinite(top):
            return Now(None if self.lag else np.asarray(came @ self.model.membership), np.inf)
        with np.errstate(over="ignore", under="ignore"):
            likelihood = np.exp(np.minimum(logs - top, 700.0))
        joint = np.where(came > 0, came * likelihood, 0.0)
        mass = joint.sum()
        self._state = joint / mass
        self._recent.append((self._state, np.where(came > 0, likelihood, 0.0)))
        return Now(self._smoothed(), -(float(np.log(mass)) + float(top)))

    def push_proba(self, frame: ArrayLike) -> FloatArray | None:
        """Read one frame; return the probabilities of the states ``lag`` frames ago."""
        return self.push(frame).probabilities

    def rest(self) -> list[FloatArray]:
        """Return the probabilities of the last ``lag`` frames, once the stream has ended."""
        return [
            self._back_to(i) for i in range(max(len(self._recent) - self.lag, 0), len(self._recent))
        ]

    def _smoothed(self) -> FloatArray | None:
        return self._back_to(0) if len(self._recent) > self.lag else None

    def _back_to(self, place: int) -> FloatArray:
        """Smooth one of the recent frames by all that came after it."""
        future = np.ones(self.model.n_links)
        for _, likelihood in list(self._recent)[:place:-1]:
            future = self.model.transitions @ (likelihood * future)
            future /= max(future.sum(), 1e-300)
        both = self._recent[place][0] * future
        return np.asarray((both / both.sum()) @ self.model.membership, np.float64)
