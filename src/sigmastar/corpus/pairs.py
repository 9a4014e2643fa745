"""Pair corpora: two sequences that belong together, such as words and tags, or two spellings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sigmastar.core.errors import InvalidData
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.rules import Real, check
from sigmastar.core.splits import draw_part
from sigmastar.core.types import Symbol
from sigmastar.corpus.alphabet import Alphabet, Unknown
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.dataframes import grouped_rows

__all__ = ["PairCorpus"]


class PairCorpus:
    """Two corpora of equally many sequences, read side by side.

    Parameters
    ----------
    source, target : Corpus
        Sequence ``i`` of the one belongs to sequence ``i`` of the other.

    Examples
    --------
    >>> names = PairCorpus.from_pairs([("anna", "анна"), ("max", "макс")])
    >>> len(names), names.is_aligned
    (2, False)
    """

    __slots__ = ("source", "target")

    def __init__(self, source: Corpus, target: Corpus) -> None:
        if len(source) != len(target):
            raise InvalidData(
                "source and target must have equally many sequences; "
                f"got {len(source)} and {len(target)}."
            )
        self.source = source
        self.target = target

    @classmethod
    def from_pairs(
        cls,
        pairs: Iterable[tuple[Iterable[Symbol], Iterable[Symbol]]],
        *,
        source_alphabet: Alphabet | None = None,
        target_alphabet: Alphabet | None = None,
        unknown: Unknown = "error",
    ) -> PairCorpus:
        """Encode pairs of sequences."""
        both = list(pairs)
        for position, pair in enumerate(both):
            if isinstance(pair, str) or not isinstance(pair, Sized) or len(pair) != 2:
                raise InvalidData(f"pair {position} must have two sides; got {pair!r}.")
        return cls(
            Corpus.from_sequences([x for x, _ in both], alphabet=source_alphabet, unknown=unknown),
            Corpus.from_sequences([y for _, y in both], alphabet=target_alphabet, unknown=unknown),
        )

    @classmethod
    def from_dataframe(
        cls,
        table: Any,
        *,
        source: str,
        target: str,
        sequence: str | None = None,
        order: str | None = None,
    ) -> PairCorpus:
        """Encode a table of pairs, or of tagged words: pandas, polars or Arrow. Needs narwhals.

        Without ``sequence`` each row is a pair of texts or lists, in the columns ``source`` and
        ``target``. With it each row is a word and its tag, and the column tells sentences apart;
        ``order`` names one to sort the words of a sentence by.
        """
        if sequence is None:
            found = grouped_rows(table, [source, target], sequence=None, order=order).columns
            return cls.from_pairs(zip(found[source], found[target], strict=True))
        cells, offsets = grouped_rows(table, [source, target], sequence=sequence, order=order)
        lengths = np.diff(offsets)
        return cls(
            Corpus.from_sequences(cells[source], lengths=lengths),
            Corpus.from_sequences(cells[target], lengths=lengths),
        )

    @property
    def is_aligned(self) -> bool:
        """Whether the two sides of every pair are equally long."""
        return np.array_equal(self.source.offsets, self.target.offsets)

    @property
    def shape(self) -> tuple[int]:
        """The number of pairs, in the form scikit-learn asks for."""
        return (len(self),)

    def __len__(self) -> int:
        return len(self.source)

    def __getitem__(self, index: Any) -> Any:
        """Return one decoded pair, or the pair corpus of a slice, an index array or a mask."""
        if isinstance(index, (int, np.integer)):
            return self.source[int(index)], self.target[int(index)]
        return PairCorpus(self.source[index], self.target[index])

    def take(self, rows: ArrayLike) -> PairCorpus:
        """Return the given pairs, in the given order."""
        return PairCorpus(self.source.take(rows), self.target.take(rows))

    def __iter__(self) -> Iterator[tuple[list[Symbol], list[Symbol]]]:
        return zip(self.source, self.target, strict=True)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PairCorpus):
            return NotImplemented
        return self.source == other.source and self.target == other.target

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"PairCorpus({len(self):,} pairs, {self.source.n_symbols:,} → "
            f"{self.target.n_symbols:,} symbols)"
        )

    def split(
        self, fraction: float, *, random_state: RandomState = None
    ) -> tuple[PairCorpus, PairCorpus]:
        """Draw a random part of the pairs; return it and the rest, each in the order given."""
        check("fraction", fraction, Real(0, 1))
        chosen = draw_part(len(self), fraction, as_generator(random_state))
        return self.take(np.flatnonzero(chosen)), self.take(np.flatnonzero(~chosen))
