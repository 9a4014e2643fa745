"""Write docs/papers.md, and its figures, from a folder that ``sigmastar bench papers`` has made.

    python tools/docs/papers.py FOLDER --first transducers-table-3 --first tagging-table-1

``--first`` names exhibits that were made with priority over all else that ran; of the others the
page says that their seconds were measured beside other work.
"""

from __future__ import annotations

import argparse
import html
import json
import re
from collections.abc import Collection, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from sigmastar.bench.papers.collection import ALL_EXHIBITS
from sigmastar.bench.papers.exhibit import Exhibit
from sigmastar.bench.papers.page import MOST_ROWS, columns_of, is_wide

ROOT = Path(__file__).resolve().parent.parent.parent
FIGURES = "assets/papers"
HEAD = """# Five papers

Every table and figure of the five papers, as published and as measured here. This page and a page
for the browser, with all rows, also as CSV, are what `sigmastar bench papers --data DIR -o papers`
makes; it keeps each exhibit when it is made and goes on where it was stopped. The machine has two
cores at 2.8 GHz. Below a figure of ours stands the published one, in small print."""


def exhibit_text(exhibit: Exhibit, record: dict[str, Any], figures: Path, first: bool) -> str:
    """Write one table or figure; its pictures are files of their own."""
    parts = [f"### {exhibit.title}"]
    for number, picture in enumerate(record["pictures"], 1):
        name = f"{exhibit.key}-{number}.svg"
        (figures / name).write_text(picture, encoding="utf-8")
        titled = re.search(r"<title>([^<]*)</title>", picture)
        title = html.unescape(titled[1]) if titled else exhibit.title
        width = 760 if is_wide(picture) else 420
        parts.append(
            f'<figure markdown="span">\n  ![{title}]({FIGURES}/{name}){{ width="{width}" }}\n'
            f"  <figcaption>{html.escape(title)}</figcaption>\n</figure>"
        )
    if not (record["pictures"] and len(record["rows"]) > MOST_ROWS):
        parts.append("\n".join(table_lines(record["rows"])))
    parts += [str(note).replace("*", "\\*") for note in record["notes"]]
    data = ", ".join(exhibit.needs) or "generated data"
    told = "with priority over other work" if first else "beside other work"
    parts.append(
        f"`{exhibit.command}`, seed {record['made']['seed']}, {data}; "
        f"{record['seconds']:,.0f} s {told}."
    )
    return "\n\n".join(parts)


def table_lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Write rows as Markdown, a published figure below ours in one cell."""
    columns = columns_of(rows)

    def line(cells: Collection[str]) -> str:
        return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"

    yield line([column.name for column in columns])
    yield "|---" + "|--:" * (len(columns) - 1) + "|"
    for place in range(len(rows)):
        yield line(
            [
                column.ours[place]
                if column.theirs is None
                else f"{column.ours[place]}<br><small>{column.theirs[place]}</small>"
                for column in columns
            ]
        )


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="what `sigmastar bench papers -o` has made")
    parser.add_argument("--first", action="append", default=[], help="made with priority")
    given = parser.parse_args()
    figures = ROOT / "docs" / FIGURES
    figures.mkdir(parents=True, exist_ok=True)
    parts = [HEAD]
    for paper, exhibits in groupby(ALL_EXHIBITS, lambda exhibit: exhibit.paper):
        parts.append(f"## {paper}")
        for exhibit in exhibits:
            record = json.loads((given.folder / f"{exhibit.key}.json").read_text(encoding="utf-8"))
            parts.append(exhibit_text(exhibit, record, figures, exhibit.key in given.first))
    (ROOT / "docs" / "papers.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
