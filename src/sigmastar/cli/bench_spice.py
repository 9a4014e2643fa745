"""``sigmastar bench spice``: ranking what comes next."""

from __future__ import annotations

from typing import Annotated

from sigmastar.cli import choices, options
from sigmastar.cli.bench_parts import hand_out, keeping, methods_option
from sigmastar.cli.options import option
from sigmastar.cli.output import show_records

__all__ = ["spice"]


def spice(
    data: options.BenchData = None,
    method: Annotated[list[str] | None, methods_option(choices.SPICE_METHODS)] = None,
    problems: Annotated[
        str, option("--problems -p", "Numbers separated by commas.", "NUMBERS")
    ] = "3,6,8,13",
    public: Annotated[bool, option("--public", "Leave the private part alone.")] = False,
    output: options.BenchOutput = None,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Rank the next symbol on SPiCe (ICGI 2016): n-grams, automata, and their mixture.

    NDCG-5 of the public and the private prefixes, one is best. Methods learn
    from the training strings only.

    [bold]Examples[/]
    sigmastar bench spice -p 6 -m kneser-ney-6,mixture
    sigmastar bench spice --data ~/data -o spice.csv
    """
    from sigmastar.bench.spice import run_spice

    numbers = options.integers("--problems", problems)
    rows = run_spice(
        numbers, method or choices.SPICE_METHODS, private=not public, data_home=data, seed=seed
    )
    results = keeping(rows, output)
    if hand_out(results, output, json):
        show_records(
            "SPiCe: NDCG-5 of the next symbol",
            results,
            {
                "problem": "problem",
                "method": "method",
                "public": "public:.4f",
                "private": "private:.4f",
                "seconds": "seconds:.1f",
            },
        )
