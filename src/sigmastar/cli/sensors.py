"""``sigmastar sensors``: label streams of measurements."""

from __future__ import annotations

import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sigmastar.cli import choices, options
from sigmastar.cli.inputs import announce_stdin, load_kind, reading_of
from sigmastar.cli.options import choice, option
from sigmastar.cli.output import emit_json, emit_lines, show_table
from sigmastar.cli.sensors_files import (
    ColumnsOption,
    FramesArgument,
    LabelOption,
    LengthOption,
    columns_of,
    labelled_table,
    read_table,
)
from sigmastar.cli.sensors_states import learn, states
from sigmastar.cli.sensors_train import train
from sigmastar.core.errors import InvalidData, InvalidParameter, ParseError
from sigmastar.core.progress import stage

if TYPE_CHECKING:
    from sigmastar.corpus.frames import FrameTable

__all__ = ["app"]

_STATES = "MeasurementHMM"  # the kind of models whose labels are hidden states

app = typer.Typer(no_args_is_help=True, rich_markup_mode="rich")


@app.callback()
def _group() -> None:
    """Label streams of measurements (robots, wearables, machines), frame by frame.

    [bold]Examples[/]
    sigmastar sensors train walk.csv -o walk.sigma --label mode
    sigmastar sensors evaluate walk.sigma test.csv --label mode
    sigmastar sensors tag walk.sigma new.csv > labels.tsv
    sigmastar sensors learn walk.csv -o states.sigma --label mode
    """


app.command()(train)
app.command()(learn)
app.command()(states)


TaggerArgument = Annotated[Path, options.model_file("A tagger of train, or a model of learn.")]
DecodingOption = Annotated[
    str, choice("--decoding", choices.DECODINGS, "What a label is to be the best for")
]
NodesOption = Annotated[
    int | None,
    option(
        "--max-nodes",
        "Prefixes that exact decoding visits in a sequence; 50,000 by default.",
        "N",
        min=1,
    ),
]


def _learned_columns(path: Path, tagger: Any) -> list[str] | None:
    """Return the names of the readings that a tagger was learned from, as far as they are known."""
    names = tagger.named_columns if tagger.kind == _STATES else reading_of(path).get("columns")
    return [str(name) for name in names] if isinstance(names, (list, tuple)) and names else None


@app.command()
def tag(
    model: TaggerArgument,
    frames: FramesArgument,
    output: options.TextOutput = "-",
    label: LabelOption = None,
    sequence: options.Sequence = None,
    columns: ColumnsOption = None,
    decoding: DecodingOption = "marginal",
    max_nodes: NodesOption = None,
    json: options.Json = False,
) -> None:
    """Print the label of each frame and how sure the tagger is; a blank line ends a sequence.

    [bold]Examples[/]
    sigmastar sensors tag walk.sigma new.csv > labels.tsv
    cat new.csv | sigmastar sensors tag walk.sigma - --decoding filter --json
    """
    tagger = _load(model)
    chosen = columns_of(columns) or _learned_columns(model, tagger)
    how = {"label": label, "sequence": sequence, "columns": chosen}
    table = read_table(frames, **how, holes=tagger.kind == _STATES)
    tagged = _tagged(tagger, table, decoding, max_nodes)
    if json:
        told = {"labels": tagged.labels, "confidence": tagged.confidence}
        emit_json(told | ({} if tagged.proven is None else {"proven": tagged.proven}), output)
        return
    emit_lines(
        (
            line
            for labels, confidence in zip(tagged.labels, tagged.confidence, strict=True)
            for line in (*map(_answer, labels, confidence), "")
        ),
        output,
    )


