"""The questions one asks of a model, by the names of scikit-learn and hmmlearn.

A fitted estimator and the model itself, loaded or made by hand, answer the same ones.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.rules import Choice, Integer, check
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.corpus.frames import split_rows
from sigmastar.sensors.hmm.data import Measurements
from sigmastar.sensors.hmm.inference.ahead import Forecast, draw_states, forecast, sample
from sigmastar.sensors.hmm.inference.decode import decode
from sigmastar.sensors.hmm.inference.smooth import log_masses, sequence_sums, smooth
from sigmastar.sensors.hmm.inference.stream import StateStream
from sigmastar.sensors.hmm.model import StateModel

__all__ = ["Asking"]


class Asking:
    """Scores, states, forecasts and samples of the model that :meth:`_asked` gives."""

    @abstractmethod
    def _asked(self) -> StateModel:
        """Return the model that answers, or say that there is none yet."""

    @abstractmethod
    def _measured(self, X: Any, lengths: ArrayLike | None) -> Measurements:
        """Take measurements in whatever form they come."""

    def _data(self, X: Any, lengths: ArrayLike | None) -> Measurements:
        data = self._measured(X, lengths)
        data.check_width(self._asked().n_columns)
        return data

    @staticmethod
    def _shaped(values: Any, data: Measurements, X: Any, lengths: ArrayLike | None) -> Any:
        """Return one array for one array, a list for a list of sequences."""
        listed = lengths is None and (
            isinstance(X, list) or (isinstance(X, np.ndarray) and X.ndim == 3)
        )
        return split_rows(values, data.offsets) if listed else values

    def predict(
        self, X: Any, *, lengths: ArrayLike | None = None, algorithm: str = "viterbi"
    ) -> Any:
        """Give every frame its state.

        Parameters
        ----------
        X : array (frames, columns), or list of such arrays
            One sequence or several.
        algorithm : {"viterbi", "map"}
            The likeliest path, or the likeliest state of each frame by itself.

        Returns
        -------
        array of int, or a list of them if X is a list
        """
        check("algorithm", algorithm, Choice("viterbi", "map"))
        data = self._data(X, lengths)
        if algorithm == "map":
            states: IndexArray = self._posterior(data).argmax(axis=1)
        else:
            states = decode(self._asked(), data).states.astype(np.int64)
        return self._shaped(states, data, X, lengths)

    def _posterior(self, data: Measurements) -> FloatArray:
        found = smooth(self._asked(), data).posterior
        return found if self._asked().is_plain else found @ self._asked().membership

    def predict_proba(self, X: Any, *, lengths: ArrayLike | None = None) -> Any:
        """Give the probability of every state at every frame, all frames considered."""
        data = self._data(X, lengths)
        return self._shaped(self._posterior(data), data, X, lengths)

    def decode(
        self, X: Any, *, lengths: ArrayLike | None = None, algorithm: str = "viterbi"
    ) -> tuple[float, Any]:
        """Return the log probability of the path found, and its states, as hmmlearn does.

        With ``algorithm="map"`` the first is the expected number of frames whose state is right.
        """
        check("algorithm", algorithm, Choice("viterbi", "map"))
        data = self._data(X, lengths)
        if algorithm == "map":
            table = self._posterior(data)
            value = float(table.max(axis=1).sum())
            return value, self._shaped(table.argmax(axis=1), data, X, lengths)
        found = decode(self._asked(), data)
        states = self._shaped(found.states.astype(np.int64), data, X, lengths)
        return float(found.log_probability.sum()), states

    def log_proba(self, X: Any, *, lengths: ArrayLike | None = None) -> FloatArray:
        """Return the log-likelihood of every sequence."""
        data = self._data(X, lengths)
        return sequence_sums(log_masses(self._asked(), data), data.offsets)

    def score(self, X: Any, y: Any = None, *, lengths: ArrayLike | None = None) -> float:
        """Return the log-likelihood of all sequences together."""
        return float(self.log_proba(X, lengths=lengths).sum())

    def score_samples(self, X: Any, *, lengths: ArrayLike | None = None) -> tuple[float, Any]:
        """Return the log-likelihood of all sequences, and the probabilities of their states."""
        data = self._data(X, lengths)
        found = smooth(self._asked(), data)
        table = found.posterior
        table = table if self._asked().is_plain else table @ self._asked().membership
        return float(found.log_likelihood.sum()), self._shaped(table, data, X, lengths)

    def surprise(self, X: Any, *, lengths: ArrayLike | None = None) -> Any:
        """Return -log P(frame | frames before it) of every frame: large where something is odd."""
        data = self._data(X, lengths)
        return self._shaped(-log_masses(self._asked(), data), data, X, lengths)

    def forecast(self, X: Any, k: int = 1, *, lengths: ArrayLike | None = None) -> Forecast:
        """Say what the next k frames of every sequence will be like."""
        check("k", k, Integer(low=1))
        return forecast(self._asked(), self._data(X, lengths), int(k))

    def sample(
        self, n_samples: int = 1, random_state: RandomState = None, currstate: int | None = None
    ) -> tuple[FloatArray, IndexArray]:
        """Draw a sequence of frames, and the states behind it.

        Parameters
        ----------
        n_samples : int
            Frames.
        random_state : int, Generator, …
            Randomness.
        currstate : int, optional
            The state of the first frame.
        """
        check("n_samples", n_samples, Integer(low=1))
        return sample(self._asked(), int(n_samples), as_generator(random_state), currstate)

    def sample_states(
        self,
        X: Any,
        n_draws: int = 1,
        random_state: RandomState = None,
        *,
        lengths: ArrayLike | None = None,
    ) -> IndexArray:
        """Draw paths of states given the frames: array (n_draws, n_frames)."""
        check("n_draws", n_draws, Integer(low=1))
        return draw_states(
            self._asked(), self._data(X, lengths), int(n_draws), as_generator(random_state)
        )

    def bic(self, X: Any, *, lengths: ArrayLike | None = None) -> float:
        """Return the Bayesian information criterion; lower is better."""
        data = self._data(X, lengths)
        cost = self._asked().n_parameters() * np.log(data.n_frames)
        return float(cost - 2.0 * log_masses(self._asked(), data).sum())

    def aic(self, X: Any, *, lengths: ArrayLike | None = None) -> float:
        """Return Akaike's information criterion; lower is better."""
        data = self._data(X, lengths)
        total = log_masses(self._asked(), data).sum()
        return float(2.0 * self._asked().n_parameters() - 2.0 * total)

    def stream(self, lag: int = 0) -> StateStream:
        """Open a stream that gives states frame by frame, ``lag`` frames late."""
        return StateStream(self._asked(), lag)

    @property
    def startprob_(self) -> FloatArray:
        """Initial probabilities, by hmmlearn's name."""
        return np.asarray(self._asked().initial @ self._asked().membership, np.float64)

    @property
    def transmat_(self) -> FloatArray:
        """Transitions between states, by hmmlearn's name."""
        return self._asked().moves()
