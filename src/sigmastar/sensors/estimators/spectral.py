"""Spectral taggers of measured sequences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from sigmastar.core.blas import one_blas_thread
from sigmastar.core.errors import InvalidParameter
from sigmastar.core.rng import RandomState
from sigmastar.core.rules import AnyOf, Choice, Integer, Nothing, Real, Rule, check
from sigmastar.core.types import Learned
from sigmastar.corpus.frames import Frames, as_frames
from sigmastar.sensors.estimators.base import TaggerEstimator
from sigmastar.sensors.features.extractor import Extractor, mean_distance
from sigmastar.sensors.learn.choose import (
    Chosen,
    choose_settings,
    first_settings,
    learn_with_settings,
)
from sigmastar.sensors.learn.spectral import Method

__all__ = ["SpectralSequenceTagger"]


@dataclass(eq=False, repr=False)
class SpectralSequenceTagger(TaggerEstimator):
    """Learn a tagger over continuous inputs from moments: seconds, and no local optima.

    Parameters marked (*) take a list instead of one value: the best is chosen on held-out
    sequences, and the tagger is then learned from all of them.

    Parameters
    ----------
    n_states : int (*)
        States of the tagger; at most the number of features.
    features : transformer or classifier, optional
        From frames to features. A classifier with ``predict_proba`` gives a soft partition of the
        input space, out-of-fold on training frames. Default: ``CentroidFeatures()``.
    tau : float (*) or "auto", optional
        Kernel width of ``CentroidFeatures``, if not the one they come with. "auto" chooses among
        a tenth, a third, one and three times the mean distance between frames.
    sharpness : float (*)
        Exponent on features that sum to one: above 1 makes the soft partition harder.
    ridge : float (*)
        Regularisation of the Gram matrix of the features.
    memory : float (*)
        Between 0 and 1: how much of each operator is kept, the rest being replaced by one that
        labels the frame by itself and moves on blindly. Below 1, evidence that neighbouring
        frames share is not counted over and over.
    subspace : {"svd", "cca"}
        How states are found: by the singular vectors of H2, or by canonical correlations.
    start : {"stationary", "first"}
        Sequences are cut from a stream, or have a beginning of their own.
    window : int
        Join each frame with the ``window - 1`` before it.
    decoding : {"marginal", "filter", "exact"}
        Best label of each frame from the whole sequence, from the past only (what a robot can
        do), or the best labelling as a whole by search.
    n_folds : int
        Folds of out-of-fold probabilities.
    validation_fraction : float
        Share of the sequences held out when there is something to choose.
    random_state : None, int or generator
        For k-means, folds and the held-out share.

    Attributes
    ----------
    model_ : ContinuousTagger
        The tagger, with its features if they can be saved.
    info_ : dict
        The choice made, singular values, and how often scores were negative in training.

    Examples
    --------
    >>> import numpy as np
    >>> from sigmastar import CentroidFeatures
    >>> rng = np.random.default_rng(0)
    >>> labels = [np.repeat(rng.integers(0, 2, 8), 5) for _ in range(30)]
    >>> frames = [rng.normal(3.0 * y[:, None], 1.0, (40, 2)) for y in labels]
    >>> features = CentroidFeatures(12, metric="euclidean", tau=1.0, random_state=0)
    >>> tagger = SpectralSequenceTagger(2, features=features).fit(frames, labels)
    >>> tagger.score(frames, labels) > 0.97
    True
    """

    _rules: ClassVar[Mapping[str, Rule]] = {
        **TaggerEstimator._reading_rules,
        "subspace": Choice("svd", "cca"),
        "start": Choice("stationary", "first"),
        "validation_fraction": Real(low=0.0, high=1.0, open_low=True, open_high=True),
    }
    _choices: ClassVar[dict[str, Rule]] = {
        "n_states": Integer(low=1),
        "tau": AnyOf(Nothing(), Real(low=0.0), Choice("auto")),
        "sharpness": Real(low=0.0, open_low=True),
        "ridge": Real(low=0.0),
        "memory": Real(low=0.0, high=1.0),
    }

    n_states: Any = 10
    _: KW_ONLY
    features: Any = None
    tau: Any = None
    sharpness: Any = 1.0
    ridge: Any = 1e-5
    memory: Any = 1.0
    subspace: str = "svd"
    start: str = "stationary"
    window: int = 1
    decoding: str = "marginal"
    n_folds: int = 5
    validation_fraction: float = 0.2
    random_state: RandomState = None

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        lengths: ArrayLike | None = None,
        unlabelled: Any = None,
        validation: tuple[Any, Any] | None = None,
    ) -> Self:
        """Learn from labelled sequences.

        Parameters
        ----------
        X : list of arrays (frames, inputs)
            The sequences, or one array of all frames with ``lengths``.
        y : list of sequences of labels
            One label for each frame; flat if ``lengths`` is given.
        lengths : array of int, optional
            Cuts one flat X into sequences.
        unlabelled : list of arrays, optional
            More sequences of the same kind; they improve the moments that need no labels.
        validation : (X, y), optional
            Sequences to choose by, instead of a share of the training ones. The tagger is then
            learned from the training sequences alone.
        """
        data = self._prepare(X, y, lengths)
        grid = self._grid(data)
        more = None if unlabelled is None else as_frames(unlabelled)
        method = Method(self.subspace, self.start)  # type: ignore[arg-type]
        choice = Chosen(first_settings(grid), [])
        extractor: Extractor | None = None
        with one_blas_thread():
            if any(len(values) > 1 for values in grid.values()):
                part, held = self._held_out(data, validation, self.validation_fraction)
                extractor = self._fit_extractor(part)
                choice = choose_settings(grid, extractor, held, more, method, self.decoding)
            if extractor is None or extractor.data is not data:
                extractor = self._fit_extractor(data)
            learned = learn_with_settings(extractor, more, method, choice.settings)
        tuned = extractor.with_settings(choice.settings.tau, choice.settings.sharpness)
        return self._finish(
            Learned(learned.model, {**learned.info, "validation": choice.table}), tuned
        )

    def _grid(self, data: Frames) -> dict[str, list[Any]]:
        """Give the values to choose from, of each parameter that takes several."""
        grid = {
            name: _candidates(name, getattr(self, name), rule)
            for name, rule in self._choices.items()
        }
        if self.tau == "auto":
            scale = mean_distance(self._feature_estimator(), data, self.window)
            grid["tau"] = [scale * factor for factor in (0.1, 0.3, 1.0, 3.0)]
        return grid


def _candidates(name: str, value: Any, rule: Rule) -> list[Any]:
    """Give the values to choose from: one, or several in a sequence."""
    several = isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, str)
    values = list(value) if several else [value]
    if not values:
        raise InvalidParameter(f"{name} must name at least one value to choose from; got none.")
    for one in values:
        check(name, one, rule, "A list of such values is chosen from by validation.")
    return values
