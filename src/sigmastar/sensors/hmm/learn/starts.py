"""Where EM starts: moments, k-means, random frames, segments, and what is labelled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.sensors.hmm.data import Measurements
from sigmastar.sensors.hmm.emissions.base import Family
from sigmastar.sensors.hmm.inference.smooth import smooth
from sigmastar.sensors.hmm.learn.moments import (
    FrameMoments,
    frame_moments,
    moment_chain,
    standard_points,
)
from sigmastar.sensors.hmm.measurement_hmm import MeasurementHMM
from sigmastar.sensors.hmm.structure import ChainRules

__all__ = ["MOST_FRAMES", "STARTS", "Starter"]

STARTS = ("auto", "moments", "kmeans", "random")
MOST_FRAMES = 200_000  # frames that a start is made from
_MOST_CLUSTERED = 20_000


@dataclass
class Starter:
    """Makes starts for any number of states; points and moments are found once.

    Parameters
    ----------
    data : Measurements
        All data, or those of the leading parts; starts are made from the leading sequences where
        there are many.
    family : Family
        Emissions, prepared.
    rng : Generator
        Randomness of all starts.
    """

    data: Measurements
    family: Family[Any]
    rng: np.random.Generator

    def __post_init__(self) -> None:
        self.part = _leading(self.data)
        self.points = standard_points(self.part)
        self._moments: dict[int, FrameMoments] = {}

    def moments(self, n_states: int) -> FrameMoments:
        """Return the moments, with centres enough for this many states."""
        wanted = max(32, 2 ** int(np.ceil(np.log2(5 * n_states))))
        wanted = int(min(wanted, max(len(self.points) // 10, n_states + 1)))
        if wanted not in self._moments:
            self._moments[wanted] = frame_moments(self.part, self.points, wanted, self.rng)
        return self._moments[wanted]

    def found_correlations(self) -> list[float]:
        """Return the singular values of the moments, if a start asked for them."""
        last = next(reversed(self._moments.values()), None)
        return [] if last is None else [float(value) for value in last.correlations[:50]]

    def start(self, kind: str, n_states: int, rules: ChainRules) -> MeasurementHMM:
        """Return a start of one kind: "moments", "kmeans" or "random"."""
        moves = None
        known = self.part.states
        if rules.ordered:
            weights = _segments(self.part.offsets, n_states)
            if kind == "random":
                weights = weights + self.rng.random(weights.shape)
                weights /= weights.sum(axis=1, keepdims=True)
        elif kind == "moments" and known is None:
            chain = moment_chain(self.moments(n_states), n_states, self.rng)
            if chain is None:
                return self.start("kmeans", n_states, rules)
            coded = Measurements(
                self.moments(n_states).codes[:, None].astype(np.float64), self.part.offsets
            )
            weights = smooth(chain, coded).posterior
            moves = chain.transitions
        else:
            weights = np.eye(n_states)[self._nearest(kind, n_states)]
        if known is not None:
            at = known >= 0
            weights[at] = np.eye(n_states)[known[at]]
        emission = self.family.start(self.part.values, weights)
        if moves is None:
            moves = _counted(weights, self.part)
        begun = weights[self.part.offsets[:-1]].sum(axis=0) + 0.5
        initial, transitions = rules.started(begun / begun.sum(), moves)
        return MeasurementHMM(initial, transitions, emission, rules.emits)

    def _nearest(self, kind: str, n_states: int) -> IndexArray:
        """Return the nearest of some centres: means of clusters, frames drawn, labelled means."""
        sample = self.points
        if len(sample) > _MOST_CLUSTERED:
            sample = sample[self.rng.choice(len(sample), _MOST_CLUSTERED, replace=False)]
        if kind == "random":
            drawn = self.rng.choice(len(sample), n_states, replace=len(sample) < n_states)
            centres = sample[drawn]
        else:
            seed = int(self.rng.integers(2**31))
            n = min(n_states, len(np.unique(sample, axis=0)))
            with threadpool_limits(1):
                centres = KMeans(n, n_init=1, random_state=seed).fit(sample).cluster_centers_
            if n < n_states:
                centres = np.vstack([centres, centres[np.arange(n_states - n) % n]])
        if self.part.states is not None:
            centres = _labelled(centres, self.points, self.part.states)
        distance = (centres**2).sum(axis=1) - 2.0 * self.points @ centres.T
        return np.asarray(distance.argmin(axis=1), np.int64)


def _leading(data: Measurements) -> Measurements:
    """Return the leading sequences, or the beginning of the first, of many frames."""
    if data.n_frames <= MOST_FRAMES:
        return data
    whole = int(np.searchsorted(data.offsets, MOST_FRAMES, side="right")) - 1
    if whole >= 1:
        return data.take(np.arange(whole))
    states = None if data.states is None else data.states[:MOST_FRAMES]
    return Measurements(data.values[:MOST_FRAMES], np.array([0, MOST_FRAMES]), states)


def _labelled(centres: FloatArray, points: FloatArray, states: IndexArray) -> FloatArray:
    """Put the means of labelled frames first; other states take the centres farthest from them."""
    n = len(centres)
    named = np.unique(states[states >= 0])
    found = np.full_like(centres, np.nan)
    for state in named:
        found[state] = points[states == state].mean(axis=0)
    for state in np.setdiff1d(np.arange(n), named):
        chosen = found[~np.isnan(found[:, 0])]
        away = ((centres[:, None] - chosen[None]) ** 2).sum(axis=2).min(axis=1, initial=np.inf)
        found[state] = centres[int(away.argmax())]
    return found


def _segments(offsets: IndexArray, n_states: int) -> FloatArray:
    """Return weights that cut every sequence into as many equal segments as there are states."""
    lengths = np.diff(offsets)
    place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
    at = place * n_states // np.repeat(lengths, lengths)
    return np.asarray(np.eye(n_states)[at], np.float64)


def _counted(weights: FloatArray, data: Measurements) -> FloatArray:
    """Return transitions as the weights have them, none of them zero."""
    inner = np.flatnonzero(~data.marks.begins)
    counts = weights[inner - 1].T @ weights[inner] + 1.0
    return np.asarray(counts / counts.sum(axis=1, keepdims=True), np.float64)
