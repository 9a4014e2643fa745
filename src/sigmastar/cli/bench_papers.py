"""``sigmastar bench papers``: every table and figure of the five papers on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sigmastar.cli import options
from sigmastar.cli.options import option
from sigmastar.cli.output import emit_json, note, show_table, wrote

__all__ = ["papers"]


def papers(
    output: Annotated[
        Path, option("--output -o", "The folder for the page, its tables and what is kept.", "DIR")
    ] = Path("papers"),
    data: options.BenchData = None,
    only: Annotated[
        list[str] | None,
        option("--only", "Only exhibits whose names begin so (repeat for more).", "NAME"),
    ] = None,
    names: Annotated[
        bool, option("--list", "List the exhibits and their minutes; do not run.")
    ] = False,
    quick: Annotated[
        bool, option("--quick", "A smoke run on small generated data; its figures mean nothing.")
    ] = False,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Make every table and figure of the five papers again, on one page.

    Published figures and ours stand side by side, with data, command, seed
    and seconds. Each exhibit is kept when it is made (KEY.csv, KEY.json): a
    run that was stopped goes on where it was. The whole takes hours; --list
    tells how many.

    [bold]Examples[/]
    sigmastar bench papers --list
    sigmastar bench papers --quick -o smoke
    sigmastar bench papers --data ~/data -o papers --only moments
    """
    from sigmastar.bench.papers.collection import ALL_EXHIBITS
    from sigmastar.bench.papers.exhibit import Settings
    from sigmastar.bench.papers.page import write_papers_page
    from sigmastar.bench.papers.run import make_exhibits, minutes_left
    from sigmastar.core.errors import InvalidParameter
    from sigmastar.core.progress import stage

    chosen = [e for e in ALL_EXHIBITS if not only or e.key.startswith(tuple(only))]
    if not chosen:
        raise InvalidParameter(
            f"--only must begin the name of an exhibit; got {', '.join(only or [])}. "
            "See sigmastar bench papers --list."
        )
    settings = Settings(data, quick, seed)
    if names:
        show_table(
            "Exhibits",
            ["name", "title", "data", "minutes"],
            [(e.key, e.title, ", ".join(e.needs), f"{e.minutes:g}") for e in chosen],
        )
    left = minutes_left(chosen, settings, output)
    note(f"{len(chosen)} exhibits; about {left:,.0f} minutes on two cores for those not made yet.")
    if names:
        return
    made = []
    with stage("Exhibits", len(chosen)) as progress:
        for item in make_exhibits(chosen, settings, output):
            made.append(item)
            write_papers_page(made, output / "index.html")
            progress.advance(note=item.exhibit.key)
            if item.problem is not None:
                note(f"{item.exhibit.key} was not made: {item.problem}")
    wrote(output / "index.html")
    if json:
        emit_json(
            [
                {
                    "name": item.exhibit.key,
                    "rows": item.shown.rows,
                    "notes": item.shown.notes,
                    "seconds": item.seconds,
                    "problem": item.problem,
                }
                for item in made
            ]
        )
    if any(item.problem is not None for item in made):
        raise typer.Exit(1)
