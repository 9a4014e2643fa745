"""``sigmastar sensors learn``: find the hidden states behind measurements, without labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sigmastar.cli import options
from sigmastar.cli.inputs import announce_stdin, load_kind
from sigmastar.cli.options import choice, option
from sigmastar.cli.output import emit_json, emit_lines, show_saved
from sigmastar.cli.sensors_files import ColumnsOption, columns_of
from sigmastar.core.errors import InvalidParameter

if TYPE_CHECKING:
    from sigmastar.corpus.frames import FrameTable

__all__ = ["learn", "states"]

EMISSIONS = {
    "gaussian": "numbers",
    "mixture": "numbers, several Gaussians a state",
    "poisson": "counts",
    "multinomial": "counts of several kinds, whatever their total",
    "categorical": "codes 0, 1, ...",
}
COVARIANCES = ("full", "diag", "tied", "spherical", "low-rank")
STARTS = {
    "auto": "moments and clusters race",
    "moments": "moments of neighbouring frames",
    "kmeans": "clusters",
    "random": "frames drawn at random",
}
CHAINS = ("full", "left-to-right", "linear", "cyclic", "banded", "tied")
TableArgument = Annotated[
    str,
    typer.Argument(
        help="Frames, one a row: .csv, .tsv (.gz too), .npz or .parquet; - is CSV from stdin. "
        "Empty cells were not observed.",
        metavar="FRAMES",
    ),
]
HmmArgument = Annotated[Path, options.model_file("A model written by sensors learn.")]


def learn(
    frames: TableArgument,
    output: options.ModelOutput,
    states: Annotated[str, option("--states -n", "Number of states, or 'auto'.", "N")] = "auto",
    emission: Annotated[
        str, choice("--emission", EMISSIONS, "What a frame is made of")
    ] = "gaussian",
    covariance: Annotated[
        str, choice("--covariance", COVARIANCES, "Shape of the covariances")
    ] = "full",
    components: Annotated[int, option("--components", "Gaussians of a mixture.", "N", min=1)] = 2,
    start: Annotated[str, choice("--start", STARTS, "Where EM starts")] = "auto",
    structure: Annotated[str, choice("--structure", CHAINS, "Moves that there are")] = "full",
    min_duration: Annotated[
        int, option("--min-duration", "Frames a state lasts at least.", "N", min=1)
    ] = 1,
    label: Annotated[
        str | None,
        option("--label", "Column of known states, empty where unknown: name or number.", "COLUMN"),
    ] = None,
    sequence: options.Sequence = None,
    columns: ColumnsOption = None,
    max_iter: Annotated[int, option("--max-iter", "Steps of EM at most.", "N", min=0)] = 100,
    restarts: Annotated[int, option("--restarts", "Starts; the best goes on.", "N", min=1)] = 1,
    checkpoint: Annotated[
        Path | None, option("--checkpoint", "File to resume from after a stop.", "FILE")
    ] = None,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Find the hidden states behind measurements: no labels needed, holes allowed.

    [bold]Examples[/]
    sigmastar sensors learn walk.csv -o states.sigma --label mode
    sigmastar sensors learn walk.csv -o states.sigma --label mode -n 4
    """
    from dataclasses import replace

    if states != "auto" and not states.isdigit():
        raise InvalidParameter(f"--states must be a number or 'auto'; got {states!r}.")
    table = _read(frames, label, sequence, columns_of(columns))
    names, y, n_states = _known(table, states, label)
    hmm = _estimator(emission, n_states, covariance, components)
    hmm.set_params(
        init=start,
        structure=structure,
        min_duration=min_duration,
        max_iter=max_iter,
        n_restarts=restarts,
        checkpoint=checkpoint,
        random_state=seed,
    )
    hmm.fit(table.values, y, lengths=table.lengths)
    named = [*names, *(f"state {i}" for i in range(len(names), hmm.model_.n_states))]
    hmm.model_ = replace(hmm.model_, columns=table.columns, names=tuple(named) if names else None)
    hmm.save(output)
    report = {
        "states": hmm.model_.n_states,
        "frames": len(table.values),
        "sequences": len(table.lengths),
        "steps": hmm.info_["iterations"],
        "log_likelihood": hmm.score(table.values, lengths=table.lengths),
        "bic": hmm.info_["bic"],
        "occupancy": [round(float(share), 4) for share in hmm.model_.occupancy()],
    }
    show_saved("Learned a hidden Markov model", report, output, json=json)


