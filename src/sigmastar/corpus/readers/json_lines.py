"""JSON lines: a value a line, which may be written in several ways.

A sequence is a list of texts or integers, or a text that is split at spaces; a tagged sentence or a
pair is an object of two such, or a list of two. In objects the usual names are looked for; others
are passed over.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NoReturn

from sigmastar.core.errors import ParseError
from sigmastar.corpus.readers.source import Source

__all__ = ["json_pairs", "json_sentences", "json_sequences"]

_SEQUENCES = ("sequence", "symbols", "events", "tokens", "words", "source", "text")
_WORDS = ("tokens", "words", "forms")
_TAGS = ("tags", "upos", "pos", "pos_tags", "xpos")
_SOURCES, _TARGETS = ("source", "input", "word"), ("target", "output", "pronunciation")


def json_sequences(source: Source) -> Iterator[list[Any]]:
    """Give the sequence of each line."""
    for number, value in _values(source):
        if isinstance(value, dict):
            value = _named(value, _SEQUENCES, source, number)
        yield _symbols(value, source, number, at_spaces=True)


def json_sentences(
    source: Source,
) -> Iterator[tuple[list[str], list[str], list[str], list[str]]]:
    """Give words, tags, tags again (there is one kind) and no lemmas of each line."""
    for number, value in _values(source):
        if isinstance(value, dict):
            words, tags = (
                _named(value, _WORDS, source, number),
                _named(value, _TAGS, source, number),
            )
        elif isinstance(value, list) and all(isinstance(p, list) and len(p) == 2 for p in value):
            words, tags = [p[0] for p in value], [p[1] for p in value]
        else:
            _refuse(source, number, "tokens and tags, or a list of [word, tag]", value)
        forms, found = (_symbols(side, source, number, at_spaces=True) for side in (words, tags))
        texts = all(isinstance(part, str) and part for part in [*forms, *found])
        if len(forms) != len(found) or not texts:
            _refuse(source, number, "a tag for each token, both texts", value)
        if forms:
            yield forms, found, found, ["_"] * len(forms)


def json_pairs(
    source: Source, at_spaces: tuple[bool, bool]
) -> Iterator[tuple[list[str] | str, list[str] | str]]:
    """Give both sides of each line; texts are split at spaces or taken as characters."""
    for number, value in _values(source):
        if isinstance(value, dict):
            sides = [_named(value, names, source, number) for names in (_SOURCES, _TARGETS)]
        elif isinstance(value, list) and len(value) == 2:
            sides = value
        else:
            _refuse(source, number, "source and target, or a list of both", value)
        first, second = (
            side
            if isinstance(side, str) and not split
            else _symbols(side, source, number, at_spaces=True)
            for side, split in zip(sides, at_spaces, strict=True)
        )
        yield first, second


def _values(source: Source) -> Iterator[tuple[int, Any]]:
    for number, text in source.lines():
        if text.strip():
            try:
                yield number, json.loads(text)
            except (ValueError, RecursionError):
                raise ParseError(source.path, number, "a line of JSON", repr(text[:60])) from None


def _named(value: dict[str, Any], names: tuple[str, ...], source: Source, number: int) -> Any:
    for name in names:
        if name in value:
            return value[name]
    _refuse(source, number, f"an object with {' or '.join(map(repr, names))}", value)


def _symbols(value: Any, source: Source, number: int, *, at_spaces: bool) -> list[Any]:
    if isinstance(value, str) and at_spaces:
        return value.split()
    if not isinstance(value, list) or not all(
        isinstance(symbol, (str, int)) and not isinstance(symbol, bool) for symbol in value
    ):
        _refuse(source, number, "a list of texts or integers, or one text", value)
    found: list[Any] = value
    return found


def _refuse(source: Source, number: int, expected: str, value: Any) -> NoReturn:
    raise ParseError(source.path, number, expected, repr(value)[:60])
