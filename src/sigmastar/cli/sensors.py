"""``sigmastar sensors``: label streams of measurements."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sigmastar.cli.output import JsonOption, emit_json, show_table

if TYPE_CHECKING:
    from sigmastar.corpus.frame_files import FrameTable
    from sigmastar.models.continuous import ContinuousTagger

__all__ = ["app"]

app = typer.Typer(
    help="Label streams of measurements (robots, wearables, machines), frame by frame.",
    no_args_is_help=True,
)

FramesArgument = Annotated[
    Path,
    typer.Argument(
        help="Frames, one a row: .csv, .tsv (.gz too), .npz or .parquet.", metavar="FRAMES"
    ),
]
TaggerArgument = Annotated[Path, typer.Argument(help="Tagger made by train.", metavar="MODEL")]
LabelOption = Annotated[
    str | None,
    typer.Option(
        "--label", help="Column of labels: name, or number from 1 [default: the one of text]."
    ),
]
SequenceOption = Annotated[
    str | None,
    typer.Option("--sequence", help="Column that tells sequences apart: name or number."),
]
LengthOption = Annotated[
    int | None, typer.Option("--length", help="Cut sequences into pieces of this many frames.")
]
DecodingOption = Annotated[
    str,
    typer.Option(
        "--decoding",
        help="marginal: each frame given the whole sequence; filter: given the frames so far; "
        "exact: the best labelling as a whole, by search.",
    ),
]


@app.command()
def train(
    frames: FramesArgument,
    model: Annotated[Path, typer.Argument(help="Where to write the tagger.", metavar="MODEL")],
    label: LabelOption = None,
    sequence: SequenceOption = None,
    length: LengthOption = None,
    features: Annotated[
        str,
        typer.Option(
            "--features",
            help="forest: random forest probabilities; logistic: logistic regression on "
            "centroids; centroids: similarities to k-means centroids.",
        ),
    ] = "forest",
    centroids: Annotated[int, typer.Option("--centroids", help="How many centroids.")] = 200,
    metric: Annotated[
        str, typer.Option("--metric", help="euclidean, correlation or cosine.")
    ] = "euclidean",
    window: Annotated[
        int, typer.Option("--window", help="Join each frame with those before it: 2 adds one.")
    ] = 1,
    states: Annotated[
        str | None,
        typer.Option("--states", help="Numbers of states to choose from, such as 5,10,20."),
    ] = None,
    unlabelled: Annotated[
        Path | None,
        typer.Option("--unlabelled", help="More frames, without labels, of the same sensors."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Same seed, same tagger.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Learn a tagger from labelled frames; what there is to choose is chosen on held-out sequences.

    Example: sigmastar sensors train walk.csv walk.sigma --label OUTPUT --length 36
    """
    from sigmastar.core.errors import InvalidData
    from sigmastar.corpus.frames import split_rows

    table = _read(frames, label, sequence, length)
    if table.labels is None:
        raise InvalidData(f"{frames}: has no labels. Name their column with --label.")
    tagger = _tagger(features, centroids, metric, window, states, seed, table)
    more = None
    if unlabelled is not None:
        other = _read(unlabelled, None, sequence, length)
        more = split_rows(other.frames, other.offsets)
    tagger.fit(table.frames, table.labels, lengths=table.lengths, unlabelled=more)
    tagger.model_.save(model)
    chosen = {key: value for key, value in tagger.info_["chosen"].items() if value is not None}
    held_out = max((row["accuracy"] for row in tagger.info_["validation"]), default=None)
    report = {
        "model": str(model),
        "frames": len(table.frames),
        "sequences": len(table.lengths),
        "labels": list(tagger.model_.labels.symbols),
        "chosen": chosen,
        "held_out_accuracy": held_out,
        "negative_scores": tagger.info_["negative_scores"],
    }
    if as_json:
        emit_json(report)
        return
    rows = [
        ("frames", f"{len(table.frames):,} in {len(table.lengths):,} sequences"),
        ("labels", ", ".join(map(str, report["labels"]))),  # type: ignore[arg-type]
        *((name, f"{value:g}") for name, value in chosen.items()),
        ("accuracy held out", "" if held_out is None else f"{100 * held_out:.2f} %"),
        ("written to", str(model)),
    ]
    show_table("", ["tagger", str(tagger.model_.n_states) + " states"], rows)


@app.command()
def tag(
    model: TaggerArgument,
    frames: FramesArgument,
    label: LabelOption = None,
    sequence: SequenceOption = None,
    decoding: DecodingOption = "marginal",
    as_json: JsonOption = False,
) -> None:
    """Print the label of each frame and how sure the tagger is; a blank line ends a sequence.

    Example: sigmastar sensors tag walk.sigma new.csv > labels.tsv
    """
    from sigmastar.inference.continuous_tag import tag_frames

    table = _read(frames, label, sequence, None)
    tagged = tag_frames(_load(model), table.frames, lengths=table.lengths, decoding=decoding)
    if as_json:
        emit_json({"labels": tagged.labels, "confidence": tagged.confidence})
        return
    for labels, confidence in zip(tagged.labels, tagged.confidence, strict=True):
        lines = [f"{a}\t{b:.4f}\n" for a, b in zip(labels, confidence, strict=True)]
        sys.stdout.write("".join(lines) + "\n")


