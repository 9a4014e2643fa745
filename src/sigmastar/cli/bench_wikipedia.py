"""``sigmastar bench wikipedia``: characters of running text, automata beside n-grams."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sigmastar.cli.common import BenchDataOption
from sigmastar.cli.output import JsonOption, emit_json, show_table

if TYPE_CHECKING:
    from sigmastar.bench.wikipedia import ChunkResult

__all__ = ["wikipedia"]

# What a run learns unless told otherwise: the large set takes fewer of the slow ones.
_SIZES = {"small": "5,10,20,40", "medium": "10,20,40"}
_BASES = {"small": "100,300", "medium": "100,300"}


def wikipedia(
    data: BenchDataOption = None,
    chunks: Annotated[
        str,
        typer.Option("--chunks", help="small (500 training chunks), medium (50,000) or both."),
    ] = "small",
    methods: Annotated[
        str, typer.Option("--methods", "-m", help="Some of the methods, separated by commas.")
    ] = "spectral,separable,em,em-separable,kneser-ney",
    sizes: Annotated[
        str | None, typer.Option("--sizes", help="Numbers of states, such as 10,20,40.")
    ] = None,
    basis: Annotated[
        str | None, typer.Option("--basis", help="Sizes of the basis, such as 100,300.")
    ] = None,
    em_basis: Annotated[
        str, typer.Option("--em-basis", help="Sizes of the basis of EM's separable start.")
    ] = "300",
    orders: Annotated[
        str, typer.Option("--orders", help="Orders of the n-grams.")
    ] = "2,3,4,5,6,7,8",
    test_chunks: Annotated[int, typer.Option("--test-chunks", help="Chunks to test on.")] = 5000,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Also write to a .csv or .json.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Draw the figures to a .png, .svg or .pdf.")
    ] = None,
    em_seeds: Annotated[
        int, typer.Option("--em-seeds", min=1, help="Run EM from random starts so many times.")
    ] = 1,
    seed: Annotated[int, typer.Option("--seed", help="Same seed, same chunks and starts.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Learn characters of Wikipedia: spectral, separable, EM, EM from separable, Kneser-Ney.

    Mean likelihood of the next character of test chunks after their first 50, by number of states
    and size of the basis (the most frequent substrings of up to 3 characters), as in Figures 1 and
    2 of Glaude, Enderli and Pietquin (ASRU 2015). Bits are the mean of -log2, on test chunks and
    on chunks learned from. Results are written as they come: what --output holds is never lost.

    Example: sigmastar bench wikipedia --data ~/data --chunks small -o small.csv --plot small.png
    """
    from sigmastar.bench.pautomac import write_results
    from sigmastar.bench.wikipedia import SETS, draw_chunks, run_chunks
    from sigmastar.bench.wikipedia_plot import draw_figures, require_matplotlib
    from sigmastar.core.errors import InvalidParameter
    from sigmastar.datasets import load_wikipedia_text

    names = list(SETS) if chunks == "both" else [chunks]
    if names[0] not in SETS:
        raise InvalidParameter(f"--chunks must be small, medium or both; got {chunks!r}.")
    if plot is not None:
        require_matplotlib()
    text = load_wikipedia_text(chunk=None, data_home=data)
    results: list[ChunkResult] = []
    for name in names:
        drawn = draw_chunks(text, SETS[name], n_test=test_chunks, seed=seed)
        for result in run_chunks(
            drawn,
            methods=[method.strip() for method in methods.split(",") if method.strip()],
            sizes=_integers("--sizes", sizes or _SIZES[name]),
            bases=_integers("--basis", basis or _BASES[name]),
            em_bases=_integers("--em-basis", em_basis),
            orders=_integers("--orders", orders),
            seeds=range(seed, seed + em_seeds),
        ):
            results.append(result)
            if output is not None:
                write_results(results, output)
    if plot is not None:
        draw_figures(results, plot)
    if as_json:
        emit_json([asdict(result) for result in results])
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


def _integers(option: str, text: str) -> list[int]:
    from sigmastar.core.errors import InvalidParameter

    try:
        values = [int(part) for part in text.split(",")]
    except ValueError:
        values = []
    if not values or min(values) < 1:
        raise InvalidParameter(
            f"{option} must be positive numbers separated by commas; got {text!r}."
        )
    return values
