"""Link names of the package to the API reference.

Docstrings say ``:func:`sigmastar.load``` as Sphinx would have it, pages say ``ss.load`` or
``SpectralWFA``; both become links to the place that documents the name, if there is one.
"""

from __future__ import annotations

import re
from typing import Any

import sigmastar

__all__ = ["on_page_content"]

_ROLE = re.compile(r":(?:func|class|meth|mod|attr|data):<code>~?([\w.]+)</code>")
_CODE = re.compile(r"<code>((?:ss\.)?[A-Za-z_][\w.]*)((?:\([^<]*\))?)</code>")
_ANCHORS = re.compile(r"<(a|h[1-6]|pre)\b.*?</\1>", re.DOTALL)
# What a reader may take for a common word.
_COMMON = {"sample", "load", "END", "inference", "metrics", "moments", "datasets", "algebra"}
_PUBLIC = set(sigmastar.__all__) - {"__version__"}


def _reference(identifier: str, text: str) -> str:
    return f'<autoref optional identifier="{identifier}"><code>{text}</code></autoref>'


def _linked(content: str) -> str:
    def replace(found: re.Match[str]) -> str:
        name, call = found[1], found[2]
        plain = name.removeprefix("ss.")
        head = plain.split(".")[0]
        if head not in _PUBLIC or (name == plain and (plain in _COMMON or head == "errors")):
            return found[0]
        return _reference(f"sigmastar.{plain}", name + call)

    return _CODE.sub(replace, content)


def on_page_content(content: str, page: Any, **_: Any) -> str:
    """Turn roles and names in running text into references; headings and code stay as they are."""
    content = _ROLE.sub(lambda found: _reference(found[1], found[1].split(".")[-1]), content)
    pieces, place = [], 0
    for kept in _ANCHORS.finditer(content):
        pieces += [_linked(content[place : kept.start()]), kept[0]]
        place = kept.end()
    return "".join([*pieces, _linked(content[place:])])
