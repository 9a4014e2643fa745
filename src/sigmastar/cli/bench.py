"""``sigmastar bench``: reproduce published tables on public data. One module of ``bench/`` each."""

from __future__ import annotations

import typer

__all__ = ["app"]

app = typer.Typer(
    help="Reproduce published tables on public data, with our figures beside them.",
    no_args_is_help=True,
)


@app.callback()
def _bench() -> None:
    pass
