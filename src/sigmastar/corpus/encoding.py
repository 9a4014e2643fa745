"""Encode the parts of a corpus once, by an alphabet that is given or found on the way.

Without an alphabet each part is coded by its own first, in the order of first appearance; when all
have been read, their symbols in the order of the parts give the alphabet of the whole, as they
would for one corpus, and a table for each part turns its codes into the final ones. So every part
is parsed once.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sigmastar.core.atomic import atomic_write
from sigmastar.core.errors import SigmastarError
from sigmastar.core.progress import stage
from sigmastar.core.rules import Integer
from sigmastar.core.runners import Runner
from sigmastar.core.types import Symbol
from sigmastar.corpus.alphabet import Alphabet, Unknown
from sigmastar.corpus.alphabet_json import alphabet_from_json, alphabet_to_json
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.part_sources import PartSource
from sigmastar.corpus.scratch import ScratchPart

__all__ = ["EncodedParts", "Facts", "Skipped", "encode_parts"]

_MANIFEST = "parts.json"


class Skipped(NamedTuple):
    """A part that was left out, and why."""

    name: str
    reason: str


class Facts(NamedTuple):
    """What is known of a part once it is encoded."""

    n_sequences: int
    n_symbols: int
    digest: str


class EncodedParts(NamedTuple):
    """Parts (where they are, what is known of them), their alphabet, and what was left out."""

    alphabet: Alphabet
    parts: list[tuple[Any, Facts]]
    skipped: tuple[Skipped, ...]


class _Read(NamedTuple):
    """What reading a part told: its own symbols and facts, or why it failed."""

    symbols: tuple[Symbol, ...]
    facts: Facts
    error: SigmastarError | None = None


def encode_parts(
    sources: Sequence[PartSource],
    alphabet: Alphabet | None,
    unknown: Unknown,
    on_error: str,
    runner: Runner,
    folder: str,
    key: str | None = None,
) -> EncodedParts:
    """Encode all parts.

    Parameters
    ----------
    sources : list of PartSource
        Where the sequences come from.
    alphabet, unknown
        The coding, if it is given.
    on_error : {"raise", "skip"}
        What to do with a part that cannot be read.
    runner : Runner
        Who does the work.
    folder : str
        Scratch directory, or nothing: then parts stay in the memory of the workers.
    key : str, optional
        Names the data: parts found in the directory under the same name are taken as they are.
    """
    if alphabet is not None:
        if unknown == "unk" and alphabet.unk is None:
            alphabet = alphabet.with_unk()
        alphabet = alphabet.with_policy(unknown)
    coding = None if alphabet is None else alphabet_to_json(alphabet) if key else ""
    name = hashlib.sha256(repr((key, coding, unknown, on_error)).encode()).hexdigest()
    if folder and key:
        found = _read_manifest(folder, name)
        if found is not None:
            return found
        Path(folder, _MANIFEST).unlink(missing_ok=True)
    parts = (
        [ScratchPart(folder, i) for i in range(len(sources))] if folder else [None] * len(sources)
    )
    shared = (alphabet, unknown)
    with stage("Encoding", len(sources)) as progress:
        handles: Sequence[Any] = parts
        if folder:
            reading = runner.stream(_write_part, shared, sources, parts, waits=True)
        else:
            handles = runner.place(_read_part, shared, sources, parts)
            reading = runner.stream(_told, alphabet, handles, parts)
        reads: list[_Read] = []
        for read in reading:
            reads.append(read)
            progress.advance(note="parts")
            if read.error is not None and on_error == "raise":
                raise read.error
    kept = [i for i, read in enumerate(reads) if read.error is None]
    handles, facts = [handles[i] for i in kept], [reads[i].facts for i in kept]
    if alphabet is None:
        alphabet = Alphabet.from_symbols(chain.from_iterable(reads[i].symbols for i in kept))
        alphabet = alphabet.with_unk() if unknown == "unk" else alphabet
        own = [reads[i].symbols for i in kept]
        if folder:
            facts = list(runner.stream(_rewrite_part, alphabet, handles, own, waits=True))
        else:
            handles = runner.place(_recode_part, alphabet, handles, own)
            facts = list(runner.stream(_facts_of, None, handles, own))
    skipped = tuple(
        Skipped(source.name, str(read.error))
        for source, read in zip(sources, reads, strict=True)
        if read.error is not None
    )
    result = EncodedParts(alphabet, list(zip(handles, facts, strict=True)), skipped)
    if folder and key:
        _write_manifest(folder, name, result)
    return result


def _read_part(shared: tuple[Alphabet | None, Unknown], source: PartSource, _: Any) -> Any:
    """Give the corpus of a part, or the error that it has."""
    try:
        return source.read(*shared)
    except SigmastarError as error:
        return error


def _told(coding: Alphabet | None, corpus: Corpus | SigmastarError, _: Any) -> _Read:
    if isinstance(corpus, SigmastarError):
        return _Read((), Facts(0, 0, ""), corpus)
    if coding is None:  # it will be coded anew, and be known by the codes it has then
        return _Read(corpus.alphabet.symbols, Facts(len(corpus), corpus.n_symbols, ""))
    return _Read((), _facts(corpus))


def _write_part(
    shared: tuple[Alphabet | None, Unknown], source: PartSource, part: ScratchPart
) -> _Read:
    corpus = _read_part(shared, source, None)
    told = _told(shared[0], corpus, None)
    if isinstance(corpus, Corpus):
        part.write(corpus)
    return told


def _rewrite_part(alphabet: Alphabet, part: ScratchPart, symbols: tuple[Symbol, ...]) -> Facts:
    corpus = _recode_part(alphabet, part.open(Alphabet(symbols)), symbols)
    facts = _facts(corpus)
    part.write(corpus)
    return facts


def _recode_part(alphabet: Alphabet, corpus: Corpus, _: Any) -> Corpus:
    return corpus.recode(alphabet)


def _facts_of(_: Any, corpus: Corpus, __: Any) -> Facts:
    return _facts(corpus)


def _facts(corpus: Corpus) -> Facts:
    digest = hashlib.sha256(np.ascontiguousarray(corpus.symbols).data)
    digest.update(np.ascontiguousarray(corpus.offsets).data)
    return Facts(len(corpus), corpus.n_symbols, digest.hexdigest())


def _write_manifest(folder: str, name: str, found: EncodedParts) -> None:
    record = {
        "name": name,
        "alphabet": alphabet_to_json(found.alphabet),
        "parts": [[part.number, *facts] for part, facts in found.parts],
        "skipped": found.skipped,
    }
    atomic_write(os.path.join(folder, _MANIFEST), json.dumps(record).encode())


def _read_manifest(folder: str, name: str) -> EncodedParts | None:
    """Return what a directory holds under this name; None if it holds anything else."""
    try:
        record = json.loads(Path(folder, _MANIFEST).read_bytes())
        if record["name"] != name:
            return None
        alphabet = alphabet_from_json(record["alphabet"])
        parts = [(ScratchPart(folder, n), Facts(*facts)) for n, *facts in record["parts"]]
        sound = all(
            Integer(0).accepts(number) for _, facts in parts for number in facts[:2]
        ) and all(Integer(0).accepts(part.number) and part.exists() for part, _ in parts)
        skipped = tuple(Skipped(*map(str, row)) for row in record["skipped"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return EncodedParts(alphabet, parts, skipped) if sound else None
