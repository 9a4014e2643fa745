"""``sigmastar report``: a page about any model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sigmastar.cli.output import JsonOption, emit_json, out

__all__ = ["report"]


def report(
    model: Annotated[
        Path, typer.Argument(help="A .sigma file, or an automaton in any format of export.")
    ],
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            "-d",
            help="Test data: sequences, tagged sentences, pairs or frames, as the model takes.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="HTML file to write; by default MODEL.html here."),
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="Heading of the page.")] = None,
    format: Annotated[
        str | None,
        typer.Option("--format", "-f", help="Format of the data (told by the file by default)."),
    ] = None,
    column: Annotated[
        str, typer.Option("--column", help="Taggers: upos or xpos, where the data has both.")
    ] = "upos",
    label: Annotated[
        str | None, typer.Option("--label", help="Frames: the column with the labels.")
    ] = None,
    length: Annotated[
        int | None, typer.Option("--length", help="Frames: cut sequences to this length.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Write a page about a model: one HTML file that needs no network.

    It shows what the kind of model has: state graph, transitions, singular
    values, learning curves, predictions, examples; and with [bold]--data[/] how
    well it does, which labels it confuses, and what surprises it.

    [bold]Examples[/]

      sigmastar report logs.sigma

      sigmastar report logs.sigma --data test.txt -o logs.html

      sigmastar report en.sigma --data en_ewt-test.conllu --column xpos
    """
    from sigmastar.report.build import write_report

    target = output or Path(f"{model.stem}.html")
    subject: Any = model if model.suffix == ".sigma" else _machine(model)
    test = None if data is None else _read(_machine(model), data, format, column, label, length)
    write_report(subject, target, data=test, title=title or model.stem)
    if json:
        emit_json({"report": str(target), "bytes": target.stat().st_size})
    else:
        out.print(f"Report: {target}", soft_wrap=True)


def _machine(path: Path) -> Any:
    """Load whatever the file holds."""
    if path.suffix == ".sigma":
        from sigmastar.loading import load

        return load(path)
    from sigmastar.models.formats.files import read_model

    return read_model(path)


def _read(
    machine: Any,
    path: Path,
    format: str | None,
    column: str,
    label: str | None,
    length: int | None,
) -> Any:
    """Read test data as the kind of model takes it."""
    from sigmastar.corpus.frame_files import read_frames
    from sigmastar.corpus.readers.api import read_corpus, read_pairs, read_tagged

    if machine.kind == "ContinuousTagger":
        return read_frames(path, label=label, length=length)
    if machine.kind in ("HMMTagger", "FSTTagger"):
        return read_tagged(path, format, column=column)  # type: ignore[arg-type]
    if machine.kind in ("Transducer", "ParametricTransducer", "Transliterator"):
        return read_pairs(path)
    return read_corpus(str(path), format, alphabet=machine.alphabet, unknown="ignore")
