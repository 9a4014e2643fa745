"""``sigmastar show``, ``sample`` and ``export``: looking at a model and passing it on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sigmastar.cli import choices, options
from sigmastar.cli.inputs import load_automaton, symbol_text
from sigmastar.cli.options import choice, option
from sigmastar.cli.output import emit_json, emit_lines, show_properties, show_table, writing, wrote
from sigmastar.core.errors import InvalidModel
from sigmastar.core.progress import stage

__all__ = ["export", "sample", "show"]


def show(
    model: options.Model,
    best: Annotated[int, options.best("How many of the likeliest strings.")] = 10,
    json: options.Json = False,
) -> None:
    """Summarise a model: its size and what it knows; of automata also mass, entropy, strings.

    For pictures, see [bold]sigmastar report[/].

    [bold]Examples[/]
    sigmastar show model.sigma
    sigmastar show true_model.txt -k 3 --json
    """
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
    model: options.Model,
    number: Annotated[int, option("--number -n", "How many strings.", "N", min=0)] = 10,
    length: Annotated[
        int | None, option("--length", "Draw beginnings of this length instead.", "N")
    ] = None,
    output: options.TextOutput = "-",
    seed: Annotated[
        int | None,
        option("--seed", "Same seed, same strings; other strings each time without.", "N"),
    ] = None,
    json: options.Json = False,
) -> None:
    """Draw strings from a model, one a line, symbols separated by spaces.

    [bold]Examples[/]
    sigmastar sample model.sigma -n 1000 --seed 0 -o strings.txt
    sigmastar sample model.sigma -n 3 --length 20
    """
    from sigmastar.automata.inference import sample as draw

    machine = load_automaton(model, or_predictor=True)
    with stage(f"Drawing {number:,} strings"):
        corpus = draw(machine, number, random_state=seed, length=length)
    if json:
        emit_json([list(map(symbol_text, string)) for string in corpus], output)
        return
    emit_lines((" ".join(map(symbol_text, string)) for string in corpus), output)


def export(
    model: options.Model,
    target: Annotated[
        str, options.new_file("File to write, - for stdout; its name tells the format.")
    ],
    to: Annotated[
        str | None, choice("--to -t", choices.MODEL_FORMATS, "Format to write", "FORMAT")
    ] = None,
    json: options.Json = False,
) -> None:
    """Write a model in another format: .sigma, PAutomaC, Treba, AT&T text, OpenFst, Graphviz.

    [bold]Examples[/]
    sigmastar export true_model.txt true.sigma
    sigmastar export true.sigma true.fst --to openfst
    sigmastar export true.sigma - --to pautomac
    sigmastar export true.sigma true.dot
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

    if to not in ("pautomac", "treba", "att", "dot"):
        raise typer.BadParameter(
            f"must be pautomac, treba, att or dot for a model on standard output; got {to!r}. "
            "Name a file for the other formats.",
            param_hint="'--to'",
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.txt"
        _write_model(machine, path, to)
        with writing("-") as file:
            file.write(path.read_bytes())
