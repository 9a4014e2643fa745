"""What several commands do with their arguments: read data, load models of the right kind."""

from __future__ import annotations

import glob
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sigmastar.core.errors import DataNotFound, FileFormatError, UnknownSymbol

if TYPE_CHECKING:
    from sigmastar.corpus.corpus import Corpus

# What to do with models that are no automata.
_READERS = {
    "HMMTagger": "Use: sigmastar tagger.",
    "FSTTagger": "Use: sigmastar tagger.",
    "Lemmatizer": "Use: sigmastar tagger tag --lemmas.",
    "Tokenizer": "Use: sigmastar tagger tag --tokens.",
    "Pipeline": "Use: sigmastar tagger tag.",
    "Transliterator": "Use: sigmastar transducer.",
    "ContinuousTagger": "Use: sigmastar sensors.",
    "MeasurementHMM": "Use: sigmastar sensors states.",
}


def announce_stdin(path: object) -> None:
    """Tell people at a terminal that their typing is waited for."""
    if os.fspath(path) == "-" and sys.stdin and sys.stdin.isatty():  # type: ignore[call-overload]
        from sigmastar.cli.output import note

        note("reading standard input; end it with Ctrl-D.")


def expect(*paths: str | Path | None) -> None:
    """Refuse paths that lead nowhere at once: what commands import next may take seconds."""
    for path in map(str, filter(None, paths)):
        if path != "-" and not os.path.exists(path) and not glob.has_magic(path):
            remedy = "Check the path."
            if " " in path and os.path.basename(path) == path and "." not in path:
                remedy += f" Sequences themselves come by standard input: echo {path!r} | … -"
            raise DataNotFound(f"{path!r} cannot be opened (no such file). {remedy}")


def reading_of(path: str | Path) -> dict[str, Any]:
    """Return how the data of a saved model were read, as far as its file tells."""
    from sigmastar.core.model_files import read_history

    reading = read_history(path).get("reading") if str(path).endswith(".sigma") else None
    return reading if isinstance(reading, dict) else {}


def text_format(path: str | Path) -> str | None:
    """Return whether a model was learned from words or characters of text, None if from neither."""
    format = reading_of(path).get("format")
    return format if format in ("words", "chars") else None


def remember(estimator: Any, **reading: Any) -> None:
    """Keep with what was learned how its data were read: they are tested in the same way."""
    known = {name: value for name, value in reading.items() if value is not None}
    estimator.info_ = {**estimator.info_, "reading": known}


def read_for(model: Any, data: str, format: str | None, unknown: str | None) -> Corpus:
    """Read sequences as the model spells its symbols: integers stay integers, text becomes text.

    What is to become of other symbols is the model's own policy unless another is given.
    """
    from sigmastar.cli.output import note
    from sigmastar.corpus.readers.api import read_corpus

    expect(data)
    announce_stdin(data)
    known = model.alphabet
    if (unknown or known.unknown) == "ignore":
        given = read_corpus(data, format)
        corpus = given.recode(known, unknown="ignore")
        left_out = given.n_symbols - corpus.n_symbols
        if left_out:
            note(
                f"{left_out:,} of {given.n_symbols:,} symbols are unknown to the model and were "
                "left out: sequences are taken as if they had not been there. Learn with "
                "--unknown unk to give new symbols a probability."
            )
        return corpus
    try:
        return read_corpus(data, format, alphabet=known, unknown=unknown)  # type: ignore[arg-type]
    except UnknownSymbol as error:
        source = "standard input" if data == "-" else data
        raise UnknownSymbol(f"{source}: {error} (On the command line: --unknown ignore.)") from None


def tell_nothing(data: str) -> None:
    """Say that a file is empty, where a command would otherwise end without a word."""
    from sigmastar.cli.output import note

    note(f"{'standard input' if data == '-' else data} holds no sequences: nothing was done.")


def read_any(data: str, format: str | None) -> Corpus:
    """Read sequences whatever their symbols are, known to a model or not."""
    from sigmastar.corpus.readers.api import read_corpus

    announce_stdin(data)
    return read_corpus(data, format)


def read_lines(path: str | Path) -> list[str]:
    """Read the lines of a text file or (``-``) of standard input, without their ends."""
    from sigmastar.corpus.readers.source import Source

    announce_stdin(path)
    with Source(path) as source:
        return [line for _, line in source.lines()]


def load_kind(path: Path, kinds: tuple[str, ...], what: str, maker: str) -> Any:
    """Load a model of certain kinds; say what a file of another kind holds, and what makes one."""
    from sigmastar.loading import load

    model = load(path)
    name = model.kind
    if name not in kinds:
        raise FileFormatError(f"{path}: holds a {name}, not {what}. Make one with: {maker}")
    return model


def load_automaton(path: str | Path, *, or_predictor: bool = False) -> Any:
    """Read an automaton from a file of any format; say what else a file holds, and who reads it.

    With ``or_predictor``, models that predict symbol by symbol (n-grams, mixtures) will do, too.
    """
    from sigmastar.loading import read_model

    model = read_model(path)
    name = model.kind
    more = ("Ngram", "ContextMixture") if or_predictor else ()
    if name not in ("WFA", "PFA", "HMM", *more):
        raise FileFormatError(
            f"{path}: holds a {name}, not an automaton over strings (WFA, PFA or HMM). "
            f"{_READERS.get(name, 'Use it in Python: sigmastar.load.')}"
        )
    return model


def symbol_text(symbol: object) -> str:
    """Write a symbol so that a line of them can be read again."""
    return symbol if isinstance(symbol, str) else str(symbol)
