"""``sigmastar learn``: from a file of sequences to a model."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from sigmastar.cli.common import DataArgument, FormatOption, SeedOption
from sigmastar.cli.output import JsonOption, emit_json, show_table
from sigmastar.core.errors import InvalidParameter

__all__ = ["learn"]


def learn(
    data: DataArgument,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to save the model (.sigma).")
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            "-m",
            help="spectral, spectral-prefix, spectral-string, convex, tensor, separable, em, "
            "em-hmm, bw-sep, gibbs or auto.",
        ),
    ] = "spectral",
    states: Annotated[
        str | None,
        typer.Option("--states", "-n", help="Number of states, or 'auto': by held-out likelihood."),
    ] = None,
    statistics: Annotated[
        str | None,
        typer.Option("--statistics", help="What to count: substring, prefix or string."),
    ] = None,
    tau: Annotated[
        float | None,
        typer.Option("--tau", help="convex only: weight of the nuclear norm, a share of the most."),
    ] = None,
    basis_size: Annotated[
        int | None, typer.Option("--basis-size", help="Strings on each side of the Hankel matrix.")
    ] = None,
    max_length: Annotated[
        int | None, typer.Option("--max-length", help="Longest string of the basis.")
    ] = None,
    max_iter: Annotated[
        int | None, typer.Option("--max-iter", help="em, em-hmm, bw-sep: steps at most.")
    ] = None,
    restarts: Annotated[
        int | None, typer.Option("--restarts", help="em, em-hmm: random starts to try.")
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint",
            help="em, em-hmm, bw-sep: file to resume from and to keep up to date.",
        ),
    ] = None,
    budget: Annotated[
        float | None, typer.Option("--budget", help="auto: seconds to search for.")
    ] = None,
    format: FormatOption = None,
    unknown: Annotated[
        str, typer.Option("--unknown", help="Symbols outside the alphabet: error, ignore or unk.")
    ] = "error",
    seed: SeedOption = None,
    json: JsonOption = False,
) -> None:
    """Learn a model from sequences, one a line.

    The methods of moments (spectral, convex, tensor, separable) choose their
    size by held-out likelihood unless you give one: a fifth of the sequences is
    set aside for that, then the best size is learned from all. The likelihood
    learners (em, em-hmm, bw-sep, gibbs) take the size you give; auto tries all
    of them within a time budget and mixes the best.

    [bold]Examples[/]

      sigmastar learn logs.txt -o logs.sigma

      sigmastar learn 6.pautomac.train --method separable --states 20 -o six.sigma

      sigmastar learn names.txt --format chars --statistics prefix --json

      sigmastar learn logs.txt --method auto --budget 60 --seed 0 -o logs.sigma
    """
    from sigmastar.corpus.readers.api import read_corpus
    from sigmastar.estimators.registry import find_method

    chosen = find_method(method)
    estimator = chosen.build(
        n_states=_size(states),
        statistics=statistics,
        tau=tau,
        basis_size=basis_size,
        max_length=max_length,
        max_iter=max_iter,
        n_restarts=restarts,
        checkpoint=checkpoint,
        time_budget=budget,
        random_state=seed,
        unknown=unknown,
    )
    corpus = read_corpus(data, format)
    started = time.perf_counter()
    estimator.fit(corpus)
    seconds = time.perf_counter() - started
    model = estimator.model_
    if output is not None:
        model.save(output)
    report: dict[str, Any] = {
        "method": method,
        "model": type(model).__name__,
        "states": model.n_states,
        "symbols": model.n_symbols,
        "sequences": len(corpus),
        "training_symbols": corpus.n_symbols,
        "seconds": seconds,
        "saved": None if output is None else str(output),
    }
    if json:
        emit_json(report | {"info": dict(estimator.info_)})
        return
    rows = [(key.replace("_", " "), _shown(value)) for key, value in report.items()]
    for key in ("spectral_radius", "total_mass", "negative_mass", "duality_gap"):
        if key in estimator.info_:
            rows.append((key.replace("_", " "), _shown(estimator.info_[key])))
    show_table(f"Learned by {chosen.summary}", ["", ""], rows)
    if output is None:
        typer.echo("Not saved: give -o model.sigma to keep the model.", err=True)


def _size(text: str | None) -> int | str | None:
    if text is None or text == "auto":
        return text
    try:
        return int(text)
    except ValueError:
        raise InvalidParameter(
            f"--states must be a whole number or 'auto'; got {text!r}."
        ) from None


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
