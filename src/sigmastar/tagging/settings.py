"""The parameters of :class:`~sigmastar.HMMTagger`, which a saved model remembers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, asdict, dataclass

from sigmastar.core.rules import AnyOf, Choice, Integer, Nothing, Real, Rule, check_all

__all__ = ["RULES", "TaggerParameters", "TaggerSettings"]

RULES: Mapping[str, Rule] = {
    "order": Choice(1, 2),
    "classes": Choice("words", "sets"),
    "n_lexical": Integer(0),
    "max_classes": AnyOf(Integer(0), Nothing()),
    "smoothing": Choice("witten-bell", "deleted"),
    "strength": Real(0, open_low=True),
    "prior": Real(0),
    "context_weight": Real(0, 1, open_high=True),
    "threshold": AnyOf(Real(0, 1, open_low=True), Nothing()),
    "rare_count": Integer(1),
    "max_suffix": Integer(1, 40),
    "decoding": Choice("viterbi", "posterior"),
    "training": Choice("counts", "discriminative"),
    "n_passes": Integer(1),
    "penalty": Real(0),
    "n_models": Integer(1),
    "n_neighbours": Integer(0),
    "random_state": Integer(0),
    "max_iter": Integer(1),
    "tol": Real(0),
}


@dataclass(eq=False, repr=False)
class TaggerParameters:
    """How to train and to decode; :class:`~sigmastar.HMMTagger` says what each one means."""

    order: int = 2
    _: KW_ONLY
    classes: str = "words"
    n_lexical: int = 0
    max_classes: int | None = None
    smoothing: str = "witten-bell"
    strength: float = 5.0
    prior: float = 0.5
    context_weight: float = 0.4
    threshold: float | None = None
    rare_count: int = 10
    max_suffix: int = 8
    decoding: str = "viterbi"
    training: str = "counts"
    n_passes: int = 6
    penalty: float = 0.0
    n_models: int = 1
    n_neighbours: int = 512
    random_state: int = 0
    max_iter: int = 50
    tol: float = 1e-4


@dataclass
class TaggerSettings(TaggerParameters):
    """Parameters that are known to be right."""

    def __post_init__(self) -> None:
        check_all(asdict(self), RULES)

    @property
    def least_share(self) -> float:
        """The threshold: what training has learned to choose from may be more than counts can."""
        if self.threshold is not None:
            return self.threshold
        return 0.02 if self.training == "counts" else 0.001

    @property
    def guess_threshold(self) -> float:
        """Share of the best tag's probability that admits a tag to a guessed class."""
        return max(self.least_share, 0.1)
