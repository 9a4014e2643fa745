"""Write HTML and SVG so that whatever comes from data is escaped.

A child that is :class:`Markup` is taken as it is; anything else is text of unknown origin and is
escaped. There is no other way to put text on a page.
"""

from __future__ import annotations

import re
from html import escape
from typing import TypeAlias

__all__ = ["Child", "Markup", "element", "join", "number"]

_LONGEST = 1000  # characters of one piece of text: a symbol may be a book
# Control characters are not allowed in XML, and HTML shows them as nothing; those that embed or
# override the direction of writing would turn round what stands beside a symbol.
_CONTROL = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069"
    r"\ud800-\udfff\ufffe\uffff]"
)
_VOID = frozenset({"meta", "br", "img", "input", "hr"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


Child: TypeAlias = "Markup | str | float | None"


def element(name: str, /, *children: Child, **attributes: str | float | None) -> Markup:
    """Write one element.

    Underscores in the names of attributes become hyphens, a trailing one is dropped (``class_``);
    attributes and children that are None are left out.
    """
    parts = [f"<{name}"]
    for key, value in attributes.items():
        if value is not None:
            text = value if isinstance(value, str) else number(value)
            parts.append(f' {key.rstrip("_").replace("_", "-")}="{_clean(text)}"')
    if name in _VOID:
        return Markup("".join([*parts, ">"]))
    return Markup("".join([*parts, ">", join(*children), f"</{name}>"]))


def join(*children: Child) -> Markup:
    """Put pieces one after the other."""
    return Markup("".join(_text(child) for child in children if child is not None))


def number(value: float) -> str:
    """Write a coordinate: two decimals at most, no trailing zeros."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def _text(child: Markup | str | float) -> str:
    if isinstance(child, Markup):
        return child
    text = child if isinstance(child, str) else number(child)
    return _clean(text if len(text) <= _LONGEST else text[:_LONGEST] + "…")


def _clean(text: str) -> str:
    return escape(_CONTROL.sub("\ufffd", text))
