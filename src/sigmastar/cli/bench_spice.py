"""``sigmastar bench spice``: ranking what comes next."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from sigmastar.cli.choices import SPICE_METHODS
from sigmastar.cli.common import (
    BenchDataOption,
    BenchOutputOption,
    SeedOption,
    choice,
    integers,
)
from sigmastar.cli.output import JsonOption, emit_json, show_table, wrote

__all__ = ["spice"]


def spice(
    data: BenchDataOption = None,
    method: Annotated[
        list[str] | None,
        choice(
            "--method",
            "-m",
            names=SPICE_METHODS,
            help="Only these methods",
            many=True,
            metavar="METHOD",
        ),
    ] = None,
    problems: Annotated[
        str,
        typer.Option("--problems", "-p", help="Numbers separated by commas.", metavar="NUMBERS"),
    ] = "3,6,8,13",
    public: Annotated[bool, typer.Option("--public", help="Leave the private part alone.")] = False,
    output: BenchOutputOption = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Rank the next symbol on SPiCe (ICGI 2016): n-grams, automata, and their mixture.

    NDCG-5 of the public and the private prefixes, one is best. Methods learn
    from the training strings only.

    [bold]Examples[/]
    sigmastar bench spice -p 6 -m kneser-ney-6,mixture
    sigmastar bench spice --data ~/data -o spice.csv
    """
    from sigmastar.bench.spice import run_spice
    from sigmastar.bench.tables import write_results

    results = []
    for result in run_spice(
        integers("--problems", problems),
        method or SPICE_METHODS,
        private=not public,
        data_home=data,
        seed=seed,
    ):
        results.append(result)
        if output is not None:
            write_results(results, output)
    if output is not None:
        wrote(output)
    if json:
        emit_json([asdict(result) for result in results])
        return
    show_table(
        "SPiCe: NDCG-5 of the next symbol",
        ["problem", "method", "public", "private", "seconds"],
        [
            (
                str(result.problem),
                result.method,
                f"{result.public:.4f}",
                "–" if result.private is None else f"{result.private:.4f}",
                f"{result.seconds:.1f}",
            )
            for result in results
        ],
    )
