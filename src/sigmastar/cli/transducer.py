"""``sigmastar transducer``: learn to write one string for another, apply it, measure it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from sigmastar.cli import choices, options, transducer_equal, transducer_train
from sigmastar.cli.inputs import announce_stdin
from sigmastar.cli.options import choice, option
from sigmastar.cli.output import emit_json, emit_lines, show_table
from sigmastar.cli.parts import Spread, apply_to_files, as_it_is, digest_of, tell_written
from sigmastar.cli.transducer_parts import (
    SOURCE,
    TARGET,
    BeamOption,
    ErrorOption,
    FormatOption,
    ModelArgument,
    PairsArgument,
    StressOption,
    load_pairs_model,
    read_given,
    warn_of_unknown,
)
from sigmastar.cli.transducer_stream import answers, read_batches
from sigmastar.core.progress import Stage, stage

if TYPE_CHECKING:
    from sigmastar.corpus.part_sources import FileSpan

__all__ = ["app"]

_MOST_TOLD = 1000  # symbols never learned that are remembered, to name some of them

app = typer.Typer(no_args_is_help=True, rich_markup_mode="rich")


@app.callback()
def _group() -> None:
    """Transliteration, pronunciation, spelling: learn string pairs of any lengths.

    With --model, transducers over pairs of equal length.

    [bold]Examples[/]
    sigmastar transducer train pairs.tsv -o names.sigma
    echo anna | sigmastar transducer apply names.sigma
    sigmastar transducer evaluate names.sigma test.tsv
    """


app.command()(transducer_train.train)


@app.command()
def apply(
    model: ModelArgument,
    inputs: Annotated[
        str, typer.Argument(help="One input a line; - is stdin.", metavar="TEXT")
    ] = "-",
    best: Annotated[int, options.best("Outputs per input.")] = 1,
    output: options.TextOutput = "-",
    beam: BeamOption = None,
    draws: Annotated[
        int | None, option("--draws", "Draw so many outputs, give the commonest.", "N", min=1)
    ] = None,
    seed: options.Seed = 0,
    source: Annotated[str | None, SOURCE] = None,
    unknown: Annotated[
        str,
        choice("--unknown", ("error", "ignore"), "What to do with symbols the model does not know"),
    ] = "ignore",
    style: Annotated[
        str | None,
        choice("--style", choices.DICTIONARY_STYLES, "Write a pronunciation dictionary", "STYLE"),
    ] = None,
    output_dir: options.OutputFolder = None,
    workers: options.Workers = None,
    cluster: options.Cluster = None,
    scratch: options.Scratch = None,
    memory: options.Memory = None,
    on_error: options.OnError = "raise",
    json: options.Json = False,
) -> None:
    """Write the best output of each input line, or with -k input, output and score.

    With --style, a dictionary with the share of each of the k outputs.
    Lines are answered as they come, in little memory (but with --json).
    With --on-error skip, lines that are no text, or with --unknown error hold
    unknown symbols, are named and left out.
    A pattern or a directory as TEXT is done part by part into --output-dir.

    [bold]Examples[/]
    echo anna | sigmastar transducer apply names.sigma
    sigmastar transducer apply g2p.sigma words.txt -k 3 --style mfa -o words.dict
    sigmastar transducer apply names.sigma names.txt -k 5 --json -o best.json
    sigmastar transducer apply em.sigma names.txt --draws 20 -k 3
    sigmastar transducer apply names.sigma 'names*.txt' --output-dir written
    """
    machine = load_pairs_model(model, equal=True)
    source = source or machine.sides["source"]
    how = {"beam": beam, "unknown": unknown, "draws": draws, "random_state": seed}
    run = partial(_applied, machine, best=best, source=source, how=how)
    spread = Spread(workers, cluster, scratch, memory, on_error)
    if output_dir is not None or spread.wanted(inputs):
        done = apply_to_files(
            partial(_write_outputs, run, best, style),
            as_it_is,
            inputs,
            "chars",
            folder=output_dir,
            job=f"apply {digest_of(model)} {best} {source} {style} {sorted(how.items())}",
            spread=spread,
        )
        tell_written(done, output_dir, ("inputs", "with_unknown"), json=json)
        return
    from sigmastar.corpus.corpus import as_corpus

    counts: Counter[str] = Counter()
    strange: dict[Any, None] = {}

    def watched(lines: list[str]) -> tuple[list[Any], dict[str, int]]:
        results, report = run(lines)
        if report.get("n_with_unknown") and len(strange) < _MOST_TOLD:
            symbols = (symbol for sequence in _cut(lines, source) for symbol in sequence)
            new = (symbol for symbol in symbols if symbol not in machine.source_alphabet)
            strange.update(dict.fromkeys(islice(new, _MOST_TOLD)))
        return results, report

    found = answers(watched, read_batches(inputs, on_error), inputs, on_error, counts)
    if json:
        listed = [
            {
                "input": line,
                "outputs": [{"output": _text(o), "log_score": s} for o, s in outputs],
            }
            for lines, results in found
            for line, outputs in zip(lines, results, strict=True)
        ]
        emit_json({"report": dict(counts), "results": listed}, output)
        return
    with stage("Applying") as progress:
        emit_lines(_told(found, best, style, progress), output)
    warn_of_unknown(counts, machine, as_corpus([list(strange)]))


def _told(
    found: Iterator[tuple[list[str], Any]], best: int, style: str | None, progress: Stage
) -> Iterator[str]:
    for lines, results in found:
        yield from _rows(lines, results, best, style)
        progress.advance(len(lines))


def _applied(machine: Any, lines: list[str], *, best: int, source: str, how: dict[str, Any]) -> Any:
    return machine.apply(_cut(lines, source), best, **how)


def _cut(lines: list[str], source: str) -> list[Any]:
    return [line.split() if source == "words" else line for line in lines]


def _rows(lines: list[str], results: Any, best: int, style: str | None) -> list[str]:
    if style is not None:
        from sigmastar.corpus.readers.dictionary import Pronunciation, dictionary_lines
        from sigmastar.transducers.transliteration.answers import as_shares

        entries = (
            Pronunciation(line, tuple(map(str, output)), share)
            for line, found in zip(lines, results, strict=True)
            for output, share in as_shares(found)
            if len(output)
        )
        return list(dictionary_lines(entries, style))
    if best == 1:
        return [_text(found[0][0]) if found else "" for found in results]
    return [
        f"{line}\t{_text(written)}\t{score:.4f}"
        for line, found in zip(lines, results, strict=True)
        for written, score in found
    ]


def _write_outputs(
    run: Any, best: int, style: str | None, part: FileSpan, target: BinaryIO
) -> tuple[int, int]:
    lines = part.lines()
    results, report = run(lines)
    target.write("".join(f"{row}\n" for row in _rows(lines, results, best, style)).encode())
    return len(lines), int(report.get("n_with_unknown", 0))


@app.command()
def evaluate(
    model: ModelArgument,
    pairs: PairsArgument,
    beam: BeamOption = None,
    source: Annotated[str | None, SOURCE] = None,
    target: Annotated[str | None, TARGET] = None,
    format: FormatOption = "tsv",
    stress: StressOption = True,
    on_error: ErrorOption = "raise",
    worst: Annotated[
        int, option("--worst", "Show the worst words and commonest confusions.", "N", min=0)
    ] = 0,
    json: options.Json = False,
) -> None:
    """Measure a model on pairs: word accuracy, mean F-score, edit distances, speed.

    An input that occurs with several outputs is right, in the error rates of
    inputs and symbols, if it gets any of them.

    [bold]Examples[/]
    sigmastar transducer evaluate names.sigma test.tsv
    sigmastar transducer evaluate g2p.sigma sounds.tsv --target words --worst 5
    """
    from sigmastar.core.confusion import check_overlap
    from sigmastar.metrics import (
        character_error_rate,
        mean_f_score,
        normalized_edit_distance,
        word_accuracy,
    )
    from sigmastar.metrics.several import nearest_errors
    from sigmastar.transducers.transliteration.forms import in_form

    announce_stdin(pairs)
    machine = load_pairs_model(model, equal=True)
    asked = {"source": source, "target": target}
    sides = machine.sides | {name: unit for name, unit in asked.items() if unit is not None}
    corpus = read_given(pairs, sides, format=format, stress=stress, on_error=on_error)
    how = "Read them as the model did: --target chars or --target words."
    written = in_form(corpus.target, machine.forms[1])
    check_overlap(machine.target_alphabet, written.alphabet, "output symbols", how)
    begin = time.perf_counter()
    with stage(f"Applying to {len(corpus):,} inputs"):
        found, report = machine.apply(corpus.source, 1, beam=beam)
    seconds = time.perf_counter() - begin
    guesses = [list(best[0][0]) if best else [] for best in found]
    truth = [list(output) for output in corpus.target]
    errors = nearest_errors(corpus.source, truth, guesses)
    figures = {
        "pairs": len(corpus),
        "word_accuracy": word_accuracy(truth, guesses),
        "mean_f_score": mean_f_score(truth, guesses),
        "normalized_edit_distance": normalized_edit_distance(truth, guesses),
        "character_error_rate": character_error_rate(truth, guesses),
        "inputs": errors.n_inputs,
        "input_error_rate": errors.input_error_rate,
        "symbol_error_rate": errors.symbol_error_rate,
        "inputs_per_second": len(corpus) / max(seconds, 1e-9),
    } | report
    if json:
        figures |= {"confusions": errors.confusions[:worst], "worst": errors.worst[:worst]}
        emit_json(figures)
        return
    rows = [
        ("word accuracy %", f"{100 * figures['word_accuracy']:.2f}"),
        ("mean F-score %", f"{100 * figures['mean_f_score']:.2f}"),
        ("normalized edit distance × 100", f"{100 * figures['normalized_edit_distance']:.2f}"),
        ("character error rate %", f"{100 * figures['character_error_rate']:.2f}"),
        ("error rate of inputs %, any output right", f"{100 * errors.input_error_rate:.2f}"),
        ("error rate of symbols %, nearest output", f"{100 * errors.symbol_error_rate:.2f}"),
        ("inputs per second", f"{figures['inputs_per_second']:,.0f}"),
    ]
    show_table(f"{model} on {pairs}, {len(corpus):,} pairs", ("measure", "value"), rows)
    if worst:
        taken = [(a or "–", b or "–", f"{n:,}") for a, b, n in errors.confusions[:worst]]
        show_table("Commonest confusions", ("right", "written", "times"), taken)
        bad = [(_text(x), _text(y), _text(z), str(n)) for x, y, z, n in errors.worst[:worst]]
        show_table("Worst inputs", ("input", "nearest output", "written", "edits"), bad)
    warn_of_unknown(report, machine, corpus.source)


app.command()(transducer_train.export)
app.command()(transducer_equal.report)
app.command()(transducer_equal.recover)


def _text(output: Any) -> str:
    return output if isinstance(output, str) else " ".join(map(str, output))
