"""Start a service and stop it without losing what was accepted."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from typing import Any

from sigmastar.core.errors import DataNotFound
from sigmastar.core.extras import require
from sigmastar.core.version import __version__
from sigmastar.serve.limits import Limits
from sigmastar.serve.store import ModelStore, Served

__all__ = ["serve", "warm_up"]


def serve(
    store: ModelStore,
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    limits: Limits | None = None,
    token: str | None = None,
    refresh: float = 2.0,
    ready: Callable[[str], None] = lambda address: None,
) -> None:
    """Answer requests until told to stop (Ctrl-C or SIGTERM).

    Nothing new is accepted then; what is under way is answered, for as long as a request may take.

    Parameters
    ----------
    store : ModelStore
        The models.
    host, port
        Where to listen; port 0 is any that is free.
    limits : Limits, optional
        What requests may ask for.
    token : str, optional
        What they must carry.
    refresh : float
        Seconds between looks at the files; 0 for none.
    ready : function
        Is told the address when the service answers.
    """
    uvicorn = require("uvicorn", "serve", "A service")
    require("starlette", "serve", "A service")
    from sigmastar.serve.app import create_app

    bounds = limits or Limits()
    app = create_app(store, limits=bounds, token=token, refresh=refresh)

    class Server(uvicorn.Server):  # type: ignore[misc, name-defined]
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets=sockets)
            if self.started:
                bound = self.servers[0].sockets[0].getsockname()
                ready(f"http://{host}:{bound[1]}")

    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_level="warning",
        access_log=False,
        server_header=False,
        headers=[("Server", f"sigmastar/{__version__}")],
        timeout_graceful_shutdown=int(bounds.seconds) + 1,
        timeout_keep_alive=15,
    )
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=config.backlog)
    except (OSError, OverflowError) as error:
        raise DataNotFound(
            f"{host}:{port} cannot be listened on ({getattr(error, 'strerror', None) or error}). "
            "Choose another port with --port (0 takes any that is free), or another --host."
        ) from None
    # uvicorn answers what is under way, then raises the signal again for whoever handled it before:
    # a stop that was asked for is no failure.
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        Server(config).run(sockets=[listening])
    finally:
        signal.signal(signal.SIGTERM, before)


def warm_up(served: Served, limits: Limits) -> None:
    """Let a model answer once, so that kernels are compiled before the first request comes."""
    from sigmastar.core.errors import SigmastarError
    from sigmastar.core.jit import without_patience
    from sigmastar.serve.answers import answer, operations_of, width_of
    from sigmastar.serve.limits import Refused

    model = served.model
    example: Any = "a"
    if hasattr(model, "alphabet") and len(model.alphabet):
        example = [model.alphabet[0]]
    elif model.kind in ("ContinuousTagger", "MeasurementHMM"):
        example = [[0.0] * width_of(served)] * 3
    for operation in operations_of(served):
        request: dict[str, Any] = {} if operation == "sample" else {"inputs": [example, example]}
        try:
            with without_patience():
                answer(served, operation, request, limits)
        except (Refused, SigmastarError):
            continue  # not every model can take the example; it is only to compile
