"""``sigmastar transducer train`` and ``export``: models of pairs, learned and handed on."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from sigmastar.cli import choices, options
from sigmastar.cli.inputs import announce_stdin, expect
from sigmastar.cli.options import choice, option
from sigmastar.cli.output import show_saved
from sigmastar.cli.transducer_equal import (
    EqualOptions,
    InputsOption,
    PositionsOption,
    train_equal,
)
from sigmastar.cli.transducer_parts import (
    SOURCE,
    TARGET,
    ErrorOption,
    FormatOption,
    ModelArgument,
    PairsArgument,
    StressOption,
    load_pairs_model,
    read_given,
    warn_of,
)
from sigmastar.core.errors import InvalidData
from sigmastar.core.progress import stage

__all__ = ["export", "train"]


def train(
    pairs: PairsArgument,
    output: options.ModelOutput,
    method: Annotated[
        str, choice("--method -m", choices.TRANSLITERATION_METHODS, "How to learn", "METHOD")
    ] = "combined",
    states: options.States = "auto",
    model: Annotated[
        str | None,
        choice("--model", choices.EQUAL_MODELS, "Learn pairs of equal length, instead", "MODEL"),
    ] = None,
    positions: PositionsOption = "first",
    inputs: InputsOption = "independent",
    restarts: Annotated[int, option("--restarts", "Random starts of --model em.", "N", min=1)] = 1,
    dev: Annotated[
        str | None,
        option(
            "--dev", "Development pairs to balance scorers on (default: a tenth held out).", "PAIRS"
        ),
    ] = None,
    units: Annotated[
        str, option("--units", "Allowed sizes of a unit, inputs:outputs.", "SIZES")
    ] = "1:0,1:1,1:2,1:3",
    order: Annotated[int, option("--order", "The longest n-gram of joint n-gram models.", "N")] = 6,
    source: Annotated[str, SOURCE] = "chars",
    target: Annotated[str, TARGET] = "chars",
    source_form: Annotated[
        str, choice("--source-form", choices.SOURCE_FORMS, "What counts as an input symbol", "FORM")
    ] = "auto",
    target_form: Annotated[
        str,
        choice("--target-form", choices.TARGET_FORMS, "What counts as an output symbol", "FORM"),
    ] = "auto",
    format: FormatOption = "tsv",
    stress: StressOption = True,
    on_error: ErrorOption = "raise",
    strict: Annotated[
        bool, option("--strict", "Fail at a pair that is empty or cannot be aligned.")
    ] = False,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Learn from pairs of strings and write a model.

    [bold]Examples[/]
    sigmastar transducer train pairs.tsv -o names.sigma --dev dev.tsv
    sigmastar transducer train sounds.tsv -o g2p.sigma --target words
    sigmastar transducer train cmu.dict -o cmu.sigma --format dictionary
    sigmastar transducer train pairs.tsv -o em.sigma -m em -n 3
    sigmastar transducer train same.tsv -o same.sigma --model spectral -n 2
    """
    expect(pairs, dev)
    from sigmastar.transducers.estimators.transliterator import Transliterator

    announce_stdin(pairs)
    sides = {"source": source, "target": target}
    how: dict[str, Any] = {"format": format, "stress": stress, "on_error": on_error}
    corpus = read_given(pairs, sides, **how)
    if model is not None:
        if method != "combined" or dev is not None:
            raise typer.BadParameter(
                "learns pairs of equal length, without --method and --dev. Leave out one of them.",
                param_hint="'--model'",
            )
        asked = EqualOptions(model, states, positions, inputs, restarts, seed)
        train_equal(corpus, asked, output, json=json)
        return
    held_out = None if dev is None else read_given(dev, sides, **how)
    estimator = Transliterator(
        method,
        units=_sizes(units),
        order=order,
        n_states=options.given_size(states) or "auto",
        source_form=source_form,
        target_form=target_form,
        random_state=seed,
    )
    begin = time.perf_counter()
    with stage("Training"):
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
    estimator.save(output)
    summary = {"pairs": len(corpus), "seconds": seconds, "method": method} | left_out
    summary |= {name: info.get(name) for name in ("source_form", "target_form", "weights")}
    show_saved("Learned from pairs", summary, output, json=json)
    if not json:
        words = {"n_empty": "with an empty side", "n_unalignable": "that cannot be aligned"}
        warn_of(left_out, words)


def export(
    model: ModelArgument,
    output: Annotated[Path, option("--output -o", "The file of arcs.", "FILE")],
    json: options.Json = False,
) -> None:
    """Write the joint n-gram part as a weighted transducer for OpenFst, in AT&T text.

    Beside FILE, the symbol tables FILE.isyms and FILE.osyms are written. Compile
    it by fstcompile FILE; its cheapest path is the likeliest alignment.

    [bold]Example[/]
    sigmastar transducer export g2p.sigma -o g2p.txt
    """
    from sigmastar.core.atomic import atomic_write_all

    machine = load_pairs_model(model).to_att()
    texts = {".isyms": machine.inputs, ".osyms": machine.outputs, "": machine.arcs}
    atomic_write_all({f"{output}{suffix}": text.encode() for suffix, text in texts.items()})
    summary = {"lines": machine.arcs.count("\n"), "symbols": f"{output}.isyms, {output}.osyms"}
    show_saved("Written for OpenFst", summary, output, json=json)


def _sizes(text: str) -> tuple[tuple[int, int], ...]:
    try:
        pairs = [part.split(":") for part in text.split(",")]
        return tuple((int(p), int(q)) for p, q in pairs)
    except ValueError:
        raise typer.BadParameter(
            f"must look like 1:0,1:1,1:2 (inputs:outputs); got {text!r}.", param_hint="'--units'"
        ) from None
