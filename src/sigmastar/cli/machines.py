"""``sigmastar show``, ``sample`` and ``convert``: looking at a model and passing it on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sigmastar.cli.common import ModelArgument, SeedOption, symbol_text
from sigmastar.cli.output import JsonOption, emit_json, emit_lines, err, show_table

__all__ = ["convert", "sample", "show"]

_ENTROPY_SAMPLES = 4000


def show(
    model: ModelArgument,
    strings: Annotated[int, typer.Option("--strings", help="How many likely strings.")] = 10,
    json: JsonOption = False,
) -> None:
    """Summarise a model: size, alphabet, mass, spectral radius, entropy, likeliest strings.

    [bold]Example[/]

      sigmastar show model.sigma
    """
    from sigmastar.models.formats.files import read_model

    summary = summarize(read_model(model), strings)
    if json:
        emit_json(summary)
        return
    likely = summary.pop("likeliest_strings")
    rows = [(name.replace("_", " "), _cell(value)) for name, value in summary.items()]
    show_table(model.name, ["property", "value"], rows)
    if likely:
        rows = [(entry["string"] or "(empty)", f"{entry['p']:.6g}") for entry in likely]
        show_table("Likeliest strings", ["string", "probability"], rows)


def summarize(machine: Any, strings: int) -> dict[str, Any]:
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
    found = likeliest_strings(automaton, strings) if strings > 0 else []
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
    n: Annotated[int, typer.Option("-n", help="How many strings.")] = 10,
    length: Annotated[
        int | None, typer.Option("--length", help="Draw beginnings of this length instead.")
    ] = None,
    seed: SeedOption = None,
    json: JsonOption = False,
) -> None:
    """Draw strings from a model, one a line, symbols separated by spaces.

    [bold]Example[/]

      sigmastar sample model.sigma -n 1000 --seed 0 > strings.txt
    """
    from sigmastar.inference import sample as draw
    from sigmastar.models.formats.files import read_model

    corpus = draw(read_model(model), n, random_state=seed, length=length)
    if json:
        emit_json([list(map(symbol_text, string)) for string in corpus])
        return
    emit_lines(" ".join(map(symbol_text, string)) for string in corpus)


def convert(
    model: ModelArgument,
    target: Annotated[Path, typer.Argument(help="File to write; its name tells the format.")],
    to: Annotated[
        str | None, typer.Option("--to", help="sigma, pautomac, treba, att or openfst.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Write a model in another format (also as [bold]export[/]).

    [bold]Examples[/]

      sigmastar convert 6.pautomac_model.txt six.sigma

      sigmastar export six.sigma six.fst --to openfst
    """
    from sigmastar.models.formats.files import read_model, write_model

    machine = read_model(model)
    if to == "openfst" or (to is None and target.suffix == ".fst"):
        machine.to_openfst().write(str(target))
    else:
        write_model(machine, target, to)
    if json:
        emit_json({"written": str(target), "states": machine.n_states})
    else:
        err.print(f"wrote {target} ({machine.kind}, {machine.n_states} states)")


def _cell(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
