"""``sigmastar bench generated``: machines that nobody tuned on."""

from __future__ import annotations

from typing import Annotated

from sigmastar.cli import choices, options
from sigmastar.cli.bench_automata import MethodOption
from sigmastar.cli.bench_parts import figure, hand_out, keeping
from sigmastar.cli.options import choice, option
from sigmastar.cli.output import show_table

__all__ = ["generated"]


def generated(
    method: MethodOption = None,
    problems: Annotated[int, option("--problems -p", "How many problems.", "NUMBER", min=1)] = 9,
    first: Annotated[int, option("--first", "Number of the first: its seed.", "NUMBER", min=0)] = 0,
    kind: Annotated[
        list[str] | None,
        choice("--kind", choices.MACHINES_DRAWN, "Only these kinds", "KIND", many=True),
    ] = None,
    strings: Annotated[
        int | None, option("--strings", "Training strings (default: as drawn).", "NUMBER", min=2)
    ] = None,
    budget: Annotated[float | None, option("--budget", "auto: seconds to search for.", "S")] = None,
    output: options.BenchOutput = None,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Run learners on machines drawn at random over the ranges of PAutomaC.

    Kinds take turns: hidden Markov models, automata, deterministic automata, of
    5 to 75 states and 4 to 23 symbols. A problem follows from its number alone.
    The gap is the perplexity on test strings less the truth's; the summary has
    its geometric mean, how many problems are within 1 % of the truth, and how
    many deterministic structures were found (arcs seen three times or more).

    [bold]Examples[/]
    sigmastar bench generated -m spectral,separable
    sigmastar bench generated -p 50 --first 1000 -m auto -o gaps.csv
    sigmastar bench generated --kind dpfa -m merged --strings 20000
    """
    from sigmastar.bench.generated import gap_summary, run_generated

    names = method or ["spectral", "separable", "merged"]
    rows = run_generated(
        range(first, first + problems),
        names,
        kinds=kind or list(choices.MACHINES_DRAWN),
        n_train=strings,
        budget=budget,
        seed=seed,
    )
    results = keeping(rows, output)
    if not hand_out(results, output, json):
        return
    show_table(
        "Perplexity above the truth's",
        ["problem", "kind", "states", "symbols", "method", "gap", "true", "learned", "seconds"],
        [
            [
                str(r.problem),
                r.kind,
                str(r.true_states),
                str(r.symbols),
                r.method,
                figure(r.gap, 4),
                figure(r.true_perplexity, 3),
                figure(r.states, 0),
                figure(r.seconds, 1),
            ]
            for r in results
        ],
    )
    summaries = [gap_summary(results, name) for name in names]
    show_table(
        "All problems",
        ["method", "problems", "mean gap", "within 1 %", "worst %", "structures"],
        [
            [
                row["method"],
                str(row["problems"]),
                figure(row["gap"], 4),
                str(row["near"]),
                figure(row["worst"], 2),
                row["structures"],
            ]
            for row in summaries
        ],
    )
