"""``sigmastar bench truth``, ``pautomac`` and ``tags``: automata beside published tables."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from sigmastar.automata.estimators.registry import offered_by_others
from sigmastar.cli import choices, options
from sigmastar.cli.bench_parts import figure, hand_out, methods_option
from sigmastar.cli.options import option
from sigmastar.cli.output import emit_json, show_records, show_table

__all__ = ["pautomac", "tags", "truth"]


def truth(
    data: options.BenchData = None,
    every: Annotated[
        bool, option("--all", "All problems found, not only the twelve of the paper.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Score the true machines of PAutomaC and compare with solution files and the paper.

    For each problem: perplexity and word error rate (WER, in per cent, ends
    of strings counted) of the true machine on the test set, beside the "True"
    columns of Balle, Hamilton and Pineau (ICML 2014, Tables 3 and 2), and the
    largest relative deviation of a string probability from the solution file.

    [bold]Examples[/]
    sigmastar bench truth
    sigmastar bench truth --data ~/data --all --json
    """
    from sigmastar.bench.pautomac_truth import PUBLISHED, find_problems, measure_all

    results = measure_all(find_problems(data) if every else list(PUBLISHED), data)
    if json:
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


MethodOption = Annotated[
    list[str] | None,
    methods_option(
        # The benches look at states: mixtures and n-grams have none.
        {
            name: words
            for name, words in choices.AUTOMATON_METHODS.items()
            if name not in ("mixture", "kneser-ney")
        },
        "Only these learners (default: those of the papers)",
        offered_by_others,
    ),
]


def pautomac(
    data: options.BenchData = None,
    method: MethodOption = None,
    problems: Annotated[
        str, option("--problems -p", "Numbers separated by commas; paper: the twelve.", "NUMBERS")
    ] = "paper",
    every: Annotated[bool, option("--all", "All problems found.")] = False,
    output: options.BenchOutput = None,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Run learners on PAutomaC; print their figures, the published ones and the truth.

    A learner sees the training strings only and chooses its size on a part of
    them. Perplexity is the competition's, on the test strings; WER is the share
    of wrong next-symbol predictions, ends counted, in per cent. MoM is the best
    of the methods of moments on the test strings. Published: Balle et al. (ICML
    2014), Tables 2 and 3; Glaude et al. (ASRU 2015), Table 1.

    [bold]Examples[/]
    sigmastar bench pautomac --problems 6,24 -m spectral,separable
    sigmastar bench pautomac --data ~/data --all -m auto -o figures.csv
    """
    wanted = [] if problems == "paper" else options.integers("--problems", problems)
    from sigmastar.bench.pautomac import best_of_moments, run, summary
    from sigmastar.bench.pautomac_truth import find_problems
    from sigmastar.bench.published import BEST_MOMENTS, PAPER_METHODS, PAPER_PROBLEMS

    names = method or PAPER_METHODS
    numbers = find_problems(data) if every else wanted or list(PAPER_PROBLEMS)
    results = run(numbers, names, data_home=data, options={"random_state": seed})
    if not hand_out(results, output, json):
        return
    found = {(r.problem, r.method): r for r in results}
    for title, measure, digits in (
        ("Perplexity on the test strings", "perplexity", 2),
        ("Word error rate, %", "word_error_rate", 1),
    ):
        show_table(
            title,
            ["problem", *(column for name in names for column in (name, "paper")), "true"],
            [
                [
                    str(number),
                    *(
                        figure(getattr(found[number, name], whose + measure), digits)
                        for name in names
                        for whose in ("", "published_")
                    ),
                    figure(getattr(found[number, names[0]], f"true_{measure}"), digits),
                ]
                for number in numbers
            ],
        )
    best = {n: best_of_moments(r for r in results if r.problem == n) for n in numbers}
    if all(best.values()):
        show_table(
            "Best perplexity of the methods of moments (MoM)",
            ["problem", "MoM", "paper", "method"],
            [
                [str(n), figure(r.perplexity, 2), figure(BEST_MOMENTS.get(n), 2), r.method]
                for n, r in best.items()
                if r is not None
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
                        figure(found[number, name].seconds, 2),
                        figure(found[number, name].n_states, 0),
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


def tags(
    data: options.BenchData = None,
    method: MethodOption = None,
    output: options.BenchOutput = None,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Run learners on the 11 coarse tags of the Penn Treebank, beside the published WER.

    Trained on all but the first 10,000 sequences, tested on the second 5,000, as
    in Balle et al. (ICML 2014), Table 4. The paper's perplexity is that of whole
    sequences; it does not say which logarithm it takes: ours is given with the
    binary and the natural one, and for single symbols, ends counted.

    [bold]Example[/]
    sigmastar bench tags --data ~/data -m spectral
    """
    from sigmastar.bench.published import TAGS_METHODS
    from sigmastar.bench.tags import run_tags

    results = run_tags(method or TAGS_METHODS, data_home=data, options={"random_state": seed})
    if not hand_out(results, output, json):
        return
    show_records(
        "Tags of the Penn Treebank",
        results,
        {
            "method": "method",
            "WER %": "word_error_rate:.2f",
            "paper": "published_word_error_rate:.2f",
            "perplexity": "perplexity:.2e",
            "natural": "perplexity_natural:.2e",
            "paper ": "published_perplexity:.2e",
            "a symbol": "perplexity_per_symbol:.4f",
            "states": "n_states",
            "seconds": "seconds:.1f",
        },
    )
