"""Arguments and options that several commands share, and how their values are read."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sigmastar.cli.choices import COLUMNS, CORPUS_FORMATS, UNKNOWN

if TYPE_CHECKING:
    from sigmastar.corpus.corpus import Corpus

__all__ = [
    "BenchDataOption",
    "BenchOutputOption",
    "ColumnOption",
    "DataArgument",
    "FormatOption",
    "ModelArgument",
    "ModelOutputOption",
    "OptionalModelOutputOption",
    "SeedOption",
    "StatesOption",
    "TextOutputOption",
    "UnknownOption",
    "announce_stdin",
    "best_option",
    "choice",
    "given_size",
    "integers",
    "load_automaton",
    "load_kind",
    "model_argument",
    "model_files",
    "output_option",
    "read_for",
    "read_lines",
    "symbol_text",
]

Names = Mapping[str, str] | Sequence[str]

# What to do with models that are no automata.
_READERS = {
    "HMMTagger": "Use: sigmastar tagger.",
    "FSTTagger": "Use: sigmastar tagger.",
    "Transliterator": "Use: sigmastar transducer.",
    "ContinuousTagger": "Use: sigmastar sensors.",
    "MeasurementHMM": "Use: sigmastar sensors states.",
}


def choice(*flags: str, names: Names, help: str, many: bool = False, metavar: str = "NAME") -> Any:
    """Make an option that takes one of some names, completes them, and refuses others.

    Parameters
    ----------
    *flags : str
        The option's spellings.
    names : mapping or sequence of str
        What it accepts; a mapping adds a few words to each name, which zsh and fish show.
    help : str
        What the option is for; the names are added.
    many : bool
        Whether it may be repeated, or hold several names separated by commas.
    metavar : str
        What stands for the value in the help.
    """
    meanings = dict(names) if isinstance(names, Mapping) else dict.fromkeys(names, "")

    def accept(context: typer.Context, value: Any) -> Any:
        if context.resilient_parsing or not value:
            return value
        if not many:
            return _accepted(value, meanings)
        return [name for given in value for name in _several(given, meanings)]

    def complete(incomplete: str) -> list[tuple[str, str]]:
        done, comma, rest = incomplete.rpartition(",") if many else ("", "", incomplete)
        return [
            (f"{done}{comma}{name}", words)
            for name, words in meanings.items()
            if name.startswith(rest)
        ]

    text = f"{help}: {_listed(meanings)}." + (" May be repeated." if many else "")
    return typer.Option(
        *flags, help=text, metavar=metavar, callback=accept, autocompletion=complete
    )


def _listed(names: Iterable[str]) -> str:
    words = list(names)
    joiner = "; " if any("," in word for word in words) else ", "
    return joiner.join(words[:-1]) + f" or {words[-1]}"


def _accepted(value: str, names: Mapping[str, str]) -> str:
    if value in names:
        return value
    from difflib import get_close_matches

    near = get_close_matches(value, names, 1)
    remedy = f" Did you mean {near[0]!r}?" if near else ""
    raise typer.BadParameter(f"must be {_listed(names)}; got {value!r}.{remedy}")


def _several(value: str, names: Mapping[str, str]) -> list[str]:
    """Split at commas unless the whole is a name itself."""
    if value in names:
        return [value]
    parts = [part.strip() for part in value.split(",") if part.strip()]
    return [_accepted(part, names) for part in parts or [value]]


def model_files(incomplete: str) -> list[str]:
    """Complete the names of model files; the shell offers all files where there is none."""
    folder, name = os.path.split(incomplete)
    endings = (".sigma", "_model.txt", ".att", ".treba", ".fsm")
    try:
        found = sorted(os.listdir(folder or "."))
    except OSError:
        return []
    return [
        os.path.join(folder, entry)
        for entry in found
        if entry.startswith(name) and entry.endswith(endings)
    ]


def _may_write(context: typer.Context, value: Any) -> Any:
    """Refuse at once what could not be written after hours of work."""
    if context.resilient_parsing or value is None or str(value) == "-":
        return value
    folder = Path(value).parent
    if not folder.is_dir():
        raise typer.BadParameter(
            f"must be in a directory that exists; got {str(value)!r}. Make {str(folder)!r} first."
        )
    if Path(value).is_dir():
        raise typer.BadParameter(f"must be a file, not a directory; got {str(value)!r}.")
    return value


def _may_hold_figures(context: typer.Context, value: Path | None) -> Any:
    if value is not None and value.suffix not in (".csv", ".json"):
        raise typer.BadParameter(f"must end in .csv or .json; got {str(value)!r}.")
    return _may_write(context, value)


def output_option(help: str) -> Any:
    """Make the option that names a file to write."""
    return typer.Option("--output", "-o", help=help, metavar="FILE", callback=_may_write)


def model_argument(help: str) -> Any:
    """Make the argument that names a model file, and completes it."""
    return typer.Argument(help=help, metavar="MODEL", autocompletion=model_files)


ModelArgument = Annotated[Path, model_argument("Model file: .sigma, PAutomaC, Treba or AT&T text.")]
DataArgument = Annotated[
    str,
    typer.Argument(help="Sequences, one a line or as --format says; - is stdin.", metavar="DATA"),
]
FormatOption = Annotated[
    str | None,
    choice(
        "--format",
        "-f",
        names=CORPUS_FORMATS,
        help="Format of DATA, told by its name and content by default",
        metavar="FORMAT",
    ),
]
ColumnOption = Annotated[
    str,
    choice("--column", names=COLUMNS, help="Which tags, where there are two", metavar="COLUMN"),
]
OptionalModelOutputOption = Annotated[
    Path | None,
    output_option("Model file to write (.sigma)."),
]
ModelOutputOption = Annotated[
    Path,
    output_option("Model file to write (.sigma)."),
]
TextOutputOption = Annotated[
    str,
    output_option("File to write; - is stdout."),
]
BenchDataOption = Annotated[
    Path | None,
    typer.Option(
        "--data",
        help="Directory with the data; by default $SIGMASTAR_DATA, the user's cache, or download.",
        metavar="DIR",
    ),
]
BenchOutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Also write the figures to a .csv or .json.",
        metavar="FILE",
        callback=_may_hold_figures,
    ),
]
UnknownOption = Annotated[
    str,
    choice("--unknown", names=UNKNOWN, help="What to do with symbols the model does not know"),
]
SeedOption = Annotated[int, typer.Option("--seed", help="Same seed, same result.", metavar="N")]
StatesOption = Annotated[
    str,
    typer.Option(
        "--states", "-n", help="Number of states, or 'auto': found by the learner.", metavar="N"
    ),
]


def best_option(help: str) -> Any:
    """Make the option that says how many of the best answers are wanted."""
    return typer.Option("--best", "-k", min=1, help=help, metavar="K")


def given_size(states: str) -> int | None:
    """Return the number of states, None for 'auto'."""
    if states == "auto":
        return None
    if states.isascii() and states.isdigit() and int(states) > 0:
        return int(states)
    raise typer.BadParameter(
        f"must be a whole number of at least 1, or 'auto'; got {states!r}.", param_hint="'--states'"
    )


def integers(option: str, text: str) -> list[int]:
    """Read whole numbers separated by commas."""
    parts = [part.strip() for part in text.split(",")]
    if all(part.isascii() and part.isdigit() and int(part) > 0 for part in parts):
        return [int(part) for part in parts]
    raise typer.BadParameter(
        f"must be whole numbers of at least 1 separated by commas, such as 5,10,20; got {text!r}.",
        param_hint=f"'{option}'",
    )


def announce_stdin(path: object) -> None:
    """Tell people at a terminal that their typing is waited for."""
    if os.fspath(path) == "-" and sys.stdin and sys.stdin.isatty():  # type: ignore[call-overload]
        from sigmastar.cli.output import note

        note("reading standard input; end it with Ctrl-D.")


def read_for(model: Any, data: str, format: str | None, unknown: str) -> Corpus:
    """Read sequences as the model spells its symbols: integers stay integers, text becomes text."""
    from sigmastar.core.errors import UnknownSymbol
    from sigmastar.corpus.readers.api import read_corpus

    announce_stdin(data)
    known = model.alphabet
    try:
        return read_corpus(data, format, alphabet=known, unknown=unknown)  # type: ignore[arg-type]
    except UnknownSymbol as error:
        raise UnknownSymbol(f"{data}: {error} (On the command line: --unknown ignore.)") from None


def read_lines(path: str | Path) -> list[str]:
    """Read the lines of a text file or (``-``) of standard input, without their ends."""
    from sigmastar.corpus.readers.source import Source

    announce_stdin(path)
    with Source(path) as source:
        return [line for _, line in source.lines()]


def load_kind(path: Path, kinds: tuple[str, ...], what: str, maker: str) -> Any:
    """Load a model of certain kinds; say what a file of another kind holds, and what makes one."""
    from sigmastar.core.errors import FileFormatError
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
    from sigmastar.core.errors import FileFormatError
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
