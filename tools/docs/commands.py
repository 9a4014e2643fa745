"""Write the reference of the command line from the commands themselves.

The page says ``<!-- commands -->`` where the text shall stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer.main

from sigmastar.cli.main import app

__all__ = ["on_page_markdown", "written"]

_MARK = "<!-- commands -->"


def _plain(text: str) -> str:
    """Take rich's markup out of a help text."""
    return re.sub(r"\[/?(?:[a-z ]+)?\]", "", text.replace("\b", ""))


def _body(help_text: str) -> Iterator[str]:
    """Give the paragraphs of a help text; what follows "Examples", or is indented, is code."""
    for paragraph in re.split(r"\n\s*\n", _plain(help_text).strip()):
        lines = paragraph.splitlines()
        if lines[0].strip() in ("Example", "Examples"):
            yield f"**{lines.pop(0).strip()}**"
            code = True
        else:
            code = lines[0].startswith("  ")
        text = [line.strip() for line in lines]
        if text:
            yield "\n".join(["```bash", *text, "```"]) if code else " ".join(text)


def _cell(text: str) -> str:
    return " ".join(_plain(text).split()).replace("|", "\\|")


def _rows(command: Any) -> Iterator[str]:
    for parameter in command.params:
        if getattr(parameter, "hidden", False) or parameter.name == "help":
            continue
        if parameter.param_type_name == "argument":
            label = f"`{parameter.metavar or parameter.name.upper()}`"
            given = "required" if parameter.required else ""
        else:
            names = [*parameter.opts, *parameter.secondary_opts]
            label = ", ".join(f"`{name}`" for name in sorted(names, key=len))
            default = parameter.default
            given = "" if default in (None, False, ()) or callable(default) else f"`{default}`"
            if parameter.required:
                given = "required"
        yield f"| {label} | {_cell(parameter.help or '')} | {given} |"


def written(command: Any, path: str, level: int = 1) -> Iterator[str]:
    """Give the description of a command and of the commands below it, as Markdown."""
    if level > 1:
        yield f"{'#' * level} {path}"
        yield from _body(command.help or "")
    for name, inner in getattr(command, "commands", {}).items():
        if not inner.hidden:
            yield from written(inner, f"{path} {name}", level + 1)
    rows = [] if hasattr(command, "commands") else list(_rows(command))
    if rows:
        yield "\n".join(["| argument or option | meaning | default |", "|---|---|---|", *rows])


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Fill in the commands where a page asks for them."""
    if _MARK not in markdown:
        return markdown
    text = "\n\n".join(written(typer.main.get_command(app), "sigmastar"))
    return markdown.replace(_MARK, text)
