"""The application: routes, guards around them, and who does the work.

One loop accepts and answers. What takes next to no time it does itself (serve.pace); the rest is
done by a few threads, since kernels run without the interpreter's lock, and small requests that
wait are done together (serve.gather). A request passes the guards in this order: the token, the
size of its body, a place in the queue, a time limit.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, TypeVar

import anyio.to_thread
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from sigmastar.core.errors import SigmastarError, TooLarge
from sigmastar.core.heap import trim_heap
from sigmastar.core.json_values import json_value
from sigmastar.core.remembered import remembered
from sigmastar.core.version import __version__
from sigmastar.serve.answers import OPERATIONS, answer, operations_of
from sigmastar.serve.counters import Counters
from sigmastar.serve.gather import Gatherer
from sigmastar.serve.limits import Limits, Refused, is_allowed
from sigmastar.serve.lines import NDJSON, Lines, as_far, batches, line_of, parsed, told
from sigmastar.serve.openapi import describe
from sigmastar.serve.pace import Paces
from sigmastar.serve.pages import index_page, model_page, state_picture
from sigmastar.serve.process import only_tagger, process, read_form
from sigmastar.serve.store import ModelStore, Served

__all__ = ["Service", "create_app"]

_log = logging.getLogger(__name__)
_LATE = 16  # threads for requests that go on after their time is up
_TIDY = 10.0  # seconds between looks at what memory lies free
_SMALL = 2048  # bytes of a request that may be answered with others, or at once
# Pages run one script of their own, fetch from their own origin, and are framed by nobody.
_PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data:; connect-src 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
# What goes with a refusal.
_HEADERS = {
    401: {"WWW-Authenticate": "Bearer"},
    405: {"Allow": "POST"},
    503: {"Retry-After": "1"},
}
Handler = Callable[[Request], Awaitable[Response]]
T = TypeVar("T")


class Service:
    """What the routes share.

    Parameters
    ----------
    store : ModelStore
        The models.
    limits : Limits
        What requests may ask for.
    token : str, optional
        What requests must carry; nothing by default.
    refresh : float
        Seconds between looks at the files; 0 for none.
    """

    def __init__(
        self, store: ModelStore, limits: Limits, token: str | None = None, refresh: float = 2.0
    ) -> None:
        self.store = store
        self.limits = limits
        self.token = token
        self.refresh = refresh
        self.counters = Counters()
        self._places = asyncio.Semaphore(limits.workers)
        # More threads than places: one that goes on after its time is up holds nobody back.
        self._threads = ThreadPoolExecutor(limits.workers + _LATE, "answer")
        self._gatherer = Gatherer(self._on_thread, limits.workers)
        self._paces = Paces()

    async def work(self, task: Callable[[], T]) -> T:
        """Do something on a thread, when there is a place, within the time allowed."""
        async with self._admitted():
            return await self._on_thread(task)

    async def answer(self, served: Served, operation: str, given: Any, size: int) -> list[Any]:
        """Answer a request of so many bytes: at once, with others, or by itself on a thread."""
        kind = _kind(served, operation, given) if size <= _SMALL else None
        if kind is None:
            return await self.work(partial(answer, served, operation, given, self.limits))
        if self._paces.is_quick(kind):
            task = partial(answer, served, operation, given, self.limits)
            return self._paces.timed(kind, task)

        def together(request: dict[str, Any], n_requests: int) -> list[Any]:
            task = partial(answer, served, operation, request, self.limits)
            return self._paces.timed(kind, task, n_requests)

        async with self._admitted():
            return await self._gatherer.ask(kind, given, together)

    async def _on_thread(self, task: Callable[[], T]) -> T:
        """Do something on a thread; a place is given back when the time is up."""
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(self.limits.seconds), self._places:
            return await loop.run_in_executor(self._threads, task)

    @asynccontextmanager
    async def _admitted(self) -> AsyncIterator[None]:
        """Let a request in if not too many are here, for as long as it may take."""
        if self.counters.in_flight >= self.limits.workers + self.limits.waiting:
            raise Refused(503, "too many requests are waiting. Come again in a moment.")
        self.counters.in_flight += 1
        try:
            async with asyncio.timeout(self.limits.seconds):
                yield
        except TimeoutError:
            seconds = f"{self.limits.seconds:g}"
            raise Refused(504, f"the request took longer than {seconds} s. Send less.") from None
        finally:
            self.counters.in_flight -= 1

    async def body(self, request: Request) -> bytes:
        """Read a request, as long as it is not too large."""
        parts, size = [], 0
        async for part in request.stream():
            size += len(part)
            if size > self.limits.body:
                raise Refused(413, f"a request must have at most {self.limits.body:,} bytes.")
            parts.append(part)
        return b"".join(parts)

    def guarded(self, handler: Handler, asked: str, *, is_open: bool = False) -> Handler:
        """Check the token, turn refusals into answers, and count."""

        async def guarded(request: Request) -> Response:
            began = time.perf_counter()
            name = request.path_params.get("operation", asked)
            # Names that nobody knows are not kept: whoever makes them up could fill the memory.
            name = name if name in OPERATIONS or name == asked else "unknown"
            try:
                if not is_open and not is_allowed(request.headers.get("authorization"), self.token):
                    raise Refused(401, "send the token: Authorization: Bearer ….")
                response = await handler(request)
            except Refused as refused:
                response = _problem(refused.status, str(refused))
            except TooLarge as error:
                response = _problem(413, str(error))
            except SigmastarError as error:
                response = _problem(422, told(error))
            except ClientDisconnect:
                response = _problem(400, "the request ended before it was whole.")
            except Exception:
                _log.exception("a request failed")
                response = _problem(500, "something went wrong; the log says what.")
            known = name if response.status_code != 404 else "unknown"
            self.counters.note(known, response.status_code, time.perf_counter() - began)
            return response

        return guarded

    async def health(self, request: Request) -> Response:
        """Say that the service answers."""
        return JSONResponse({"status": "ok", "version": __version__, "models": len(self.store)})

    async def metrics(self, request: Request) -> Response:
        """Give figures for Prometheus."""
        store = self.store
        held = remembered.held
        text = self.counters.text(len(store), store.reloads, store.failures, held)
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    async def openapi(self, request: Request) -> Response:
        """Describe the interface."""
        return JSONResponse(describe(self.store, self.limits))

    async def models(self, request: Request) -> Response:
        """List the models."""
        return JSONResponse({"models": [_summary(served) for served in self.store]})

    async def model(self, request: Request) -> Response:
        """Tell what a model is like."""
        name, colon, operation = request.path_params["name"].rpartition(":")
        if operation in OPERATIONS and colon:  # typed into a browser, say
            raise Refused(405, f"POST is the method to ask {name!r} with.")
        served = self.store.find(request.path_params["name"])
        facts = await self.work(served.model.facts)
        return JSONResponse(_summary(served) | {"facts": json_value(facts)})

    async def graph(self, request: Request) -> Response:
        """Draw the states of an automaton."""
        served = self.store.find(request.path_params["name"])
        picture = await self.work(partial(state_picture, served))
        return Response(picture, media_type="image/svg+xml")

    async def ask(self, request: Request) -> Response:
        """Answer an operation, on one object or on a stream of lines."""
        served = self.store.find(request.path_params["name"])
        operation = request.path_params["operation"]
        kind = request.headers.get("content-type", "application/json").partition(";")[0].strip()
        if kind == NDJSON:
            answer(served, operation, {"inputs": []}, self.limits)  # refuses what cannot be asked
            return Lines(self._lines(request, served, operation))
        if kind != "application/json":
            raise Refused(
                415,
                f"Content-Type must be application/json or {NDJSON}; got {kind[:60]!r} (for curl: "
                "-H 'Content-Type: application/json').",
            )
        body = await self.body(request)
        outputs = await self.answer(served, operation, parsed(body), len(body))
        self.counters.note_inputs(operation, len(outputs))
        return Response(
            _written({"model": served.name, "outputs": outputs}), media_type="application/json"
        )

    async def _lines(
        self, request: Request, served: Served, operation: str
    ) -> AsyncIterator[bytes]:
        """Answer each line with a line, some at a time; a line that is refused ends the stream."""
        try:
            async for inputs in batches(request, self.limits):
                done = await self.work(partial(as_far, served, operation, inputs, self.limits))
                self.counters.note_inputs(operation, len(done.outputs))
                yield b"".join(line_of(json_value(output)) for output in done.outputs)
                if done.error is not None:
                    yield line_of({"error": done.error})
                    return
        except (Refused, SigmastarError) as error:
            yield line_of({"error": told(error)})
        except ClientDisconnect:
            return

    async def process(self, request: Request) -> Response:
        """Tag text as UDPipe's service does."""
        body = await self.body(request)
        kind = request.headers.get("content-type", "")
        form = read_form(request.url.query, body, kind)
        served = self.store.find(form.get("model") or only_tagger(self.store))
        return JSONResponse(await self.work(partial(process, served, form)))

    async def index(self, request: Request) -> Response:
        """Show the models."""
        return HTMLResponse(index_page(self.store), headers=_PAGE_HEADERS)

    async def page(self, request: Request) -> Response:
        """Show a page on which a model can be tried."""
        served = self.store.find(request.path_params["name"])
        return HTMLResponse(model_page(served), headers=_PAGE_HEADERS)

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """Look after changed files and free memory as long as the service runs."""
        chores = [self._tidy()] + ([self._watch()] if self.refresh else [])
        tasks = [asyncio.create_task(chore) for chore in chores]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(self.refresh)
            await anyio.to_thread.run_sync(self.store.refresh)

    async def _tidy(self) -> None:
        """Give memory back that requests needed and nobody needs any more."""
        answered = self.counters.answered
        while True:
            await asyncio.sleep(_TIDY)
            if self.counters.answered != answered:
                answered = self.counters.answered
                await anyio.to_thread.run_sync(trim_heap)


