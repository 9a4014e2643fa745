"""Whether a learned model is better than knowing how frequent each symbol is.

A unigram draws every symbol, and the end, by its frequency alone. A model that gives sequences a
smaller probability than that has missed what is in them: moments that never saw late symbols, a
basis too small, steps that went astray. Where a learner holds out sequences to choose by, they
tell; where it does not, the very sequences that it learned from do.

A model may be better than that on the whole and yet begin wrong: what it knows of the later symbols
outweighs a first one that it hardly expects. Low ranks of a spectral decomposition do so, and give
most of their probability to the empty sequence, which never was among the data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sigmastar.automata.inference.scoring import log_proba
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.types import Learned
from sigmastar.corpus.corpus import Corpus

__all__ = [
    "MOST_SEQUENCES",
    "Comparison",
    "EmptySequence",
    "compare_with_unigram",
    "weigh_empty_sequence",
]

MOST_SEQUENCES = 400
_MOST_SYMBOLS = 40_000
_FEWEST_EVENTS = 200  # symbols and ends: fewer tell nothing
_MARGIN = 1.2  # times the unigram's perplexity, which chance alone hardly gives a good model
_MOST_EXCESS = 2 / 3  # of all probability, to the empty sequence beyond its share of the data


@dataclass(frozen=True)
class Comparison:
    """Perplexities of a symbol (ends counted) of a model and of a unigram, on what was asked."""

    model: float
    unigram: float
    n_events: int
    held_out: bool = False

    @property
    def is_poor(self) -> bool:
        """Whether the model is worse than the unigram by more than chance."""
        return self.n_events >= _FEWEST_EVENTS and not self.model <= _MARGIN * self.unigram

    @property
    def info(self) -> dict[str, float]:
        """Both figures by name."""
        name = "held_out_perplexity" if self.held_out else "training_perplexity"
        return {name: self.model, "unigram_perplexity": self.unigram}

    def warning(self, learner: str) -> str:
        """Say what is wrong and what helps."""
        return (
            f"{learner} has learned less than the frequencies of the symbols: perplexity "
            f"{self.model:,.1f} a symbol on "
            f"{'sequences held out' if self.held_out else 'its own training sequences'}, where a "
            "unigram has "
            f"{self.unigram:,.1f}. Try statistics='substring', a larger basis_size, more states, "
            "or another learner (SpectralWFA, SeparableBaumWelch, AutoWFA)."
        )


@dataclass(frozen=True)
class EmptySequence:
    """How probable the empty sequence is: to a model, to a unigram, and among the data."""

    model: float
    unigram: float
    share: float
    n_events: int

    @property
    def is_poor(self) -> bool:
        """Whether the model expects nothing at all far more than the data and a unigram do."""
        too_much = self.model > max(_MARGIN * self.unigram, self.share + _MOST_EXCESS)
        return self.n_events >= _FEWEST_EVENTS and too_much

    def warning(self, learner: str) -> str:
        """Say what is wrong and what helps."""
        return (
            f"{learner} gives the empty sequence a probability of {self.model:.2f}; it is "
            f"{self.share:.2f} of the sequences learned from. Scores and samples of whole "
            "sequences are off by as much. Try n_states='auto', more states, or another learner "
            "(SeparableBaumWelch, AutoWFA)."
        )


def weigh_empty_sequence(model: WFA | HMM, corpus: Corpus) -> EmptySequence:
    """Compare what a model gives to the empty sequence with the sequences it was learned from."""
    n_sequences, n_events = len(corpus), corpus.n_symbols + len(corpus)
    share = float(np.count_nonzero(np.diff(corpus.offsets) == 0) / n_sequences)
    own = float(np.exp(log_proba(model, [()])[0]))
    return EmptySequence(own, n_sequences / n_events, share, n_events)


def compare_with_unigram(learned: Learned[WFA | HMM], corpus: Corpus) -> Comparison:
    """Compare a model with a unigram, where its learner held something out, else on its corpus."""
    told = learned.info
    if "held_out_perplexity" in told:
        events = int(told["held_out_events"])
        return Comparison(told["held_out_perplexity"], told["unigram_perplexity"], events, True)
    return _compared(learned.model, corpus)


def _compared(model: WFA | HMM, corpus: Corpus) -> Comparison:
    """Compare with the unigram of (the first of) the sequences that were learned from."""
    within = np.searchsorted(corpus.offsets, _MOST_SYMBOLS, side="right") - 1
    some = corpus[: min(max(int(within), 1), MOST_SEQUENCES)]
    counts = np.append(np.bincount(some.symbols), len(some)).astype(np.float64)
    events = float(counts.sum())
    seen = counts[counts > 0]
    unigram = float(np.exp(-(seen @ np.log(seen / events)) / events))
    with np.errstate(over="ignore"):
        own = float(np.exp(-log_proba(model, some).sum() / events))
    return Comparison(own, unigram, int(events))
