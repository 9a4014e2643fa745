"""Measure the house again and write the figures into the tables of docs/architecture.md.

Usage: python tools/refresh_architecture.py

What the layout by layer had stays.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import walk  # first: it has numba leave kernels as they are
from import_map import crossings, imports

__all__ = ["main", "refreshed"]

PAGE = Path(__file__).parent.parent / "docs" / "architecture.md"


def refreshed(page: str, figures: Mapping[str, Sequence[int]]) -> str:
    """Return the page with new figures in the last cells of the rows that begin with their names.

    What a cell has before an arrow stays.
    """
    lines = page.splitlines()
    for name, values in figures.items():
        (place,) = (i for i, line in enumerate(lines) if line.startswith(f"| {name} |"))
        cells = lines[place].split(" | ")
        last = zip(cells[-len(values) :], values, strict=True)
        new = [re.sub(r"[^ →]+( \|)?$", rf"{value}\1", cell) for cell, value in last]
        lines[place] = " | ".join([*cells[: -len(values)], *new])
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, and write the page."""
    figures: dict[str, Sequence[int]] = {
        name: (count,) for name, count in crossings(imports()).items()
    }
    for request in walk.REQUESTS:
        figures[walk.title(request)] = walk.figures(walk.walk(request))
    PAGE.write_text(refreshed(PAGE.read_text(), figures))
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
