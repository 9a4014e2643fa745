"""The way from raw frames to features: a window of past frames, then stages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sigmastar.core.errors import FileFormatError, InvalidModel
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.corpus.frames import check_width
from sigmastar.sensors.features.forest import TreeEnsemble
from sigmastar.sensors.features.kernel_map import KernelMap
from sigmastar.sensors.features.stages import (
    Affine,
    Centroids,
    FeatureStage,
    Readings,
    Sharpen,
    Softmax,
)

__all__ = ["FeatureMap", "join_past"]


def join_past(frames: FloatArray, offsets: IndexArray, window: int) -> FloatArray:
    """Put each frame beside the ``window - 1`` before it, oldest first.

    At the start of a sequence its first frame stands in for the missing past, as it does for a
    robot that has just been switched on.
    """
    if window == 1:
        return frames
    first = np.repeat(offsets[:-1], np.diff(offsets))
    here = np.arange(len(frames))
    back = np.maximum(here[:, None] - np.arange(window - 1, -1, -1), first[:, None])
    joined: FloatArray = frames[back].reshape(len(frames), window * frames.shape[1])
    return joined


@dataclass(frozen=True)
class FeatureMap:
    """How raw frames become features.

    Parameters
    ----------
    window : int
        How many frames are joined: each with the ``window - 1`` before it.
    stages : tuple of FeatureStage
        The steps, at least one; the first takes joined frames.
    """

    window: int
    stages: tuple[FeatureStage, ...]

    _kinds: ClassVar[dict[str, Any]] = {
        kind.name: kind
        for kind in (Readings, Affine, KernelMap, Centroids, Softmax, Sharpen, TreeEnsemble)
    }

    def __post_init__(self) -> None:
        if not (type(self.window) is int and self.window >= 1):
            raise InvalidModel(f"window must be an integer of at least 1; got {self.window!r}.")
        if not self.stages:
            raise InvalidModel("a feature map needs at least one stage; got none.")
        for earlier, later in zip(self.stages, self.stages[1:], strict=False):
            if earlier.n_outputs != later.n_inputs:
                raise InvalidModel(
                    f"the {later.name} stage must take {later.n_inputs} values; the "
                    f"{earlier.name} stage before it gives {earlier.n_outputs}."
                )
        if self.stages[0].n_inputs % self.window:
            raise InvalidModel(
                f"the first stage must take a multiple of window={self.window} values; "
                f"it takes {self.stages[0].n_inputs}."
            )

    @property
    def n_inputs(self) -> int:
        """How many numbers a raw frame has."""
        return self.stages[0].n_inputs // self.window

    @property
    def n_outputs(self) -> int:
        """How many features come out."""
        return self.stages[-1].n_outputs

    def __call__(self, frames: FloatArray, offsets: IndexArray) -> FloatArray:
        """Map the frames of sequences (rows; sequence i is offsets[i] to offsets[i + 1])."""
        check_width(frames, self.n_inputs)
        return self.apply_joined(join_past(frames, offsets, self.window))

    def apply_joined(self, joined: FloatArray) -> FloatArray:
        """Map frames that are joined with their past already."""
        for stage in self.stages:
            joined = stage.apply(joined)
        return joined

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Give named arrays and a JSON description."""
        arrays = {
            f"features.{position}.{name}": array
            for position, stage in enumerate(self.stages)
            for name, array in stage.arrays().items()
        }
        stages = [{"kind": stage.name, "settings": stage.settings()} for stage in self.stages]
        return arrays, {"window": self.window, "stages": stages}

    @classmethod
    def from_parts(cls, arrays: Mapping[str, Any], description: Any) -> FeatureMap:
        """Rebuild from what :meth:`to_parts` gave."""
        try:
            stages = tuple(
                cls._kinds[entry["kind"]].build(
                    {
                        name.split(".", 2)[2]: array
                        for name, array in arrays.items()
                        if name.startswith(f"features.{position}.")
                    },
                    entry["settings"],
                )
                for position, entry in enumerate(description["stages"])
            )
            return cls(description["window"], stages)
        except (KeyError, TypeError, IndexError, AttributeError) as error:
            raise FileFormatError(f"the features are malformed ({error!r}).") from None
