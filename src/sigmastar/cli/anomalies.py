"""``sigmastar anomalies``: which sequences are odd, and what is odd about them."""

from __future__ import annotations

from typing import Annotated

from sigmastar.cli import options
from sigmastar.cli.inputs import load_automaton, read_any, text_format
from sigmastar.cli.options import choice, option
from sigmastar.cli.output import emit_json, emit_lines, err
from sigmastar.core.errors import InvalidParameter
from sigmastar.core.progress import stage

__all__ = ["anomalies"]


def anomalies(
    model: options.Model,
    data: options.Data,
    normal: Annotated[
        str | None,
        option("--normal", "Normal sequences, not learned from: sets the threshold.", "FILE"),
    ] = None,
    false_alarms: Annotated[
        float | None,
        option("--false-alarms", "Share of the normal ones called odd; 0.01 by default.", "X"),
    ] = None,
    by: Annotated[
        str, choice("--by", ("max", "mean"), "As odd as the oddest event, or as all on the mean")
    ] = "max",
    output: options.TextOutput = "-",
    format: options.Format = None,
    json: options.Json = False,
) -> None:
    """Print how odd every sequence is: bits of surprise, the oddest event, and the sequence.

    With --normal, a threshold is chosen so that no more than --false-alarms of
    those sequences lie above it, and only what lies above is printed. Symbols
    that the model has never seen are very odd.

    [bold]Examples[/]
    sigmastar anomalies logs.sigma new.txt
    sigmastar anomalies logs.sigma new.txt --normal logs.txt --false-alarms 0.1
    """
    from sigmastar.automata.inference import alarm_threshold, anomaly_scores

    if false_alarms is not None and normal is None:
        raise InvalidParameter(
            "--false-alarms needs normal sequences to count them on. Give some with --normal FILE."
        )
    machine = load_automaton(model, or_predictor=True)
    known = format or text_format(model)
    corpus = read_any(data, known)
    threshold = None
    with stage(f"Looking at {len(corpus):,} sequences"):
        if normal is not None:
            usual = read_any(normal, known)
            share = 0.01 if false_alarms is None else false_alarms
            threshold = alarm_threshold(machine, usual, false_alarms=share, by=by)  # type: ignore[arg-type]
        found = anomaly_scores(machine, corpus, by=by)  # type: ignore[arg-type]
    rows = []
    for number, (score, place, bits) in enumerate(zip(*found, strict=True)):
        if threshold is None or score > threshold:
            sequence = [str(symbol) for symbol in corpus[number]]
            event = sequence[place] if place < len(sequence) else "END"
            row = {"sequence": number, "score": score, "event": event, "place": int(place)}
            rows.append(row | {"symbols": sequence, "surprise": bits})
    if json:
        emit_json({"threshold": threshold, "n_sequences": len(corpus), "odd": rows}, output)
        return
    emit_lines(
        (
            f"{row['sequence'] + 1}\t{row['score']:.3f}\t{row['event']}\t{' '.join(row['symbols'])}"
            for row in rows
        ),
        output,
    )
    if threshold is not None:
        err.print(f"{len(rows):,} of {len(corpus):,} sequences are above {threshold:.3f} bits")
