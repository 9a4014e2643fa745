"""Arguments and options that several commands share, and how their values are read.

A command names its options as ``options.Seed``; those that it has alone are made by :func:`option`
and :func:`choice`.
"""

from __future__ import annotations

import os
from collections import abc
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from sigmastar.cli import choices

Names = Mapping[str, str] | abc.Sequence[str]


def option(flags: str, help: str, metavar: str | None = None, **more: Any) -> Any:
    """Make an option; its spellings are separated by spaces, ``more`` goes to typer."""
    return typer.Option(*flags.split(), help=help, metavar=metavar, **more)


def choice(
    flags: str,
    names: Names,
    help: str,
    metavar: str = "NAME",
    *,
    many: bool = False,
    others: Callable[[], Iterable[str]] = tuple,
) -> Any:
    """Make an option that takes one of some names, completes them, and refuses others.

    Parameters
    ----------
    flags : str
        The option's spellings, separated by spaces.
    names : mapping or sequence of str
        What it accepts; a mapping adds a few words to each name, which zsh and fish show.
    help : str
        What the option is for; the names are added.
    metavar : str
        What stands for the value in the help.
    many : bool
        Whether it may be repeated, or hold several names separated by commas.
    others : function
        Gives more names, those of other packages; asked when a name is not among the first.
    """
    meanings = dict(names) if isinstance(names, Mapping) else dict.fromkeys(names, "")

    def accept(context: typer.Context, value: Any) -> Any:
        if context.resilient_parsing or not value:
            return value
        if not many:
            return _accepted(value, meanings, others)
        return [name for given in value for name in _several(given, meanings, others)]

    def complete(incomplete: str) -> list[tuple[str, str]]:
        done, comma, rest = incomplete.rpartition(",") if many else ("", "", incomplete)
        return [
            (f"{done}{comma}{name}", words)
            for name, words in meanings.items()
            if name.startswith(rest)
        ]

    text = f"{help}: {_listed(meanings)}." + (" May be repeated." if many else "")
    return option(flags, text, metavar, callback=accept, autocompletion=complete)


def _listed(names: Iterable[str]) -> str:
    words = list(names)
    joiner = "; " if any("," in word for word in words) else ", "
    return joiner.join(words[:-1]) + f" or {words[-1]}"


def _accepted(value: str, names: Mapping[str, str], others: Callable[[], Iterable[str]]) -> str:
    if value in names or value in others():
        return value
    from difflib import get_close_matches

    near = get_close_matches(value, names, 1)
    remedy = f" Did you mean {near[0]!r}?" if near else ""
    raise typer.BadParameter(f"must be {_listed(names)}; got {value!r}.{remedy}")


def _several(
    value: str, names: Mapping[str, str], others: Callable[[], Iterable[str]]
) -> list[str]:
    """Split at commas unless the whole is a name itself."""
    if value in names:
        return [value]
    parts = [part.strip() for part in value.split(",") if part.strip()]
    return [_accepted(part, names, others) for part in parts or [value]]


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
    device = Path(value).exists() and not Path(value).is_file()  # written to directly
    if not device and not os.access(folder, os.W_OK | os.X_OK):  # else a new file takes its place
        raise typer.BadParameter(
            f"must be in a directory that you may write to; got {str(value)!r}. Name another, or "
            f"have the rights of {str(folder)!r} changed."
        )
    return value


def _may_hold_figures(context: typer.Context, value: Path | None) -> Any:
    if value is not None and value.suffix not in (".csv", ".json"):
        raise typer.BadParameter(f"must end in .csv or .json; got {str(value)!r}.")
    return _may_write(context, value)


def output_file(help: str) -> Any:
    """Make the option that names a file to write."""
    return option("--output -o", help, "FILE", callback=_may_write)


def new_file(help: str) -> Any:
    """Make the argument that names a file to write."""
    return typer.Argument(help=help, metavar="FILE", callback=_may_write)


def model_file(help: str) -> Any:
    """Make the argument that names a model file, and completes it."""
    return typer.Argument(help=help, metavar="MODEL", autocompletion=model_files)


def best(help: str) -> Any:
    """Make the option that says how many of the best answers are wanted."""
    return option("--best -k", help, "K", min=1)


Model = Annotated[Path, model_file("Model file: .sigma, PAutomaC, Treba or AT&T text.")]
ModelOutput = Annotated[Path, output_file("Model file to write (.sigma).")]
OptionalModelOutput = Annotated[Path | None, output_file("Model file to write (.sigma).")]
TextOutput = Annotated[str, output_file("File to write; - is stdout.")]
Json = Annotated[bool, option("--json", "Print one JSON document for machines.")]
Seed = Annotated[int, option("--seed", "Same seed, same result.", "N")]
States = Annotated[
    str, option("--states -n", "Number of states, or 'auto': found by the learner.", "N")
]
Workers = Annotated[
    int | None,
    option("--workers", "Work in parts, on so many processes of this machine (Dask).", "N", min=1),
]
Cluster = Annotated[
    str | None,
    option("--cluster", "Work in parts, on the Dask cluster of this scheduler.", "ADDRESS"),
]
Scratch = Annotated[
    Path | None,
    option(
        "--scratch",
        "Work in parts; encoded ones stay here, to be found again, and workers' files.",
        "DIR",
    ),
]
Memory = Annotated[
    str | None, option("--memory", "Work in parts, within so much memory, such as 4GB.", "SIZE")
]
OnError = Annotated[
    str,
    choice("--on-error", choices.ON_ERROR, "What to do with a part that cannot be read"),
]
OutputFolder = Annotated[
    Path | None,
    option(
        "--output-dir",
        "For many files: directory of the results, one file a part; a stopped job goes on there.",
        "DIR",
    ),
]
Data = Annotated[
    str,
    typer.Argument(help="Sequences, one a line or as --format says; - is stdin.", metavar="DATA"),
]


def format_of(names: Names, what: str = "DATA") -> Any:
    """Make the option that names the format of a file, which is guessed without it."""
    return choice(
        "--format -f", names, f"Format of {what}, told by its name and content by default", "FORMAT"
    )


Format = Annotated[str | None, format_of(choices.CORPUS_FORMATS)]
TaggedFormat = Annotated[str | None, format_of(choices.TAGGED_FORMATS)]
Column = Annotated[
    str, choice("--column", choices.COLUMNS, "Which tags, where there are two", "COLUMN")
]
TagColumn = Annotated[
    str | None,
    choice("--column", choices.COLUMNS, "Which tags, by default those trained on", "COLUMN"),
]
Unknown = Annotated[
    str | None,
    choice("--unknown", choices.UNKNOWN, "Symbols the model does not know; as learned by default"),
]
Sequence = Annotated[
    str | None,
    option("--sequence", "Column that tells sequences apart: name or number.", "COLUMN"),
]
BenchData = Annotated[
    Path | None,
    option(
        "--data",
        "Directory with the data; by default $SIGMASTAR_DATA, the user's cache, or download.",
        "DIR",
    ),
]
BenchOutput = Annotated[
    Path | None,
    option(
        "--output -o",
        "Also write the figures to a .csv or .json.",
        "FILE",
        callback=_may_hold_figures,
    ),
]


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


def numbers(option: str, text: str) -> list[float]:
    """Read numbers of at least 0 separated by commas."""
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        found = []
    if found and all(0.0 <= value < float("inf") for value in found):
        return found
    raise typer.BadParameter(
        f"must be numbers of at least 0 separated by commas, such as 0.1,1; got {text!r}.",
        param_hint=f"'{option}'",
    )
