"""``sigmastar bench``: reproduce published tables on public data. One module of ``bench/`` each."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from sigmastar.cli import transducer_bench
from sigmastar.cli.output import JsonOption, emit_json, show_table
from sigmastar.core.rules import Choice, check

__all__ = ["app"]

app = typer.Typer(
    help="Reproduce published tables on public data, with our figures beside them.",
    no_args_is_help=True,
)

DataOption = Annotated[
    Path | None,
    typer.Option(
        "--data",
        help="Directory with the data; by default $SIGMASTAR_DATA, the user's cache, or download.",
    ),
]


@app.callback()
def _bench() -> None:
    pass


@app.command()
def truth(
    data: DataOption = None,
    every: Annotated[
        bool, typer.Option("--all", help="All problems found, not only the twelve of the paper.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Score the true machines of PAutomaC and compare with solution files and the paper.

    For each problem: perplexity and word error rate (WER, in per cent, ends
    of strings counted) of the true machine on the test set, beside the "True"
    columns of Balle, Hamilton and Pineau (ICML 2014, Tables 3 and 2), and the
    largest relative deviation of a string probability from the solution file.

    Example: sigmastar bench truth --data ~/data/pautomac
    """
    from sigmastar.bench.pautomac_truth import PUBLISHED, find_problems, measure_all
    from sigmastar.datasets import cache_directory

    numbers = list(PUBLISHED)
    if every:
        place = data or Path(os.environ.get("SIGMASTAR_DATA") or cache_directory())
        numbers = find_problems(place)
    results = measure_all(numbers, data)
    if as_json:
        emit_json([{**asdict(r), "published": r.published} for r in results])
        return
    show_table(
        "True machines of PAutomaC on their test sets",
        ["problem", "states", "symbols", "perplexity", "paper", "WER %", "paper", "deviation"],
        [
            (
                str(r.number),
                r.n_states,
                r.n_symbols,
                f"{r.perplexity:.3f}",
                f"{r.published[0]:.2f}" if r.published else "",
                f"{r.word_error_rate:.2f}",
                f"{r.published[1]:.1f}" if r.published else "",
                f"{r.deviation:.1e}",
            )
            for r in results
        ],
    )


MethodsOption = Annotated[
    str, typer.Option("--methods", "-m", help="Learners, separated by commas; see learn --help.")
]
OutputOption = Annotated[
    Path | None, typer.Option("--output", "-o", help="Also write the figures to a .csv or .json.")
]
SeedOption = Annotated[int, typer.Option("--seed", help="Same seed, same choice of sizes.")]


