"""``sigmastar serve``: models as a service."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from sigmastar.cli import options
from sigmastar.cli.options import option
from sigmastar.cli.output import err
from sigmastar.core.errors import InvalidParameter
from sigmastar.core.extras import require
from sigmastar.core.heap import use_one_arena
from sigmastar.core.progress import stage

__all__ = ["serve"]


def serve(
    models: Annotated[
        list[Path],
        typer.Argument(
            help="Model files; each is served under its name without the ending.",
            metavar="MODEL...",
            autocompletion=options.model_files,
        ),
    ],
    port: Annotated[
        int, option("--port", "Port; 0 is any free one.", "N", min=0, max=65535)
    ] = 8080,
    host: Annotated[
        str, option("--host", "Address to listen at; 0.0.0.0 is every network.", "HOST")
    ] = "127.0.0.1",
    token_file: Annotated[
        Path | None,
        option("--token-file", "Requests must carry the token in this file as a bearer.", "FILE"),
    ] = None,
    workers: Annotated[
        int | None, option("--workers", "Requests at a time; one a core by default.", "N", min=1)
    ] = None,
    max_body: Annotated[int, option("--max-body", "Bytes of a request at most.", "N", min=1000)] = 8
    << 20,
    max_batch: Annotated[
        int, option("--max-batch", "Inputs of a request at most.", "N", min=1)
    ] = 1000,
    max_seconds: Annotated[
        float, option("--max-seconds", "Seconds a request may take.", "S", min=0.1)
    ] = 30.0,
    refresh: Annotated[
        float, option("--refresh", "Seconds between looks for changed files; 0: none.", "S", min=0)
    ] = 2.0,
) -> None:
    """Serve models: a JSON interface, a page to try each model on, health and metrics.

    Needs the extra "serve". Listens on this machine only unless --host says
    otherwise. A token may also stand in $SIGMASTAR_TOKEN. Changed files are
    loaded again; on Ctrl-C or SIGTERM what is under way is still answered.

    [bold]Examples[/]
    sigmastar serve logs.sigma en.sigma --port 8080
    curl localhost:8080/v1/models/logs:predict --json '{"inputs": ["open read"]}'
    curl -s localhost:8080/process -d model=en -d "data=The dog barks ."
    """
    use_one_arena()  # before there are threads
    from sigmastar.serve.limits import Limits
    from sigmastar.serve.run import serve as run
    from sigmastar.serve.run import warm_up
    from sigmastar.serve.store import ModelStore

    require("uvicorn", "serve", "A service")  # before models are loaded and kernels compiled
    require("starlette", "serve", "A service")
    token = os.environ.get("SIGMASTAR_TOKEN") or None
    if token_file is not None:
        token = token_file.read_text(encoding="utf-8").strip()
        if not token:
            raise InvalidParameter(f"--token-file must hold a token; {token_file} is empty.")
    with stage(f"Loading {len(models)} models"):
        store = ModelStore(models)
    limits = Limits(
        body=max_body,
        batch=max_batch,
        seconds=max_seconds,
        workers=workers or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2,
    )
    with stage("Compiling", len(store)) as progress:
        for served in store:
            warm_up(served, limits)
            progress.advance(note=served.name)

    def ready(address: str) -> None:
        names = ", ".join(served.name for served in store)
        err.print(f"serving {names} at {address} (Ctrl-C stops)", soft_wrap=True, markup=False)

    run(store, host=host, port=port, limits=limits, token=token, refresh=refresh, ready=ready)
