"""``sigmastar bench transliteration``, ``g2p`` and ``transducer-synthetic``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sigmastar.cli import choices, options
from sigmastar.cli.bench_parts import collect, hand_out, methods_option
from sigmastar.cli.options import choice, option
from sigmastar.cli.output import emit_json, note, show_table, wrote

__all__ = ["g2p", "transducer_synthetic", "transliteration"]


def transliteration(
    data: options.BenchData = None,
    method: Annotated[list[str] | None, methods_option(choices.TRANSLITERATION_ROWS)] = None,
    size: Annotated[
        str, choice("--size", choices.PAIR_SIZES, "5,977 clean training pairs, or 105,371 noisy")
    ] = "news",
    table: Annotated[
        str, choice("--table", choices.TRANSLITERATION_TABLES, "What to measure", "TABLE")
    ] = "methods",
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Transliterate English names into Russian with every method, beside other tools.

    Word accuracy, mean F-score, normalized edit distance (times 100) and
    character error rate on the test part, seconds to train, words a second.
    The development part balances the scorers; the test part is used once.
    With --table, an experiment of the paper on spectral transducers instead.

    [bold]Examples[/]
    sigmastar bench transliteration --data ~/data -m combined
    sigmastar bench transliteration -m "LearnFST, m = 2" --size full --json
    sigmastar bench transliteration --table states
    """
    from sigmastar.bench.transliteration import OTHERS, measure

    if table != "methods":
        _show_exhibit(table, data, seed, json)
        return
    names = method or choices.TRANSLITERATION_ROWS
    rows_measured = measure(names, size=size, data=data)
    results = collect("English to Russian", rows_measured, len(names), lambda row: row.name)
    if not hand_out(results, None, json):
        return
    rows: list[list[object]] = []
    for r in results:
        rows.append(
            [
                r.name,
                f"{r.word_accuracy:.1f}",
                f"{r.mean_f_score:.2f}",
                f"{r.normalized_edit_distance:.2f}",
                f"{r.character_error_rate:.2f}",
                f"{r.train_seconds:.1f}",
                f"{r.words_per_second:,.0f}",
            ]
        )
    if size == "news":
        for name, figures in OTHERS.items():
            rows.append([name, *("" if value is None else f"{value:,g}" for value in figures)])
    columns = ("method", "words %", "mean F %", "NED", "CER %", "train s", "words/s")
    show_table(f"English to Russian, {size}", columns, rows)


def _show_exhibit(name: str, data: Path | None, seed: int, json: bool) -> None:
    """Make one table or figure of the paper and print its rows and what must be said of it."""
    from sigmastar.bench.papers.exhibit import Settings
    from sigmastar.bench.papers.transducers import EXHIBITS

    command = f"sigmastar bench transliteration --table {name}"
    exhibit = next(exhibit for exhibit in EXHIBITS if exhibit.command == command)
    shown = exhibit.run(Settings(data, seed=seed))
    if json:
        emit_json({"rows": shown.rows, "notes": shown.notes})
        return
    rows = [[_told(cell) for cell in row.values()] for row in shown.rows]
    show_table(exhibit.title, tuple(shown.rows[0]), rows)
    for line in shown.notes:
        note(line)


