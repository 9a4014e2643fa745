"""What a page shows of taggers of measurements: operators, and streams with their labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sigmastar.core.confusion import check_overlap, confusion
from sigmastar.corpus.frames import FrameTable
from sigmastar.drawing.charts import lines, strips
from sigmastar.drawing.markup import Markup, element
from sigmastar.sensors.inference.tag import tag_frames
from sigmastar.sensors.model import ContinuousTagger
from sigmastar.show.report.labels import confusion_cards, first_states, percent
from sigmastar.show.report.learning import learning_cards
from sigmastar.show.report.matrices import Small, matrices_card
from sigmastar.show.report.page import Section, card, table

__all__ = ["sensor_sections", "stream_card"]

_FRAMES = 400
_MOST_STATES = 40
_MOST_LABELS = 24


def sensor_sections(
    model: ContinuousTagger, history: Mapping[str, Any], data: FrameTable | None
) -> list[Section]:
    """Return the sections of the page of a tagger of measurements."""
    return [
        Section("Test", [] if data is None else _test(model, data)),
        Section("Machine", _operators(model)),
        Section("Learning", learning_cards(history)),
    ]


def _operators(model: ContinuousTagger) -> list[Markup]:
    first = slice(0, _MOST_STATES)
    typical = np.einsum(
        "lfij,f->lij", model.operators[:_MOST_LABELS, :, first, first], model.typical
    )
    small = [
        Small(str(name), f"operator of {name}", matrix)
        for name, matrix in zip(model.labels.symbols, typical, strict=False)
    ]
    note = "How the state moves under each label at a typical frame; orange is negative."
    note += first_states(model.n_states, _MOST_STATES)
    return [matrices_card("Operators by label", small, note=note)]


def _test(model: ContinuousTagger, data: FrameTable) -> list[Markup]:
    if data.labels is not None:
        check_overlap(model.labels.symbols, data.labels, "labels", "Name their column: label=.")
    tagged = tag_frames(model, data)
    given = [name for piece in tagged.labels for name in piece]
    first = slice(0, min(int(data.lengths[0]), _FRAMES))
    confidence = tagged.confidence[0][first]
    names = [str(name) for name in model.labels.symbols]
    if data.labels is None:
        return [stream_card(names, {"given": given[first]}, confidence)]
    found = confusion(data.labels, given)
    rows = [
        ("sequences", f"{len(data.lengths):,}"),
        ("frames", f"{len(given):,}"),
        ("frames right", percent(found.accuracy)),
    ]
    both = {"right": data.labels[first], "given": given[first]}
    return [
        stream_card(names, both, confidence),
        card("How well it does", table(("", ""), rows)),
        *confusion_cards(found),
    ]


def stream_card(names: list[str], rows: Mapping[str, list[Any]], confidence: Any) -> Markup:
    """Show the labels of a stream as strips, and how sure the tagger was."""
    every = list(dict.fromkeys([*names, *(str(x) for row in rows.values() for x in row)]))
    codes = {name: i for i, name in enumerate(every)}
    drawn = strips(
        {name: [codes[str(x)] for x in row] for name, row in rows.items()},
        every,
        title="labels along the stream",
    )
    steps = list(map(float, range(len(confidence))))
    curve = lines(
        {"confidence": (steps, [float(v) for v in confidence])},
        title="confidence along the stream",
        x_title="frame",
        y_title="confidence",
    )
    return card(
        "A stream and its labels",
        element("div", drawn, class_="graph"),
        element("div", curve, style="max-width:520px;margin-top:8px"),
        note=f"The first {len(steps)} frames of the first sequence.",
        wide=True,
    )
