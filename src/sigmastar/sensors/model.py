"""Sequence taggers over measurements: f(x, y) = initialᵀ Π_t A(x_t, y_t) final.

The operator of a frame is a combination of elementary ones, weighted by features of the input,
A(x, σ) = Σ_l φ_l(x) O_l^σ (Recasens and Quattoni, ECML 2013, eqs. 4 to 6). With features that
are indicators of a finite input alphabet this is a weighted transducer; with features P[z=l | x]
and O_l^σ(i, j) = P_l[h'=j, σ | h=i] it is their mixture-transition model.

Weights may be negative: taggers learned by moments are not distributions by construction.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from sigmastar.core.errors import InvalidData, InvalidModel, InvalidParameter
from sigmastar.core.facts import Fact, Floats, Proved, freeze_proved
from sigmastar.core.model_files import Stored
from sigmastar.core.stored_model import StoredModel
from sigmastar.core.types import FloatArray, Symbol
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.alphabet_json import alphabet_from_json, alphabet_to_json
from sigmastar.corpus.frames import Frames, as_frames, as_label_list
from sigmastar.sensors.features.feature_map import FeatureMap
from sigmastar.sensors.kernels.passes import Ends

__all__ = ["ContinuousTagger"]

_FACTS: dict[str, Fact] = {
    "initial": Floats("states"),
    "typical": Floats("features"),
    "operators": Floats("labels", "features", "states", "states"),
    "final": Floats("states"),
}


@dataclass(frozen=True, eq=False, repr=False)
class ContinuousTagger(Proved, StoredModel):
    """A weighted sequence tagger whose inputs are vectors.

    Parameters
    ----------
    initial : array (n_states,)
        Initial weights.
    operators : array (n_labels, n_features, n_states, n_states)
        One elementary operator for each label and feature.
    final : array (n_states,)
        Final weights.
    labels : Alphabet
        The labels, in the order of the operators.
    typical : array (n_features,)
        The mean feature vector; the frame of nobody's reading.
    features : FeatureMap, optional
        How raw frames become features. Without one the tagger takes features as they are.
    left_out : str
        What turned frames into features when the tagger was learned, if that cannot be kept as
        plain arrays. Such a tagger is not saved until :meth:`with_features` says how to go on: its
        file would not tell that raw frames are not what it takes.
    """

    initial: FloatArray
    operators: FloatArray
    final: FloatArray
    labels: Alphabet
    typical: FloatArray
    features: FeatureMap | None = None
    left_out: str = ""

    kind: ClassVar[str] = "ContinuousTagger"

    def __post_init__(self) -> None:
        if not isinstance(self.labels, Alphabet) or len(self.labels) == 0:
            raise InvalidModel(f"labels must be an Alphabet of at least one; got {self.labels!r}.")
        freeze_proved(self, _FACTS, labels=len(self.labels))
        if self.n_states == 0:
            raise InvalidModel("a model needs at least one state; got none.")
        if self.features is not None:
            if not isinstance(self.features, FeatureMap):
                raise InvalidModel(f"features must be a FeatureMap; got {self.features!r}.")
            if self.features.n_outputs != self.n_features:
                raise InvalidModel(
                    f"features must give {self.n_features} values, one for each operator; "
                    f"the map gives {self.features.n_outputs}."
                )

    @property
    def n_states(self) -> int:
        """How many states the tagger has."""
        return len(self.initial)

    @property
    def n_labels(self) -> int:
        """How many labels the tagger knows."""
        return len(self.labels)

    @property
    def n_features(self) -> int:
        """How many features weight the operators."""
        return len(self.typical)

    @property
    def n_inputs(self) -> int:
        """How many numbers a raw frame has (features, if the tagger has no feature map)."""
        return self.n_features if self.features is None else self.features.n_inputs

    @property
    def ends(self) -> Ends:
        """The initial and final weights, as kernels take them."""
        return Ends(initial=self.initial, final=self.final)

    @property
    def is_nonnegative(self) -> bool:
        """Whether no weight is negative, so that every score is one of a distribution."""
        return all((getattr(self, name) >= 0).all() for name in ("initial", "operators", "final"))

    def truncated(self, n_states: int) -> ContinuousTagger:
        """Keep the leading states. For a spectral tagger this is the tagger of lower rank."""
        if not 1 <= n_states <= self.n_states:
            raise InvalidParameter(
                f"n_states must be between 1 and {self.n_states}; got {n_states}."
            )
        keep = slice(0, n_states)
        return replace(
            self,
            initial=self.initial[keep],
            operators=self.operators[:, :, keep, keep],
            final=self.final[keep],
        )

    def shrunk(self, memory: float) -> ContinuousTagger:
        """Shrink every operator towards one that labels a frame by itself and moves on blindly.

        O_l^σ becomes memory · O_l^σ + (1 - memory) · (initial O_l^σ final) A(typical): with
        probability 1 - memory a frame is labelled by its own features alone and tells nothing
        about the state. Neighbouring frames repeat much of the same evidence, which a tagger
        would count over and over; and blind moves do not turn scores negative.
        """
        if not 0.0 <= memory <= 1.0:
            raise InvalidParameter(f"memory must be between 0 and 1; got {memory!r}.")
        if memory == 1.0:
            return self
        blind = np.tensordot(self.typical, self.operators.sum(axis=0), axes=1)
        alone = np.einsum("i,lkij,j->lk", self.initial, self.operators, self.final, optimize=True)
        operators = memory * self.operators + (1.0 - memory) * alone[:, :, None, None] * blind
        return replace(self, operators=operators)

    def with_features(self, features: FeatureMap | None) -> ContinuousTagger:
        """Return the same tagger with another way from frames to features; None: it takes these."""
        return replace(self, features=features, left_out="")

    def extract(self, frames: Frames) -> FloatArray:
        """Give the features of frames, which are features already if there is no feature map."""
        if self.features is not None:
            return self.features(frames.values, frames.offsets)
        if frames.n_inputs != self.n_features:
            raise InvalidData(
                f"frames must be the {self.n_features} features that this tagger takes, for it has "
                f"no feature map; got {frames.n_inputs} values each. Compute the features first, "
                "or use the estimator that learned it."
            )
        return frames.values

    def emissions(self) -> FloatArray:
        """Give O_l^σ final as an array (n_features, n_labels, n_states)."""
        return np.ascontiguousarray((self.operators @ self.final).transpose(1, 0, 2))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ContinuousTagger):
            return NotImplemented
        return (
            self.labels == other.labels
            and self.features == other.features
            and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in _FACTS)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"ContinuousTagger(n_states={self.n_states}, n_labels={self.n_labels}, "
            f"n_features={self.n_features})"
        )

    def predict(
        self, X: Any, *, lengths: ArrayLike | None = None, decoding: str = "marginal"
    ) -> list[list[Symbol]]:
        """Label every frame of each sequence, as :func:`~sigmastar.tag_frames` does."""
        from sigmastar.sensors.inference.tag import tag_frames

        return tag_frames(self, X, lengths=lengths, decoding=decoding).labels

    def score(
        self, X: Any, y: Any, *, lengths: ArrayLike | None = None, decoding: str = "marginal"
    ) -> float:
        """Return the share of frames labelled right."""
        rows = self.predict(X, lengths=lengths, decoding=decoding)
        found = [label for row in rows for label in row]
        truth = as_label_list(y, as_frames(X, lengths).offsets)
        return float(np.mean([f == t for f, t in zip(found, truth, strict=True)]))

    def facts(self) -> dict[str, Any]:
        """Return the sizes and the labels."""
        return {
            "states": self.n_states,
            "labels": self.labels.shown(),
            "inputs": self.n_inputs,
            "features": self.n_features,
            "nonnegative": self.is_nonnegative,
        }

    def picture(self) -> FloatArray:
        """Return the mean operator of a frame: all labels, the mean feature vector."""
        return np.asarray(np.einsum("lfij,f->ij", self.operators, self.typical), np.float64)

    def to_stored(self) -> Stored:
        """Give the named arrays and metadata of this model."""
        if self.left_out:
            raise InvalidParameter(
                "features must be CentroidFeatures, StandardScaler, LogisticRegression, trees, "
                "forests, GradientBoostingClassifier or a pipeline of these to be saved with the "
                f"tagger; got {self.left_out}. Learn with one of them, or save "
                "model_.with_features(None), which takes features instead of frames."
            )
        arrays = {name: getattr(self, name) for name in _FACTS}
        meta: dict[str, Any] = {"labels": alphabet_to_json(self.labels)}
        if self.features is not None:
            extra, description = self.features.to_parts()
            arrays.update(extra)
            meta["features"] = description
        return Stored(self.kind, arrays, meta)

    @classmethod
    def from_stored(cls, stored: Stored) -> ContinuousTagger:
        """Rebuild from named arrays and metadata."""
        described = stored.meta.get("features")
        features = None if described is None else FeatureMap.from_parts(stored.arrays, described)
        arrays: dict[str, Any] = {name: stored.array(name) for name in _FACTS}
        return cls(
            **arrays, labels=alphabet_from_json(stored.meta.get("labels")), features=features
        )