@app.command()
def evaluate(
    model: TaggerArgument,
    frames: FramesArgument,
    label: LabelOption = None,
    sequence: options.Sequence = None,
    length: LengthOption = None,
    columns: ColumnsOption = None,
    decoding: DecodingOption = "marginal",
    max_nodes: NodesOption = None,
    json: options.Json = False,
) -> None:
    """Compare a tagger's labels with those of a file: accuracy, and recall of each label.

    Exact decoding is a search: the share of the sequences is told for which it
    has proven that no labelling is better. --max-nodes makes it more patient.

    [bold]Examples[/]
    sigmastar sensors evaluate walk.sigma test.csv --label mode
    sigmastar sensors evaluate walk.sigma test.csv --decoding exact
    """
    from sigmastar.core.confusion import check_overlap, confusion

    tagger = _load(model)
    asked = {"label": label, "sequence": sequence, "columns": columns_of(columns)}
    asked["columns"] = asked["columns"] or _learned_columns(model, tagger)
    how = reading_of(model) | {name: value for name, value in asked.items() if value}
    table, known = labelled_table(frames, **(how | {"length": length}))
    names = tagger.names if tagger.kind == _STATES else tagger.labels.symbols
    check_overlap(names, known, "labels", "Name the column of the labels: --label.")
    tagged = _tagged(tagger, table, decoding, max_nodes)
    found = confusion(known, chain.from_iterable(tagged.labels))
    counted = zip(found.labels, found.counts.diagonal(), found.counts.sum(axis=1), strict=True)
    each = {name: [int(right), int(total)] for name, right, total in sorted(counted) if total}
    if json:
        figures = {"accuracy": found.accuracy, "frames": len(known), "labels": each}
        proven = {} if tagged.proven is None else {"proven": float(tagged.proven.mean())}
        emit_json(figures | proven)
        return
    rows = [(name, total, f"{100 * right / total:.2f}") for name, (right, total) in each.items()]
    rows.append(("all", len(known), f"{100 * found.accuracy:.2f}"))
    if tagged.proven is not None:
        share = f"{100 * tagged.proven.mean():.2f}"
        rows.append(("sequences whose labels are proven best", len(tagged.proven), share))
    show_table(f"{model} on {frames}", ["label", "frames", "right %"], rows)


@app.command()
def stream(
    model: TaggerArgument,
    proba: Annotated[bool, option("--proba", "Print the probability of every label.")] = False,
    lag: Annotated[
        int, option("--lag", "Answer so many frames later (a model of learn).", "N", min=0)
    ] = 0,
) -> None:
    """Label frames as they arrive on standard input, one line of numbers each.

    Numbers are separated by commas, tabs or spaces; a blank line starts a new
    sequence. Each line is answered at once with the label and its confidence.
    For a model of learn, nan is what was not observed; with --lag each state is
    given when so many more frames are known, and the rest when a sequence ends.

    [bold]Example[/]
    echo "0.1 0.9" | sigmastar sensors stream walk.sigma --proba
    """
    tagger = _load(model)
    announce_stdin("-")
    tagging, names, width = _stream(tagger, lag)

    def answer(values: Any) -> None:
        if values is None:  # not yet
            return
        best = int(values.argmax())
        told = (
            "\t".join(f"{v:.4f}" for v in values) if proba else _answer(names[best], values[best])
        )
        sys.stdout.write(told + "\n")

    if proba:
        sys.stdout.write("\t".join(map(str, names)) + "\n")
    for number, line in enumerate(sys.stdin, start=1):
        cells = line.replace(",", " ").split()
        if not cells:
            for values in tagging.rest():
                answer(values)
            tagging.reset()
            sys.stdout.write("\n")
            continue
        try:
            reading = [float(cell) for cell in cells]
        except ValueError:
            reading = []
        if len(reading) != width:
            raise ParseError("standard input", number, f"{width} numbers", repr(line[:60]))
        try:
            answer(tagging.push_proba(reading))
        except InvalidData as error:
            raise InvalidData(f"standard input:{number}: {error}") from None
        sys.stdout.flush()
    for values in tagging.rest():
        answer(values)


def _stream(tagger: Any, lag: int) -> tuple[Any, Any, int]:
    """Open the stream of a model; give it with the names of its labels and the width of frames."""
    if tagger.kind == _STATES:
        from sigmastar.sensors.hmm.inference.stream import StateStream

        return StateStream(tagger, lag), tagger.names, tagger.n_columns
    from sigmastar.sensors.inference.stream import TagStream

    if lag:
        raise InvalidParameter(
            f"--lag must be 0 for a tagger of train; got {lag}. Models of learn can wait."
        )
    return TagStream(tagger), tagger.labels.symbols, tagger.n_inputs


def _tagged(tagger: Any, table: FrameTable, decoding: str, max_nodes: int | None) -> Any:
    """Label frames by a tagger, or by the names of hidden states."""
    from sigmastar.sensors.hmm.data import as_measurements
    from sigmastar.sensors.hmm.inference.tag import tag_states
    from sigmastar.sensors.inference.tag import tag_frames

    with stage(f"Tagging {len(table.frames):,} frames"):
        if tagger.kind == _STATES:
            return tag_states(tagger, as_measurements(table), decoding=decoding)
        patience = {} if max_nodes is None else {"max_nodes": max_nodes}
        return tag_frames(tagger, table, decoding=decoding, **patience)


def _answer(label: object, confidence: float) -> str:
    return f"{label}\t{confidence:.4f}"


def _load(path: Path) -> Any:
    kinds, what = ("ContinuousTagger", _STATES), "a tagger of measurements"
    return load_kind(path, kinds, what, "sigmastar sensors train or learn")
