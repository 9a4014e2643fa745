"""``sigmastar score``, ``perplexity`` and ``predict``: what a model says about sequences."""

from __future__ import annotations

from typing import Annotated

import typer

from sigmastar.cli.common import (
    DataArgument,
    FormatOption,
    ModelArgument,
    UnknownOption,
    read_for,
    symbol_text,
)
from sigmastar.cli.output import JsonOption, emit_json, emit_lines, err, show_table

__all__ = ["perplexity", "predict", "score"]

ScoringOption = Annotated[
    str,
    typer.Option(
        "--scoring",
        help="auto; raw: the automaton's own value; conditional: clipped, a probability always.",
    ),
]


def score(
    model: ModelArgument,
    data: DataArgument,
    format: FormatOption = None,
    scoring: ScoringOption = "auto",
    unknown: UnknownOption = "error",
    json: JsonOption = False,
) -> None:
    """Print the natural log-probability of every sequence, one a line; a summary to stderr.

    [bold]Examples[/]

      sigmastar score model.sigma test.txt

      sigmastar score 6.pautomac_model.txt 6.pautomac.test --json
    """
    from sigmastar.inference import log_proba
    from sigmastar.models.formats.files import read_model

    machine = read_model(model)
    corpus = read_for(machine, data, format, unknown)
    values = log_proba(machine, corpus, scoring=scoring)  # type: ignore[arg-type]
    summary = {
        "sequences": len(corpus),
        "symbols": corpus.n_symbols,
        "mean_log_proba": float(values.mean()) if len(values) else None,
        "log_proba_per_symbol": float(values.sum() / (corpus.n_symbols + len(corpus)))
        if len(values)
        else None,
    }
    if json:
        emit_json(summary | {"log_proba": values})
        return
    emit_lines(f"{value:.12g}" for value in values)
    if len(values):
        err.print(
            f"{len(corpus):,} sequences, mean log-probability {summary['mean_log_proba']:.4f} "
            f"({summary['log_proba_per_symbol']:.4f} per symbol, ends counted)"
        )


def perplexity(
    model: ModelArgument,
    data: DataArgument,
    solution: Annotated[
        str | None,
        typer.Option("--solution", "-s", help="PAutomaC solution file: true probabilities."),
    ] = None,
    format: FormatOption = None,
    unknown: UnknownOption = "error",
    json: JsonOption = False,
) -> None:
    """Print perplexity and next-symbol error rate of a model on test sequences.

    With [bold]--solution[/] the perplexity is PAutomaC's (against the true probabilities);
    without, it is the perplexity per symbol, the end of each sequence counted as one.

    [bold]Example[/]

      sigmastar perplexity model.sigma 6.pautomac.test --solution 6.pautomac_solution.txt
    """
    from sigmastar import metrics
    from sigmastar.corpus.readers.pautomac import read_solution
    from sigmastar.models.formats.files import read_model

    machine = read_model(model)
    corpus = read_for(machine, data, format, unknown)
    figures: dict[str, float] = {}
    if solution is not None:
        truth = read_solution(solution)
        figures["pautomac_perplexity"] = metrics.pautomac_perplexity(machine, corpus, truth)
    figures["perplexity_per_symbol"] = metrics.perplexity_per_symbol(machine, corpus)
    figures["word_error_rate"] = metrics.word_error_rate(machine, corpus)
    if json:
        emit_json(figures)
    else:
        rows = [(name.replace("_", " "), f"{value:.6g}") for name, value in figures.items()]
        show_table("", ["figure", "value"], rows)


def predict(
    model: ModelArgument,
    data: DataArgument,
    k: Annotated[int, typer.Option("-k", help="How many continuations.")] = 5,
    format: FormatOption = None,
    unknown: UnknownOption = "error",
    json: JsonOption = False,
) -> None:
    """Print the likeliest continuations of every sequence; END is the end of the string.

    [bold]Example[/]

      echo "the quick" | sigmastar predict model.sigma - --format tokens -k 3
    """
    from sigmastar.inference import predict_next
    from sigmastar.models.formats.files import read_model

    machine = read_model(model)
    corpus = read_for(machine, data, format, unknown)
    best = predict_next(machine, corpus, k)
    if json:
        emit_json([[{"symbol": symbol_text(s), "p": p} for s, p in row] for row in best])
        return
    emit_lines("\t".join(f"{symbol_text(symbol)} {p:.6g}" for symbol, p in row) for row in best)
