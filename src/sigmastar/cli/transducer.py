"""``sigmastar transducer``: learn to write one string for another, apply it, measure it."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from sigmastar.cli.output import JsonOption, emit_json, err, out, show_table

__all__ = ["app"]

app = typer.Typer(
    help="Transliteration, pronunciation, spelling: learn string pairs of any lengths.",
    no_args_is_help=True,
)

PairsArgument = Annotated[
    Path, typer.Argument(help="Tab-separated pairs: input, output (.gz is fine).", metavar="PAIRS")
]
ModelArgument = Annotated[Path, typer.Argument(help="A model that 'train' wrote.", metavar="MODEL")]
SourceOption = Annotated[
    str, typer.Option("--source", help="What an input is made of: chars, or words at spaces.")
]
TargetOption = Annotated[
    str, typer.Option("--target", help="What an output is made of: chars, or words at spaces.")
]


@app.command()
def train(
    pairs: PairsArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the model.")],
    dev: Annotated[
        Path | None,
        typer.Option(help="Development pairs to balance scorers on (default: a tenth held out)."),
    ] = None,
    method: Annotated[
        str,
        typer.Option(help="combined, joint-ngram, joint-spectral, learnfst or em."),
    ] = "combined",
    units: Annotated[
        str, typer.Option(help="Allowed sizes of a unit, inputs:outputs.")
    ] = "1:0,1:1,1:2,1:3",
    order: Annotated[int, typer.Option(help="The longest n-gram of joint n-gram models.")] = 6,
    states: Annotated[
        int | None, typer.Option(help="States of learnfst, em and joint-spectral.")
    ] = None,
    source: SourceOption = "chars",
    target: TargetOption = "chars",
    strict: Annotated[
        bool, typer.Option(help="Fail if a pair has an empty side or cannot be aligned.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Same seed, same model.")] = 0,
    json: JsonOption = False,
) -> None:
    """Learn from pairs of strings and write a model.

    [bold]Examples[/]

      sigmastar transducer train names.tsv -o names.sigma --dev dev.tsv

      sigmastar transducer train lexicon.tsv -o g2p.sigma --target words

      sigmastar transducer train names.tsv -o fst.sigma --method em --states 5
    """
    from sigmastar.core.errors import InvalidData
    from sigmastar.corpus.readers.api import read_pairs
    from sigmastar.estimators.transliterator import Transliterator

    sides: dict[str, Any] = {"source": source, "target": target}
    corpus = read_pairs(pairs, **sides)
    held_out = None
    if dev is not None:
        held_out = read_pairs(
            dev,
            source_alphabet=corpus.source.alphabet,
            target_alphabet=corpus.target.alphabet,
            unknown="ignore",
            **sides,
        )
    estimator = Transliterator(
        method,
        units=_sizes(units),
        order=order,
        n_states=states or "auto",
        random_state=seed,
    )
    begin = time.perf_counter()
    estimator.fit(corpus, dev=held_out)
    seconds = time.perf_counter() - begin
    info = estimator.info_
    left_out = {name: info.get(name, 0) for name in ("n_empty", "n_unalignable", "n_unreached")}
    if strict and any(left_out.values()):
        raise InvalidData(
            f"{left_out['n_empty']} pairs have an empty side and "
            f"{left_out['n_unalignable'] + left_out['n_unreached']} cannot be aligned into units "
            f"{units}. Drop --strict to leave them out, or allow larger units."
        )
    estimator.model_.save(output)
    summary = {"pairs": len(corpus), "seconds": seconds, "method": method} | left_out
    summary |= {"weights": info.get("weights"), "model": str(output)}
    if json:
        emit_json(summary)
        return
    err.print(f"learned from {len(corpus):,} pairs in {seconds:.1f} s; wrote {output}")
    _warn(left_out, {"n_empty": "with an empty side", "n_unalignable": "that cannot be aligned"})


@app.command()
def apply(
    model: ModelArgument,
    inputs: Annotated[
        str, typer.Argument(help="One input a line; '-' for standard input.", metavar="[FILE]")
    ] = "-",
    nbest: Annotated[int, typer.Option("--nbest", "-n", min=1, help="Outputs per input.")] = 1,
    beam: Annotated[int | None, typer.Option(help="Hypotheses to keep while searching.")] = None,
    source: SourceOption = "chars",
    strict: Annotated[bool, typer.Option(help="Fail at a symbol that was not learned.")] = False,
    json: JsonOption = False,
) -> None:
    """Write the best output of each input line, or with --nbest input, output and score.

    [bold]Examples[/]

      echo brooklyn | sigmastar transducer apply names.sigma

      sigmastar transducer apply names.sigma words.txt --nbest 5 --json
    """
    machine = _load(model)
    lines = _lines(inputs)
    sequences = [line.split() if source == "words" else line for line in lines]
    results, report = machine.apply(
        sequences, nbest, beam=beam, unknown="error" if strict else "ignore"
    )
    if json:
        emit_json(
            {
                "report": report,
                "results": [
                    {
                        "input": line,
                        "outputs": [{"output": _text(o), "log_score": s} for o, s in found],
                    }
                    for line, found in zip(lines, results, strict=True)
                ],
            }
        )
        return
    rows = []
    for line, found in zip(lines, results, strict=True):
        if nbest == 1:
            rows.append(_text(found[0][0]) if found else "")
        else:
            rows += [f"{line}\t{_text(output)}\t{score:.4f}" for output, score in found]
    sys.stdout.write("".join(row + "\n" for row in rows))
    _warn(report, {"n_with_unknown": "with symbols never learned (left out)"}, what="inputs")


@app.command("eval")
def evaluate(
    model: ModelArgument,
    pairs: PairsArgument,
    source: SourceOption = "chars",
    target: TargetOption = "chars",
    beam: Annotated[int | None, typer.Option(help="Hypotheses to keep while searching.")] = None,
    json: JsonOption = False,
) -> None:
    """Measure a model on pairs: word accuracy, mean F-score, edit distances, speed.

    [bold]Example[/]

      sigmastar transducer eval names.sigma test.tsv
    """
    from sigmastar.corpus.readers.api import read_pairs
    from sigmastar.metrics import (
        character_error_rate,
        mean_f_score,
        normalized_edit_distance,
        word_accuracy,
    )

    machine = _load(model)
    corpus = read_pairs(pairs, source=source, target=target)  # type: ignore[arg-type]
    begin = time.perf_counter()
    found, report = machine.apply(corpus.source, 1, beam=beam)
    seconds = time.perf_counter() - begin
    guesses = [list(best[0][0]) if best else [] for best in found]
    truth = [list(output) for output in corpus.target]
    figures = {
        "pairs": len(corpus),
        "word_accuracy": word_accuracy(truth, guesses),
        "mean_f_score": mean_f_score(truth, guesses),
        "normalized_edit_distance": normalized_edit_distance(truth, guesses),
        "character_error_rate": character_error_rate(truth, guesses),
        "inputs_per_second": len(corpus) / max(seconds, 1e-9),
    } | report
    if json:
        emit_json(figures)
        return
    rows = [
        ("word accuracy %", f"{100 * figures['word_accuracy']:.2f}"),
        ("mean F-score %", f"{100 * figures['mean_f_score']:.2f}"),
        ("normalized edit distance × 100", f"{100 * figures['normalized_edit_distance']:.2f}"),
        ("character error rate %", f"{100 * figures['character_error_rate']:.2f}"),
        ("inputs per second", f"{figures['inputs_per_second']:,.0f}"),
    ]
    show_table(f"{model} on {len(corpus):,} pairs", ("measure", "value"), rows)
    _warn(report, {"n_with_unknown": "with symbols never learned (left out)"}, what="inputs")
    out.print("")


def _sizes(text: str) -> tuple[tuple[int, int], ...]:
    from sigmastar.core.errors import InvalidParameter

    try:
        pairs = [part.split(":") for part in text.split(",")]
        return tuple((int(p), int(q)) for p, q in pairs)
    except ValueError:
        raise InvalidParameter(
            f"units must look like 1:0,1:1,1:2 (inputs:outputs); got {text!r}."
        ) from None


def _load(path: Path) -> Any:
    from sigmastar.core.errors import InvalidParameter
    from sigmastar.loading import load
    from sigmastar.transduction.model import TransliterationModel

    machine = load(path)
    if not isinstance(machine, TransliterationModel):
        raise InvalidParameter(
            f"{path} holds a {type(machine).__name__}; this command needs a model written by "
            "'sigmastar transducer train'."
        )
    return machine


def _lines(inputs: str) -> list[str]:
    if inputs == "-":
        return [line.rstrip("\r\n") for line in sys.stdin]
    with open(inputs, encoding="utf-8") as file:
        return [line.rstrip("\r\n") for line in file]


def _text(output: Any) -> str:
    return output if isinstance(output, str) else " ".join(map(str, output))


def _warn(counts: dict[str, Any], words: dict[str, str], what: str = "pairs") -> None:
    for name, meaning in words.items():
        if counts.get(name):
            err.print(f"[yellow]note:[/] {counts[name]:,} {what} {meaning}", markup=True)