@app.command()
def pautomac(
    data: DataOption = None,
    methods: MethodsOption = "spectral,spectral-string,convex,tensor,separable",
    problems: Annotated[
        str,
        typer.Option("--problems", "-p", help="Numbers separated by commas; paper: the twelve."),
    ] = "paper",
    every: Annotated[bool, typer.Option("--all", help="All problems found.")] = False,
    output: OutputOption = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Run learners on PAutomaC; print their figures, the published ones and the truth.

    A learner sees the training strings only and chooses its size on a part of
    them. Perplexity is the competition's, on the test strings; WER is the share
    of wrong next-symbol predictions, ends counted, in per cent. Published: Balle
    et al. (ICML 2014), Tables 2 and 3; Glaude et al. (ASRU 2015), Table 1.

    Example: sigmastar bench pautomac --data ~/data -m spectral,separable -o out.csv
    """
    from sigmastar.bench.pautomac import run, summary, write_results
    from sigmastar.bench.pautomac_truth import find_problems
    from sigmastar.bench.published import PAPER_PROBLEMS
    from sigmastar.datasets import cache_directory

    names = _names(methods)
    numbers = list(PAPER_PROBLEMS) if problems == "paper" else _numbers(problems)
    if every:
        numbers = find_problems(data or Path(os.environ.get("SIGMASTAR_DATA") or cache_directory()))
    results = run(numbers, names, data_home=data, options={"random_state": seed})
    if output is not None:
        write_results(results, output)
    if as_json:
        emit_json([asdict(result) for result in results])
        return
    found = {(r.problem, r.method): r for r in results}
    columns = [column for name in names for column in (name, "paper")]
    show_table(
        "Perplexity on the test strings",
        ["problem", *columns, "true"],
        [
            [
                str(number),
                *(
                    _figure(value, 2)
                    for name in names
                    for value in (
                        found[number, name].perplexity,
                        found[number, name].published_perplexity,
                    )
                ),
                _figure(found[number, names[0]].true_perplexity, 2),
            ]
            for number in numbers
        ],
    )
    show_table(
        "Word error rate, %",
        ["problem", *columns, "true"],
        [
            [
                str(number),
                *(
                    _figure(value, 1)
                    for name in names
                    for value in (
                        found[number, name].word_error_rate,
                        found[number, name].published_word_error_rate,
                    )
                ),
                _figure(found[number, names[0]].true_word_error_rate, 1),
            ]
            for number in numbers
        ],
    )
    show_table(
        "Seconds to learn (choice of size included) and states",
        ["problem", *(column for name in names for column in (name, "states"))],
        [
            [
                str(number),
                *(
                    text
                    for name in names
                    for text in (
                        _figure(found[number, name].seconds, 2),
                        _figure(found[number, name].n_states, 0),
                    )
                ),
            ]
            for number in numbers
        ],
    )
    rows = [summary(results, name) for name in names]
    show_table(
        "Summary",
        list(rows[0]),
        [[f"{v:.1f}" if isinstance(v, float) else str(v) for v in row.values()] for row in rows],
    )


@app.command()
def tags(
    data: DataOption = None,
    methods: MethodsOption = "spectral,spectral-string,convex,tensor,separable",
    output: OutputOption = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Run learners on the 11 coarse tags of the Penn Treebank, beside the published WER.

    Trained on all but the first 10,000 sequences, tested on the second 5,000, as
    in Balle et al. (ICML 2014), Table 4. True probabilities are unknown here, so
    perplexity is that of a symbol (ends counted), not the paper's.

    Example: sigmastar bench tags --data ~/data -m spectral
    """
    from sigmastar.bench.pautomac import write_results
    from sigmastar.bench.tags import run_tags

    results = run_tags(_names(methods), data_home=data, options={"random_state": seed})
    if output is not None:
        write_results(results, output)
    if as_json:
        emit_json([asdict(result) for result in results])
        return
    show_table(
        "Tags of the Penn Treebank",
        ["method", "WER %", "paper", "perplexity a symbol", "states", "seconds"],
        [
            (
                r.method,
                f"{r.word_error_rate:.2f}",
                _figure(r.published_word_error_rate, 2),
                f"{r.perplexity_per_symbol:.4f}",
                r.n_states,
                f"{r.seconds:.1f}",
            )
            for r in results
        ],
    )


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _numbers(text: str) -> list[int]:
    from sigmastar.core.errors import InvalidParameter

    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise InvalidParameter(
            f"--problems must be numbers separated by commas, or 'paper'; got {text!r}."
        ) from None


def _figure(value: float | None, digits: int) -> str:
    """Write a number, large ones by their power of ten, nothing for none."""
    if value is None:
        return "–"
    return f"{value:.1e}" if value >= 1e5 else f"{value:.{digits}f}"


@app.command("wall-following")
def wall_following(
    data: DataOption = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Random splits to average.")] = 10,
    into: Annotated[
        Path | None,
        typer.Option("--out", help="Directory for CSV files and plots of every figure and table."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="Method of table 1 to measure; may be repeated."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Tag the walk of a robot as Recasens and Quattoni did (ECML 2013).

    150 sequences of 36 readings, split 100/25/25 at random; everything is
    chosen on the 25 for validation. Prints table 1; with --out also writes
    figures 1 and 2 and tables 1 and 2 as CSV and plots (extra "plot").

    Example: sigmastar bench wall-following --seeds 2 --only CWFST
    """
    from sigmastar.bench import wall_following as bench
    from sigmastar.bench.wall_following_files import plot_figure1, plot_figure2, write_csv

    divisions = bench.splits(seeds, data)
    rows = bench.table1(divisions, only)
    if into is not None:
        into.mkdir(parents=True, exist_ok=True)
        write_csv(into / "table1.csv", rows)
        write_csv(into / "table2.csv", bench.table2(divisions))
        first = bench.figure1(divisions)
        write_csv(into / "figure1.csv", first)
        second = bench.figure2(divisions)
        for panel, points in second.items():
            write_csv(into / f"figure2_{panel}.csv", points)
        plot_figure1(into / "figure1.png", first)
        plot_figure2(into / "figure2.png", second)
    if as_json:
        emit_json({"seeds": seeds, "rows": rows, "published": bench.PUBLISHED})
        return
    show_table(
        f"Wall-following robot, accuracy in per cent on test sequences, mean of {seeds} splits",
        ["method", "states", "marginal", "±", "paper", "exact", "paper", "filter", "train s"],
        [
            (
                row["method"],
                f"{row['n_states']:.1f}",
                f"{100 * row['marginal']:.2f}",
                f"{100 * row['deviation']:.2f}",
                f"{bench.PUBLISHED[row['method']][1]}" if row["method"] in bench.PUBLISHED else "",
                f"{100 * row['exact']:.2f}",
                f"{bench.PUBLISHED[row['method']][2]}" if row["method"] in bench.PUBLISHED else "",
                f"{100 * row['filter']:.2f}",
                f"{row['seconds']:.2f}",
            )
            for row in rows
        ],
    )


@app.command()
def tagging(
    data: DataOption = None,
    table: Annotated[
        str,
        typer.Option(
            "--table",
            "-t",
            help="1: kinds of transducers; 2: languages; accuracy: beside other taggers; all.",
        ),
    ] = "all",
    long: Annotated[
        bool, typer.Option("--long", help="Table 1: also all subsequences of three classes.")
    ] = False,
    threads: Annotated[int, typer.Option(help="Threads for the speed columns.")] = 1,
    as_json: JsonOption = False,
) -> None:
    """Print Tables 1 and 2 of Kempe (1997) with our figures, on public corpora.

    Table 1 trains an HMM on 20,000 words of Brown (lexicon and untagged text
    from 90 % of it) and compiles it into every kind of transducer; Table 2 does
    so for several languages; "accuracy" compares the second-order tagger, its
    exact transducer and learned correction rules with HunPos.

    Example: sigmastar bench tagging --data ~/data --table 1
    """
    import numba

    from sigmastar.bench import tagging as bench

    check("table", table, Choice("1", "2", "accuracy", "all"))
    numba.set_num_threads(threads)
    figures: dict[str, Any] = {}
    if table in ("1", "all"):
        rows = list(bench.machines(data, long=long))
        figures["table1"] = [asdict(row) for row in rows]
        if not as_json:
            _machine_table(rows, bench.PAPER)
    if table in ("2", "all"):
        pairs = list(bench.languages(data))
        figures["table2"] = [{"language": name} | asdict(row) for name, row in pairs]
        if not as_json:
            names = list(dict.fromkeys(name for name, _ in pairs))
            found = {(name, row.name): f"{row.accuracy:.2%}" for name, row in pairs}
            kinds = list(dict.fromkeys(row.name for _, row in pairs))
            show_table(
                "Kempe 1997, Table 2: accuracy by language",
                ["machine", *names],
                [[kind, *(found.get((name, kind), "") for name in names)] for kind in kinds],
            )
    if table in ("accuracy", "all"):
        pairs = list(bench.accuracies(data))
        figures["accuracy"] = [{"corpus": name} | asdict(row) for name, row in pairs]
        if not as_json:
            show_table(
                "Accuracy of the second-order tagger",
                ["corpus", "machine", "accuracy", "HunPos", "agreement", "M tokens/s"],
                [
                    (
                        name,
                        row.name,
                        f"{row.accuracy:.2%}",
                        f"{bench.PEERS[name]:.2f}%",
                        f"{row.agreement:.4%}" if row.agreement is not None else "",
                        f"{(row.tokens_per_second or 0) / 1e6:.1f}",
                    )
                    for name, row in pairs
                ],
            )
    if as_json:
        emit_json(figures)


def _machine_table(rows: list[Any], paper: dict[str, Any]) -> None:
    """Print the machines of Table 1 beside the paper's."""

    def cells(row: Any) -> list[str]:
        old = paper.get(row.name, (None, None, None, None))
        return [
            row.name,
            f"{row.accuracy:.2%}",
            f"{old[0]:.2f}%" if old[0] else "",
            f"{row.agreement:.2%}" if row.agreement is not None else "",
            f"{row.n_states:,}" if row.n_states else "",
            f"{old[1]:,}" if old[1] else "",
            f"{row.n_arcs:,}" if row.n_arcs else "",
            f"{row.build_seconds:.2f}" if row.build_seconds is not None else "",
            f"{old[3]:,.0f}" if old[3] else "",
            f"{(row.tokens_per_second or 0) / 1e6:.1f}",
        ]

    titles = ["machine", "accuracy", "paper", "as HMM", "states", "paper", "arcs", "s", "paper"]
    show_table("Kempe 1997, Table 1", [*titles, "M tokens/s"], map(cells, rows))


app.command()(transducer_bench.transliteration)
app.command("transducer-synthetic")(transducer_bench.transducer_synthetic)