def create_app(
    store: ModelStore,
    *,
    limits: Limits | None = None,
    token: str | None = None,
    refresh: float = 2.0,
) -> Starlette:
    """Return the application for some models; parameters are those of :class:`Service`."""
    service = Service(store, limits or Limits(), token, refresh)

    def route(path: str, handler: Handler, *methods: str, is_open: bool = False) -> Route:
        asked = path.strip("/").split("/")[0] or "index"
        guarded = service.guarded(handler, asked, is_open=is_open)
        return Route(path, guarded, methods=list(methods) or ["GET"])

    async def missing(request: Request, error: Exception) -> Response:
        status = getattr(error, "status_code", 404)
        words = "this path takes another method." if status == 405 else "there is nothing here."
        response = _problem(status, f"{words} /openapi.json says what there is.")
        response.headers.update(getattr(error, "headers", None) or {})  # Allow, of a wrong method
        return response

    return Starlette(
        routes=[  # tried in this order
            route("/v1/models/{name}:{operation}", service.ask, "POST"),
            route("/", service.index, is_open=True),
            route("/health", service.health, is_open=True),
            route("/metrics", service.metrics),
            route("/openapi.json", service.openapi),
            route("/process", service.process, "GET", "POST"),
            route("/models/{name}", service.page, is_open=True),
            route("/v1/models", service.models),
            route("/v1/models/{name}/graph.svg", service.graph),
            route("/v1/models/{name}", service.model),
        ],
        exception_handlers={404: missing, 405: missing},
        lifespan=service.lifespan,
    )


def _summary(served: Served) -> dict[str, Any]:
    return {
        "name": served.name,
        "kind": served.model.kind,
        "operations": operations_of(served),
        "page": f"/models/{served.name}",
    }


def _kind(served: Served, operation: str, given: Any) -> Hashable | None:
    """Name what requests have in common that can be answered in one call; None if they cannot."""
    if not isinstance(given, dict) or not isinstance(given.get("inputs"), list):
        return None
    options = tuple(sorted((name, value) for name, value in given.items() if name != "inputs"))
    if any(type(value) is not int for _, value in options):
        return None
    return served.name, served.stamp, operation, options


def _written(value: dict[str, Any]) -> bytes:
    """Write JSON; what it has no number or letter for (NaN, half a character) goes another way."""
    try:
        return _compact(value).encode()
    except ValueError:
        return _compact(json_value(value), ensure_ascii=True).encode()


def _compact(value: Any, *, ensure_ascii: bool = False) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, allow_nan=False, separators=(",", ":"))


def _problem(status: int, words: str) -> Response:
    headers = _HEADERS.get(status)
    return JSONResponse(
        {"error": words.encode("utf-8", "replace").decode()}, status, headers=headers
    )