def states(
    model: HmmArgument,
    frames: TableArgument,
    output: options.TextOutput = "-",
    sequence: options.Sequence = None,
    label: Annotated[
        str | None, option("--label", "Column to leave out: name or number.", "COLUMN")
    ] = None,
    columns: ColumnsOption = None,
    proba: Annotated[bool, option("--proba", "Print the probability of every state too.")] = False,
    surprise: Annotated[bool, option("--surprise", "Print how unexpected each frame was.")] = False,
    json: options.Json = False,
) -> None:
    """Print the state of each frame by a model of sensors learn; a blank line ends a sequence.

    [bold]Example[/]
    sigmastar sensors states states.sigma new.csv --label mode > states.tsv
    """
    from itertools import pairwise

    from sigmastar.sensors.hmm.data import as_measurements
    from sigmastar.sensors.hmm.inference.decode import decode
    from sigmastar.sensors.hmm.inference.smooth import log_masses, smooth

    hmm = _load(model)
    table = _read(frames, label, sequence, columns_of(columns) or hmm.named_columns)
    data = as_measurements(table.values, table.lengths)
    path = decode(hmm, data).states
    names = hmm.names or ()
    posterior = smooth(hmm, data).posterior @ hmm.membership if proba else None
    odd = -log_masses(hmm, data) if surprise else None
    if json:
        found: dict[str, Any] = {"states": [names[s] for s in path], "lengths": table.lengths}
        if posterior is not None:
            found["probabilities"] = posterior
        if odd is not None:
            found["surprise"] = odd
        emit_json(found, output)
        return
    lines = []
    for begin, end in pairwise(data.offsets.tolist()):
        for t in range(begin, end):
            cells = [names[path[t]]]
            cells += [] if posterior is None else [f"{value:.4f}" for value in posterior[t]]
            cells += [] if odd is None else [f"{odd[t]:.4f}"]
            lines.append("\t".join(cells))
        lines.append("")
    emit_lines(lines, output)


def _read(path: str, label: str | None, sequence: str | None, columns: Any) -> FrameTable:
    from sigmastar.corpus.readers.frames import read_frames

    announce_stdin(path)
    return read_frames(path, label=label, sequence=sequence, columns=columns, holes=True)


def _load(path: Path) -> Any:
    kind, what = ("MeasurementHMM",), "a hidden Markov model over measurements"
    return load_kind(path, kind, what, "sigmastar sensors learn")


def _known(
    table: FrameTable, states: str, label: str | None
) -> tuple[list[str], list[int | None] | None, int | str]:
    """Give the labels that are known numbers; there are at least as many states.

    A column of labels that was not asked for tells nothing: states are to be found.
    """
    if table.labels is None or label is None:
        return [], None, states if states == "auto" else int(states)
    names = sorted({str(name) for name in table.labels if name is not None})
    codes = {name: i for i, name in enumerate(names)}
    y = [None if name is None else codes[str(name)] for name in table.labels]
    return names, y, len(names) if states == "auto" else int(states)


def _estimator(emission: str, n_states: int | str, covariance: str, components: int) -> Any:
    from sigmastar.sensors.hmm.estimators.counts import (
        CategoricalHMM,
        MultinomialHMM,
        PoissonHMM,
    )
    from sigmastar.sensors.hmm.estimators.gaussian import GaussianHMM, MixtureHMM

    if emission == "gaussian":
        return GaussianHMM(n_states, covariance=covariance)
    if emission == "mixture":
        return MixtureHMM(n_states, components, covariance=covariance)
    kinds: dict[str, Any] = {
        "poisson": PoissonHMM,
        "multinomial": MultinomialHMM,
        "categorical": CategoricalHMM,
    }
    return kinds[emission](n_states)
