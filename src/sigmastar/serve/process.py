"""``/process``: tagging as UDPipe's service does it, for clients that speak to that one.

Parameters come in the query, as a form, or as parts of a form (``curl -F data=@file``): ``data`` is
the text, ``model`` the tagger, ``input`` one of ``horizontal`` (a sentence a line), ``vertical`` (a
token a line) and ``conllu``, ``output`` one of ``conllu``, ``horizontal`` and ``vertical``. A
pipeline takes raw text where ``input`` is left out. The answer is a JSON object whose ``result`` is
the text.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from email import policy
from email.parser import BytesParser
from urllib.parse import parse_qsl

from sigmastar.serve.answers import TEXT_TAGGERS
from sigmastar.serve.limits import Refused
from sigmastar.serve.store import ModelStore, Served

__all__ = ["only_tagger", "process", "read_form"]

_INPUTS = {"horizontal": "lines", "vertical": "tokens", "conllu": "conllu"}
_OUTPUTS = {"conllu": "conllu", "horizontal": "word/TAG", "vertical": "tsv"}


def read_form(query: str, body: bytes, content_type: str) -> dict[str, str]:
    """Return the parameters of a request, wherever they stand."""
    found = dict(parse_qsl(query, keep_blank_values=True, errors="replace"))
    kind = content_type.partition(";")[0].strip().lower()
    if kind == "multipart/form-data":
        header = b"Content-Type: " + content_type.encode("latin-1", "replace") + b"\r\n\r\n"
        message = BytesParser(policy=policy.HTTP).parsebytes(header + body)
        for part in message.iter_parts() if message.is_multipart() else ():
            name = part.get_param("name", header="content-disposition")
            if isinstance(name, str):
                content = part.get_payload(decode=True)
                found[name] = (
                    content.decode("utf-8", "replace") if isinstance(content, bytes) else ""
                )
    elif kind == "application/x-www-form-urlencoded":
        text = body.decode("utf-8", "replace")
        found |= dict(parse_qsl(text, keep_blank_values=True, errors="replace"))
    elif body:
        raise Refused(
            415, "send a form (application/x-www-form-urlencoded or multipart/form-data)."
        )
    return found


def only_tagger(store: ModelStore) -> str:
    """Return the name of the tagger of text, for requests that name none; there must be one."""
    names = [served.name for served in store if served.model.kind in TEXT_TAGGERS]
    if len(names) == 1:
        return names[0]
    raise Refused(
        400, f"model must name a tagger of text; there are: {', '.join(names) or 'none'}."
    )


def process(served: Served, form: Mapping[str, str]) -> dict[str, str]:
    """Tag a text."""
    if served.model.kind not in TEXT_TAGGERS:
        raise Refused(400, f"{served.name} is a {served.model.kind}, not a tagger of text.")
    if "data" not in form:
        raise Refused(400, "data must hold the text to tag.")
    given, wanted = form.get("input") or "horizontal", form.get("output") or "conllu"
    for name, value, known in (("input", given, _INPUTS), ("output", wanted, _OUTPUTS)):
        if value not in known:
            raise Refused(400, f"{name} must be one of {', '.join(known)}; got {value[:40]!r}.")
    source, target = io.BytesIO(form["data"].encode("utf-8", "replace")), io.BytesIO()
    tagger, column = served.model, served.reading.get("column")
    if tagger.kind == "Pipeline":
        if not form.get("input"):
            tagger.tag_file(source, target, output_format=_OUTPUTS[wanted])
            return {"model": served.name, "result": target.getvalue().decode("utf-8", "replace")}
        column, tagger = next(iter(tagger.taggers.items()))  # for text that is cut already
    tagger.tag_file(
        source,
        target,
        input_format=_INPUTS[given],
        output_format=_OUTPUTS[wanted],
        column=column,
    )
    text = target.getvalue().decode("utf-8", "replace")
    return {"model": served.name, "result": text}
