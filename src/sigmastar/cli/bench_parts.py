"""What the commands of ``sigmastar bench`` share: options, and what becomes of their figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sigmastar.cli.options import Names, choice
from sigmastar.cli.output import emit_json, wrote
from sigmastar.core.progress import stage

__all__ = ["collect", "figure", "hand_out", "keeping", "methods_option"]


def methods_option(
    names: Names, help: str = "Only these methods", others: Callable[[], Iterable[str]] = tuple
) -> Any:
    """Make the option that chooses among the rows of a table."""
    return choice("--method -m", names, help, "METHOD", many=True, others=others)


def collect(
    title: str, rows: Iterable[Any], total: int | None = None, name: Callable[[Any], str] = str
) -> list[Any]:
    """Run through rows that are measured one by one, and tell how far it is."""
    found = []
    with stage(title, total) as progress:
        for row in rows:
            found.append(row)
            progress.advance(note=name(row))
    return found


def keeping(rows: Iterable[Any], output: Path | None) -> list[Any]:
    """Run through rows, and write the file after each: what was measured is never lost."""
    from sigmastar.bench.tables import write_results

    found = []
    for row in rows:
        found.append(row)
        if output is not None:
            write_results(found, output)
    return found


def hand_out(results: Sequence[Any], output: Path | None, json: bool) -> bool:
    """Write results to a file and as JSON, where wanted; tell whether tables are wanted, too."""
    if output is not None:
        from sigmastar.bench.tables import write_results

        write_results(results, output)
        wrote(output)
    if json:
        emit_json([asdict(result) for result in results])
    return not json


def figure(value: float | None, digits: int) -> str:
    """Write a number, large ones by their power of ten, nothing for none."""
    if value is None:
        return "–"
    return f"{value:.1e}" if value >= 1e5 else f"{value:.{digits}f}"
