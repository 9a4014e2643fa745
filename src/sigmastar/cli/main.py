"""``sigmastar``: the entry point. Each command lives in a module of its own."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.markup import escape

from sigmastar import __version__
from sigmastar.cli import bench, demo, learn, machines, report, scores, sensors, tagger, transducer
from sigmastar.cli.output import err, out, progress
from sigmastar.core.errors import SigmastarError

__all__ = ["app", "main"]

app = typer.Typer(
    name="sigmastar",
    help="Learn machines over strings: automata, HMMs, transducers and sequence taggers.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command()(learn.learn)
app.command()(demo.demo)
app.command()(scores.score)
app.command()(scores.perplexity)
app.command()(scores.predict)
app.command()(machines.sample)
app.command()(machines.show)
app.command()(machines.convert)
app.command()(report.report)
app.command("export", hidden=True)(machines.convert)
app.add_typer(sensors.app, name="sensors")
app.add_typer(tagger.app, name="tagger")
app.add_typer(transducer.app, name="transducer")
app.add_typer(bench.app, name="bench")


def _version(wanted: bool) -> None:
    if wanted:
        out.print(f"sigmastar {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; what users did wrong is one line on standard error and exit code 1."""
    try:
        with progress():
            app()
    except (SigmastarError, OSError) as error:
        if isinstance(error, BrokenPipeError):
            sys.stderr.close()  # the reader of our output went away: nothing to tell
        else:
            err.print(f"[bold red]error:[/] {escape(str(error))}", soft_wrap=True)
        sys.exit(1)
    except KeyboardInterrupt:
        err.print("interrupted")
        sys.exit(130)


if __name__ == "__main__":
    main()
