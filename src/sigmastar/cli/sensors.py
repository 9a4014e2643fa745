"""``sigmastar sensors``: label streams of measurements."""

from __future__ import annotations

import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sigmastar.cli import choices, options
from sigmastar.cli.inputs import announce_stdin, load_kind, reading_of, remember
from sigmastar.cli.options import choice, option
from sigmastar.cli.output import emit_json, emit_lines, show_saved, show_table
from sigmastar.cli.sensors_states import learn, states
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


app.command()(learn)
app.command()(states)


FramesArgument = Annotated[
    str,
    typer.Argument(
        help="Frames, one a row: .csv, .tsv (.gz too), .npz or .parquet; - is CSV from stdin.",
        metavar="FRAMES",
    ),
]
TaggerArgument = Annotated[Path, options.model_file("A tagger of train, or a model of learn.")]
LabelOption = Annotated[
    str | None,
    option(
        "--label", "Column of labels, name or number from 1; the one of text by default.", "COLUMN"
    ),
]
LengthOption = Annotated[
    int | None,
    option("--length", "Cut sequences into pieces of this many frames.", "N", min=3),
]
DecodingOption = Annotated[
    str, choice("--decoding", choices.DECODINGS, "What a label is to be the best for")
]


@app.command()
def train(
    frames: FramesArgument,
    output: options.ModelOutput,
    label: LabelOption = None,
    sequence: options.Sequence = None,
    length: LengthOption = None,
    features: Annotated[
        str, choice("--features", choices.FEATURES, "What becomes of a frame")
    ] = "forest",
    centroids: Annotated[int, option("--centroids", "How many centroids.", "N", min=1)] = 200,
    metric: Annotated[
        str, choice("--metric", choices.FRAME_METRICS, "Distance between frames")
    ] = "euclidean",
    readings: Annotated[
        str, choice("--readings", choices.READINGS, "What becomes of a number before distances")
    ] = "raw",
    limit: Annotated[
        float | None, option("--limit", "Where clip cuts, or what reciprocal and log bear.", "X")
    ] = None,
    window: Annotated[
        int, option("--window", "Join each frame with those before it: 2 adds one.", "N", min=1)
    ] = 1,
    states: Annotated[
        str,
        option(
            "--states -n",
            "Number of states, several to choose from such as 5,10,20, or 'auto'.",
            "N",
        ),
    ] = "auto",
    unlabelled: Annotated[
        str | None,
        option("--unlabelled", "More frames, without labels, of the same sensors.", "FILE"),
    ] = None,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Learn a tagger from labelled frames; what there is to choose is chosen on held-out sequences.

    [bold]Examples[/]
    sigmastar sensors train walk.csv -o walk.sigma --label mode
    sigmastar sensors train walk.csv -o small.sigma --features centroids -n 2,5
    """
    from sigmastar.sensors.features.centroids import CentroidFeatures

    table, known = _labelled(frames, label=label, sequence=sequence, length=length)
    if len(set(known)) < 2:
        raise InvalidData(
            f"{frames}: has one label only, {known[0]!r}: there is nothing to tell apart. Name the "
            "column of the labels with --label."
        )
    points = CentroidFeatures(
        centroids, metric=metric, readings=readings, limit=limit, random_state=seed
    )
    tagger = _tagger(features, points, window, states, seed, table)
    more = None if unlabelled is None else _read(unlabelled, sequence=sequence, length=length)
    with stage("Training"):
        tagger.fit(table, known, unlabelled=more)
    remember(tagger, label=label, sequence=sequence, length=length)
    tagger.save(output)
    chosen = {key: value for key, value in tagger.info_["chosen"].items() if value is not None}
    held_out = max((row["accuracy"] for row in tagger.info_["validation"]), default=None)
    report = {
        "states": tagger.model_.n_states,
        "frames": len(table.frames),
        "sequences": len(table.lengths),
        "labels": list(tagger.model_.labels.symbols),
        "chosen": chosen,
        "held_out_accuracy": held_out,
        "negative_scores": tagger.info_["negative_scores"],
    }
    show_saved("Learned a tagger of measurements", report, output, json=json)


@app.command()
def tag(
    model: TaggerArgument,
    frames: FramesArgument,
    output: options.TextOutput = "-",
    label: LabelOption = None,
    sequence: options.Sequence = None,
    decoding: DecodingOption = "marginal",
    json: options.Json = False,
) -> None:
    """Print the label of each frame and how sure the tagger is; a blank line ends a sequence.

    [bold]Examples[/]
    sigmastar sensors tag walk.sigma new.csv > labels.tsv
    cat new.csv | sigmastar sensors tag walk.sigma - --decoding filter --json
    """
    tagger = _load(model)
    table = _read(frames, label=label, sequence=sequence, holes=tagger.kind == _STATES)
    tagged = _tagged(tagger, table, decoding)
    if json:
        emit_json({"labels": tagged.labels, "confidence": tagged.confidence}, output)
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
    decoding: DecodingOption = "marginal",
    json: options.Json = False,
) -> None:
    """Compare a tagger's labels with those of a file: accuracy, and recall of each label.

    [bold]Example[/]
    sigmastar sensors evaluate walk.sigma test.csv --label mode
    """
    from sigmastar.core.confusion import check_overlap, confusion

    tagger = _load(model)
    asked = {"label": label, "sequence": sequence}
    columns = reading_of(model) | {name: value for name, value in asked.items() if value}
    table, known = _labelled(frames, **(columns | {"length": length}))
    names = tagger.names if tagger.kind == _STATES else tagger.labels.symbols
    check_overlap(names, known, "labels", "Name the column of the labels: --label.")
    tagged = _tagged(tagger, table, decoding)
    found = confusion(known, chain.from_iterable(tagged.labels))
    counted = zip(found.labels, found.counts.diagonal(), found.counts.sum(axis=1), strict=True)
    each = {name: [int(right), int(total)] for name, right, total in sorted(counted) if total}
    if json:
        emit_json({"accuracy": found.accuracy, "frames": len(known), "labels": each})
        return
    rows = [(name, total, f"{100 * right / total:.2f}") for name, (right, total) in each.items()]
    rows.append(("all", len(known), f"{100 * found.accuracy:.2f}"))
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
        answer(tagging.push_proba(reading))
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


def _tagged(tagger: Any, table: FrameTable, decoding: str) -> Any:
    """Label frames by a tagger, or by the names of hidden states."""
    from sigmastar.sensors.hmm.data import as_measurements
    from sigmastar.sensors.hmm.inference.tag import tag_states
    from sigmastar.sensors.inference.tag import tag_frames

    with stage(f"Tagging {len(table.frames):,} frames"):
        if tagger.kind == _STATES:
            return tag_states(tagger, as_measurements(table), decoding=decoding)
        return tag_frames(tagger, table, decoding=decoding)


def _answer(label: object, confidence: float) -> str:
    return f"{label}\t{confidence:.4f}"


def _read(path: str, **columns: Any) -> FrameTable:
    from sigmastar.corpus.readers.frames import read_frames

    announce_stdin(path)
    return read_frames(path, **columns)


def _labelled(path: str, **columns: Any) -> tuple[FrameTable, list[Any]]:
    table = _read(path, **columns)
    if table.labels is None:
        raise InvalidData(f"{path}: has no labels. Name their column with --label.")
    return table, table.labels


def _load(path: Path) -> Any:
    kinds, what = ("ContinuousTagger", _STATES), "a tagger of measurements"
    return load_kind(path, kinds, what, "sigmastar sensors train or learn")


def _tagger(
    features: str, points: Any, window: int, states: str, seed: int, table: FrameTable
) -> Any:
    """Set up the estimator for one of the kinds of features."""
    from sigmastar.sensors.estimators.spectral import SpectralSequenceTagger

    numbers = None if states == "auto" else options.integers("--states", states)
    tagger = SpectralSequenceTagger(window=window, random_state=seed, memory=[1.0, 0.5, 0.2, 0.1])
    if features == "centroids":
        usual = [m for m in (1, 5, 10, 20, 30) if m <= points.n_centroids]
        return tagger.set_params(
            n_states=numbers or usual, features=points, tau="auto", ridge=[1e-5, 1e-7, 1e-9]
        )
    if features == "forest":
        from sklearn.ensemble import RandomForestClassifier

        classifier: Any = RandomForestClassifier(100, max_features=0.5, random_state=seed)
    else:
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        # Standardised readings differ by about 2 each, squared; half of that is a soft kernel.
        wide = table.frames.shape[1] * window if points.metric == "euclidean" else 0.5
        classifier = make_pipeline(
            StandardScaler(),
            points.set_params(tau=float(wide)),
            StandardScaler(),
            LogisticRegression(C=10.0, max_iter=300),
        )
    usual = list(range(1, len(set(table.labels or [])) + 1))
    return tagger.set_params(
        n_states=numbers or usual, features=classifier, sharpness=[1.0, 2.0, 4.0, 8.0]
    )