def _told(cell: float | int | str | None) -> str:
    if cell is None:
        return ""
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def g2p(
    data: options.BenchData = None,
    language: Annotated[
        list[str] | None,
        choice("--language -l", choices.G2P_LANGUAGES, "Only these languages", "CODE", many=True),
    ] = None,
    method: Annotated[
        list[str] | None, methods_option(choices.TRANSLITERATION_METHODS, "Methods to compare")
    ] = None,
    part: Annotated[str, choice("--part", ("test", "dev"), "Which words to measure on")] = "test",
    words: Annotated[
        int | None, option("--words", "Learn from the first so many words only.", "N", min=2)
    ] = None,
    output: Annotated[Path | None, option("--output -o", "Keep figures in a file.", "FILE")] = None,
    json: options.Json = False,
) -> None:
    """Words into phones, 15 languages (SIGMORPHON 2020): word and phone error rates.

    The word error rate is the share of words with any error; its mean over the
    languages is what the task was judged by. Nothing is tuned on test words.

    [bold]Examples[/]
    sigmastar bench g2p --data ~/data -l kor -l hun
    sigmastar bench g2p -m joint-ngram -m combined --part dev -o g2p.json
    sigmastar bench g2p --words 800 --json
    """
    from sigmastar.bench.pronunciation import macro_average, measure

    languages, methods = language or choices.G2P_LANGUAGES, method or ["combined"]
    measured = measure(languages, methods, part=part, words=words, data=data)
    total = len(languages) * len(methods)
    results = collect("Words into phones", measured, total, lambda r: f"{r.language} {r.method}")
    if not hand_out(results, output, json):
        return
    rows: list[list[object]] = [
        [
            r.language,
            r.method,
            f"{r.word_error_rate:.1f}",
            f"{r.phone_error_rate:.2f}",
            f"{r.source_form} → {r.target_form}",
            f"{r.train_seconds:.1f}",
            f"{r.words_per_second:,.0f}",
        ]
        for r in results
    ]
    for name, mean in macro_average(results).items():
        rows.append(["mean", name, f"{mean:.2f}", "", "", "", ""])
    columns = ("language", "method", "WER %", "PER %", "forms", "train s", "words/s")
    show_table(f"Words into phones, {part}", columns, rows)


def transducer_synthetic(
    output: Annotated[
        Path, option("--output -o", "Directory for curves.csv and the figures.", "DIR")
    ] = Path("transducer-synthetic"),
    experiment: Annotated[
        list[str] | None,
        choice("--experiment -e", choices.SYNTHETIC, "Only these experiments", "NAME", many=True),
    ] = None,
    runs: Annotated[int, option("--runs", "Samples per point.", "N", min=1)] = 10,
    inputs: Annotated[int, option("--inputs", "Input symbols.", "N", min=2, max=10)] = 3,
    outputs: Annotated[int, option("--outputs", "Output symbols.", "N", min=2, max=10)] = 3,
    states: Annotated[int, option("--states -n", "States.", "N", min=1, max=10)] = 2,
    plots: Annotated[
        bool, option("--plots/--no-plots", "Draw figures (needs the extra plot).")
    ] = True,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Learning curves of spectral transducers on synthetic problems, as CSV and figures.

    Error by difficulty (alphabets of 2 to 10), by length of test strings, against
    the two spectral baselines, against joint Schur recovery, and on dependent
    inputs, with as many symbols and states as asked.

    [bold]Examples[/]
    sigmastar bench transducer-synthetic -e dependence -o curves --no-plots
    sigmastar bench transducer-synthetic -e schur --inputs 10 --outputs 10
    """
    from sigmastar.bench.transducer_problems import Shape
    from sigmastar.bench.transducer_synthetic import run, write_csv, write_plots

    if states > outputs:
        raise typer.BadParameter(
            f"must be at most --outputs ({outputs}): a problem with more states cannot be "
            f"learned; got {states}.",
            param_hint="'--states'",
        )
    names = experiment or choices.SYNTHETIC
    rows = run(names, runs=runs, shape=Shape(inputs, outputs, states), seed=seed)
    output.mkdir(parents=True, exist_ok=True)
    write_csv(rows, output / "curves.csv")
    written = write_plots(rows, output) if plots else []
    if not hand_out(rows, None, json):
        return
    for name in names:
        part = [row for row in rows if row.experiment == name]
        points = list(dict.fromkeys(row.x for row in part))
        table = [
            [curve, *(f"{row.error:.4f}" for row in part if row.curve == curve)]
            for curve in dict.fromkeys(row.curve for row in part)
        ]
        show_table(name, ("curve", *(f"{point:,.0f}" for point in points)), table)
    for path in (output / "curves.csv", *written):
        wrote(path)
