"""Exhibits of Balle, Hamilton, Pineau, "Methods of Moments for Learning Stochastic Languages".

Tables 2 and 3 and the table of the paper on separable automata are columns of one run over twelve
problems of PAutomaC, which is made once in a process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from inspect import getsource
from typing import Any

from sigmastar.automata.estimators.registry import find_method
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.pfa import PFA
from sigmastar.bench import published
from sigmastar.bench.papers.exhibit import Cell, Exhibit, Settings, Shown
from sigmastar.bench.pautomac import PautomacResult, run, summary
from sigmastar.bench.pautomac_truth import PUBLISHED
from sigmastar.bench.runtimes import METHODS as TIMED
from sigmastar.bench.runtimes import draw_runtimes, run_runtimes
from sigmastar.bench.tags import run_tags
from sigmastar.datasets import Problem, Splits, make_problem

__all__ = ["EXHIBITS", "QUICK_PROBLEMS", "problem_rows", "results_on_pautomac", "with_size"]

PAPER = "Methods of Moments for Learning Stochastic Languages (ICML 2014)"
QUICK_PROBLEMS = (1, 6)
# Little work for learners whose usual settings take minutes.
_QUICK_EM = {"n_states": 3, "max_iter": 4, "restart_iter": 2}
_QUICK: Mapping[str, Mapping[str, Any]] = dict.fromkeys(("em", "em-tensor", "bw-sep"), _QUICK_EM)
_SPECIAL: Mapping[str, Mapping[str, Any]] = {
    "separable": {"basis_size": 500}  # glaude2015 sec. 5.1
}


@cache
def results_on_pautomac(settings: Settings) -> tuple[PautomacResult, ...]:
    """Run all methods of both papers on the twelve problems, or on two small ones."""
    options = {"random_state": settings.seed}
    methods = published.PAPER_METHODS
    if settings.quick:
        found = run(
            QUICK_PROBLEMS, methods, options=options, special=_QUICK, load=_generated_problem
        )
    else:
        numbers = published.PAPER_PROBLEMS
        found = run(numbers, methods, data_home=settings.data, options=options, special=_SPECIAL)
    return tuple(found)


def _generated_problem(number: int) -> Problem:
    return make_problem("hmm", n_states=3, n_symbols=4, n_train=200, n_test=30, random_state=number)


def with_size(value: float | None, size: float | None, digits: int = 2) -> Cell:
    """Write a figure as the papers do, its size in parentheses."""
    if value is None:
        return None
    text = f"≈{value:.0e}" if value >= 1e5 else f"{value:.{digits}f}"
    return text if size is None else f"{text} ({size:g})"


def problem_rows(
    results: Sequence[PautomacResult], columns: Callable[[int, Mapping[str, Any]], dict[str, Cell]]
) -> list[dict[str, Cell]]:
    """Make a row of each problem out of its results by method."""
    rows: list[dict[str, Cell]] = []
    for number in dict.fromkeys(result.problem for result in results):
        mine = {result.method: result for result in results if result.problem == number}
        kind = published.PROBLEM_KINDS[number]
        rows.append({"type": kind, "problem": number, **columns(number, mine)})
    return rows


def _table(settings: Settings, measure: str, digits: int) -> Shown:
    """Show one measure of every method beside its published figure, and the truth's."""
    figures, sizes, place = (
        (published.WER, published.WER_SIZE, 1)
        if measure == "word_error_rate"
        else (published.PERPLEXITY, published.PERPLEXITY_SIZE, 0)
    )
    results = results_on_pautomac(settings)

    def columns(number: int, mine: Mapping[str, PautomacResult]) -> dict[str, Cell]:
        row: dict[str, Cell] = {"|Σ| ≥ n": "yes" if number in published.SYMBOLS_SUFFICE else "no"}
        for method, name in published.PAPER_NAMES.items():
            result = mine[method]
            row[name] = with_size(getattr(result, measure), result.n_states, digits)
            if method in figures:
                size = sizes.get(method, {}).get(number)
                row[f"{name}, paper"] = with_size(figures[method][number], size, digits)
        row["True"] = round(getattr(mine["em"], f"true_{measure}"), digits)
        row["True, paper"] = with_size(
            PUBLISHED[number][place], published.TRUE_STATES[number], digits
        )
        return row

    return Shown(problem_rows(results, columns), notes=[*_counted(results, measure), *_NOTES])


