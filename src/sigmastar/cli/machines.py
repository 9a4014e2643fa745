"""``sigmastar show``, ``sample`` and ``export``: looking at a model and passing it on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sigmastar.cli.choices import MODEL_FORMATS
from sigmastar.cli.common import (
    ModelArgument,
    TextOutputOption,
    best_option,
    choice,
    load_automaton,
    symbol_text,
)
from sigmastar.cli.output import (
    JsonOption,
    emit_json,
    emit_lines,
    show_properties,
    show_table,
    writing,
    wrote,
)

__all__ = ["export", "sample", "show"]


def show(
    model: ModelArgument,
    best: Annotated[int, best_option("How many of the likeliest strings.")] = 10,
    json: JsonOption = False,
) -> None:
    """Summarise a model: its size and what it knows; of automata also mass, entropy, strings.

    For pictures, see [bold]sigmastar report[/].

    [bold]Examples[/]
    sigmastar show model.sigma
    sigmastar show true_model.txt -k 3 --json
    """
    from sigmastar.core.progress import stage
    from sigmastar.loading import read_model
    from sigmastar.show.views.summary import summarize

    machine = read_model(model)
    with stage(f"Looking at {model.name}"):
        if machine.kind in ("WFA", "PFA", "HMM"):
            summary = summarize(machine, best)
        else:
            summary = {"kind": machine.kind, **machine.facts()}
    if json:
        emit_json(summary)
        return
    likely = summary.pop("likeliest_strings", [])
    show_properties(model.name, summary)
    if likely:
        rows = [(entry["string"] or "(empty)", f"{entry['p']:.6g}") for entry in likely]
        show_table("Likeliest strings", ["string", "probability"], rows)


def sample(
    model: ModelArgument,
    number: Annotated[
        int, typer.Option("--number", "-n", min=0, help="How many strings.", metavar="N")
    ] = 10,
    length: Annotated[
        int | None,
        typer.Option("--length", help="Draw beginnings of this length instead.", metavar="N"),
    ] = None,
    output: TextOutputOption = "-",
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed", help="Same seed, same strings; other strings each time without.", metavar="N"
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Draw strings from a model, one a line, symbols separated by spaces.

    [bold]Examples[/]
    sigmastar sample model.sigma -n 1000 --seed 0 -o strings.txt
    sigmastar sample model.sigma -n 3 --length 20
    """
    from sigmastar.automata.inference import sample as draw
    from sigmastar.core.progress import stage

    machine = load_automaton(model, or_predictor=True)
    with stage(f"Drawing {number:,} strings"):
        corpus = draw(machine, number, random_state=seed, length=length)
    if json:
        emit_json([list(map(symbol_text, string)) for string in corpus], output)
        return
    emit_lines((" ".join(map(symbol_text, string)) for string in corpus), output)


def export(
    model: ModelArgument,
    target: Annotated[
        str, typer.Argument(help="File to write, - for stdout; its name tells the format.")
    ],
    to: Annotated[
        str | None,
        choice("--to", "-t", names=MODEL_FORMATS, help="Format to write", metavar="FORMAT"),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Write a model in another format: .sigma, PAutomaC, Treba, AT&T text, OpenFst.

    [bold]Examples[/]
    sigmastar export true_model.txt true.sigma
    sigmastar export true.sigma true.fst --to openfst
    sigmastar export true.sigma - --to pautomac
    """
    from sigmastar.loading import read_model

    machine = read_model(model)
    if target == "-":
        _print_model(machine, to)
        return
    _write_model(machine, Path(target), to)
    states = getattr(machine, "n_states", None)  # transliterators count units
    if json:
        emit_json({"written": target, "states": states})
    else:
        wrote(target, machine.kind if states is None else f"{machine.kind}, {states} states")


def _write_model(machine: Any, target: Path, to: str | None) -> None:
    from sigmastar.automata.formats.files import write_model
    from sigmastar.core.atomic import atomic_write
    from sigmastar.core.errors import InvalidModel

    if to != "openfst" and not (to is None and target.suffix == ".fst"):
        write_model(machine, target, to)
        return
    if not hasattr(machine, "to_openfst"):
        raise InvalidModel(
            f"a {type(machine).__name__} has no form in OpenFst. Automata (WFA, PFA, HMM) without "
            "negative weights and transliterators of method em have; the table of a compiled "
            "tagger goes there in Python: sigmastar.tagging.fst.openfst.to_openfst(tagger.machine)."
        )
    atomic_write(target, machine.to_openfst().write_to_string())


def _print_model(machine: Any, to: str | None) -> None:
    """Write a model of a text format to standard output."""
    import tempfile

    if to not in ("pautomac", "treba", "att"):
        raise typer.BadParameter(
            f"must be pautomac, treba or att when a model goes to standard output; got {to!r}. "
            "Name a file for the other formats.",
            param_hint="'--to'",
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.txt"
        _write_model(machine, path, to)
        with writing("-") as file:
            file.write(path.read_bytes())
