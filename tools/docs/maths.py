r"""Turn the formulas of a page into MathML when the site is built: no script and no network.

``pymdownx.arithmatex`` leaves ``\(…\)`` in a span and ``\[…\]`` in a div of class "arithmatex".
A command that the converter does not know would come out as text with a backslash; that is a
warning, and so an error of the strict build. Browsers place the parts of a formula by measures
that only mathematical fonts have, so the site brings one: STIX Two Math, as the package ziamath
carries it (SIL Open Font License).
"""

from __future__ import annotations

import html
import logging
import re
import shutil
import unicodedata
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, tostring

from latex2mathml.converter import convert_to_element

__all__ = ["mathml", "on_page_content", "on_post_build"]

log = logging.getLogger("mkdocs.hooks.maths")

_INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
_DISPLAY = re.compile(r'<div class="arithmatex">\s*\\\[(.*?)\\\]\s*</div>', re.DOTALL)
# Spelled otherwise for the converter.
_SPELLINGS = (
    (r"(begin|end)\{(?:aligned|gathered)\}", r"\1{align*}"),
    (r"\\operatorname\*?\{arg\s*(?:\\,)?\s*(min|max)\}", r"\\arg\1"),
    (r"\\[dt]frac\b", r"\\frac"),
    (r"\\[lr]Vert\b", r"\\Vert"),
    (r"\\[lr]vert\b", r"|"),
)
_LIMITS = {"min", "max", "sup", "inf", "lim", "argmin", "argmax"}
_ACCENTS = {
    "^": "\u02c6",
    "~": "\u02dc",
    "\u00af": "\u00af",
    "\u02d9": "\u02d9",
    "\u2192": "\u2192",
}
_VARIANTS = {"bold": "BOLD", "bold-italic": "BOLD ITALIC", "double-struck": "DOUBLE-STRUCK"}


def _styled(text: str, variant: str) -> str:
    """Return the letters of a mathematical alphabet: browsers no longer choose it themselves."""
    letters = []
    for letter in text:
        name = unicodedata.name(letter, "").replace(" LETTER", "").replace("GREEK ", "")
        name = name.replace("LATIN ", "")
        try:
            letters.append(unicodedata.lookup(f"MATHEMATICAL {_VARIANTS[variant]} {name}"))
        except KeyError:
            letters.append(letter)
    return "".join(letters)


def _mend(element: Element, display: bool) -> None:
    """Bring the converter's output into the part of MathML that browsers draw."""
    for part in element.iter():
        text = html.unescape(part.text or "")
        if part.get("mathvariant") in _VARIANTS and text:
            part.text = _styled(text, part.attrib.pop("mathvariant"))
        if part.tag == "mo" and text == "\u2016" and "fence" not in part.attrib:
            part.set("stretchy", "false")
        children = list(part)
        if part.tag == "mover" and (mark := html.unescape(children[1].text or "")) in _ACCENTS:
            part.set("accent", "true")
            children[1].text = _ACCENTS[mark]
        if part.tag == "msub" and display:
            base = re.sub(r"\W", "", html.unescape("".join(children[0].itertext())))
            part.tag = "munder" if base in _LIMITS else part.tag


def mathml(latex: str, display: bool, page: str = "") -> str:
    """Return the MathML of a formula, its source kept for screen readers."""
    source = html.unescape(latex).strip()
    known = source
    for pattern, spelling in _SPELLINGS:
        known = re.sub(pattern, spelling, known)
    try:
        element = convert_to_element(known, display="block" if display else "inline")
    except Exception as error:  # whatever is wrong, the author has to see it
        log.warning("%s: cannot read the formula %r: %s", page, source, error)
        return f"<code>{html.escape(source)}</code>"
    _mend(element, display)
    if re.search(r"\\[A-Za-z]", "".join(element.itertext())):
        log.warning("%s: unknown command in the formula %r", page, source)
    element.set("alttext", source)
    # The converter writes characters as entities, which must not be escaped again.
    return tostring(element, encoding="unicode").replace("&amp;#", "&#")


def on_page_content(content: str, page: Any, **_: Any) -> str:
    """Replace all formulas of a page."""
    name = page.file.src_uri
    content = _DISPLAY.sub(
        lambda found: f'<div class="formula">{mathml(found[1], True, name)}</div>', content
    )
    return _INLINE.sub(lambda found: mathml(found[1], False, name), content)


def on_post_build(config: Any, **_: Any) -> None:
    """Put the font where assets/site.css looks for it."""
    spec: Any = find_spec("ziamath")  # found, not imported: only its font is wanted
    font = Path(spec.origin).parent / "fonts" / "STIXTwoMath-Regular.ttf"
    shutil.copyfile(font, Path(config["site_dir"], "assets", "maths.ttf"))