@app.command("eval")
def evaluate(
    model: TaggerArgument,
    frames: FramesArgument,
    label: LabelOption = None,
    sequence: SequenceOption = None,
    length: LengthOption = None,
    decoding: DecodingOption = "marginal",
    as_json: JsonOption = False,
) -> None:
    """Compare a tagger's labels with those of a file: accuracy, and recall of each label.

    Example: sigmastar sensors eval walk.sigma test.csv --label OUTPUT
    """
    from sigmastar.core.errors import InvalidData
    from sigmastar.inference.continuous_tag import tag_frames

    table = _read(frames, label, sequence, length)
    if table.labels is None:
        raise InvalidData(f"{frames}: has no labels. Name their column with --label.")
    tagger = _load(model)
    tagged = tag_frames(tagger, table.frames, lengths=table.lengths, decoding=decoding)
    found = [name for piece in tagged.labels for name in piece]
    right = [a == b for a, b in zip(found, table.labels, strict=True)]
    names = sorted(set(table.labels), key=str)
    each = {
        str(name): [
            sum(r for r, t in zip(right, table.labels, strict=True) if t == name),
            sum(t == name for t in table.labels),
        ]
        for name in names
    }
    accuracy = sum(right) / len(right)
    if as_json:
        emit_json({"accuracy": accuracy, "frames": len(right), "labels": each})
        return
    rows = [(n, total, f"{100 * ok / total:.2f}") for n, (ok, total) in each.items()]
    rows.append(("all", len(right), f"{100 * accuracy:.2f}"))
    show_table("", ["label", "frames", "right %"], rows)


@app.command()
def stream(
    model: TaggerArgument,
    proba: Annotated[
        bool, typer.Option("--proba", help="Print the probability of every label.")
    ] = False,
) -> None:
    """Label frames as they arrive on standard input, one line of numbers each.

    Numbers are separated by commas, tabs or spaces; a blank line starts a new
    sequence. Each line is answered at once with the label and its confidence.

    Example: read-sensors | sigmastar sensors stream walk.sigma
    """
    from sigmastar.core.errors import ParseError
    from sigmastar.inference.continuous_stream import TagStream

    tagger = _load(model)
    tagging = TagStream(tagger)
    if proba:
        sys.stdout.write("\t".join(map(str, tagger.labels.symbols)) + "\n")
    for number, line in enumerate(sys.stdin, start=1):
        cells = line.replace(",", " ").split()
        if not cells:
            tagging.reset()
            sys.stdout.write("\n")
            continue
        try:
            reading = [float(cell) for cell in cells]
        except ValueError:
            reading = []
        if len(reading) != tagger.n_inputs:
            raise ParseError(
                "standard input", number, f"{tagger.n_inputs} numbers", repr(line[:60])
            )
        values = tagging.push_proba(reading)
        if proba:
            sys.stdout.write("\t".join(f"{value:.4f}" for value in values) + "\n")
        else:
            best = int(values.argmax())
            sys.stdout.write(f"{tagger.labels.symbols[best]}\t{values[best]:.4f}\n")
        sys.stdout.flush()


def _read(path: Path, label: str | None, sequence: str | None, length: int | None) -> FrameTable:
    from sigmastar.corpus.frame_files import read_frames

    return read_frames(path, label=label, sequence=sequence, length=length)


def _load(path: Path) -> ContinuousTagger:
    from sigmastar.core.errors import FileFormatError
    from sigmastar.loading import load
    from sigmastar.models.continuous import ContinuousTagger

    model = load(path)
    if not isinstance(model, ContinuousTagger):
        raise FileFormatError(
            f"{path}: holds a {type(model).__name__}, not a tagger of measurements. "
            "Make one with: sigmastar sensors train"
        )
    return model


def _tagger(
    features: str,
    centroids: int,
    metric: str,
    window: int,
    states: str | None,
    seed: int,
    table: FrameTable,
) -> Any:
    """Set up the estimator for one of the kinds of features."""
    from sigmastar.core.errors import InvalidParameter
    from sigmastar.core.rules import Choice, check
    from sigmastar.estimators.continuous import SpectralSequenceTagger
    from sigmastar.estimators.continuous_features import CentroidFeatures

    check("--features", features, Choice("forest", "logistic", "centroids"))
    try:
        numbers = None if states is None else [int(cell) for cell in states.split(",")]
    except ValueError:
        raise InvalidParameter(
            f"--states must be integers such as 5,10,20; got {states!r}."
        ) from None
    tagger = SpectralSequenceTagger(window=window, random_state=seed, memory=[1.0, 0.5, 0.2, 0.1])
    points = CentroidFeatures(centroids, metric=metric, random_state=seed)
    if features == "centroids":
        usual = [m for m in (1, 5, 10, 20, 30) if m <= centroids]
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
        wide = table.frames.shape[1] * window if metric == "euclidean" else 0.5
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
