"""``sigmastar bench``: reproduce published tables on public data. One module of ``bench/`` each."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from sigmastar.cli.output import JsonOption, emit_json, show_table

__all__ = ["app"]

app = typer.Typer(
    help="Reproduce published tables on public data, with our figures beside them.",
    no_args_is_help=True,
)

DataOption = Annotated[
    Path | None,
    typer.Option(
        "--data",
        help="Directory with the data; by default $SIGMASTAR_DATA, the user's cache, or download.",
    ),
]


@app.callback()
def _bench() -> None:
    pass


@app.command()
def truth(
    data: DataOption = None,
    every: Annotated[
        bool, typer.Option("--all", help="All problems found, not only the twelve of the paper.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Score the true machines of PAutomaC and compare with solution files and the paper.

    For each problem: perplexity and word error rate (WER, in per cent, ends
    of strings counted) of the true machine on the test set, beside the "True"
    columns of Balle, Hamilton and Pineau (ICML 2014, Tables 3 and 2), and the
    largest relative deviation of a string probability from the solution file.

    Example: sigmastar bench truth --data ~/data/pautomac
    """
    from sigmastar.bench.pautomac_truth import PUBLISHED, find_problems, measure_all
    from sigmastar.datasets import cache_directory

    numbers = list(PUBLISHED)
    if every:
        place = data or Path(os.environ.get("SIGMASTAR_DATA") or cache_directory())
        numbers = find_problems(place)
    results = measure_all(numbers, data)
    if as_json:
        emit_json([{**asdict(r), "published": r.published} for r in results])
        return
    show_table(
        "True machines of PAutomaC on their test sets",
        ["problem", "states", "symbols", "perplexity", "paper", "WER %", "paper", "deviation"],
        [
            (
                str(r.number),
                r.n_states,
                r.n_symbols,
                f"{r.perplexity:.3f}",
                f"{r.published[0]:.2f}" if r.published else "",
                f"{r.word_error_rate:.2f}",
                f"{r.published[1]:.1f}" if r.published else "",
                f"{r.deviation:.1e}",
            )
            for r in results
        ],
    )
