"""``sigmastar score``, ``perplexity`` and ``predict``: what a model says about sequences."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

from sigmastar.cli import choices, options
from sigmastar.cli.inputs import load_automaton, read_for, symbol_text, tell_nothing, text_format
from sigmastar.cli.options import choice, option
from sigmastar.cli.output import emit_json, emit_lines, err, show_properties
from sigmastar.cli.parts import Spread, apply_to_files, digest_of, read_part, tell_written
from sigmastar.core.errors import InvalidData
from sigmastar.core.progress import stage

if TYPE_CHECKING:
    from sigmastar.corpus.corpus import Corpus

__all__ = ["perplexity", "predict", "score"]


def score(
    model: options.Model,
    data: options.Data,
    output: options.TextOutput = "-",
    scoring: Annotated[
        str, choice("--scoring", choices.SCORING, "How values become probabilities")
    ] = "auto",
    format: options.Format = None,
    unknown: options.Unknown = None,
    output_dir: options.OutputFolder = None,
    workers: options.Workers = None,
    cluster: options.Cluster = None,
    scratch: options.Scratch = None,
    memory: options.Memory = None,
    on_error: options.OnError = "raise",
    json: options.Json = False,
) -> None:
    """Print the natural log-probability of every sequence, one a line; a summary to stderr.

    Scoring raw takes the automaton's own value, minus infinity where that is
    not above zero; conditional clips and renormalises every next-symbol
    distribution; auto is raw for probabilistic models, conditional for others.
    A pattern or a directory as DATA is scored part by part into --output-dir.

    [bold]Examples[/]
    sigmastar score model.sigma test.txt
    sigmastar score true_model.txt test.pautomac --json -o scores.json
    sigmastar score model.sigma 'test*.txt' --output-dir scores
    """
    from sigmastar.automata.inference import log_proba

    machine = load_automaton(model, or_predictor=True)
    format = format or text_format(model)
    spread = Spread(workers, cluster, scratch, memory, on_error)
    if output_dir is not None or spread.wanted(data):
        write = partial(_write_scores, machine, scoring)
        coding = (machine.alphabet, unknown)
        job = f"score {digest_of(model)} {scoring} {unknown}"
        written = apply_to_files(
            write, read_part, data, format, folder=output_dir, job=job, spread=spread, shared=coding
        )
        tell_written(written, output_dir, ("sequences", "symbols"), json=json)
        return
    corpus = read_for(machine, data, format, unknown)
    with stage(f"Scoring {len(corpus):,} sequences"):
        values = log_proba(machine, corpus, scoring=scoring)  # type: ignore[arg-type]
    ends_counted = corpus.n_symbols + len(corpus)
    summary = {
        "sequences": len(corpus),
        "symbols": corpus.n_symbols,
        "mean_log_proba": float(values.mean()) if len(values) else None,
        "log_proba_per_symbol": float(values.sum() / ends_counted) if len(values) else None,
    }
    if json:
        emit_json(summary | {"log_proba": values}, output)
        return
    emit_lines((f"{value:.12g}" for value in values), output)
    if len(values):
        err.print(
            f"{len(corpus):,} sequences, mean log-probability {summary['mean_log_proba']:.4f} "
            f"({summary['log_proba_per_symbol']:.4f} per symbol, ends counted)"
        )
    else:
        tell_nothing(data)


def perplexity(
    model: options.Model,
    data: options.Data,
    solution: Annotated[
        str | None, option("--solution -s", "PAutomaC solution file: true probabilities.", "FILE")
    ] = None,
    format: options.Format = None,
    unknown: options.Unknown = None,
    json: options.Json = False,
) -> None:
    """Print perplexity and next-symbol error rate of a model on test sequences.

    With --solution the perplexity is PAutomaC's (against the true probabilities);
    without, that of a symbol, the end of each sequence counted as one.

    [bold]Examples[/]
    sigmastar perplexity model.sigma test.txt
    sigmastar perplexity true_model.txt test.pautomac -s solution.txt --json
    """
    from sigmastar import metrics
    from sigmastar.corpus.readers.pautomac import read_solution

    machine = load_automaton(model, or_predictor=True)
    corpus = read_for(machine, data, format or text_format(model), unknown)
    if not len(corpus):
        source = "standard input" if data == "-" else data
        raise InvalidData(f"{source}: holds no sequences to measure on; give some, one a line.")
    figures: dict[str, float] = {}
    with stage(f"Measuring on {len(corpus):,} sequences"):
        if solution is not None:
            truth = read_solution(solution)
            figures["pautomac_perplexity"] = metrics.pautomac_perplexity(machine, corpus, truth)
        figures["perplexity_per_symbol"] = metrics.perplexity_per_symbol(machine, corpus)
        if hasattr(machine, "n_states"):  # n-grams and mixtures only predict
            figures["word_error_rate"] = metrics.word_error_rate(machine, corpus)
    if json:
        emit_json(figures)
    else:
        show_properties(f"{model} on {data}", figures)


def predict(
    model: options.Model,
    data: options.Data,
    best: Annotated[int, options.best("How many continuations.")] = 5,
    output: options.TextOutput = "-",
    format: options.Format = None,
    unknown: options.Unknown = None,
    output_dir: options.OutputFolder = None,
    workers: options.Workers = None,
    cluster: options.Cluster = None,
    scratch: options.Scratch = None,
    memory: options.Memory = None,
    on_error: options.OnError = "raise",
    json: options.Json = False,
) -> None:
    """Print the likeliest continuations of every sequence; END is the end of the string.

    [bold]Examples[/]
    echo "open read" | sigmastar predict logs.sigma - -k 3
    sigmastar predict chars.sigma prefixes.txt -f chars --json
    sigmastar predict logs.sigma 'logs*.txt' --output-dir next
    """
    from sigmastar.automata.inference import predict_next

    machine = load_automaton(model, or_predictor=True)
    format = format or text_format(model)
    spread = Spread(workers, cluster, scratch, memory, on_error)
    if output_dir is not None or spread.wanted(data):
        write = partial(_write_predictions, machine, best)
        coding = (machine.alphabet, unknown)
        job = f"predict {digest_of(model)} {best} {unknown}"
        written = apply_to_files(
            write, read_part, data, format, folder=output_dir, job=job, spread=spread, shared=coding
        )
        tell_written(written, output_dir, ("sequences", "symbols"), json=json)
        return
    corpus = read_for(machine, data, format, unknown)
    with stage(f"Predicting after {len(corpus):,} sequences"):
        found = predict_next(machine, corpus, best)
    if json:
        rows = [[{"symbol": symbol_text(s), "p": p} for s, p in row] for row in found]
        emit_json(rows, output)
        return
    emit_lines(map(_prediction, found), output)
    if not found:
        tell_nothing(data)


def _prediction(row: list[tuple[Any, float]]) -> str:
    return "\t".join(f"{symbol_text(symbol)} {p:.6g}" for symbol, p in row)


def _write_scores(machine: Any, scoring: str, corpus: Corpus, target: BinaryIO) -> tuple[int, int]:
    from sigmastar.automata.inference import log_proba

    values = log_proba(machine, corpus, scoring=scoring)  # type: ignore[arg-type]
    target.write("".join(f"{value:.12g}\n" for value in values).encode())
    return len(corpus), corpus.n_symbols


def _write_predictions(
    machine: Any, best: int, corpus: Corpus, target: BinaryIO
) -> tuple[int, int]:
    from sigmastar.automata.inference import predict_next

    found = predict_next(machine, corpus, best)
    target.write("".join(f"{_prediction(row)}\n" for row in found).encode())
    return len(corpus), corpus.n_symbols
