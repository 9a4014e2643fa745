"""``sigmastar report``: a page about any model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from sigmastar.cli import choices, options
from sigmastar.cli.inputs import expect
from sigmastar.cli.options import choice, option
from sigmastar.cli.output import emit_json, wrote

if TYPE_CHECKING:
    from sigmastar.show.views.subject import Subject

__all__ = ["report"]

_FORMATS = tuple(dict.fromkeys([*choices.CORPUS_FORMATS, *choices.TAGGED_FORMATS]))


def report(
    model: options.Model,
    data: Annotated[
        Path | None,
        option(
            "--data -d",
            "Test data: sequences, tagged sentences, pairs or frames, as the model takes.",
            "FILE",
        ),
    ] = None,
    output: Annotated[
        Path | None, options.output_file("Page to write; by default MODEL.html.")
    ] = None,
    title: Annotated[str | None, option("--title", "Heading of the page.", "TEXT")] = None,
    format: Annotated[
        str | None,
        choice(
            "--format -f",
            _FORMATS,
            "Format of sequences and tagged sentences, told by the file by default",
            "FORMAT",
        ),
    ] = None,
    column: options.TagColumn = None,
    label: Annotated[
        str | None, option("--label", "Frames: the column with the labels.", "COLUMN")
    ] = None,
    length: Annotated[
        int | None, option("--length", "Frames: cut sequences to this length.", "N")
    ] = None,
    json: options.Json = False,
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
    expect(model, data)
    from sigmastar.show.report.build import write_report

    target = output or Path(f"{model.stem}.html")
    subject = _subject(model)
    test = None
    if data is not None:
        asked = {"format": format, "column": column, "label": label, "length": length}
        known = subject.history.get("reading") or {}
        found = {name: value for name, value in asked.items() if value is not None}
        test = _read(subject.model, data, {**known, **found})
    write_report(subject, target, data=test, title=title or model.stem)
    if json:
        emit_json({"saved": str(target), "bytes": target.stat().st_size})
    else:
        wrote(target)


def _subject(path: Path) -> Subject:
    """Load whatever the file holds, with its history if it is one of ours."""
    from sigmastar.loading import read_model
    from sigmastar.show.views.subject import Subject, subject_of

    if path.suffix == ".sigma":
        return subject_of(path)
    return Subject(read_model(path), {}, path.stem)


def _read(machine: Any, path: Path, reading: Mapping[str, Any]) -> Any:
    """Read test data as the kind of model takes it, and as it was trained."""
    from sigmastar.corpus.readers.api import read_corpus, read_pairs, read_tagged
    from sigmastar.corpus.readers.frames import read_frames

    columns: dict[str, Any] = {name: reading.get(name) for name in ("label", "sequence")}
    if machine.kind == "ContinuousTagger":
        columns["columns"] = reading.get("columns")
        return read_frames(path, **columns, length=reading.get("length"))
    if machine.kind == "MeasurementHMM":
        return read_frames(path, **columns, columns=machine.named_columns, holes=True)
    if machine.kind in ("HMMTagger", "FSTTagger"):
        return read_tagged(path, reading.get("format"), column=reading.get("column", "upos"))
    if machine.kind == "Transliterator":
        return read_pairs(path, **machine.sides)
    if machine.kind in ("Transducer", "ParametricTransducer"):
        return read_pairs(path)
    known = machine.alphabet
    return read_corpus(str(path), reading.get("format"), alphabet=known, unknown="ignore")
