"""Streams of lines, and JSON in requests: each line is an input, each line of the answer an output.

Answers are written while the request is still being read. A line that is refused ends the stream;
those before it are answered.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from sigmastar.core.errors import SigmastarError, UnknownSymbol
from sigmastar.serve.answers import answer
from sigmastar.serve.limits import Limits, Refused
from sigmastar.serve.store import Served

__all__ = ["NDJSON", "Lines", "as_far", "batches", "line_of", "parsed", "told"]

NDJSON = "application/x-ndjson"
_LINES = 64  # of a stream that are answered at a time


class Lines(Response):
    """Lines that are written while the request is still being read.

    Starlette's own streaming response would listen for the end of the request, and so take away
    what is still to be read of it.
    """

    media_type = NDJSON

    def __init__(self, lines: AsyncIterator[bytes]) -> None:
        super().__init__()
        del self.headers["content-length"]
        self._lines = lines

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the lines as they come."""
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        async for part in self._lines:
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


class Done(NamedTuple):
    """What inputs came to, and why no more of them."""

    outputs: list[Any]
    error: str | None = None


def as_far(served: Served, operation: str, inputs: list[Any], limits: Limits) -> Done:
    """Answer inputs up to the first that is refused."""
    try:
        return Done(answer(served, operation, {"inputs": inputs}, limits))
    except (Refused, SigmastarError):
        found: list[Any] = []
        for given in inputs:
            try:
                found += answer(served, operation, {"inputs": [given]}, limits)
            except (Refused, SigmastarError) as error:
                return Done(found, told(error))
        return Done(found)


def told(error: Exception) -> str:
    """Return what an error says, without advice that only programs in Python can follow."""
    words = str(error)
    if isinstance(error, UnknownSymbol):
        words = words.partition(" Use unknown=")[0]
        words += " A model learned with --unknown unk takes symbols that it has not seen."
    return words


async def batches(request: Request, limits: Limits) -> AsyncIterator[list[Any]]:
    """Give the inputs of a stream, some at a time, as they come."""
    rest = b""
    step = min(_LINES, limits.batch)
    async for part in request.stream():
        *lines, rest = (rest + part).split(b"\n")
        if len(rest) > limits.body:
            raise Refused(413, f"a line must have at most {limits.body:,} bytes.")
        inputs: list[Any] = []
        for line in lines:
            try:
                inputs += [parsed(line)] if line.strip() else []
            except Refused:
                if inputs:  # those before it are answered
                    yield inputs
                raise
            if len(inputs) == step:
                yield inputs
                inputs = []
        if inputs:
            yield inputs
    if rest.strip():
        yield [parsed(rest)]


def parsed(body: bytes) -> Any:
    """Return what JSON says, or refuse it."""
    try:
        return json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        raise Refused(400, "the request must be JSON in UTF-8.") from None


def line_of(value: Any) -> bytes:
    """Write a value on a line of its own."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False).encode() + b"\n"
