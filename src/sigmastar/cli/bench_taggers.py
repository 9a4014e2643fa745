"""``sigmastar bench tagging`` and ``wall-following``: taggers beside published tables."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from sigmastar.cli import choices, options
from sigmastar.cli.bench_parts import collect, methods_option
from sigmastar.cli.options import choice, option
from sigmastar.cli.output import emit_json, show_table, wrote

__all__ = ["tagging", "wall_following"]


def wall_following(
    data: options.BenchData = None,
    method: Annotated[
        list[str] | None, methods_option(choices.WALL_METHODS, "Only these rows of table 1")
    ] = None,
    seeds: Annotated[int, option("--seeds", "Random splits to average.", "N", min=1)] = 10,
    output: Annotated[
        Path | None,
        option(
            "--output -o", "Directory for CSV files and plots of every figure and table.", "DIR"
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Tag the walk of a robot as Recasens and Quattoni did (ECML 2013).

    150 sequences of 36 readings, split 100/25/25 at random; everything is
    chosen on the 25 for validation. Prints table 1; with --output also writes
    figures 1 and 2 and tables 1 and 2 as CSV and plots (extra "plot").

    [bold]Examples[/]
    sigmastar bench wall-following --seeds 2 -m CWFST
    sigmastar bench wall-following -m "forest, frames alone" -m EM --json
    """
    from sigmastar.bench import wall_following as bench
    from sigmastar.bench.wall_following_files import write_all

    divisions = bench.splits(seeds, data)
    rows = bench.table1(divisions, method)
    if output is not None:
        write_all(output, divisions, rows)
        wrote(output)
    if json:
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
    data: options.BenchData = None,
    table: Annotated[
        str,
        choice(
            "--table",
            choices.TABLES,
            "Kinds of transducers (1), languages (2), accuracy beside other taggers",
            "TABLE",
        ),
    ] = "all",
    long: Annotated[
        bool, option("--long", "Table 1: also all subsequences of three classes.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Print Tables 1 and 2 of Kempe (1997) with our figures, on public corpora.

    Table 1 trains an HMM on 20,000 words of Brown (lexicon and untagged text
    from 90 % of it) and compiles it into every kind of transducer; Table 2 does
    so for several languages; "accuracy" compares second-order taggers (from
    counts, and discriminative: CRF), their exact transducers and learned
    correction rules with HunPos. Speeds are for
    one core, from integer classes to integer tags.

    [bold]Example[/]
    sigmastar bench tagging --data ~/data --table 1
    """
    from sigmastar.bench import tagging as bench

    figures: dict[str, Any] = {}
    if table in ("1", "all"):
        rows = collect("Table 1", bench.machines(data, long=long), name=lambda row: row.name)
        figures["table1"] = [asdict(row) for row in rows]
        if not json:
            _machine_table(rows, bench.PAPER)
    if table in ("2", "all"):
        pairs = collect("Table 2", bench.languages(data), name=_label)
        figures["table2"] = [{"language": name} | asdict(row) for name, row in pairs]
        if not json:
            names = list(dict.fromkeys(name for name, _ in pairs))
            found = {(name, row.name): f"{row.accuracy:.2%}" for name, row in pairs}
            kinds = list(dict.fromkeys(row.name for _, row in pairs))
            show_table(
                "Kempe 1997, Table 2: accuracy by language",
                ["machine", *names],
                [[kind, *(found.get((name, kind), "") for name in names)] for kind in kinds],
            )
    if table in ("accuracy", "all"):
        pairs = collect("Accuracy", bench.accuracies(data), name=_label)
        figures["accuracy"] = [{"corpus": name} | asdict(row) for name, row in pairs]
        if not json:
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
    if json:
        emit_json(figures)


def _label(pair: tuple[str, Any]) -> str:
    return f"{pair[0]}, {pair[1].name}"


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
