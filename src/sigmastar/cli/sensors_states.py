"""``sigmastar sensors learn``: find the hidden states behind measurements, without labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sigmastar.cli.common import (
    ModelOutputOption,
    SeedOption,
    TextOutputOption,
    announce_stdin,
    choice,
    model_argument,
)
from sigmastar.cli.output import JsonOption, emit_json, emit_lines, show_saved

if TYPE_CHECKING:
    from sigmastar.sensors.hmm.files import MeasuredTable
    from sigmastar.sensors.hmm.model import MeasurementHMM

__all__ = ["learn", "states"]

EMISSIONS = {
    "gaussian": "numbers",
    "mixture": "numbers, several Gaussians a state",
    "poisson": "counts",
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
        help="Frames, one a row: .csv, .tsv (.gz too) or .parquet; - is CSV from stdin. "
        "Empty cells were not observed.",
        metavar="FRAMES",
    ),
]
HmmArgument = Annotated[Path, model_argument("A model written by sensors learn.")]
SequenceColumn = Annotated[
    str | None,
    typer.Option(
        "--sequence", help="Column that tells sequences apart: name or number.", metavar="COLUMN"
    ),
]


def learn(
    frames: TableArgument,
    output: ModelOutputOption,
    states: Annotated[
        str, typer.Option("--states", "-n", help="Number of states, or 'auto'.", metavar="N")
    ] = "auto",
    emission: Annotated[
        str, choice("--emission", names=EMISSIONS, help="What a frame is made of")
    ] = "gaussian",
    covariance: Annotated[
        str, choice("--covariance", names=COVARIANCES, help="Shape of the covariances")
    ] = "full",
    components: Annotated[
        int, typer.Option("--components", min=1, help="Gaussians of a mixture.", metavar="N")
    ] = 2,
    start: Annotated[str, choice("--start", names=STARTS, help="Where EM starts")] = "auto",
    structure: Annotated[
        str, choice("--structure", names=CHAINS, help="Moves that there are")
    ] = "full",
    min_duration: Annotated[
        int,
        typer.Option("--min-duration", min=1, help="Frames a state lasts at least.", metavar="N"),
    ] = 1,
    label: Annotated[
        str | None,
        typer.Option(
            "--label",
            help="Column of known states, empty where unknown: name or number.",
            metavar="COLUMN",
        ),
    ] = None,
    sequence: SequenceColumn = None,
    max_iter: Annotated[
        int, typer.Option("--max-iter", min=0, help="Steps of EM at most.", metavar="N")
    ] = 100,
    restarts: Annotated[
        int, typer.Option("--restarts", min=1, help="Starts; the best goes on.", metavar="N")
    ] = 1,
    checkpoint: Annotated[
        Path | None,
        typer.Option("--checkpoint", help="File to resume from after a stop.", metavar="FILE"),
    ] = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Find the hidden states behind measurements: no labels needed, holes allowed.

    [bold]Examples[/]
    sigmastar sensors learn walk.csv -o states.sigma --label mode
    sigmastar sensors learn walk.csv -o states.sigma --label mode -n 4
    """
    from dataclasses import replace

    from sigmastar.core.errors import InvalidParameter

    if states != "auto" and not states.isdigit():
        raise InvalidParameter(f"--states must be a number or 'auto'; got {states!r}.")
    table = _read(frames, label, sequence)
    names, y, n_states = _known(table, states)
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
    output: TextOutputOption = "-",
    sequence: SequenceColumn = None,
    label: Annotated[
        str | None,
        typer.Option("--label", help="Column to leave out: name or number.", metavar="COLUMN"),
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Print the probability of every state too.")
    ] = False,
    surprise: Annotated[
        bool, typer.Option("--surprise", help="Print how unexpected each frame was.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Print the state of each frame by a model of sensors learn; a blank line ends a sequence.

    [bold]Example[/]
    sigmastar sensors states states.sigma new.csv --label mode > states.tsv
    """
    from itertools import pairwise

    from sigmastar.sensors.hmm.data import as_measurements
    from sigmastar.sensors.hmm.inference.decode import decode
    from sigmastar.sensors.hmm.inference.smooth import filtered, smooth

    hmm = _load(model)
    table = _read(frames, label, sequence)
    data = as_measurements(table.values, table.lengths)
    path = decode(hmm, data).states
    names = hmm.names or ()
    posterior = smooth(hmm, data).posterior @ hmm.membership if proba else None
    odd = -filtered(hmm, data)[1] if surprise else None
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


def _read(path: str, label: str | None, sequence: str | None) -> MeasuredTable:
    from sigmastar.core.progress import stage
    from sigmastar.sensors.hmm.files import read_measurements

    announce_stdin(path)
    with stage(f"Reading {path}"):
        return read_measurements(path, label=label, sequence=sequence)


def _load(path: Path) -> MeasurementHMM:
    from sigmastar.cli.common import load_kind

    model: MeasurementHMM = load_kind(
        path,
        ("MeasurementHMM",),
        "a hidden Markov model over measurements",
        "sigmastar sensors learn",
    )
    return model


def _known(
    table: MeasuredTable, states: str
) -> tuple[list[str], list[int | None] | None, int | str]:
    """Give the labels that are known numbers; there are at least as many states."""
    if table.labels is None:
        return [], None, states if states == "auto" else int(states)
    names = sorted({name for name in table.labels if name is not None})
    codes = {name: i for i, name in enumerate(names)}
    y = [None if name is None else codes[name] for name in table.labels]
    return names, y, len(names) if states == "auto" else int(states)


def _estimator(emission: str, n_states: int | str, covariance: str, components: int) -> Any:
    from sigmastar.sensors.hmm.estimators.counts import CategoricalHMM, PoissonHMM
    from sigmastar.sensors.hmm.estimators.gaussian import GaussianHMM, MixtureHMM

    if emission == "gaussian":
        return GaussianHMM(n_states, covariance=covariance)
    if emission == "mixture":
        return MixtureHMM(n_states, components, covariance=covariance)
    return PoissonHMM(n_states) if emission == "poisson" else CategoricalHMM(n_states)
