"""``sigmastar bench``: reproduce published tables on public data. One module of ``bench/`` each."""

from __future__ import annotations

import typer

from sigmastar.cli import bench_automata, bench_taggers, bench_transducers, bench_wikipedia

__all__ = ["app"]

app = typer.Typer(
    help="Reproduce published tables on public data, with our figures beside them.",
    no_args_is_help=True,
)
app.command()(bench_automata.truth)
app.command()(bench_automata.pautomac)
app.command()(bench_automata.tags)
app.command()(bench_taggers.tagging)
app.command("wall-following")(bench_taggers.wall_following)
app.command()(bench_transducers.transliteration)
app.command("transducer-synthetic")(bench_transducers.transducer_synthetic)
app.command()(bench_wikipedia.wikipedia)
