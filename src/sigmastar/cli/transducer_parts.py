"""What the commands around transducers share: options, reading of pairs and models, warnings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sigmastar.cli import choices, options
from sigmastar.cli.inputs import load_kind
from sigmastar.cli.options import choice, option
from sigmastar.cli.output import note
from sigmastar.core.errors import InvalidData

if TYPE_CHECKING:
    from sigmastar.corpus.corpus import Corpus
    from sigmastar.corpus.pairs import PairCorpus

__all__ = [
    "SOURCE",
    "TARGET",
    "BeamOption",
    "ErrorOption",
    "FormatOption",
    "ModelArgument",
    "PairsArgument",
    "StressOption",
    "load_pairs_model",
    "read_given",
    "warn_of",
    "warn_of_unknown",
]

PairsArgument = Annotated[
    str,
    typer.Argument(help="Tab-separated pairs: input, output; - is stdin.", metavar="PAIRS"),
]
ModelArgument = Annotated[Path, options.model_file("A model written by train.")]
SOURCE = choice("--source", choices.PAIR_SIDES, "What an input is made of", "UNIT")
TARGET = choice("--target", choices.PAIR_SIDES, "What an output is made of", "UNIT")
FormatOption = Annotated[
    str, choice("--format", choices.PAIR_FORMATS, "What the file of pairs looks like", "FORMAT")
]
StressOption = Annotated[
    bool, option("--stress/--no-stress", "Keep stress of phones in a dictionary.")
]
ErrorOption = Annotated[
    str,
    choice(
        "--on-error", ("raise", "skip"), "What to do with bad lines of pairs or of a dictionary"
    ),
]
BeamOption = Annotated[
    int | None,
    option("--beam", "Hypotheses to keep while searching.", "N", min=1),
]


def read_given(
    path: str, sides: dict[str, Any], *, format: str, stress: bool, on_error: str
) -> PairCorpus:
    """Read pairs, or the words and phones of a dictionary."""
    from sigmastar.corpus.readers.api import read_pairs
    from sigmastar.corpus.readers.dictionary import read_dictionary

    if format == "tsv":
        skip = on_error == "skip"
        pairs = read_pairs(
            path, **sides, left_out=(lambda error: note(f"left out: {error}")) if skip else None
        )
        if len(pairs) == 0:
            source = "standard input" if path == "-" else path
            raise InvalidData(
                f"{source}: holds no pairs; give one a line, with a tab between its two sides."
            )
        return pairs
    found = read_dictionary(path, stress=stress, on_error=on_error)  # type: ignore[arg-type]
    for problem in found.skipped:
        note(problem)
    return found.pairs()


def load_pairs_model(path: Path, *, equal: bool = False) -> Any:
    """Load a transliterator, or with ``equal`` a transducer over equal lengths that acts as one."""
    kinds = ("Transliterator", *(("Transducer", "ParametricTransducer") if equal else ()))
    model = load_kind(path, kinds, "a model of pairs", "sigmastar transducer train")
    if model.kind == "Transliterator":
        return model
    from sigmastar.cli.transducer_equal import EqualLengths

    return EqualLengths.of(model)


def warn_of_unknown(report: dict[str, Any], machine: Any, source: Corpus) -> None:
    """Tell which symbols of inputs were never learned, where there are any."""
    from sigmastar.transducers.transliteration.forms import in_form

    if not report.get("n_with_unknown"):
        return
    given = in_form(source, machine.forms[0]).alphabet
    strange = [repr(symbol) for symbol in given if symbol not in machine.source_alphabet]
    which = ", ".join(strange[:8]) + (", …" if len(strange) > 8 else "")
    words = f"with symbols never learned (left out): {which}"
    warn_of(report, {"n_with_unknown": words}, what="inputs")


def warn_of(counts: dict[str, Any], words: dict[str, str], what: str = "pairs") -> None:
    """Tell of pairs or inputs that were odd, where there are any."""
    for name, meaning in words.items():
        if counts.get(name):
            note(f"{counts[name]:,} {what[:-1] if counts[name] == 1 else what} {meaning}")
