"""Encode a stream of sequences block by block, under a fixed alphabet or one that grows.

A grown alphabet keeps the code of every symbol it has met: the alphabet of a later block begins
with that of an earlier one, so the codes of all blocks mean the same under the last.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import numpy as np

from sigmastar.core.arrays import offsets_of
from sigmastar.core.memory import check_memory, memory_budget
from sigmastar.core.progress import stage
from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.corpus.alphabet import Alphabet, Unknown, counting_codes
from sigmastar.corpus.corpus import Corpus

__all__ = [
    "Coder",
    "Held",
    "cut",
    "encode_blocks",
    "encode_texts",
    "join",
    "number_blocks",
    "sort_alphabet",
    "told",
]

# A block closes once it holds this many symbols, so that memory does not depend on the file.
BLOCK_SYMBOLS = 1 << 18
BATCH_SYMBOLS = 1 << 22
_SYMBOL_BYTES = 200  # of a symbol in the alphabet: the text, and its place in two tables


class Coder:
    """Turn lists of sequences into corpora, by a given alphabet or a growing one."""

    def __init__(self, alphabet: Alphabet | None, unknown: Unknown | None) -> None:
        self.fixed = alphabet
        self.unknown = unknown
        self._codes = counting_codes()
        self._alphabet = Alphabet(())

    def encode(self, sequences: Sequence[Sequence[str]]) -> Corpus:
        """Encode one block of sequences."""
        if self.fixed is not None:
            return Corpus.from_sequences(sequences, alphabet=self.fixed, unknown=self.unknown)
        lengths = np.fromiter(map(len, sequences), dtype=np.int64, count=len(sequences))
        if all(type(sequence) is str for sequence in sequences):
            return self.encode_text("".join(sequences), lengths)  # type: ignore[arg-type]
        flat = chain.from_iterable(sequences)
        codes = np.fromiter(
            map(self._codes.__getitem__, flat), dtype=np.int32, count=int(lengths.sum())
        )
        self._grow()
        return Corpus(codes, offsets_of(lengths), self._alphabet)

    def encode_text(self, text: str, lengths: IndexArray) -> Corpus:
        """Encode sequences of characters, given as one text and the length of each."""
        if self.fixed is not None:
            return Corpus._encode(text, lengths, self.fixed, self.unknown)
        return Corpus._trusted(self._characters(text), offsets_of(lengths), self._alphabet)

    def _characters(self, text: str) -> SymbolArray:
        """Encode characters by the alphabet so far; it grows where some are new to it."""
        codes = self._alphabet.raw_codes(text, unknown="ignore")
        if len(codes) == 0 or codes.min() >= 0:
            return codes
        for character in dict.fromkeys(text):
            self._codes[character]  # counts up at a character that it has not met
        self._grow()
        return self._alphabet.raw_codes(text)

    def _grow(self) -> None:
        if len(self._codes) != len(self._alphabet):
            self._alphabet = Alphabet(self._codes)


def grouped(sequences: Iterable[Sequence[str]], size: int) -> Iterator[list[Sequence[str]]]:
    """Collect sequences into lists of at most ``size``, closed early when they grow long."""
    block: list[Sequence[str]] = []
    n_symbols = 0
    for sequence in sequences:
        block.append(sequence)
        n_symbols += len(sequence)
        if len(block) >= size or n_symbols >= BLOCK_SYMBOLS:
            yield block
            block, n_symbols = [], 0
    if block:
        yield block


def encode_blocks(
    sequences: Iterable[Sequence[str]],
    alphabet: Alphabet | None,
    unknown: Unknown | None,
    size: int,
) -> Iterator[Corpus]:
    """Encode a stream of sequences of words or characters."""
    coder = Coder(alphabet, unknown)
    for block in grouped(sequences, size):
        yield coder.encode(block)


def encode_texts(
    texts: Iterable[tuple[str, IndexArray]], alphabet: Alphabet | None, unknown: Unknown | None
) -> Iterator[Corpus]:
    """Encode a stream of texts, each with the lengths of its sequences of characters."""
    coder = Coder(alphabet, unknown)
    for text, lengths in texts:
        yield coder.encode_text(text, lengths)


def number_blocks(
    blocks: Iterable[tuple[SymbolArray, IndexArray, int]],
    alphabet: Alphabet | None,
    unknown: Unknown | None,
) -> Iterator[Corpus]:
    """Make corpora of blocks of integers, whose symbols are the integers themselves."""
    own = Alphabet(())
    for values, lengths, n_symbols in blocks:
        if n_symbols != len(own):
            own = Alphabet(range(n_symbols))
        corpus = Corpus(values, offsets_of(lengths), own)
        yield corpus if alphabet is None else corpus.recode(alphabet, unknown=unknown)


def cut(blocks: Iterable[Corpus], batch: int | None, limit: int | None = None) -> Iterator[Corpus]:
    """Cut blocks anew into batches, and stop after ``limit`` sequences."""
    waiting: list[Corpus] = []
    n_waiting = n_symbols = n_given = 0
    for block in blocks:
        if limit is not None and n_given + n_waiting + len(block) > limit:
            block = block[: limit - n_given - n_waiting]
        waiting.append(block)
        n_waiting += len(block)
        n_symbols += block.n_symbols
        done = limit is not None and n_given + n_waiting >= limit
        while batch is not None and n_waiting >= batch:
            whole = join(waiting)
            first, rest = whole[:batch], whole[batch:]
            yield first
            n_given += len(first)
            waiting, n_waiting, n_symbols = [rest], len(rest), rest.n_symbols
        if n_symbols >= BATCH_SYMBOLS and n_waiting and batch is not None:
            whole = join(waiting)
            yield whole
            n_given += n_waiting
            waiting, n_waiting, n_symbols = [], 0, 0
        if done:
            break
    if n_waiting or (n_given == 0 and waiting):
        yield join(waiting)


def join(corpora: Sequence[Corpus]) -> Corpus:
    """Concatenate corpora whose alphabets grew one out of the other."""
    if not corpora:
        return Corpus([], [0], Alphabet(()))
    if len(corpora) == 1:
        return corpora[0]
    symbols = np.concatenate([corpus.symbols for corpus in corpora])
    lengths = np.concatenate([corpus.lengths for corpus in corpora])
    return Corpus(symbols, offsets_of(lengths), corpora[-1].alphabet)


def sort_alphabet(corpus: Corpus) -> Corpus:
    """Recode a corpus so that its alphabet is sorted."""
    return corpus.recode(Alphabet.from_symbols(corpus.alphabet))


def told(blocks: Iterable[Corpus], path: str) -> Iterator[Corpus]:
    """Tell how many sequences have been read; stop before they take all memory."""
    held = Held(path)
    with stage(f"Reading {os.path.basename(path)}") as progress:
        for block in blocks:
            held.add(block)
            yield block
            progress.advance(len(block))


class Held:
    """What reading a file holds in memory: a few bytes of a compressed file may expand to all."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.budget = memory_budget()
        self.arrays = 0

    def add(self, block: Corpus) -> None:
        """Count a block; refuse it if all so far, joined once and coded anew, would be too much."""
        self.arrays += block.symbols.nbytes + block.offsets.nbytes
        needed = 3 * self.arrays + _SYMBOL_BYTES * len(block.alphabet)
        if needed > self.budget:
            check_memory(
                needed,
                f"{self.path}: what was read so far",
                "Read a part with limit=, read it batch by batch with iter_corpus, or raise "
                "SIGMASTAR_MAX_MEMORY.",
            )
