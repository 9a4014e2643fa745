"""``sigmastar bench wall-following``: taggers of measurements beside a published paper."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

from sigmastar.cli import choices, options
from sigmastar.cli.bench_parts import methods_option
from sigmastar.cli.options import choice, option
from sigmastar.cli.output import emit_json, show_table, wrote

__all__ = ["wall_following"]


def wall_following(
    data: options.BenchData = None,
    method: Annotated[
        list[str] | None, methods_option(choices.WALL_METHODS, "Only these rows of table 1")
    ] = None,
    part: Annotated[
        list[str] | None,
        choice("--part", choices.WALL_PARTS, "Only these tables and figures", "PART", many=True),
    ] = None,
    seeds: Annotated[int, option("--seeds", "Random splits to average.", "N", min=1)] = 10,
    output: Annotated[
        Path | None,
        option("--output -o", "Directory for CSV files of all and pictures of figures.", "DIR"),
    ] = None,
    json: options.Json = False,
) -> None:
    """Tag the walk of a robot as Recasens and Quattoni did (ECML 2013).

    150 sequences of 36 readings, split 100/25/25 at random; everything is
    chosen on the 25 for validation. Prints tables 1 and 2 with the published
    figures beside them, and the points of figures 1 and 2; about an hour for
    ten splits, most of it for table 1. Best labellings as a whole are searched
    for; "proven" is the share of the sequences for which none is better.

    [bold]Examples[/]
    sigmastar bench wall-following --seeds 2 -m CWFST --part table1
    sigmastar bench wall-following --part figure1,figure2 -o figures
    """
    from sigmastar.bench.wall_following import splits
    from sigmastar.bench.wall_following_files import PARTS, run_parts, write_parts

    wanted = tuple(part) if part else PARTS if method is None else ("table1",)
    found = run_parts(splits(seeds, data), wanted, method)
    if output is not None:
        write_parts(output, found)
        wrote(output)
    if json:
        emit_json({"seeds": seeds, **found})
        return
    told = f"mean of {seeds} splits"
    for name, rows in found.items():
        _SHOWN[name](rows, told)


def _table1(rows: list[dict[str, Any]], told: str) -> None:
    show_table(
        f"Table 1: accuracy in per cent on test sequences, {told}",
        ["method", "states", "marginal", "±", "paper", "search", "paper", "proven", "filter"],
        [
            (
                row["method"],
                f"{row['n_states']:.1f}",
                *map(_per_cent, (row["marginal"], row["deviation"], row["paper_marginal"])),
                *map(_per_cent, (row["search"], row["paper_exact"], row["proven"])),
                _per_cent(row["filter"]),
            )
            for row in rows
        ],
    )
    show_table(
        "Table 1: one training, and the readings that were chosen in so many splits",
        ["method", "seconds", "readings"],
        [(row["method"], f"{row['seconds']:.2f}", row["readings"]) for row in rows],
    )


def _table2(rows: list[dict[str, Any]], _: str) -> None:
    show_table(
        "Table 2: EM by iterations on the first split",
        ["iterations", "seconds", "paper", "accuracy %", "paper", "kept"],
        [
            (
                row["iterations"],
                f"{row['seconds']:.2f}",
                "" if row["paper_seconds"] is None else f"{row['paper_seconds']:,.0f}",
                _per_cent(row["accuracy"]),
                _per_cent(row["paper_accuracy"]),
                "yes" if row["kept"] else "",
            )
            for row in rows
        ],
    )


def _figure1(rows: list[dict[str, Any]], told: str) -> None:
    states = list(dict.fromkeys(row["n_states"] for row in rows))
    show_table(
        f"Figure 1: accuracy in per cent by distance, kernel width and states, {told}",
        ["distance", "width", *map(str, states)],
        [
            (metric, f"{tau:g}", *(_per_cent(row["accuracy"]) for row in points))
            for (metric, tau), points in groupby(rows, lambda row: (row["metric"], row["tau"]))
        ],
    )


def _curves(title: str, across: str) -> Any:
    def show(rows: list[dict[str, Any]], told: str) -> None:
        places = list(dict.fromkeys(row[across] for row in rows))
        found = {(row["method"], row[across]): row["accuracy"] for row in rows}
        show_table(
            f"Figure 2, {title}: accuracy in per cent, {told}",
            ["method", *map(str, places)],
            [
                (name, *(_per_cent(found[name, place]) for place in places))
                for name in dict.fromkeys(row["method"] for row in rows)
            ],
        )

    return show


def _values(rows: list[dict[str, Any]], told: str) -> None:
    show_table(
        f"Figure 2, centre: singular values of H2, {told}",
        ["rank", "singular value"],
        [(row["rank"], f"{row['singular_value']:.3g}") for row in rows],
    )


def _per_cent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.2f}"


_SHOWN = {
    "table1": _table1,
    "table2": _table2,
    "figure1": _figure1,
    "figure2_left": _curves("left", "n_centroids"),
    "figure2_centre": _values,
    "figure2_right": _curves("right", "n_states"),
}
