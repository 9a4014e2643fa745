"""Interpolated n-gram models: P_k(σ | h) = share(h, σ) + γ(h) P_{k-1}(σ | h⁻).

h⁻ is the context h without its first symbol; below the empty context lies the uniform
distribution, and a context that was never met leaves all to the shorter one. A sequence is read
after a begin mark, which no symbol follows back to, and may close with an end mark. Order k holds
the contexts of k - 1 symbols as sorted 64-bit codes (see ``kernels/windows``); the end
mark is coded after the symbols of the alphabet, the begin mark last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from sigmastar.core.errors import InvalidModel, TooLarge
from sigmastar.core.facts import Codes, Fact, Floats, Offsets, proved
from sigmastar.core.model_files import Stored
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.alphabet_json import alphabet_from_json, alphabet_to_json
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.framing import frame
from sigmastar.ngrams.kernels.kneser_ney import Contexts, continue_row, text_likelihoods
from sigmastar.ngrams.predictor import Predictor

__all__ = ["NgramModel"]


_LONGEST = 1_000_000  # symbols of a sequence that is drawn
_ROUNDING = 1e-6
FACTS: dict[str, Fact] = {
    "order_starts": Offsets("order", into="contexts"),
    "codes": Codes("contexts", below=1 << 64, dtype=np.uint64),
    "backoff": Floats("contexts", low=0.0),
    "starts": Offsets("contexts", into="grams"),
    "symbols": Codes("grams", below="continuations"),
    "shares": Floats("grams", low=0.0),
}


@dataclass(frozen=True, eq=False)
class NgramModel(Predictor):
    """An interpolated n-gram model.

    Parameters
    ----------
    alphabet : Alphabet
        What the codes 0, 1, … stand for.
    ends : bool
        Whether the end of a sequence is predicted.
    order_starts : array of int64 (order + 1,)
        Where the contexts of each order begin, and how many there are.
    codes : array of uint64
        Contexts, sorted within each order.
    backoff : array
        γ of each context.
    starts : array of int64
        Where the continuations of each context begin, and how many there are.
    symbols : array of int32
        Continuations, sorted within each context.
    shares : array
        share(h, σ) of each continuation.
    """

    alphabet: Alphabet
    ends: bool
    order_starts: IndexArray
    codes: np.ndarray[Any, np.dtype[np.uint64]]
    backoff: FloatArray
    starts: IndexArray
    symbols: SymbolArray
    shares: FloatArray

    kind: ClassVar[str] = "Ngram"

    def __post_init__(self) -> None:
        given = {name: getattr(self, name) for name in FACTS}
        arrays = proved(FACTS, given, continuations=self.width)
        for name, array in arrays.items():
            object.__setattr__(self, name, array)
        if self.order < 1 or self.order * self.bits > 64:
            raise InvalidModel(
                f"an n-gram model must have an order of 1 to {64 // self.bits} over "
                f"{self.n_symbols:,} symbols; got {self.order}."
            )
        # What a context gives to its own continuations and leaves to the shorter one is all of it.
        owner = np.repeat(np.arange(len(self.codes)), np.diff(self.starts))
        given_away = np.bincount(owner, weights=self.shares, minlength=len(self.codes))
        if (given_away + self.backoff > 1.0 + _ROUNDING).any():
            raise InvalidModel("shares and backoff of each context must add up to at most 1.")

    @property
    def order(self) -> int:
        """Length of the longest n-gram."""
        return len(self.order_starts) - 1

    @property
    def n_grams(self) -> int:
        """How many n-grams of all orders are stored."""
        return len(self.symbols)

    @property
    def bits(self) -> int:
        """How many bits of a code one symbol takes."""
        return field_bits(self.n_symbols, self.ends)

    def likelihoods(self, corpus: Corpus) -> tuple[FloatArray, FloatArray]:
        """Return P(symbol | what precedes it) for all symbols, and for the end of each sequence.

        The latter are ones if ends are not predicted. The corpus must have the model's alphabet.
        """
        padded = pad(corpus, self.ends)
        all_of_them = np.empty(padded.n_symbols)
        lowest = 1.0 / self.width
        text_likelihoods(
            padded.symbols, padded.offsets, self.bits, self._contexts, lowest, all_of_them
        )
        inside = np.ones(padded.n_symbols, dtype=bool)
        inside[padded.offsets[:-1]] = False
        if not self.ends:
            return all_of_them[inside], np.ones(len(corpus))
        last = padded.offsets[1:] - 1
        inside[last] = False
        return all_of_them[inside], all_of_them[last]

    def distributions(self, corpus: Corpus) -> FloatArray:
        """Return what may follow each sequence, shape (n_sequences, width), the end last."""
        padded = pad(corpus, False, self.ends)
        rows = np.full((len(corpus), self.width), 1.0 / self.width)
        for index, row in enumerate(rows):
            continue_row(padded.codes(index)[-self.order :], self.bits, self._contexts, row)
        return rows

    def draw(self, rng: np.random.Generator, length: int | None = None) -> SymbolArray:
        """Draw one sequence of codes, up to its end or to a length."""
        contexts = self._contexts
        drawn = [self.width]  # the begin mark
        while length is None or len(drawn) <= length:
            if len(drawn) > _LONGEST and length is None:
                raise TooLarge(
                    f"a sequence drawn from the model has not ended after {_LONGEST:,} symbols. "
                    "Give a length."
                )
            row = np.full(self.width, 1.0 / self.width)
            context = np.array(drawn[-self.order :], dtype=np.int32)
            continue_row(context, self.bits, contexts, row)
            code = min(int(np.searchsorted(np.cumsum(row), rng.random())), self.width - 1)
            if code == self.n_symbols:
                break
            drawn.append(code)
        return np.array(drawn[1:], dtype=np.int32)

    @property
    def _contexts(self) -> Contexts:
        return Contexts(*(getattr(self, name) for name in Contexts._fields))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NgramModel):
            return NotImplemented
        return (self.alphabet, self.ends) == (other.alphabet, other.ends) and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in FACTS
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"NgramModel(order={self.order}, n_symbols={self.n_symbols}, n_grams={self.n_grams})"

    def facts(self) -> dict[str, Any]:
        """Return order, symbols and size."""
        return {
            "order": self.order,
            "symbols": self.n_symbols,
            "alphabet": self.alphabet.shown(),
            "n_grams": self.n_grams,
            "ends": self.ends,
        }

    def to_stored(self) -> Stored:
        """Give the named arrays and metadata of this model."""
        return Stored(
            self.kind,
            {name: getattr(self, name) for name in FACTS},
            {"alphabet": alphabet_to_json(self.alphabet), "ends": self.ends},
        )

    @classmethod
    def from_stored(cls, stored: Stored) -> Self:
        """Rebuild from named arrays and metadata."""
        alphabet = alphabet_from_json(stored.meta.get("alphabet"))
        arrays = {name: stored.array(name) for name in FACTS}
        return cls(alphabet, bool(stored.meta.get("ends")), **arrays)


def field_bits(n_symbols: int, ends: bool) -> int:
    """Return how many bits hold a symbol, a mark, or nothing."""
    return int(n_symbols + ends + 1).bit_length()


def pad(corpus: Corpus, end: bool, ends: bool | None = None) -> Corpus:
    """Put the begin mark before every sequence and, if wanted, the end mark after it.

    ``ends`` tells whether there is an end mark at all, if that differs from ``end``.
    """
    n = len(corpus.alphabet)
    begin = n + (end if ends is None else ends)
    after = (n,) if end else ()
    symbols, offsets = frame(corpus.symbols, corpus.offsets, before=(begin,), after=after)
    return Corpus(symbols, offsets, Alphabet(range(begin + 1)))
