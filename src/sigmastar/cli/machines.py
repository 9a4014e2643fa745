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

_ENTROPY_SAMPLES = 4000


def show(
    model: ModelArgument,
    best: Annotated[int, best_option("How many of the likeliest strings.")] = 10,
    json: JsonOption = False,
) -> None:
    """Summarise a model: size, alphabet, mass, spectral radius, entropy, likeliest strings.

    [bold]Examples[/]
    sigmastar show model.sigma
    sigmastar show true_model.txt -k 3 --json
    """
    from sigmastar.core.errors import InvalidParameter
    from sigmastar.core.progress import stage
    from sigmastar.models.formats.files import read_model

    machine = read_model(model)
    if machine.kind not in ("WFA", "PFA", "HMM"):
        raise InvalidParameter(
            f"MODEL must be an automaton (WFA, PFA or HMM); got a {machine.kind}. "
            f"Models of every kind are described by: sigmastar report {model}"
        )
    with stage(f"Looking at {model.name}"):
        summary = summarize(machine, best)
    if json:
        emit_json(summary)
        return
    likely = summary.pop("likeliest_strings")
    show_properties(model.name, summary)
    if likely:
        rows = [(entry["string"] or "(empty)", f"{entry['p']:.6g}") for entry in likely]
        show_table("Likeliest strings", ["string", "probability"], rows)


def summarize(machine: Any, best: int) -> dict[str, Any]:
    """Collect what there is to say about a model."""
    import numpy as np

    from sigmastar.inference import likeliest_strings, log_proba, sample
    from sigmastar.inference.readout import readable
    from sigmastar.models.pfa import PFA

    automaton = readable(machine)
    names = [symbol_text(symbol) for symbol in automaton.alphabet.symbols]
    mass = automaton.total_mass()
    negative = int((automaton.transitions < 0).sum())
    summary: dict[str, Any] = {
        "kind": machine.kind,
        "states": machine.n_states,
        "symbols": machine.n_symbols,
        "alphabet": " ".join(names[:20]) + (" …" if len(names) > 20 else ""),
        "arcs": int((automaton.transitions != 0).sum()),
        "negative_weights": negative,
        "spectral_radius": automaton.spectral_radius,
        "total_mass": mass,
    }
    if isinstance(automaton, PFA) and abs(mass - 1) < 1e-6:
        drawn = sample(automaton, _ENTROPY_SAMPLES, random_state=0)
        bits = -log_proba(automaton, drawn) / np.log(2)
        summary["mean_length"] = _mean_length(automaton)
        summary["entropy_bits_per_string"] = float(bits.mean())
        summary["entropy_standard_error"] = float(bits.std() / np.sqrt(len(bits)))
    found = likeliest_strings(automaton, best)
    joiner = "" if all(len(name) == 1 for name in names) else " "
    summary["likeliest_strings"] = [
        {"string": joiner.join(map(symbol_text, string)), "p": p} for string, p in found
    ]
    return summary


def _mean_length(automaton: Any) -> float:
    """Return the expected length: each step from any state adds one, Σ_k initialᵀ A^k A 1."""
    import numpy as np

    steps = np.linalg.solve(
        np.eye(automaton.n_states) - automaton.transition_sum, 1.0 - automaton.final
    )
    return float(automaton.initial @ steps)


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
    from sigmastar.core.progress import stage
    from sigmastar.inference import sample as draw
    from sigmastar.models.formats.files import read_model

    machine = read_model(model)
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
    from sigmastar.models.formats.files import read_model

    machine = read_model(model)
    if target == "-":
        _print_model(machine, to)
        return
    _write_model(machine, Path(target), to)
    if json:
        emit_json({"written": target, "states": machine.n_states})
    else:
        wrote(target, f"{machine.kind}, {machine.n_states} states")


def _write_model(machine: Any, target: Path, to: str | None) -> None:
    from sigmastar.models.formats.files import write_model
    from sigmastar.models.persist import atomic_write

    if to != "openfst" and not (to is None and target.suffix == ".fst"):
        write_model(machine, target, to)
        return
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
