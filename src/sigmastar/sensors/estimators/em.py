"""Taggers of continuous sequences by expectation–maximisation."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from sigmastar.core.progress import stage
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.rules import AnyOf, Choice, Integer, Nothing, Real, Rule
from sigmastar.core.types import FloatArray
from sigmastar.sensors.estimators.base import (
    ContinuousTaggerEstimator,
    Labelled,
)
from sigmastar.sensors.inference.tag import label_probabilities
from sigmastar.sensors.learn.em import em_steps, project_tagger, random_tagger
from sigmastar.sensors.learn.spectral import learn_continuous_tagger
from sigmastar.sensors.model import ContinuousTagger
from sigmastar.sensors.moments import LabelledFrames, continuous_moments, project_triple

__all__ = ["EMSequenceTagger"]


class EMSequenceTagger(ContinuousTaggerEstimator):
    """Learn the mixture-transition tagger of continuous sequences by EM.

    Features must be probabilities (``CentroidFeatures`` or a classifier): φ_l(x) = P[z = l | x].

    Parameters
    ----------
    n_states : int
        Hidden states.
    features, sharpness, window, n_folds, decoding, random_state
        As for :class:`SpectralSequenceTagger`; one value each.
    init : {"random", "spectral"}
        Start from random tables, or from the spectral tagger projected on this model.
    max_iter : int
        Steps of each start.
    tol : float
        Stop when the mean log-likelihood of a frame improves by less.
    n_restarts : int
        Random starts; the likeliest result wins (or the best on validation, if given).
    validation_fraction : float, optional
        Hold out this share of the sequences and keep the step that labels them best.

    Attributes
    ----------
    model_ : ContinuousTagger
        The tagger: a distribution over labellings of any input.
    info_ : dict
        ``log_likelihood`` of every step (mean per frame), ``accuracy`` on validation, and
        ``best_step``.
    """

    _rules: ClassVar[dict[str, Rule]] = {
        **ContinuousTaggerEstimator._common_rules,
        "n_states": Integer(low=1),
        "sharpness": Real(low=0.0, open_low=True),
        "init": Choice("random", "spectral"),
        "max_iter": Integer(low=1),
        "tol": Real(low=0.0),
        "n_restarts": Integer(low=1),
        "validation_fraction": AnyOf(
            Nothing(), Real(low=0.0, high=1.0, open_low=True, open_high=True)
        ),
    }

    def __init__(
        self,
        n_states: int = 10,
        *,
        features: Any = None,
        sharpness: float = 1.0,
        window: int = 1,
        init: str = "random",
        max_iter: int = 100,
        tol: float = 1e-5,
        n_restarts: int = 1,
        decoding: str = "marginal",
        n_folds: int = 5,
        validation_fraction: float | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_states = n_states
        self.features = features
        self.sharpness = sharpness
        self.window = window
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.n_restarts = n_restarts
        self.decoding = decoding
        self.n_folds = n_folds
        self.validation_fraction = validation_fraction  # type: ignore[assignment]
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        lengths: ArrayLike | None = None,
        validation: tuple[Any, Any] | None = None,
    ) -> Self:
        """Learn from labelled sequences; see :meth:`SpectralSequenceTagger.fit`."""
        data = self._prepare(X, y, lengths)
        held: Labelled | None = None
        if validation is not None:
            held = self._labelled(*validation)
        elif self.validation_fraction is not None:
            data, held = self._split(data)
        extractor = self._fit_extractor(data, self.window).with_settings(None, self.sharpness)
        frames = self._pack(extractor.training_features(), data)
        checked = None if held is None else (extractor(held.frames, held.offsets), held)
        runs = []
        for rng in as_generator(self.random_state).spawn(self.n_restarts):
            runs.append(self._run(frames, self._start(frames, rng), checked))
        model, info = max(runs, key=lambda run: run[1]["figure"])
        return self._finish(model, info, extractor)

    def _start(self, frames: LabelledFrames, rng: np.random.Generator) -> ContinuousTagger:
        if self.init == "random":
            return random_tagger(frames, self.labels_, self.n_states, rng)
        rank = min(self.n_states, np.linalg.matrix_rank(frames.features))
        spectral = learn_continuous_tagger(
            continuous_moments(frames.features, frames.offsets),
            lambda left, right: project_triple(frames, left, right),
            self.labels_,
            n_states=int(rank),
        ).model
        return project_tagger(frames, spectral, self.n_states, int(rng.integers(2**31)))

    def _run(
        self,
        frames: LabelledFrames,
        model: ContinuousTagger,
        checked: tuple[FloatArray, Labelled] | None,
    ) -> tuple[ContinuousTagger, dict[str, Any]]:
        """Take steps until they gain little; keep the best by validation, or the last."""
        decoding = "filter" if self.decoding == "filter" else "marginal"
        likelihoods: list[float] = []
        accuracies: list[float] = []
        best, best_step, best_accuracy = model, 0, -1.0
        with stage("EM", self.max_iter) as progress:
            for step in em_steps(frames, model):
                likelihoods.append(step.log_likelihood)
                model = step.model
                if checked is not None:
                    features, held = checked
                    found = label_probabilities(model, features, held.offsets, decoding)
                    accuracies.append(float(np.mean(found.argmax(axis=1) == held.codes)))
                    if accuracies[-1] > best_accuracy:
                        best, best_step, best_accuracy = model, len(likelihoods), accuracies[-1]
                progress.advance(note=f"log-likelihood {step.log_likelihood:.4f}")
                gained = len(likelihoods) < 2 or likelihoods[-1] - likelihoods[-2] >= self.tol
                if len(likelihoods) >= self.max_iter or not gained:
                    break
        if checked is None:
            best, best_step = model, len(likelihoods)
        figure = best_accuracy if checked is not None else likelihoods[-1]
        return best, {
            "log_likelihood": likelihoods,
            "accuracy": accuracies,
            "best_step": best_step,
            "figure": figure,
        }
