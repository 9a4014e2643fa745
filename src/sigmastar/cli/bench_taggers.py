"""``sigmastar bench tagging`` and ``wall-following``: taggers beside published tables."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from sigmastar.cli.common import BenchDataOption
from sigmastar.cli.output import JsonOption, emit_json, show_table
from sigmastar.core.rules import Choice, check

__all__ = ["tagging", "wall_following"]


def wall_following(
    data: BenchDataOption = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Random splits to average.")] = 10,
    into: Annotated[
        Path | None,
        typer.Option("--out", help="Directory for CSV files and plots of every figure and table."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="Method of table 1 to measure; may be repeated."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Tag the walk of a robot as Recasens and Quattoni did (ECML 2013).

    150 sequences of 36 readings, split 100/25/25 at random; everything is
    chosen on the 25 for validation. Prints table 1; with --out also writes
    figures 1 and 2 and tables 1 and 2 as CSV and plots (extra "plot").

    Example: sigmastar bench wall-following --seeds 2 --only CWFST
    """
    from sigmastar.bench import wall_following as bench
    from sigmastar.bench.wall_following_files import plot_figure1, plot_figure2, write_csv

    divisions = bench.splits(seeds, data)
    rows = bench.table1(divisions, only)
    if into is not None:
        into.mkdir(parents=True, exist_ok=True)
        write_csv(into / "table1.csv", rows)
        write_csv(into / "table2.csv", bench.table2(divisions))
        first = bench.figure1(divisions)
        write_csv(into / "figure1.csv", first)
        second = bench.figure2(divisions)
        for panel, points in second.items():
            write_csv(into / f"figure2_{panel}.csv", points)
        plot_figure1(into / "figure1.png", first)
        plot_figure2(into / "figure2.png", second)
    if as_json:
        emit_json({"seeds": seeds, "rows": rows, "published": bench.PUBLISHED})
        return
    show_table(
        f"Wall-following robot, accuracy in per cent on test sequences, mean of {seeds} splits",
        ["method", "states", "marginal", "±", "paper", "exact", "paper", "filter", "train s"],
        [
            (
                row["method"],
                f"{row['n_states']:.1f}",
                f"{100 * row['marginal']:.2f}",
                f"{100 * row['deviation']:.2f}",
                f"{bench.PUBLISHED[row['method']][1]}" if row["method"] in bench.PUBLISHED else "",
                f"{100 * row['exact']:.2f}",
                f"{bench.PUBLISHED[row['method']][2]}" if row["method"] in bench.PUBLISHED else "",
                f"{100 * row['filter']:.2f}",
                f"{row['seconds']:.2f}",
            )
            for row in rows
        ],
    )


def tagging(
    data: BenchDataOption = None,
    table: Annotated[
        str,
        typer.Option(
            "--table",
            "-t",
            help="1: kinds of transducers; 2: languages; accuracy: beside other taggers; all.",
        ),
    ] = "all",
    long: Annotated[
        bool, typer.Option("--long", help="Table 1: also all subsequences of three classes.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Print Tables 1 and 2 of Kempe (1997) with our figures, on public corpora.

    Table 1 trains an HMM on 20,000 words of Brown (lexicon and untagged text
    from 90 % of it) and compiles it into every kind of transducer; Table 2 does
    so for several languages; "accuracy" compares the second-order tagger, its
    exact transducer and learned correction rules with HunPos. Speeds are for
    one core, from integer classes to integer tags.

    Example: sigmastar bench tagging --data ~/data --table 1
    """
    import numba

    from sigmastar.bench import tagging as bench

    check("table", table, Choice("1", "2", "accuracy", "all"))
    numba.set_num_threads(1)
    figures: dict[str, Any] = {}
    if table in ("1", "all"):
        rows = list(bench.machines(data, long=long))
        figures["table1"] = [asdict(row) for row in rows]
        if not as_json:
            _machine_table(rows, bench.PAPER)
    if table in ("2", "all"):
        pairs = list(bench.languages(data))
        figures["table2"] = [{"language": name} | asdict(row) for name, row in pairs]
        if not as_json:
            names = list(dict.fromkeys(name for name, _ in pairs))
            found = {(name, row.name): f"{row.accuracy:.2%}" for name, row in pairs}
            kinds = list(dict.fromkeys(row.name for _, row in pairs))
            show_table(
                "Kempe 1997, Table 2: accuracy by language",
                ["machine", *names],
                [[kind, *(found.get((name, kind), "") for name in names)] for kind in kinds],
            )
    if table in ("accuracy", "all"):
        pairs = list(bench.accuracies(data))
        figures["accuracy"] = [{"corpus": name} | asdict(row) for name, row in pairs]
        if not as_json:
            show_table(
                "Accuracy of the second-order tagger",
                ["corpus", "machine", "accuracy", "HunPos", "agreement", "M tokens/s"],
                [
                    (
                        name,
                        row.name,
                        f"{row.accuracy:.2%}",
                        f"{bench.PEERS[name]:.2f}%",
                        f"{row.agreement:.4%}" if row.agreement is not None else "",
                        f"{(row.tokens_per_second or 0) / 1e6:.1f}",
                    )
                    for name, row in pairs
                ],
            )
    if as_json:
        emit_json(figures)


def _machine_table(rows: list[Any], paper: dict[str, Any]) -> None:
    """Print the machines of Table 1 beside the paper's."""

    def cells(row: Any) -> list[str]:
        old = paper.get(row.name, (None, None, None, None))
        return [
            row.name,
            f"{100 * row.accuracy:.2f}",
            f"{old[0]:.2f}" if old[0] else "",
            f"{row.n_states:,}" if row.n_states else "",
            f"{old[1]:,}" if old[1] else "",
            f"{row.build_seconds:.2f}" if row.build_seconds is not None else "",
            f"{old[3]:,.0f}" if old[3] else "",
            f"{(row.tokens_per_second or 0) / 1e6:.1f}",
        ]

    titles = ["machine", "acc. %", "paper", "states", "paper", "built, s", "paper", "M tok/s"]
    show_table("Kempe 1997, Table 1", titles, map(cells, rows))
