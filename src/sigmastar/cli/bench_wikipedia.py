"""``sigmastar bench wikipedia``: characters of running text, automata beside n-grams."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sigmastar.cli.bench_parts import hand_out, methods_option
from sigmastar.cli.choices import CHUNKS, WIKIPEDIA_METHODS
from sigmastar.cli.common import (
    BenchDataOption,
    BenchOutputOption,
    SeedOption,
    choice,
    integers,
)
from sigmastar.cli.output import JsonOption, show_table, wrote

if TYPE_CHECKING:
    from sigmastar.bench.wikipedia import ChunkResult

__all__ = ["wikipedia"]


def wikipedia(
    data: BenchDataOption = None,
    method: Annotated[
        list[str] | None,
        methods_option(WIKIPEDIA_METHODS),
    ] = None,
    chunks: Annotated[
        str,
        choice("--chunks", names=CHUNKS, help="500 training chunks, 50,000, or both"),
    ] = "small",
    states: Annotated[
        str | None,
        typer.Option(
            "--states", "-n", help="Numbers of states, such as 10,20,40.", metavar="NUMBERS"
        ),
    ] = None,
    basis: Annotated[
        str | None,
        typer.Option("--basis", help="Sizes of the basis, such as 100,300.", metavar="NUMBERS"),
    ] = None,
    em_basis: Annotated[
        str,
        typer.Option(
            "--em-basis", help="Sizes of the basis of EM's separable start.", metavar="NUMBERS"
        ),
    ] = "300",
    orders: Annotated[
        str, typer.Option("--orders", help="Orders of the n-grams.", metavar="NUMBERS")
    ] = "2,3,4,5,6,7,8",
    test_chunks: Annotated[
        int, typer.Option("--test-chunks", min=1, help="Chunks to test on.", metavar="N")
    ] = 5000,
    output: BenchOutputOption = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", help="Draw the figures to a .png, .svg or .pdf.", metavar="FILE"),
    ] = None,
    em_seeds: Annotated[
        int,
        typer.Option(
            "--em-seeds", min=1, help="Run EM from random starts so many times.", metavar="N"
        ),
    ] = 1,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Learn characters of Wikipedia: spectral, separable, EM, EM from separable, Kneser-Ney.

    Mean likelihood of the next character of test chunks after their first 50,
    by number of states and size of the basis (the most frequent substrings of
    up to 3 characters), as in Figures 1 and 2 of Glaude, Enderli and Pietquin
    (ASRU 2015). Bits are the mean of -log2, on test chunks and on chunks
    learned from. Results are written as they come: what --output holds is never
    lost.

    [bold]Examples[/]
    sigmastar bench wikipedia -m spectral,kneser-ney -n 10,20
    sigmastar bench wikipedia --data ~/data -o small.csv --plot small.png
    """
    from sigmastar.bench.tables import write_results
    from sigmastar.bench.wikipedia import SETS, run
    from sigmastar.bench.wikipedia_plot import draw_figures, require_matplotlib
    from sigmastar.datasets import load_wikipedia_text

    names = list(SETS) if chunks == "both" else [chunks]
    if plot is not None:
        require_matplotlib()
    results: list[ChunkResult] = []
    for result in run(
        load_wikipedia_text(chunk=None, data_home=data),
        names,
        n_test=test_chunks,
        methods=method or WIKIPEDIA_METHODS,
        sizes=integers("--states", states) if states else None,
        bases=integers("--basis", basis or "100,300"),
        em_bases=integers("--em-basis", em_basis),
        orders=integers("--orders", orders),
        seed=seed,
        em_seeds=em_seeds,
    ):
        results.append(result)
        if output is not None:
            write_results(results, output)
    if plot is not None:
        draw_figures(results, plot)
        wrote(plot)
    if not hand_out(results, output, json):
        return
    for name in names:
        show_table(
            f"Next character after {SETS[name]:,} training chunks",
            ["method", "size", "basis", "likelihood", "bits", "train", "seconds", "s/step"],
            [_row(result) for result in results if result.chunks == SETS[name]],
        )


def _row(result: ChunkResult) -> list[str]:
    return [
        result.method,
        str(result.size),
        "–" if result.basis is None else str(result.basis),
        f"{result.likelihood:.4f}",
        f"{result.bits:.3f}",
        f"{result.train_bits:.3f}",
        f"{result.seconds:.1f}",
        "–" if result.seconds_per_step is None else f"{result.seconds_per_step:.2f}",
    ]
