"""Read sequences, pairs and tagged sentences from files of any known format."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Literal

import numpy as np

from sigmastar.core.errors import InvalidData, InvalidParameter, ParseError
from sigmastar.core.progress import stage
from sigmastar.core.rules import AnyOf, Choice, Instance, Integer, Nothing, check
from sigmastar.corpus.alphabet import Alphabet, Unknown, policy_of
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.joined_pairs import join_pairs
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.corpus.readers.cutting import in_whole_file
from sigmastar.corpus.readers.detect import (
    JSON_LINES,
    TAGGED,
    detect_format,
    has_two_columns,
    refuse_columns,
)
from sigmastar.corpus.readers.growing import (
    BLOCK_SYMBOLS,
    Coder,
    Held,
    cut,
    encode_blocks,
    encode_texts,
    join,
    number_blocks,
    sort_alphabet,
    told,
)
from sigmastar.corpus.readers.json_lines import json_pairs, json_sentences, json_sequences
from sigmastar.corpus.readers.pautomac import pautomac_blocks
from sigmastar.corpus.readers.source import Source, base_name, not_text
from sigmastar.corpus.readers.tagged import (
    Sentence,
    conllu,
    tag_columns,
    two_columns,
    word_tag_lines,
)
from sigmastar.corpus.readers.text import character_blocks, chunks, token_lines
from sigmastar.corpus.readers.treba import treba_blocks
from sigmastar.corpus.readers.tsv import tsv_pairs

__all__ = [
    "iter_corpus",
    "read_corpus",
    "read_corpus_as",
    "read_pairs",
    "read_span",
    "read_tagged",
]

_TAGGED: dict[str, Callable[[Source], Iterator[Sentence]]] = {
    "conllu": conllu,
    "columns": two_columns,
    "tag-tsv": tag_columns,
    "word-tag": word_tag_lines,
    "jsonl": json_sentences,
}
_COUNT = AnyOf(Nothing(), Integer(0))
_SIZE = AnyOf(Nothing(), Integer(1))
_ALPHABET = AnyOf(Nothing(), Instance(Alphabet))
_COLUMN_OF = {"form": 0, "upos": 1, "xpos": 2, "lemma": 3}
_COLUMNS = (*_COLUMN_OF, "form+upos", "form+xpos")
_SIDES = ("source", "target", "source+target")


def read_corpus(
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    alphabet: Alphabet | None = None,
    unknown: Unknown | None = None,
    limit: int | None = None,
    chunk: int | None = None,
    column: str | None = None,
) -> Corpus:
    """Read the sequences of a file.

    Parameters
    ----------
    path : str or path
        The file; gzip and xz are recognised by their first bytes, ``"-"`` is standard input.
    format : str, optional
        ``"pautomac"`` (or ``"spice"``), ``"treba"``, ``"conllu"``, ``"columns"``,
        ``"tag-tsv"``, ``"word-tag"``, ``"pairs"``, ``"jsonl"``, ``"words"``, ``"chars"`` or
        ``"chunks"``; found out from name and content by default.
    alphabet : Alphabet, optional
        The coding; by default the symbols that occur, sorted (every integer below the alphabet
        size for PAutomaC, up to the largest for Treba).
    unknown : {"error", "ignore", "unk"}, optional
        What to do with symbols outside the alphabet; by default what the alphabet says.
    limit : int, optional
        Read at most so many sequences.
    chunk : int, optional
        Read the text as runs of so many characters (format ``"chunks"``).
    column : str, optional
        ``"form"``, ``"upos"`` or ``"xpos"`` of tagged text, or pairs of word and tag
        (``"form+upos"``, ``"form+xpos"``); ``"source"``, ``"target"`` or both, joined, of pairs
        (``"source+target"``). The first of each by default.

    Returns
    -------
    Corpus
    """
    return read_corpus_as(path, format, alphabet, unknown, limit, chunk, column)[0]


def read_corpus_as(
    path: str | os.PathLike[str],
    format: str | None = None,
    alphabet: Alphabet | None = None,
    unknown: Unknown | None = None,
    limit: int | None = None,
    chunk: int | None = None,
    column: str | None = None,
) -> tuple[Corpus, str]:
    """Do what :func:`read_corpus` does; return the format that was found, too."""
    _check(alphabet, unknown, limit)
    with Source(path) as source:
        found = _format_of(source, format, chunk)
        if format is None and b"\0" in source.head():
            raise not_text(source.head(), source.path)
        if format is None and column is None:
            refuse_columns(source, found)
        blocks = _blocks(source, found, alphabet, unknown, 1 << 16, chunk, column, limit is None)
        corpus = join(list(cut(told(blocks, source.path), None, limit)))
    sort = found not in ("pautomac", "treba")
    return _finished(corpus, alphabet, unknown, sort=sort), found


def read_span(
    path: str | os.PathLike[str],
    format: str,
    span: tuple[int, int] | None,
    *,
    alphabet: Alphabet | None = None,
    unknown: Unknown | None = None,
    chunk: int | None = None,
    column: str | None = None,
) -> Corpus:
    """Read the sequences between two places of a file that lie between sequences.

    Without ``alphabet`` the symbols are coded in the order in which they come. What is wrong in the
    file is told with its line in the whole.
    """
    try:
        with Source(path, span=span) as source:
            found = _format_of(source, format, chunk)
            blocks = _blocks(source, found, alphabet, unknown, 1 << 16, chunk, column, True)
            corpus = join(list(blocks))
    except ParseError as error:
        raise in_whole_file(error, path, span) from None
    return corpus if alphabet is None or len(corpus) else Corpus([], [0], alphabet)


def iter_corpus(
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    batch: int = 10_000,
    alphabet: Alphabet | None = None,
    unknown: Unknown | None = None,
    limit: int | None = None,
    chunk: int | None = None,
    column: str | None = None,
) -> Iterator[Corpus]:
    """Read a file of any size batch by batch, in bounded memory.

    Without ``alphabet`` the alphabet grows: each batch's begins with that of the batch before, so
    a code means the same in all of them, and the last batch's alphabet serves for all. (That of
    a PAutomaC file is known from its header.)

    Parameters
    ----------
    path, format, alphabet, unknown, limit, chunk, column
        As for :func:`read_corpus`.
    batch : int
        The number of sequences in a batch; a batch of long sequences closes earlier, once it
        holds four million symbols.

    Returns
    -------
    iterator of Corpus
    """
    _check(alphabet, unknown, limit)
    check("batch", batch, Integer(1))

    def batches() -> Iterator[Corpus]:
        with Source(path) as source:
            found = _format_of(source, format, chunk)
            size = min(batch, 1 << 16)
            blocks = _blocks(source, found, alphabet, unknown, size, chunk, column, limit is None)
            yield from cut(blocks, batch, limit)

    return batches()  # so that wrong arguments are told at the call, not at the first batch


def read_pairs(
    path: str | os.PathLike[str],
    *,
    source: Literal["chars", "words"] = "chars",
    target: Literal["chars", "words"] = "chars",
    columns: tuple[int, int] = (0, 1),
    source_alphabet: Alphabet | None = None,
    target_alphabet: Alphabet | None = None,
    unknown: Unknown | None = None,
    limit: int | None = None,
    left_out: Callable[[ParseError], object] | None = None,
) -> PairCorpus:
    """Read pairs of sequences from tab-separated columns, or from JSON lines (``.jsonl``).

    Parameters
    ----------
    path : str or path
        The file; blank lines are passed over, columns beyond the two are allowed.
    source, target : {"chars", "words"}
        Whether a side is taken as characters or split at spaces.
    columns : pair of int
        Which columns hold source and target, from 0.
    source_alphabet, target_alphabet : Alphabet, optional
        The codings; collected and sorted by default.
    unknown : {"error", "ignore", "unk"}
        What to do with symbols outside the alphabets.
    limit : int, optional
        Read at most so many pairs.
    left_out : callable, optional
        Hears, as an error, of lines of too few columns, which are then not refused but left out.
    """
    for name, side in (("source", source), ("target", target)):
        check(name, side, Choice("chars", "words"))
    _check(source_alphabet, unknown, limit)
    _check(target_alphabet, unknown, limit)
    if len(columns) != 2 or not all(Integer(0).accepts(column) for column in columns):
        raise InvalidParameter(f"columns must be two integers of at least 0; got {columns!r}.")
    with Source(path) as file:
        at_spaces = (source == "words", target == "words")
        if base_name(file.path).endswith(JSON_LINES):
            rows = json_pairs(file, at_spaces)
        else:
            rows = tsv_pairs(file, (columns[0], columns[1]), at_spaces, left_out)
        return _paired(islice(rows, limit), source_alphabet, target_alphabet, unknown, file.path)


def read_tagged(
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    column: Literal["upos", "xpos", "lemma"] = "upos",
    source_alphabet: Alphabet | None = None,
    target_alphabet: Alphabet | None = None,
    unknown: Unknown = "error",
    limit: int | None = None,
) -> PairCorpus:
    """Read sentences and their tags, aligned word by word.

    Parameters
    ----------
    path : str or path
        CoNLL-U, three tab-separated columns (word, UPOS, XPOS), a word and its tag on a line
        (HunPos, CoNLL), lines of word/TAG, or JSON lines.
    format : {"conllu", "columns", "tag-tsv", "word-tag", "jsonl"}, optional
        Found out from name and content by default; "columns" only where blank lines stand between
        sentences.
    column : {"upos", "xpos", "lemma"}
        Which tags, or lemmas instead; word/TAG lines have one kind of tag only and no lemmas.
    source_alphabet, target_alphabet : Alphabet, optional
        The codings of words and tags; collected and sorted by default.
    unknown : {"error", "unk"}
        What to do with words or tags outside the alphabets ("ignore" would break the alignment).
    limit : int, optional
        Read at most so many sentences.
    """
    check("column", column, Choice("upos", "xpos", "lemma"))
    check("unknown", unknown, Choice("error", "unk"), "Dropping words would break the alignment.")
    _check(source_alphabet, unknown, limit)
    _check(target_alphabet, unknown, limit)
    with Source(path) as source:
        format = detect_format(source, format)
        if format == "pairs" and has_two_columns(source.head()):
            format = "columns"  # a word and its tag on a line, and sentences between blank lines
        if format not in TAGGED and not source.head(1):
            raise InvalidData(f"{source.path}: has no tagged sentences; the file is empty.")
        if format not in TAGGED:
            raise InvalidData(
                f"{source.path}: expected tagged sentences; the format looks like {format!r}. "
                f"If it is one of {', '.join(TAGGED)}, pass format= (on the command line: -f)."
            )
        which = _COLUMN_OF[column]
        rows = ((s[0], s[which]) for s in islice(_TAGGED[format](source), limit))
        pairs = _paired(rows, source_alphabet, target_alphabet, unknown, source.path)
        if column != "upos" and set(pairs.target.alphabet) <= {"_"} and len(pairs):
            what = "XPOS tags" if column == "xpos" else "lemmas"
            raise InvalidData(f"{source.path}: the file has no {what}. Use column='upos'.")
        return pairs


def _blocks(
    source: Source,
    format: str,
    alphabet: Alphabet | None,
    unknown: Unknown | None,
    size: int,
    chunk: int | None,
    column: str | None,
    complete: bool,
) -> Iterator[Corpus]:
    """Open the reader of a format."""
    tagged, paired = format in TAGGED and format != "jsonl", format == "pairs"
    allowed: tuple[str, ...] = _COLUMNS if tagged else _SIDES if paired else ()
    if column is not None and column not in allowed:
        known = " or ".join(map(repr, allowed)) or "left out"
        raise InvalidParameter(f"column must be {known} for the format {format!r}; got {column!r}.")
    if format == "pautomac":
        return number_blocks(pautomac_blocks(source, complete=complete), alphabet, unknown)
    if format == "treba":
        return number_blocks(treba_blocks(source), alphabet, unknown)
    sequences: Iterable[Sequence[Any]]
    if tagged:
        form, _, tag = (column or "form").partition("+")
        which = _COLUMN_OF[form]
        sentences = _TAGGED[format](source)
        sequences = (sentence[which] for sentence in sentences)
        if tag:
            sequences = (list(zip(s[0], s[_COLUMN_OF[tag]], strict=True)) for s in sentences)
    elif paired:
        pairs = tsv_pairs(source, (0, 1), (False, False))
        joined = column == "source+target"
        side = 1 if column == "target" else 0
        sequences = (join_pairs([pair])[0] if joined else pair[side] for pair in pairs)
    elif format == "jsonl":
        sequences = json_sequences(source)
    elif format == "chunks":
        sequences = chunks(source, chunk or 1)
    elif format == "chars":
        return encode_texts(character_blocks(source), alphabet, unknown)
    else:
        sequences = token_lines(source)
    return encode_blocks(sequences, alphabet, unknown, size)


def _paired(
    rows: Iterable[tuple[Sequence[str], Sequence[str]]],
    source_alphabet: Alphabet | None,
    target_alphabet: Alphabet | None,
    unknown: Unknown | None,
    path: str,
) -> PairCorpus:
    coders = Coder(source_alphabet, unknown), Coder(target_alphabet, unknown)
    parts: tuple[list[Corpus], list[Corpus]] = ([], [])
    held = Held(path), Held(path)
    rows = iter(rows)
    with stage(f"Reading {os.path.basename(path)}") as progress:
        while block := list(islice(rows, BLOCK_SYMBOLS >> 6)):
            for side in (0, 1):
                parts[side].append(coders[side].encode([row[side] for row in block]))
                held[side].add(parts[side][-1])
            progress.advance(len(block))
    source, target = (
        _finished(join(part) if part else coder.encode([]), coder.fixed, unknown, sort=True)
        for part, coder in zip(parts, coders, strict=True)
    )
    return PairCorpus(source, target)


def _finished(
    corpus: Corpus, alphabet: Alphabet | None, unknown: Unknown | None, *, sort: bool
) -> Corpus:
    """Give a collected alphabet its final form."""
    if alphabet is not None:
        return corpus if len(corpus) else Corpus([], np.zeros(1, np.int64), alphabet)
    if sort:
        corpus = sort_alphabet(corpus)
    return corpus.recode(corpus.alphabet.with_unk()) if unknown == "unk" else corpus


def _format_of(source: Source, format: str | None, chunk: int | None) -> str:
    check("chunk", chunk, _SIZE)
    if format is None and chunk is not None:
        return "chunks"
    if format == "chunks" and chunk is None:
        raise InvalidParameter('format="chunks" needs chunk=, the number of characters of each.')
    if chunk is not None and format != "chunks":
        raise InvalidParameter(f'chunk= goes with format="chunks"; got format={format!r}.')
    return detect_format(source, format)


def _check(alphabet: Alphabet | None, unknown: Unknown | None, limit: int | None) -> None:
    check("alphabet", alphabet, _ALPHABET)
    policy_of(unknown, alphabet)
    check("limit", limit, _COUNT)
