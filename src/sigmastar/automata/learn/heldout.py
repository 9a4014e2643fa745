"""Choice by held-out likelihood: split the sequences, learn on one part, score on the other.

Selection never sees anything but the training corpus: a part of it is held out, candidates learned
from the rest are scored on it (clipped conditional scores, which are finite for every candidate),
and the winner's settings are learned anew from everything.
"""

from __future__ import annotations

import numpy as np

from sigmastar.automata.inference.scoring import conditional_scores
from sigmastar.automata.inference.tree import PrefixTree, batches
from sigmastar.automata.learn.smoothing import background_of
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.subject import as_wfa
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.errors import InvalidData
from sigmastar.core.splits import draw_part
from sigmastar.core.types import FloatArray
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.partitions import Data, Partitions

__all__ = ["HeldOut", "hold_out"]

_MOST_SYMBOLS = 500_000  # more held-out symbols than this sharpen no choice
_MOST_WEIGHTS = 5 * 10**7  # weights of continuations that one candidate may cost


class HeldOut:
    """Sequences kept for scoring, as prefix trees that all candidates share."""

    def __init__(self, corpus: Corpus, most_states: int, frequencies: FloatArray) -> None:
        self.n_sequences = len(corpus)
        self.n_events = corpus.n_symbols + len(corpus)
        # What a unigram of the other sequences (symbols, then the end) gives to these.
        logs = np.log(frequencies)
        self._unigram = float(logs[corpus.symbols].sum() + len(corpus) * logs[-1])
        self._trees = [PrefixTree.grow(run) for _, run in batches(corpus, most_states)]

    def score(self, model: WFA | HMM) -> float:
        """Return the mean log-score of a held-out sequence."""
        automaton = as_wfa(model)
        total = sum(float(conditional_scores(automaton, tree).sum()) for tree in self._trees)
        mean = total / self.n_sequences
        return mean if np.isfinite(mean) else -np.inf

    def compared(self, score: float) -> dict[str, float]:
        """Return perplexities of a symbol (ends counted) at a score, and of a unigram."""
        with np.errstate(over="ignore"):
            own = np.exp(-score * self.n_sequences / self.n_events)
        return {
            "held_out_perplexity": float(own),
            "unigram_perplexity": float(np.exp(-self._unigram / self.n_events)),
            "held_out_events": self.n_events,
        }


def hold_out(
    corpus: Data, fraction: float, rng: np.random.Generator, most_states: int
) -> tuple[HeldOut, Data]:
    """Draw a part of the sequences to score on; return it and the rest, to learn from."""
    if len(corpus) < 2:
        raise InvalidData(
            f"choosing by held-out likelihood needs at least 2 sequences; got {len(corpus)}. "
            "Give a number of states instead, or cut the data into more sequences."
        )
    most = min(_MOST_SYMBOLS, _MOST_WEIGHTS // max(len(corpus.alphabet), 1))
    fraction = min(fraction, most / max(corpus.n_symbols, 1))
    if isinstance(corpus, Partitions):
        aside, others = corpus.split(fraction, int(rng.integers(2**63)))
        return HeldOut(aside[:], most_states, background_of(others)), others
    held = draw_part(len(corpus), fraction, rng, least=1)
    rest = corpus.take(np.flatnonzero(~held))
    return HeldOut(corpus.take(np.flatnonzero(held)), most_states, background_of(rest)), rest
