"""Hidden Markov models over measurements, which answer every question themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from sigmastar.sensors.hmm.asking import Asking
from sigmastar.sensors.hmm.data import Measurements, as_measurements
from sigmastar.sensors.hmm.emissions.several import SeveralEmission
from sigmastar.sensors.hmm.model import StateModel

__all__ = ["MeasurementHMM"]


@dataclass(frozen=True, eq=False, repr=False)
class MeasurementHMM(Asking, StateModel):
    """A hidden Markov model whose emissions are measurements.

    A state may have several links of the chain, all with the state's emission: that is how a
    state can be made to last. Without such structure links are states.

    Parameters
    ----------
    initial : array (n_links,)
        Probability of each link at the first frame.
    transitions : array (n_links, n_links)
        Probability of the next link (columns) after each link (rows).
    emission : Emission
        How likely frames are in each state.
    emits : array of int (n_links,), optional
        The state of each link; by default they are the same.
    names : sequence of str, optional
        What the states are called.
    columns : sequence of str, optional
        What the numbers of a frame are called.

    Examples
    --------
    >>> import numpy as np
    >>> import sigmastar as ss
    >>> walk = np.repeat([[0.0], [5.0], [0.0]], 10, axis=0)
    >>> model = ss.GaussianHMM(2, random_state=0).fit(walk).model_
    >>> states = model.predict(walk)
    >>> bool(states[0] == states[-1] != states[15])
    True
    >>> model.forecast(walk, 2).mean.shape
    (1, 2, 1)
    """

    kind: ClassVar[str] = "MeasurementHMM"

    def _asked(self) -> StateModel:
        return self

    def _measured(self, X: Any, lengths: ArrayLike | None) -> Measurements:
        emission = self.emission
        parts = list(emission.parts) if isinstance(emission, SeveralEmission) else None
        return as_measurements(X, lengths, parts=parts)
