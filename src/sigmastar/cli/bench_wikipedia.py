"""``sigmastar bench wikipedia``: characters of running text, automata beside n-grams."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from sigmastar.cli import choices, options
from sigmastar.cli.bench_parts import hand_out, keeping, methods_option
from sigmastar.cli.options import choice, option
from sigmastar.cli.output import show_records, wrote

__all__ = ["wikipedia"]


def wikipedia(
    data: options.BenchData = None,
    method: Annotated[list[str] | None, methods_option(choices.WIKIPEDIA_METHODS)] = None,
    chunks: Annotated[
        str, choice("--chunks", choices.CHUNKS, "500 training chunks, 50,000, or both")
    ] = "small",
    states: Annotated[
        str | None, option("--states -n", "Numbers of states, such as 10,20,40.", "NUMBERS")
    ] = None,
    basis: Annotated[
        str | None, option("--basis", "Sizes of the basis, such as 100,300.", "NUMBERS")
    ] = None,
    em_basis: Annotated[
        str, option("--em-basis", "Sizes of the basis of EM's separable start.", "NUMBERS")
    ] = "300",
    orders: Annotated[
        str, option("--orders", "Orders of the n-grams.", "NUMBERS")
    ] = "2,3,4,5,6,7,8",
    test_chunks: Annotated[int, option("--test-chunks", "Chunks to test on.", "N", min=1)] = 5000,
    output: options.BenchOutput = None,
    plot: Annotated[
        Path | None, option("--plot", "Draw the figures to a .png, .svg or .pdf.", "FILE")
    ] = None,
    em_seeds: Annotated[
        int, option("--em-seeds", "Run EM from random starts so many times.", "N", min=1)
    ] = 1,
    seed: options.Seed = 0,
    json: options.Json = False,
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
    from sigmastar.bench.wikipedia import SETS, run
    from sigmastar.bench.wikipedia_plot import draw_figures, require_matplotlib
    from sigmastar.datasets import load_wikipedia_text

    names = list(SETS) if chunks == "both" else [chunks]
    if plot is not None:
        require_matplotlib()
    rows = run(
        load_wikipedia_text(chunk=None, data_home=data),
        names,
        n_test=test_chunks,
        methods=method or choices.WIKIPEDIA_METHODS,
        sizes=options.integers("--states", states) if states else None,
        bases=options.integers("--basis", basis or "100,300"),
        em_bases=options.integers("--em-basis", em_basis),
        orders=options.integers("--orders", orders),
        seed=seed,
        em_seeds=em_seeds,
    )
    results = keeping(rows, output)
    if plot is not None:
        draw_figures(results, plot)
        wrote(plot)
    if not hand_out(results, output, json):
        return
    for name in names:
        show_records(
            f"Next character after {SETS[name]:,} training chunks",
            [result for result in results if result.chunks == SETS[name]],
            {
                "method": "method",
                "size": "size",
                "basis": "basis",
                "likelihood": "likelihood:.4f",
                "bits": "bits:.3f",
                "train": "train_bits:.3f",
                "seconds": "seconds:.1f",
                "s/step": "seconds_per_step:.2f",
            },
        )