_NOTES = (
    "In parentheses: states; for CO in the paper the weight τ, whose scale is not ours.",
    "Published figures are those of the size that was best for the figure itself. Ours choose "
    "their size on a held-out fifth of the training strings, EM its number of steps (40 states, or "
    "60 for BW-Sep) on a tenth.",
    "CO keeps negative weights, where the released code of the paper set them to zero.",
    "Tensor decomposition knows no more states than symbols; EM-Tensor starts there.",
    "Sep and BW-Sep are of the paper on separable automata (2015), which prints no error rates.",
)


def _counted(results: Sequence[PautomacResult], measure: str) -> list[str]:
    key = (
        "WER at most published" if measure == "word_error_rate" else "perplexity at most published"
    )
    told = [
        f"{name} {summary(results, method)[key]}"
        for method, name in published.PAPER_NAMES.items()
        if method in (published.WER if measure == "word_error_rate" else published.PERPLEXITY)
    ]
    return [f"At most the published figure: {', '.join(told)}."]


def table_2(settings: Settings) -> Shown:
    """Show word error rates on twelve problems."""
    return _table(settings, "word_error_rate", 1)


def table_3(settings: Settings) -> Shown:
    """Show perplexities on twelve problems."""
    return _table(settings, "perplexity", 2)


def table_4(settings: Settings) -> Shown:
    """Show error rates and perplexities on the tags of the Penn Treebank."""
    options = {"random_state": settings.seed}
    if settings.quick:
        small = _generated_problem(0)
        parts = Splits(small.train, None, small.test, "generated")
        results = run_tags(published.TAGS_METHODS, options=options, special=_QUICK, parts=parts)
    else:
        results = run_tags(published.TAGS_METHODS, data_home=settings.data, options=options)
    rows: list[dict[str, Cell]] = [
        {
            "method": published.PAPER_NAMES[r.method],
            "WER %": round(r.word_error_rate, 2),
            "WER %, paper": with_size(
                r.published_word_error_rate, published.TAGS_WER_SIZE[r.method], 2
            ),
            "perplexity (2^ mean −log2 p)": f"{r.perplexity:.2e}",
            "with natural logarithms": f"{r.perplexity_natural:.2e}",
            "perplexity, paper": f"{published.TAGS_PERPLEXITY[r.method]:.2e} "
            f"({published.TAGS_PERPLEXITY_SIZE[r.method]:g})",
            "perplexity a symbol": round(r.perplexity_per_symbol, 4),
            "states": r.n_states,
            "seconds": round(r.seconds, 1),
        }
        for r in results
    ]
    return Shown(
        rows,
        notes=[
            "Trained on all but the first 10,000 sequences, tested on the second 5,000, as in the "
            "released code of the paper.",
            "The paper's perplexity is 2 to the power of −Σ p*(x) log p(x), p* being the share of "
            "a sequence in the test part: a figure for whole sequences. Which logarithm it takes "
            "is not said. With the binary one, EM's 1.33·10^13 would be fewer bits a tag than any "
            "of our learners reaches; with the natural one, the figures are of one kind with ours.",
            "Values of spectral and convex automata are not probabilities. The paper clips those "
            "of whole sequences to (0, 1], so that its figures for Spec-Str, Spec-Sub and CO may "
            "be lower than a distribution could have; ours clip and normalise symbol by symbol.",
            "In parentheses: states, for CO the weight τ, best for the figure itself.",
        ],
    )


