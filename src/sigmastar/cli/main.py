"""``sigmastar``: the entry point. Each command lives in a module of its own."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from sigmastar import __version__
from sigmastar.cli import (
    anomalies,
    bench,
    demo,
    doctor,
    learn,
    machines,
    report,
    scores,
    sensors,
    serve,
    tagger,
    transducer,
)
from sigmastar.cli.output import err, note, progress, shown
from sigmastar.core.errors import SigmastarError
from sigmastar.core.memory import memory_limit

__all__ = ["app", "main"]

# What a process ends with; 128 + the signal, as shells count.
_WRONG, _INTERRUPTED, _PIPE_CLOSED, _TERMINATED = 1, 130, 141, 143


# Headings of the overview, in the order of a newcomer's questions.
LEARN, ASK, SYSTEMS, MEASURE, HELP = "Learn", "Ask a model", "Systems", "Measure", "Help"
_PANELS = [LEARN, ASK, SYSTEMS, MEASURE, HELP]

_UsageError: Any = typer.BadParameter.__base__


class _Root(TyperGroup):
    """Ends as Unix tools do when interrupted, or when nobody reads the output any more."""

    def list_commands(self, ctx: Any) -> list[str]:
        def place(name: str) -> int:
            panel = getattr(self.commands[name], "rich_help_panel", HELP)
            return _PANELS.index(panel) if panel in _PANELS else len(_PANELS)

        return sorted(self.commands, key=place)

    def invoke(self, ctx: Any) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except _UsageError as error:
            given = error.message.rpartition(" (")[2].rstrip(")").split()
            if "extra argument" in error.message and any(map(os.path.exists, given)):
                error.message += (
                    ". Several files are one argument: quote the pattern ('logs*.txt'), so that "
                    "the shell does not replace it, or name their directory."
                )
            raise
        except KeyboardInterrupt:
            err.print("interrupted")
            raise SystemExit(_INTERRUPTED) from None
        except BrokenPipeError:
            # What is still buffered must not be tried again while the interpreter ends.
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            raise SystemExit(_PIPE_CLOSED) from None


app = typer.Typer(
    name="sigmastar",
    cls=_Root,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["--help", "-h"]},
)
app.command(rich_help_panel=LEARN)(learn.learn)
app.command(rich_help_panel=ASK)(machines.show)
app.command(rich_help_panel=ASK)(scores.score)
app.command(rich_help_panel=ASK)(scores.predict)
app.command(rich_help_panel=ASK)(anomalies.anomalies)
app.command(rich_help_panel=ASK)(machines.sample)
app.command(rich_help_panel=ASK)(machines.export)
app.command(rich_help_panel=ASK)(report.report)
app.add_typer(tagger.app, name="tagger", rich_help_panel=SYSTEMS)
app.add_typer(transducer.app, name="transducer", rich_help_panel=SYSTEMS)
app.add_typer(sensors.app, name="sensors", rich_help_panel=SYSTEMS)
app.command(rich_help_panel=SYSTEMS)(serve.serve)
app.command(rich_help_panel=MEASURE)(scores.perplexity)
app.add_typer(bench.app, name="bench", rich_help_panel=MEASURE)
app.command(rich_help_panel=HELP)(demo.demo)
app.command(rich_help_panel=HELP)(doctor.doctor)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sigmastar {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    max_memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Refuse what needs more memory, such as 4GB [default: half of what is free].",
        ),
    ] = None,
) -> None:
    """Learn machines over strings: automata, HMMs, transducers and sequence taggers.

    [bold]Examples[/]
    sigmastar demo
    sigmastar learn logs.txt -o logs.sigma
    echo "open read" | sigmastar predict logs.sigma -
    sigmastar score logs.sigma new.txt
    """
    if max_memory is not None:
        context.with_resource(memory_limit(max_memory))


def main() -> None:
    """Run the command line; what users did wrong is one line on standard error and exit code 1."""
    for stream in (sys.stdin, sys.stdout):  # files and pipes hold UTF-8 whatever the locale says
        if stream is not None and not stream.isatty():
            stream.reconfigure(encoding="utf-8", errors="surrogateescape")  # type: ignore[union-attr]
    warnings.showwarning = lambda message, *_: note(str(message))
    if hasattr(signal, "SIGTERM"):
        signal.signal(signal.SIGTERM, _terminated)
    try:
        with progress():
            app(prog_name="sigmastar")
    except (SigmastarError, OSError) as error:
        err.print(f"[bold red]error:[/] {shown(_words(error))}", soft_wrap=True)
        sys.exit(_WRONG)


def _terminated(*_: object) -> None:
    """End by way of everybody who has something to save, such as a checkpoint."""
    raise SystemExit(_TERMINATED)


def _words(error: Exception) -> str:
    """Say what the system refused: its words and the file, without the number."""
    if isinstance(error, OSError) and not isinstance(error, SigmastarError) and error.filename:
        return f"{os.fsdecode(error.filename)}: {error.strerror}."
    return str(error)


if __name__ == "__main__":
    main()
