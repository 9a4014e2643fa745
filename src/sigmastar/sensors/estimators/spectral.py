"""Spectral taggers of continuous sequences."""

from __future__ import annotations

from itertools import product
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from sigmastar.core.blas import one_blas_thread
from sigmastar.core.errors import InvalidParameter
from sigmastar.core.progress import stage
from sigmastar.core.rng import RandomState
from sigmastar.core.rules import AnyOf, Choice, Integer, Nothing, Real, Rule
from sigmastar.core.types import FloatArray, Learned
from sigmastar.corpus.frames import as_frames
from sigmastar.sensors.estimators.base import (
    ContinuousTaggerEstimator,
    Labelled,
    candidates,
)
from sigmastar.sensors.features.centroids import CentroidFeatures
from sigmastar.sensors.features.extractor import Extractor
from sigmastar.sensors.features.feature_map import join_past
from sigmastar.sensors.features.stages import distances
from sigmastar.sensors.inference.passes import smooth_labels
from sigmastar.sensors.inference.tag import label_probabilities
from sigmastar.sensors.learn.spectral import learn_continuous_tagger
from sigmastar.sensors.model import ContinuousTagger
from sigmastar.sensors.moments import continuous_moments, project_triple

__all__ = ["SpectralSequenceTagger"]

_DIAGNOSED = 1000  # training frames whose scores are looked at for negative ones


class SpectralSequenceTagger(ContinuousTaggerEstimator):
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
    >>> rng = np.random.default_rng(0)
    >>> labels = [np.repeat(rng.integers(0, 2, 8), 5) for _ in range(30)]
    >>> frames = [rng.normal(3.0 * y[:, None], 1.0, (40, 2)) for y in labels]
    >>> features = CentroidFeatures(12, metric="euclidean", tau=1.0, random_state=0)
    >>> tagger = SpectralSequenceTagger(2, features=features).fit(frames, labels)
    >>> tagger.score(frames, labels) > 0.97
    True
    """

    _rules: ClassVar[dict[str, Rule]] = {
        **ContinuousTaggerEstimator._common_rules,
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

    def __init__(
        self,
        n_states: Any = 10,
        *,
        features: Any = None,
        tau: Any = None,
        sharpness: Any = 1.0,
        ridge: Any = 1e-5,
        memory: Any = 1.0,
        subspace: str = "svd",
        start: str = "stationary",
        window: int = 1,
        decoding: str = "marginal",
        n_folds: int = 5,
        validation_fraction: float = 0.2,
        random_state: RandomState = None,
    ) -> None:
        self.n_states = n_states
        self.features = features
        self.tau = tau
        self.sharpness = sharpness
        self.ridge = ridge
        self.memory = memory
        self.subspace = subspace
        self.start = start
        self.window = window
        self.decoding = decoding
        self.n_folds = n_folds
        self.validation_fraction = validation_fraction
        self.random_state = random_state

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
        grid = {
            name: candidates(name, getattr(self, name), rule)
            for name, rule in self._choices.items()
        }
        if self.tau == "auto":
            scale = self._mean_distance(data)
            grid["tau"] = [scale * factor for factor in (0.1, 0.3, 1.0, 3.0)]
        more = None if unlabelled is None else as_frames(unlabelled)
        chosen = {name: values[0] for name, values in grid.items()}
        table: list[dict[str, Any]] = []
        with one_blas_thread():
            extractor = None
            if any(len(values) > 1 for values in grid.values()):
                if validation is None:
                    part, held = self._split(data)
                else:
                    part, held = data, self._labelled(*validation)
                extractor = self._fit_extractor(part, self.window)
                chosen, table = self._choose(grid, extractor, part, held, more)
                if part is not data:
                    extractor = None
            extractor = (extractor or self._fit_extractor(data, self.window)).with_settings(
                chosen["tau"], chosen["sharpness"]
            )
            features = extractor.training_features()
            learned = self._learn(
                extractor, features, data, more, chosen["n_states"], chosen["ridge"]
            )
        model = learned.model.shrunk(chosen["memory"])
        n_seen = max(1, int(np.searchsorted(data.offsets, _DIAGNOSED, side="right")) - 1)
        seen = data.offsets[: n_seen + 1]
        read = smooth_labels(model, features[: seen[-1]], seen)
        info = {
            **learned.info,
            "chosen": chosen,
            "validation": table,
            "restarts": read.restarts,
            "negative_scores": float(np.mean(read.scores < 0)),
        }
        return self._finish(model, info, extractor)

    def _mean_distance(self, data: Labelled) -> float:
        """Give the mean distance between frames, by the metric of the features."""
        features = self._feature_estimator()
        if not isinstance(features, CentroidFeatures):
            raise InvalidParameter(
                'tau="auto" needs CentroidFeatures; '
                f"got {type(features).__name__}. Leave tau at None."
            )
        joined = join_past(data.frames, data.offsets, self.window)
        sample = joined[:: max(1, len(joined) // 300)]
        return float(distances(sample, sample, features.metric).mean()) or 1.0

    def _learn(
        self,
        extractor: Extractor,
        features: FloatArray,
        data: Labelled,
        more: tuple[Any, Any] | None,
        n_states: int,
        ridge: float,
    ) -> Learned[ContinuousTagger]:
        moments = continuous_moments(features, data.offsets)
        if more is not None:
            moments = moments + continuous_moments(extractor(*more), more[1])
        packed = self._pack(features, data)
        return learn_continuous_tagger(
            moments,
            lambda left, right: project_triple(packed, left, right),
            self.labels_,
            n_states=n_states,
            ridge=ridge,
            subspace=self.subspace,  # type: ignore[arg-type]
            start=self.start,  # type: ignore[arg-type]
        )

    def _choose(
        self,
        grid: dict[str, list[Any]],
        extractor: Extractor,
        part: Labelled,
        held: Labelled,
        more: tuple[Any, Any] | None,
    ) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Score every combination on held-out sequences; one factorisation serves all ranks.

        Where features are out-of-fold probabilities, training sequences are judged along with
        the held-out ones: the few weights of such a tagger hardly fit them, and a held-out
        share alone may hold a handful of errors.
        """
        decoding = "filter" if self.decoding == "filter" else "marginal"
        table: list[dict[str, Any]] = []
        settings = list(product(grid["tau"], grid["sharpness"], grid["ridge"]))
        with stage("Choosing by validation", len(settings)) as progress:
            for tau, sharpness, ridge in settings:
                tuned = extractor.with_settings(tau, sharpness)
                own = tuned.training_features()
                largest = min(max(grid["n_states"]), own.shape[1])
                model = self._learn(tuned, own, part, more, largest, ridge).model
                judged = [(tuned(held.frames, held.offsets), held)]
                if tuned.partition:  # out-of-fold, so training frames can judge as well
                    judged.append((own, part))
                n_judged = sum(len(data.codes) for _, data in judged)
                for n_states, memory in product(grid["n_states"], grid["memory"]):
                    if n_states > largest:
                        continue
                    smaller = model.truncated(n_states).shrunk(memory)
                    right = 0
                    for features, data in judged:
                        found = label_probabilities(smaller, features, data.offsets, decoding)
                        right += int(np.sum(found.argmax(axis=1) == data.codes))
                    table.append(
                        {
                            "tau": tau,
                            "sharpness": sharpness,
                            "ridge": ridge,
                            "n_states": n_states,
                            "memory": memory,
                            "accuracy": right / n_judged,
                        }
                    )
                progress.advance()
        best = max(table, key=lambda row: row["accuracy"])
        return {name: best[name] for name in grid}, table