def figure_1(settings: Settings) -> Shown:
    """Time how methods begin and build models of three sizes."""
    methods = list(TIMED)
    small: dict[str, Any] = {"sizes": (2, 3), "n_symbols": 4, "n_strings": 100}
    results = list(run_runtimes(methods, seed=settings.seed, **(small if settings.quick else {})))
    rows: list[dict[str, Cell]] = [
        {
            "method": published.PAPER_NAMES[r.method],
            "states": r.size,
            "initialisation, s": round(r.initialization, 4),
            "model building, s": None if r.building is None else round(r.building, 5),
        }
        for r in results
    ]
    return Shown(
        rows,
        pictures=[draw_runtimes(results)],
        notes=[
            "The paper shows bars on a logarithmic axis and prints no figures; its text says that "
            "Spec-Sub is 40 times as fast as EM. EM-Tensor, Sep and BW-Sep have no bars there.",
            "The paper does not name its 12-symbol domain: ours are 20,000 strings of a random "
            "automaton with 20 states over 12 symbols.",
            "CO has no size: one model for each of three weights τ. Tensor decomposition knows no "
            "more states than independent emissions: its largest model stands in place of 10.",
            "EM runs until the likelihood of a string gains less than 1e-4, at most 100 steps.",
        ],
    )


# What Table 1 says of each method: lines of code, complexity, whether it returns a distribution.
_CHARACTERS: Mapping[str, tuple[str, str, str, tuple[str, ...]]] = {
    "spectral": ("easy: 100–200 Python", "O(n|Σ||P||S|)", "no", ("spectral", "choose_spectral")),
    "convex": (
        "hard: 1000–1250 Python and C++",
        "O(|Σ||P|³) an iteration",
        "no",
        ("convex", "choose_convex", "blocks.nuclear"),
    ),
    "tensor": (
        "medium: 750–1000 Python and C++",
        "O((|Σ|+n)|P||S| + Rn²), R power iterations",
        "yes",
        (
            "tensor",
            "choose_tensor",
            "blocks.tensor",
            "blocks.tensor_views",
            "blocks.tensor_regression",
            "blocks.tensor_closed",
        ),
    ),
}


def table_1(settings: Settings) -> Shown:
    """Compare the methods by kind: code, complexity, result."""
    train = _generated_problem(settings.seed).train
    rows: list[dict[str, Cell]] = []
    for method, (lines, complexity, proper, files) in _CHARACTERS.items():
        model = find_method(method).build(random_state=settings.seed).fit(train).model_
        sources = [getsource(import_module(f"sigmastar.automata.learn.{f}")) for f in files]
        code = sum(bool(line.strip()) for source in sources for line in source.splitlines())
        rows.append(
            {
                "method": {"spectral": "Spectral"}.get(method, published.PAPER_NAMES[method]),
                "difficulty and lines of code, paper": lines,
                "our lines": code,
                "time, paper": complexity,
                "returns a distribution, paper": proper,
                "ours": "yes" if isinstance(model, (PFA, HMM)) else "no",
            }
        )
    return Shown(
        rows,
        notes=[
            "Our lines are those of the learner and its choice of size, comments counted, Hankel "
            "blocks and linear algebra shared by all methods not; the paper leaves out libraries.",
            "The paper's further column names techniques: variance scaling and randomized SVD "
            "(spectral: both here); ADMM with inexact proximal operators (CO: here an accelerated "
            "proximal method on the small Gram matrix, with a certificate); sparse LSQR and "
            "simplex projection (tensor: here dense or sparse products, simplex projection).",
        ],
    )


EXHIBITS: tuple[Exhibit, ...] = (
    Exhibit(
        "moments-table-1",
        PAPER,
        "Table 1: the methods by kind",
        "sigmastar bench papers",
        0.1,
        table_1,
    ),
    Exhibit(
        "moments-table-2",
        PAPER,
        "Table 2: word error rates on PAutomaC, %",
        "sigmastar bench pautomac",
        10.0,
        table_2,
        ("pautomac",),
    ),
    Exhibit(
        "moments-table-3",
        PAPER,
        "Table 3: perplexities on PAutomaC",
        "sigmastar bench pautomac",
        0.1,  # the same run as Table 2
        table_3,
        ("pautomac",),
    ),
    Exhibit(
        "moments-table-4",
        PAPER,
        "Table 4: tags of the Penn Treebank",
        "sigmastar bench tags",
        4.0,
        table_4,
        ("ptb-tags",),
    ),
    Exhibit(
        "moments-figure-1",
        PAPER,
        "Figure 1: time to begin and to build models",
        "sigmastar bench runtimes",
        3.0,
        figure_1,
    ),
)
