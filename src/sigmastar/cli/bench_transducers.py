"""``sigmastar bench transliteration`` and ``transducer-synthetic``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from sigmastar.cli.common import BenchDataOption
from sigmastar.cli.output import JsonOption, emit_json, show_table

__all__ = ["transducer_synthetic", "transliteration"]


def transliteration(
    data: BenchDataOption = None,
    size: Annotated[
        str, typer.Option(help="news (5,977 training pairs) or full (105,371, noisy).")
    ] = "news",
    method: Annotated[
        list[str] | None, typer.Option(help="Only this method; may be repeated.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Transliterate English names into Russian with every method, beside other tools.

    Word accuracy, mean F-score, normalized edit distance (times 100) and
    character error rate on the test part, seconds to train, words a second.
    The development part balances the scorers; the test part is used once.

    Example: sigmastar bench transliteration --data ~/data --method combined
    """
    from sigmastar.bench.transliteration import METHODS, OTHERS, measure
    from sigmastar.core.rules import Choice, check

    names = method or list(METHODS)
    for name in names:
        check("method", name, Choice(*METHODS))
    results = list(measure(names, size=size, data=data))
    if as_json:
        emit_json([asdict(result) for result in results])
        return
    rows: list[list[object]] = []
    for r in results:
        rows.append(
            [
                r.name,
                f"{r.word_accuracy:.1f}",
                f"{r.mean_f_score:.2f}",
                f"{r.normalized_edit_distance:.2f}",
                f"{r.character_error_rate:.2f}",
                f"{r.train_seconds:.1f}",
                f"{r.words_per_second:,.0f}",
            ]
        )
    if size == "news":
        for name, figures in OTHERS.items():
            rows.append([name, *("" if value is None else f"{value:,g}" for value in figures)])
    columns = ("method", "words %", "mean F %", "NED", "CER %", "train s", "words/s")
    show_table(f"English to Russian, {size}", columns, rows)


def transducer_synthetic(
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Directory for curves.csv and the figures.")
    ] = Path("transducer-synthetic"),
    only: Annotated[
        list[str] | None,
        typer.Option(help="difficulty, length, baselines, schur or dependence; may be repeated."),
    ] = None,
    runs: Annotated[int, typer.Option(min=1, help="Samples per point.")] = 10,
    plots: Annotated[bool, typer.Option(help="Draw figures (needs the extra plot).")] = True,
    seed: Annotated[int, typer.Option(help="Same seed, same curves.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Learning curves of spectral transducers on synthetic problems, as CSV and figures.

    Error by difficulty, by length of test strings, against the two spectral
    baselines, against joint Schur recovery, and on dependent inputs.

    Example: sigmastar bench transducer-synthetic --only dependence --out curves
    """
    from sigmastar.bench.transducer_synthetic import EXPERIMENTS, run, write_csv, write_plots
    from sigmastar.core.rules import Choice, check

    names = only or list(EXPERIMENTS)
    for name in names:
        check("only", name, Choice(*EXPERIMENTS))
    rows = run(names, runs=runs, seed=seed)
    out.mkdir(parents=True, exist_ok=True)
    write_csv(rows, out / "curves.csv")
    written = write_plots(rows, out) if plots else []
    if as_json:
        emit_json([asdict(row) for row in rows])
        return
    for name in names:
        part = [row for row in rows if row.experiment == name]
        points = list(dict.fromkeys(row.x for row in part))
        table = [
            [curve, *(f"{row.error:.4f}" for row in part if row.curve == curve)]
            for curve in dict.fromkeys(row.curve for row in part)
        ]
        show_table(name, ("curve", *(f"{point:,.0f}" for point in points)), table)
    show_table("", ("written",), [[str(path)] for path in (out / "curves.csv", *written)])
