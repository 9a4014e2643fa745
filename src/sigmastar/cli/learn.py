"""``sigmastar learn``: from a file of sequences to a model."""

from __future__ import annotations

import time
import warnings
from collections.abc import Container, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

from sigmastar.automata.estimators.registry import offered_by_others
from sigmastar.cli import choices, options
from sigmastar.cli.inputs import announce_stdin, expect
from sigmastar.cli.options import choice, option
from sigmastar.cli.output import emit_json, note, show_properties, wrote
from sigmastar.cli.parts import Spread
from sigmastar.core.errors import InvalidData, InvalidParameter, PoorModelWarning
from sigmastar.core.progress import stage

__all__ = ["learn"]


def learn(
    data: options.Data,
    output: options.OptionalModelOutput = None,
    method: Annotated[
        str,
        choice(
            "--method -m",
            choices.AUTOMATON_METHODS,
            "How to learn",
            "METHOD",
            others=offered_by_others,
        ),
    ] = "spectral",
    states: options.States = "auto",
    statistics: Annotated[
        str | None, choice("--statistics", choices.STATISTICS, "What the methods of moments count")
    ] = None,
    tau: Annotated[
        float | None,
        option("--tau", "convex: weight of the nuclear norm, a share of the most.", "X"),
    ] = None,
    basis_size: Annotated[
        int | None, option("--basis-size", "Strings on each side of the Hankel matrix.", "N")
    ] = None,
    max_length: Annotated[
        int | None, option("--max-length", "Longest string of the basis.", "N")
    ] = None,
    max_iter: Annotated[
        int | None, option("--max-iter", "em, em-hmm, em-tensor, bw-sep: steps at most.", "N")
    ] = None,
    restarts: Annotated[
        int | None, option("--restarts", "em, em-hmm: random starts to try.", "N")
    ] = None,
    batch_parts: Annotated[
        int | None,
        option("--batch-parts", "em, em-hmm, …: stepwise EM, so many parts a step.", "N"),
    ] = None,
    prior: Annotated[
        float | None,
        option("--prior", "em, em-hmm, bw-sep, em-tensor: pseudo-count of every weight.", "X"),
    ] = None,
    criterion: Annotated[
        str | None,
        choice("--criterion", ("bic", "aic"), "em, em-hmm with -n auto: what sizes are judged by"),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        option(
            "--checkpoint",
            "em, em-hmm, em-tensor, bw-sep: file to resume from and to keep up to date.",
            "FILE",
        ),
    ] = None,
    order: Annotated[
        int | None, option("--order", "kneser-ney, mixture: length of the longest n-gram.", "N")
    ] = None,
    budget: Annotated[float | None, option("--budget", "auto: seconds to search for.", "S")] = None,
    format: options.Format = None,
    unknown: options.Unknown = None,
    seed: options.Seed = 0,
    workers: options.Workers = None,
    cluster: options.Cluster = None,
    scratch: options.Scratch = None,
    memory: options.Memory = None,
    on_error: options.OnError = "raise",
    json: options.Json = False,
) -> None:
    """Learn a model from sequences, one a line.

    The methods of moments (spectral, convex, tensor, separable) choose their
    size by held-out likelihood unless you give one: a fifth of the sequences is
    set aside for that, then the best size is learned from all. The likelihood
    learners (em, em-hmm, gibbs) have a fixed size, yours or a usual one; bw-sep
    and em-tensor start from moments and have at most that size; merged finds a
    deterministic machine and its size; auto tries many of them within a time
    budget and mixes the best. For the next symbol rather than an automaton,
    mixture mixes n-grams, other contexts and automata; kneser-ney is n-grams
    alone, the baseline to beat.

    DATA may be a pattern or a directory: then files are cut into parts, which
    need not fit into memory together, and spectral, convex, tensor, separable,
    em, em-hmm, em-tensor, bw-sep, auto and kneser-ney learn from them, on
    threads, processes or a cluster.

    [bold]Examples[/]
    sigmastar learn logs.txt -o logs.sigma
    sigmastar learn train.pautomac -m separable -n 4 -o separable.sigma
    sigmastar learn names.txt -f chars --statistics prefix --json
    cat logs.txt | sigmastar learn - -m em -n 4 --seed 1 -o em.sigma
    sigmastar learn logs.txt -m em-tensor --max-iter 20 -o tensor.sigma
    sigmastar learn logs.txt -m merged -o machine.sigma
    sigmastar learn logs.txt -m auto --budget 60 -o auto.sigma
    sigmastar learn logs.txt -m mixture -o next.sigma
    sigmastar learn logs.txt -m kneser-ney --order 3 -o ngrams.sigma
    sigmastar learn 'logs*.txt' -m em -n 4 --max-iter 5 --memory 4GB -o all.sigma
    """
    expect(data)
    from sigmastar.automata.estimators.registry import find_method
    from sigmastar.corpus.readers.api import read_corpus_as

    chosen = find_method(method)
    given = {
        "n_states": options.given_size(states),
        "statistics": statistics,
        "tau": tau,
        "basis_size": basis_size,
        "max_length": max_length,
        "max_iter": max_iter,
        "n_restarts": restarts,
        "batch_parts": batch_parts,
        "prior": prior,
        "criterion": criterion,
        "checkpoint": checkpoint,
        "order": order,
        "time_budget": budget,
    }
    _refuse_others_options(method, chosen.parameters(), given)
    estimator = chosen.build(**given, random_state=seed, unknown=unknown)
    announce_stdin(data)
    spread = Spread(workers, cluster, scratch, memory, on_error)
    found, told = format, []
    with ExitStack() as held:
        if spread.wanted(data):
            coding = "unk" if unknown == "unk" else "error"
            corpus = held.enter_context(spread.partitions(data, format, unknown=coding))
        else:
            corpus, found = read_corpus_as(data, format)
        n_sequences, n_symbols = len(corpus), corpus.n_symbols
        if not n_symbols:
            source = "standard input" if data == "-" else data
            raise InvalidData(
                f"{source}: there is nothing to learn from; give sequences, one a line."
            )
        if format is None and found is not None and not json:
            note(
                f"read {data} as {found}: {n_sequences:,} sequences, "
                f"{len(corpus.alphabet):,} symbols (--format for another)."
            )
        started = time.perf_counter()
        with warnings.catch_warnings(record=True) as told, stage(f"Learning by {method}"):
            warnings.simplefilter("always", PoorModelWarning)
            estimator.fit(corpus)
        seconds = time.perf_counter() - started
    model = estimator.model_
    info = dict(getattr(estimator, "info_", {}))  # learners of other packages need have none
    if output is not None:
        reading = {} if found is None else {"format": found}
        history = {"method": type(estimator).__name__, **info, "reading": reading}
        model.save(output, history=history)
    report: dict[str, Any] = {
        "method": method,
        "model": type(model).__name__,
        "states": getattr(model, "n_states", None),  # a mixture counts contexts
        "symbols": model.n_symbols,
        "sequences": n_sequences,
        "training_symbols": n_symbols,
        "seconds": seconds,
    }
    doubts = [str(warning.message) for warning in told]
    if json:
        saved = None if output is None else str(output)
        emit_json(report | {"saved": saved, "warnings": doubts, "info": info})
        return
    shown = ("spectral_radius", "total_mass", "negative_mass", "duality_gap")
    figures = {name: info[name] for name in shown if name in info}
    show_properties(f"Learned by {chosen.summary}", report | figures)
    if figures.get("spectral_radius", 0.0) >= 1.0:
        note(
            f"the weights of all strings have no finite sum (spectral radius "
            f"{figures['spectral_radius']:.2f}): the model predicts symbol by symbol, and its "
            "scores are products of predictions. For a distribution over strings use -m em, "
            "bw-sep or separable, or fewer states (-n)."
        )
    for doubt in doubts:
        note(doubt)
    if output is None:
        note("not saved: give -o model.sigma to keep the model.")
    else:
        wrote(output)


def _refuse_others_options(method: str, known: Container[str], given: Mapping[str, object]) -> None:
    """Refuse an option that is for other methods, by the name it has here."""
    for name, value in given.items():
        if value is not None and name not in known:
            fitting = [_flag(other) for other in given if other in known]
            raise InvalidParameter(
                f"{_flag(name)} must be left out: -m {method} has no use for it; got {value}. It "
                f"takes {', '.join([*fitting, '--unknown'])}."
            )


def _flag(parameter: str) -> str:
    word = parameter.removeprefix("n_").removeprefix("time_")
    return f"--{word.replace('_', '-')}"
