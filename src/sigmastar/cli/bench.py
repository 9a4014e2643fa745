"""``sigmastar bench``: reproduce published tables on public data. One module of ``bench/`` each."""

from __future__ import annotations

import typer

from sigmastar.cli import (
    bench_automata,
    bench_generated,
    bench_papers,
    bench_runtimes,
    bench_sensors,
    bench_spice,
    bench_taggers,
    bench_transducers,
    bench_wikipedia,
)

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, rich_markup_mode="rich")


@app.callback()
def _group() -> None:
    """Reproduce published tables on public data, with our figures beside them.

    The data are looked for in --data, $SIGMASTAR_DATA and the user's cache; what
    is in none of them is downloaded and checked. Some tables take hours: each
    command can be asked for a part of its own.

    [bold]Examples[/]
    sigmastar bench pautomac --problems 6 -m spectral
    sigmastar bench transliteration -m combined --json
    """


app.command()(bench_papers.papers)
app.command()(bench_automata.truth)
app.command()(bench_automata.pautomac)
app.command()(bench_automata.tags)
app.command()(bench_runtimes.runtimes)
app.command()(bench_generated.generated)
app.command()(bench_spice.spice)
app.command()(bench_taggers.tagging)
app.command("wall-following")(bench_sensors.wall_following)
app.command()(bench_transducers.transliteration)
app.command()(bench_transducers.g2p)
app.command("transducer-synthetic")(bench_transducers.transducer_synthetic)
app.command()(bench_wikipedia.wikipedia)
