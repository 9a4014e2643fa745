"""The mixture as a model: it scores, predicts, draws, and goes into a file."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from sigmastar.automata.inference.expected_counts import thread_count
from sigmastar.automata.mixture.checks import arrays_of, check_mixture, experts_of
from sigmastar.automata.mixture.code_tree import tree_depth
from sigmastar.automata.mixture.evidence import Experts, Scratch, make_scratch
from sigmastar.automata.mixture.mixer import Weights
from sigmastar.automata.mixture.passes import distribute, score
from sigmastar.core.model_files import Stored
from sigmastar.core.rules import Real, check
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.alphabet_json import alphabet_from_json, alphabet_to_json
from sigmastar.corpus.corpus import Corpus
from sigmastar.ngrams.predictor import Predictor

__all__ = ["ContextMixtureModel", "leaves_of"]

_BLOCK = 64  # sequences a thread takes at a time


@dataclass(frozen=True, eq=False)
class ContextMixtureModel(Predictor):
    """Predictions of many experts about the next symbol, mixed by learned weights.

    Parameters
    ----------
    alphabet : Alphabet
        What the codes 0, 1, … stand for.
    ends : bool
        Whether the end of a sequence is predicted.
    leaf_of : array of int32
        Leaf of the code tree of each symbol, and of the end if it is predicted.
    experts : Experts
        Code tree, contexts, their counts, automata.
    weights : Weights
        What mixes them.
    rate : float
        How fast the weights adapt to the sequence at hand; 0 if they do not.
    """

    alphabet: Alphabet
    ends: bool
    leaf_of: SymbolArray
    experts: Experts
    weights: Weights
    rate: float = 0.0

    kind: ClassVar[str] = "ContextMixture"

    def __post_init__(self) -> None:
        check("rate", self.rate, Real(0.0, 1.0))
        check_mixture(self.leaf_of, self.experts, self.weights, self.width)

    @property
    def order(self) -> int:
        """Length of the longest n-gram: the longest window and the symbol after it."""
        return self.experts.n_windows

    @property
    def n_machines(self) -> int:
        """How many automata there are among the experts."""
        return len(self.experts.machines.n_states)

    @property
    def n_grams(self) -> int:
        """How many contexts with a continuation are counted."""
        return len(self.experts.tables.keys)

    def likelihoods(self, corpus: Corpus) -> tuple[FloatArray, FloatArray]:
        """Return P(symbol | what precedes it) for all symbols, and for the end of each sequence.

        The latter are ones if ends are not predicted. The corpus must have the model's alphabet.
        """
        text, offsets = leaves_of(corpus, self.leaf_of, self.ends)
        result = np.empty(len(text))

        def fill(scratch: Scratch, first: int, last: int) -> None:
            part = slice(offsets[first], offsets[last])
            inner = offsets[first : last + 1] - offsets[first]
            score(self.experts, self.weights, scratch, text[part], inner, self.rate, result[part])

        self._share_out(fill, offsets, tree_depth(self.experts.tree))
        if not self.ends:
            return result, np.ones(len(corpus))
        inside = np.ones(len(text), dtype=bool)
        inside[offsets[1:] - 1] = False
        return result[inside], result[~inside]

    def distributions(self, corpus: Corpus) -> FloatArray:
        """Return what may follow each sequence, shape (n_sequences, width), the end last."""
        text, offsets = leaves_of(corpus, self.leaf_of, False)
        rows = np.empty((len(corpus), self.width))

        def fill(scratch: Scratch, first: int, last: int) -> None:
            part = text[offsets[first] : offsets[last]]
            inner = offsets[first : last + 1] - offsets[first]
            distribute(
                self.experts, self.weights, scratch, part, inner, self.rate, rows[first:last]
            )

        self._share_out(fill, offsets, len(self.experts.tree.split))
        return rows[:, self.leaf_of]

    def _share_out(
        self, fill: Callable[[Scratch, int, int], None], offsets: IndexArray, n_nodes: int
    ) -> None:
        """Work through sequences on all cores; each is independent of the others."""
        n, n_threads = len(offsets) - 1, thread_count(None)
        longest = int(np.diff(offsets).max(initial=0))

        def work(thread: int) -> None:
            scratch = make_scratch(self.experts, n_nodes, longest)
            for first in range(thread * _BLOCK, n, n_threads * _BLOCK):
                fill(scratch, first, min(first + _BLOCK, n))

        with ThreadPoolExecutor(n_threads) as pool:
            list(pool.map(work, range(n_threads)))

    def draw(self, rng: np.random.Generator, length: int | None = None) -> SymbolArray:
        """Draw one sequence of codes, up to its end or to a length."""
        drawn: list[int] = []
        while length is None or len(drawn) < length:
            corpus = Corpus(np.array(drawn, dtype=np.int32), [0, len(drawn)], self.alphabet)
            row = self.distributions(corpus)[0]
            code = min(int(np.searchsorted(np.cumsum(row), rng.random())), self.width - 1)
            if code == self.n_symbols:
                break
            drawn.append(code)
        return np.array(drawn, dtype=np.int32)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ContextMixtureModel):
            return NotImplemented
        mine, theirs = self.to_stored(), other.to_stored()
        return mine.meta == theirs.meta and all(
            np.array_equal(array, theirs.arrays[name]) for name, array in mine.arrays.items()
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"ContextMixtureModel(order={self.order}, n_symbols={self.n_symbols}, "
            f"n_grams={self.n_grams}, n_machines={self.n_machines})"
        )

    def facts(self) -> dict[str, Any]:
        """Return order, symbols, and what is mixed."""
        return {
            "order": self.order,
            "symbols": self.n_symbols,
            "alphabet": self.alphabet.shown(),
            "contexts": len(self.experts.views.kind),
            "n_grams": self.n_grams,
            "automata": self.n_machines,
            "ends": self.ends,
            "online": self.rate > 0,
        }

    def to_stored(self) -> Stored:
        """Give the named arrays and metadata of this model."""
        views, tables = self.experts.views, self.experts.tables
        meta = {
            "alphabet": alphabet_to_json(self.alphabet),
            "ends": self.ends,
            "rate": self.rate,
            "separator": int(views.separator),
            "n_windows": int(self.experts.n_windows),
            "low_bits": int(tables.low_bits),
        }
        return Stored(self.kind, arrays_of(self.leaf_of, self.experts, self.weights), meta)

    @classmethod
    def from_stored(cls, stored: Stored) -> Self:
        """Rebuild from named arrays and metadata."""
        meta = stored.meta
        alphabet, ends = alphabet_from_json(meta.get("alphabet")), bool(meta.get("ends"))
        numbers = {name: int(meta[name]) for name in ("separator", "n_windows", "low_bits")}
        leaf_of, experts, weights = experts_of(stored.arrays, len(alphabet) + ends, numbers)
        return cls(alphabet, ends, leaf_of, experts, weights, float(meta["rate"]))


def leaves_of(corpus: Corpus, leaf_of: SymbolArray, ends: bool) -> tuple[SymbolArray, IndexArray]:
    """Return sequences as leaves of the code tree, each with the end's leaf after it if wanted."""
    if not ends:
        return leaf_of[corpus.symbols], corpus.offsets
    offsets = corpus.offsets + np.arange(len(corpus) + 1)
    text = np.full(offsets[-1], leaf_of[-1], dtype=np.int32)
    inside = np.ones(len(text), dtype=bool)
    inside[offsets[1:] - 1] = False
    text[inside] = leaf_of[corpus.symbols]
    return text, offsets
