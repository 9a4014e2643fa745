"""Choose the settings of a spectral tagger on held-out sequences.

One factorisation of the moments serves every number of states, and shrinking needs none, so a grid
costs one tagger for each kernel width, sharpness and ridge.

Where features are out-of-fold probabilities, training sequences judge along with the held-out ones:
the few weights of such a tagger hardly fit them, and a held-out share alone may hold a handful of
errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

import numpy as np

from sigmastar.core.errors import InvalidParameter
from sigmastar.core.progress import stage
from sigmastar.core.types import Learned
from sigmastar.corpus.frames import Frames
from sigmastar.sensors.features.extractor import Extractor
from sigmastar.sensors.inference.passes import smooth_labels
from sigmastar.sensors.inference.tag import count_right
from sigmastar.sensors.learn.spectral import Method, learn_from_frames
from sigmastar.sensors.model import ContinuousTagger

__all__ = ["Chosen", "Settings", "choose_settings", "first_settings", "learn_with_settings"]

_DIAGNOSED = 1000  # training frames whose scores are looked at for negative ones


@dataclass(frozen=True)
class Settings:
    """What there is to choose; ``tau`` None leaves the kernel width as it is."""

    n_states: int
    tau: float | None
    sharpness: float
    ridge: float
    memory: float


@dataclass(frozen=True)
class Chosen:
    """The best settings, and the accuracy of all that were tried."""

    settings: Settings
    table: list[dict[str, Any]]


def first_settings(grid: Mapping[str, list[Any]]) -> Settings:
    """Give the first value of everything."""
    return Settings(**{name: values[0] for name, values in grid.items()})


def choose_settings(
    grid: Mapping[str, list[Any]],
    extractor: Extractor,
    held: Frames,
    unlabelled: Frames | None,
    method: Method,
    decoding: str,
) -> Chosen:
    """Score every combination on held-out sequences; the first of equally good ones is chosen.

    Parameters
    ----------
    grid : mapping
        The values to try of each field of :class:`Settings`.
    extractor : Extractor
        Features, fitted on the frames to learn from.
    held : Frames
        Labelled frames to judge by.
    unlabelled : Frames, optional
        More frames, for the moments that need no labels.
    method, decoding
        How taggers are learned, and how their labels are read.
    """
    table: list[dict[str, Any]] = []
    tuned_by = list(product(grid["tau"], grid["sharpness"], grid["ridge"]))
    with stage("Choosing by validation", len(tuned_by)) as progress:
        for tau, sharpness, ridge in tuned_by:
            tuned = extractor.with_settings(tau, sharpness)
            own = tuned.training_frames()
            more = None if unlabelled is None else tuned.of(unlabelled)
            model = _largest(grid["n_states"], own, more, method, ridge)
            judges = [tuned.of(held), own] if tuned.partition else [tuned.of(held)]
            n_judged = sum(len(judge.values) for judge in judges)
            for n_states, memory in product(grid["n_states"], grid["memory"]):
                if n_states > model.n_states:
                    continue
                smaller = model.truncated(n_states).shrunk(memory)
                right = sum(count_right(smaller, judge, decoding) for judge in judges)
                tried = {"tau": tau, "sharpness": sharpness, "ridge": ridge}
                tried |= {"n_states": n_states, "memory": memory, "accuracy": right / n_judged}
                table.append(tried)
            progress.advance()
    best = max(table, key=lambda row: float(row["accuracy"]))
    return Chosen(Settings(**{name: best[name] for name in grid}), table)


def _largest(
    sizes: list[int], own: Frames, more: Frames | None, method: Method, ridge: float
) -> ContinuousTagger:
    """Learn the largest of some sizes that the frames have moments for."""
    fitting = sorted({size for size in sizes if size <= own.n_inputs} or {min(sizes)})
    while True:
        size = fitting.pop()
        try:
            return learn_from_frames(own, more, method, n_states=size, ridge=ridge).model
        except InvalidParameter:  # their rank is smaller than that
            if not fitting:
                raise


def learn_with_settings(
    extractor: Extractor, unlabelled: Frames | None, method: Method, settings: Settings
) -> Learned[ContinuousTagger]:
    """Learn from the frames an extractor was fitted on; tell how often scores are negative."""
    tuned = extractor.with_settings(settings.tau, settings.sharpness)
    own = tuned.training_frames()
    more = None if unlabelled is None else tuned.of(unlabelled)
    learned = learn_from_frames(own, more, method, n_states=settings.n_states, ridge=settings.ridge)
    model = learned.model.shrunk(settings.memory)
    n_seen = max(1, int(np.searchsorted(own.offsets, _DIAGNOSED, side="right")) - 1)
    seen = own.offsets[: n_seen + 1]
    read = smooth_labels(model, own.values[: seen[-1]], seen)
    info = {
        **learned.info,
        "chosen": asdict(settings),
        "restarts": read.restarts,
        "negative_scores": float(np.mean(read.scores < 0)),
    }
    return Learned(model, info)
