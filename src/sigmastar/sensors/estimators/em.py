"""Taggers of measured sequences by expectation–maximisation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike

from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.rules import AnyOf, Choice, Integer, Nothing, Real, Rule
from sigmastar.corpus.frames import Frames
from sigmastar.sensors.estimators.base import TaggerEstimator
from sigmastar.sensors.learn.em import learn_em
from sigmastar.sensors.learn.em_starts import draw_start

__all__ = ["EMSequenceTagger"]


@dataclass(eq=False, repr=False)
class EMSequenceTagger(TaggerEstimator):
    """Learn the mixture-transition tagger of measured sequences by EM.

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
        Hold out this share of the sequences and keep the model that labels them best: after any
        step, or the start itself.

    Attributes
    ----------
    model_ : ContinuousTagger
        The tagger: a distribution over labellings of any input.
    info_ : dict
        ``log_likelihood`` of every step (mean per frame), ``accuracy`` on validation, and
        ``best_step``, 0 for the start.
    """

    _rules: ClassVar[Mapping[str, Rule]] = {
        **TaggerEstimator._reading_rules,
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

    n_states: int = 10
    _: KW_ONLY
    features: Any = None
    sharpness: float = 1.0
    window: int = 1
    init: str = "random"
    max_iter: int = 100
    tol: float = 1e-5
    n_restarts: int = 1
    decoding: str = "marginal"
    n_folds: int = 5
    validation_fraction: float | None = None
    random_state: RandomState = None

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
        held: Frames | None = None
        if validation is not None or self.validation_fraction is not None:
            data, held = self._held_out(data, validation, self.validation_fraction or 0.0)
        extractor = self._fit_extractor(data).with_settings(None, self.sharpness)
        frames = extractor.training_frames()
        learned = learn_em(
            frames,
            (
                draw_start(frames, self.n_states, rng, init=self.init)
                for rng in as_generator(self.random_state).spawn(self.n_restarts)
            ),
            max_iter=self.max_iter,
            tol=self.tol,
            held=None if held is None else extractor.of(held),
            decoding=self.decoding,
        )
        return self._finish(learned, extractor)
