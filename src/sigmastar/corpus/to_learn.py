"""Sequences to learn from: coded, with a policy for symbols that come later."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any, Literal

from numpy.typing import ArrayLike

from sigmastar.core.errors import CharactersWarning, InvalidData
from sigmastar.corpus.alphabet import Alphabet, Unknown
from sigmastar.corpus.corpus import Corpus, Sequences, as_corpus

__all__ = ["corpus_to_learn", "has_names"]

_LOOKED_AT = 1000  # sequences, to tell words from characters


def corpus_to_learn(
    X: Sequences,
    lengths: ArrayLike | None,
    alphabet: Alphabet | None,
    unknown: Unknown | Literal["auto"],
) -> Corpus:
    """Encode sequences to learn from; under ``unknown="unk"`` the alphabet has a symbol for it.

    "auto" is what the alphabet says; where none is given, "unk" for events with names (symbols of
    more than one character, of which there may be more than were seen), and "error" for others.
    """
    policy = None if unknown == "auto" else unknown
    if alphabet is None:
        X = _looked_at(X)
    corpus = as_corpus(X, lengths=lengths, alphabet=alphabet, unknown=policy)
    if unknown == "auto":
        named = alphabet is None and has_names(corpus.alphabet)
        unknown = "unk" if named else corpus.alphabet.unknown
    if unknown == "unk" and corpus.alphabet.unk is None:
        corpus = corpus.recode(corpus.alphabet.with_unk())
    if alphabet is None and not isinstance(X, Corpus):
        _refuse_numbers(corpus.alphabet)
    if len(corpus) == 0:
        raise InvalidData("X must hold at least one sequence; it is empty.")
    # What is learned keeps the policy, in its file, too.
    return Corpus._trusted(corpus.symbols, corpus.offsets, corpus.alphabet.with_policy(unknown))


def has_names(alphabet: Alphabet) -> bool:
    """Tell whether symbols are names, of which there may be more than were seen."""
    return any(isinstance(symbol, str) and len(symbol) > 1 for symbol in alphabet)


def _refuse_numbers(alphabet: Alphabet) -> None:
    """Refuse floats as symbols: measurements, or codes in a column where some are missing."""
    number = next((symbol for symbol in alphabet if isinstance(symbol, float)), None)
    if number is not None:
        raise InvalidData(
            f"expected symbols; got the float {number!r}, and every other number would be another "
            "symbol. For measurements use GaussianHMM or SpectralSequenceTagger; for codes, "
            "integers: [[int(x) for x in s] for s in X]."
        )


def _looked_at(sequences: Any) -> Any:
    """Look at what sequences are; return them, begun anew where they can be taken only once."""
    if isinstance(sequences, Iterator):
        some = list(islice(sequences, _LOOKED_AT))
        _tell_characters(some)
        return chain(some, sequences)
    # Strings in an array, a column of a table or a list; a corpus tells of itself.
    if not isinstance(sequences, (Corpus, str, bytes)) and hasattr(sequences, "__iter__"):
        some = list(islice(sequences, _LOOKED_AT))
        _tell_characters(some)
        if hasattr(sequences, "to_list"):
            _tell_events(some)
    return sequences


def _tell_events(cells: list[Any]) -> None:
    """Warn of a column of a table whose cells look like events: a few names, again and again."""
    if not cells or not all(isinstance(cell, str) and " " not in cell.strip() for cell in cells):
        return
    if 3 * len(set(cells)) <= len(cells) and any(len(cell) > 1 for cell in cells):
        warnings.warn(
            f"each cell of a column is learned as a sequence of characters, {cells[0][:30]!r} for "
            "one. If cells are events: Corpus.from_dataframe(df, sequence='session', "
            "symbol='event'), or [column.to_list()] for one sequence of all. If they are sequences "
            "of characters: [list(text) for text in column].",
            CharactersWarning,
            stacklevel=7,
        )


def _tell_characters(some: list[Any]) -> None:
    """Warn of strings that look like words with spaces between them.

    Pieces of one length are cut from running text: there characters are meant.
    """
    if not some or not all(isinstance(text, str) for text in some):
        return
    if len(some) > 2 and len({len(text) for text in some[:-1]}) == 1 and len(set(some)) > 1:
        return
    spaced = [text for text in some if " " in text.strip()]
    if 2 * len(spaced) > len(some):
        warnings.warn(
            f"strings are learned character by character, {spaced[0][:30]!r} with its spaces. If "
            "words are meant: [text.split() for text in X]. If characters are: [list(text) for "
            "text in X].",
            CharactersWarning,
            stacklevel=7,
        )
