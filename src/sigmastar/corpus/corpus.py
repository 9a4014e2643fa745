"""Corpora: many sequences in two flat arrays.

``symbols`` holds the codes of all sequences one after the other (int32), ``offsets`` where each
begins (int64, one more than there are sequences): four bytes a symbol and eight a sequence.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from types import EllipsisType
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike

from sigmastar.core.arrays import offsets_of
from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.rules import Integer, Real, check
from sigmastar.core.splits import draw_part
from sigmastar.core.types import BoolArray, IndexArray, Symbol, SymbolArray
from sigmastar.corpus.alphabet import Alphabet, Unknown, collect_codes, plain, policy_of
from sigmastar.corpus.dataframes import grouped_rows, refuse_tables
from sigmastar.corpus.kernels.trie import STEPS_A_SYMBOL, grow_trie
from sigmastar.corpus.taking import take_rows

__all__ = ["Corpus", "Sequences", "as_corpus"]


class Corpus(Sequence[list[Symbol]]):
    """Many sequences over one alphabet.

    Parameters
    ----------
    symbols : array of int32
        The codes of all sequences, one after the other.
    offsets : array of int64, length ``n + 1``
        Sequence ``i`` is ``symbols[offsets[i]:offsets[i + 1]]``.
    alphabet : Alphabet
        What the codes stand for.

    Examples
    --------
    >>> corpus = Corpus.from_sequences(["abba", "", "ab"])
    >>> len(corpus), corpus.n_symbols, corpus[0]
    (3, 6, ['a', 'b', 'b', 'a'])
    >>> corpus[1:].lengths
    array([0, 2])
    """

    __slots__ = ("alphabet", "offsets", "symbols")

    def __init__(self, symbols: ArrayLike, offsets: ArrayLike, alphabet: Alphabet) -> None:
        self.symbols: SymbolArray = np.ascontiguousarray(symbols, dtype=np.int32)
        self.offsets: IndexArray = np.ascontiguousarray(offsets, dtype=np.int64)
        self.alphabet = alphabet
        if self.symbols.ndim != 1 or self.offsets.ndim != 1 or len(self.offsets) == 0:
            raise InvalidData("symbols and offsets must be flat arrays, offsets not empty.")
        if self.offsets[0] != 0 or self.offsets[-1] != len(self.symbols):
            raise InvalidData(
                f"offsets must run from 0 to the number of symbols, {len(self.symbols)}; "
                f"got {self.offsets[0]} to {self.offsets[-1]}."
            )
        if (self.offsets[1:] < self.offsets[:-1]).any():  # differences might wrap around
            raise InvalidData("offsets must not decrease: each is where a sequence begins.")
        if len(self.symbols) and not (
            0 <= int(self.symbols.min()) and int(self.symbols.max()) < len(alphabet)
        ):
            raise InvalidData(
                f"symbol codes must lie between 0 and {len(alphabet) - 1}; got "
                f"{self.symbols.min()} to {self.symbols.max()}. Encode with the same alphabet."
            )

    @classmethod
    def _trusted(cls, symbols: SymbolArray, offsets: IndexArray, alphabet: Alphabet) -> Corpus:
        """Build without checks from arrays that are known to be right."""
        corpus = cls.__new__(cls)
        corpus.symbols = symbols
        corpus.offsets = offsets
        corpus.alphabet = alphabet
        return corpus

    @classmethod
    def from_sequences(
        cls,
        sequences: Iterable[Iterable[Symbol]],
        *,
        lengths: ArrayLike | None = None,
        alphabet: Alphabet | None = None,
        unknown: Unknown | None = None,
    ) -> Corpus:
        """Encode sequences of hashable symbols.

        Parameters
        ----------
        sequences : iterable of sequences
            Each is a list, tuple, array or ``str`` (its characters are the symbols). With
            ``lengths``, one flat run of symbols instead.
        lengths : array of int, optional
            How many symbols of the flat run belong to each sequence.
        alphabet : Alphabet, optional
            The coding; collected from the sequences (sorted if possible) by default.
        unknown : {"error", "ignore", "unk"}, optional
            What to do with symbols outside the alphabet; by default what the alphabet says.
        """
        policy_of(unknown, alphabet)  # a wrong one is told before the sequences are looked at
        if lengths is not None:
            try:
                flat = list(plain(_flat_run(sequences)))  # type: ignore[arg-type]
            except TypeError:
                raise InvalidData(
                    f"expected one flat run of symbols; got {type(sequences).__name__}."
                ) from None
            return cls._encode(flat, _checked_lengths(lengths, len(flat)), alphabet, unknown)
        many = _as_list_of_sequences(sequences)
        counts = np.fromiter(map(len, many), dtype=np.int64, count=len(many))  # type: ignore[arg-type]
        if many and all(type(s) is str for s in many):
            return cls._encode("".join(many), counts, alphabet, unknown)  # type: ignore[arg-type]
        return cls._encode(chain.from_iterable(map(plain, many)), counts, alphabet, unknown)

    @classmethod
    def _encode(
        cls,
        flat: Iterable[Symbol],
        lengths: IndexArray,
        alphabet: Alphabet | None,
        unknown: Unknown | None,
    ) -> Corpus:
        offsets = offsets_of(lengths)
        n_symbols = int(offsets[-1])
        if alphabet is None:
            if not isinstance(flat, str):
                codes, alphabet = collect_codes(flat, n_symbols, unk=unknown == "unk")
                return cls._trusted(codes, offsets, alphabet)
            alphabet = Alphabet.from_symbols(set(flat))
            if unknown == "unk":
                alphabet = alphabet.with_unk()
        codes = alphabet.raw_codes(flat, unknown=unknown, count=n_symbols)
        return cls._without_ignored(codes, offsets, alphabet)

    @classmethod
    def _without_ignored(
        cls, codes: SymbolArray, offsets: IndexArray, alphabet: Alphabet
    ) -> Corpus:
        """Build from codes some of which may be -1: symbols to leave out."""
        kept = codes >= 0
        if kept.all():
            return cls._trusted(codes, offsets, alphabet)
        return cls._trusted(codes[kept], offsets_of(kept)[offsets], alphabet)

    @classmethod
    def from_arrow(
        cls, array: Any, *, alphabet: Alphabet | None = None, unknown: Unknown | None = None
    ) -> Corpus:
        """Encode an Arrow column: lists of values, or strings (characters). Needs pyarrow."""
        from sigmastar.corpus.arrow import flatten_arrow

        values, lengths = flatten_arrow(array)
        return cls._encode(values, lengths, alphabet, unknown)

    @classmethod
    def from_dataframe(
        cls,
        table: Any,
        *,
        sequence: str,
        symbol: str,
        order: str | None = None,
        alphabet: Alphabet | None = None,
        unknown: Unknown | None = None,
    ) -> Corpus:
        """Encode a table with one event a row: pandas, polars or Arrow. Needs narwhals.

        ``sequence`` names the column that tells sequences apart, ``symbol`` that of the events,
        ``order`` one to sort the events of a sequence by (as they come without it).
        """
        found = grouped_rows(table, [symbol], sequence=sequence, order=order)
        return cls._encode(found.columns[symbol], np.diff(found.offsets), alphabet, unknown)

    @property
    def n_symbols(self) -> int:
        """How many symbols all sequences have together."""
        return len(self.symbols)

    @property
    def lengths(self) -> IndexArray:
        """The length of each sequence."""
        return np.diff(self.offsets)

    @property
    def shape(self) -> tuple[int]:
        """The number of sequences, in the form scikit-learn asks for."""
        return (len(self),)

    @property
    def nbytes(self) -> int:
        """Bytes held by the two arrays."""
        return self.symbols.nbytes + self.offsets.nbytes

    def __sizeof__(self) -> int:
        return self.nbytes  # what keeps it, such as a worker of a cluster, must know its weight

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def codes(self, index: int) -> SymbolArray:
        """Return the codes of one sequence (a view)."""
        return self.symbols[self.offsets[index] : self.offsets[index + 1]]

    @overload
    def __getitem__(self, index: int) -> list[Symbol]: ...
    @overload
    def __getitem__(self, index: slice) -> Corpus: ...
    def __getitem__(self, index: int | slice | ArrayLike | tuple[Any, EllipsisType]) -> Any:
        """Return one decoded sequence, or the corpus of a slice, an index array or a mask."""
        if isinstance(index, tuple) and len(index) == 2 and index[1] is Ellipsis:
            index = index[0]  # scikit-learn indexes the first axis as X[rows, ...]
        if isinstance(index, (int, np.integer)):
            where = int(index) + (len(self) if index < 0 else 0)
            if not 0 <= where < len(self):
                raise IndexError(f"sequence {index} of a corpus of {len(self)}")
            return self.alphabet.decode(self.codes(where))
        if isinstance(index, slice):
            first, last, step = index.indices(len(self))
            if step == 1:
                offsets = self.offsets[first : max(first, last) + 1]
                symbols = self.symbols[offsets[0] : offsets[-1]]
                return Corpus._trusted(symbols, offsets - offsets[0], self.alphabet)
            return self.take(np.arange(first, last, step))
        rows = np.asarray(index)
        return self.take(np.flatnonzero(rows) if rows.dtype == bool else rows)

    def take(self, rows: ArrayLike) -> Corpus:
        """Return the corpus of the given sequences, in the given order."""
        where = np.arange(len(self))[np.asarray(rows, dtype=np.int64)]  # resolves negative rows
        return Corpus._trusted(*take_rows(self.symbols, self.offsets, where), self.alphabet)

    def __iter__(self) -> Iterator[list[Symbol]]:
        for index in range(len(self)):
            yield self.alphabet.decode(self.codes(index))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Corpus):
            return NotImplemented
        return (
            self.alphabet == other.alphabet
            and np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.symbols, other.symbols)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"Corpus({len(self):,} sequences, {self.n_symbols:,} symbols, "
            f"alphabet of {len(self.alphabet):,})"
        )

    def __reduce__(self) -> tuple[object, ...]:
        return (Corpus._trusted, (self.symbols, self.offsets, self.alphabet))

    def distinct(self) -> tuple[Corpus, IndexArray]:
        """Return the distinct sequences, by first appearance, and how often each occurs."""
        ends = np.empty(len(self), dtype=np.int32)
        grow_trie.sized(STEPS_A_SYMBOL * (self.n_symbols + len(self)))(
            self.symbols,
            self.offsets,
            len(self.alphabet),
            np.empty(self.n_symbols + 1, dtype=np.int32),
            np.empty(self.n_symbols + 1, dtype=np.int32),
            np.empty(int(self.lengths.max(initial=0)) + 2, dtype=np.int64),
            ends,
            np.empty(0, dtype=np.int32),
        )
        _, first, counts = np.unique(ends, return_index=True, return_counts=True)
        order = np.argsort(first)
        return self.take(first[order]), counts[order].astype(np.int64)

    def split(self, fraction: float, *, random_state: RandomState = None) -> tuple[Corpus, Corpus]:
        """Draw a random part of the sequences; return it and the rest, each in the order given."""
        check("fraction", fraction, Real(0, 1))
        chosen = draw_part(len(self), fraction, as_generator(random_state))
        return self.take(np.flatnonzero(chosen)), self.take(np.flatnonzero(~chosen))

    def recode(self, alphabet: Alphabet, *, unknown: Unknown | None = None) -> Corpus:
        """Return the same sequences coded by another alphabet."""
        unknown = policy_of(unknown, alphabet)
        if alphabet == self.alphabet:
            return self
        table = alphabet.raw_codes(self.alphabet.symbols, unknown="ignore")
        if (table >= 0).all():
            return Corpus._trusted(table[self.symbols], self.offsets, alphabet)
        used = np.zeros(len(self.alphabet), dtype=bool)
        used[self.symbols] = True
        if (table[used] < 0).any():
            # Some used symbol is unknown to the new alphabet: apply the policy symbol by symbol.
            absent = [s for s, code in zip(self.alphabet, table, strict=True) if code < 0]
            if unknown == "error":
                alphabet.index(next(s for s in absent if used[self.alphabet.index(s)]))
            elif unknown == "unk":
                table = alphabet.raw_codes(self.alphabet.symbols, unknown="unk")
        return Corpus._without_ignored(table[self.symbols], self.offsets, alphabet)


Sequences: TypeAlias = Corpus | Iterable[Iterable[Symbol]]


def as_corpus(
    sequences: Sequences,
    *,
    lengths: ArrayLike | None = None,
    alphabet: Alphabet | None = None,
    unknown: Unknown | None = None,
) -> Corpus:
    """Take a corpus, or anything a corpus can be made of, coded by ``alphabet`` if one is given."""
    if isinstance(sequences, Corpus):
        if lengths is not None:
            raise InvalidParameter("lengths goes with flat symbols, not with a Corpus. Drop it.")
        return sequences if alphabet is None else sequences.recode(alphabet, unknown=unknown)
    return Corpus.from_sequences(sequences, lengths=lengths, alphabet=alphabet, unknown=unknown)


def _as_list_of_sequences(sequences: Iterable[Iterable[Symbol]]) -> list[Iterable[Symbol]]:
    if isinstance(sequences, os.PathLike):
        raise InvalidData(
            f"expected a list of sequences; got a path, {os.fspath(sequences)!r}. Read the file "
            "first: read_corpus(path)."
        )
    if isinstance(sequences, (str, bytes)):
        a_file = len(sequences) < 1000 and b"\0" not in os.fsencode(sequences)
        if a_file and os.path.isfile(sequences):
            remedy = "It is the name of a file: read_corpus(path) reads it."
        else:
            remedy = "Wrap it in a list: [text]."
        raise InvalidData(
            f"expected a list of sequences; got the single string {sequences[:40]!r}. {remedy}"
        )
    refuse_tables(sequences)
    try:
        many = list(sequences)
    except TypeError:
        raise InvalidData(
            f"expected a list of sequences; got {type(sequences).__name__}."
        ) from None
    if many and isinstance(many[0], np.ndarray):
        refuse_tables(many[0], one=True)
    for position, sequence in enumerate(many):
        if not hasattr(sequence, "__len__") or isinstance(sequence, (dict, set, frozenset)):
            if isinstance(sequence, Iterator):
                many[position] = list(sequence)
                continue
            raise InvalidData(
                f"sequence {position} must be a list, tuple, array or string; got {sequence!r}. "
                "For one flat run of symbols, pass lengths=."
            )
    return many


def _flat_run(run: Any) -> Any:
    """Take one flat run of symbols; a single column, as hmmlearn has it, is one, too."""
    refuse_tables(run, one=True)
    if isinstance(run, np.ndarray) and run.ndim == 2:
        if run.shape[1] != 1:
            raise InvalidData(
                f"expected one flat run of symbols; got an array of shape {run.shape}. For one "
                "sequence a row leave out lengths."
            )
        return run[:, 0]
    return run


def _checked_lengths(lengths: ArrayLike, n_symbols: int) -> IndexArray:
    counts = np.asarray(lengths)
    if counts.ndim != 1 or (counts.size and counts.dtype.kind not in "iu"):
        raise InvalidParameter(f"lengths must be a flat array of integers; got {lengths!r}.")
    if (counts < 0).any() or int(counts.sum()) != n_symbols:
        raise InvalidParameter(
            f"lengths must be non-negative and sum to the number of symbols, {n_symbols}; "
            f"their sum is {int(counts.sum())}."
        )
    return counts.astype(np.int64)


def positions_after(corpus: Corpus, skip: int) -> BoolArray:
    """Mark the symbols of a corpus that are not among the first ``skip`` of their sequence."""
    check("skip", skip, Integer(0))
    place = np.arange(corpus.n_symbols) - np.repeat(corpus.offsets[:-1], corpus.lengths)
    counted: BoolArray = place >= skip
    if not counted.any():
        raise InvalidData(
            f"X must hold a sequence of more than {skip} symbols, those that are skipped; the "
            f"longest has {int(corpus.lengths.max(initial=0))}. Lower skip."
        )
    return counted
