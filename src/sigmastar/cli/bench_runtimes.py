"""``sigmastar bench runtimes``: how long learners take to begin and to build models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from sigmastar.cli import choices, options
from sigmastar.cli.bench_parts import figure, hand_out, keeping, methods_option
from sigmastar.cli.options import option
from sigmastar.cli.output import show_table, wrote

__all__ = ["runtimes"]


def runtimes(
    method: Annotated[list[str] | None, methods_option(choices.RUNTIME_METHODS)] = None,
    states: Annotated[
        str, option("--states -n", "Numbers of states, such as 10,20,30.", "NUMBERS")
    ] = "10,20,30",
    symbols: Annotated[int, option("--symbols", "Size of the alphabet.", "N", min=2)] = 12,
    strings: Annotated[int, option("--strings", "Training strings.", "N", min=2)] = 20_000,
    output: options.BenchOutput = None,
    plot: Annotated[Path | None, option("--plot", "Draw the figure to an .svg.", "FILE")] = None,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Time learners on strings of a random automaton: what is done once, and for each size.

    A search for the best size pays the beginning once (counts, Hankel blocks,
    their decomposition) and the building for every size, as in Figure 1 of Balle,
    Hamilton and Pineau (ICML 2014). The convex method builds a model for each of
    as many penalties; tensor decomposition has no more states than symbols.

    [bold]Examples[/]
    sigmastar bench runtimes -m spectral,tensor -n 5,10 --strings 1000
    sigmastar bench runtimes --plot runtimes.svg -o runtimes.csv
    """
    from sigmastar.bench.runtimes import draw_runtimes, run_runtimes
    from sigmastar.core.atomic import atomic_write

    sizes = options.integers("--states", states)
    names = method or list(choices.RUNTIME_METHODS)
    rows = run_runtimes(names, sizes=sizes, n_symbols=symbols, n_strings=strings, seed=seed)
    results = keeping(rows, output)
    if plot is not None:
        atomic_write(plot, str(draw_runtimes(results)).encode())
        wrote(plot)
    if not hand_out(results, output, json):
        return
    found = {(r.method, r.size): r for r in results}
    show_table(
        "Seconds to begin, and to build a model of each size",
        ["method", "begin", *(f"{size} states" for size in sizes)],
        [
            [
                name,
                figure(found[name, sizes[0]].initialization, 3),
                *(figure(found[name, size].building, 4) for size in sizes),
            ]
            for name in names
        ],
    )
