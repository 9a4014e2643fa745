"""Complete the navigation: ``folder/*`` stands for the pages of a folder that have no place yet.

A new page then appears by being there; pages that want a certain place are named in mkdocs.yml.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["completed", "named_pages", "on_config"]


def named_pages(nav: Any) -> Iterator[str]:
    """Give the paths that a navigation names, from top to bottom."""
    if isinstance(nav, str):
        yield nav
        return
    for item in nav.values() if isinstance(nav, dict) else nav:
        yield from named_pages(item)


def completed(nav: Any, docs: Path) -> Any:
    """Return the navigation with every star replaced by the pages it stands for."""
    named = set(named_pages(nav))

    def expand(item: Any) -> list[Any]:
        if isinstance(item, dict):
            return [{title: inner(part) for title, part in item.items()}]
        if not item.endswith("*"):
            return [item]
        pages = sorted(path.relative_to(docs).as_posix() for path in docs.glob(f"{item}.md"))
        return [page for page in pages if page not in named]

    def inner(part: Any) -> Any:
        return part if isinstance(part, str) else [new for old in part for new in expand(old)]

    return inner(nav)


def on_config(config: Any) -> Any:
    """Let mkdocs see the completed navigation."""
    config["nav"] = completed(config["nav"], Path(config["docs_dir"]))
    return config
