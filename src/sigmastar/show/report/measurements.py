"""What a page shows of hidden Markov models over measurements: states, moves, a coloured stream."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sigmastar.core.types import FloatArray
from sigmastar.drawing.charts import lines
from sigmastar.drawing.heatmap import heatmap
from sigmastar.drawing.markup import Markup
from sigmastar.sensors.hmm.data import Measurements
from sigmastar.sensors.hmm.inference.decode import decode
from sigmastar.sensors.hmm.inference.smooth import log_masses, smooth
from sigmastar.sensors.hmm.measurement_hmm import MeasurementHMM
from sigmastar.show.report.learning import learning_cards
from sigmastar.show.report.matrices import Small, matrices_card
from sigmastar.show.report.page import Section, card, table
from sigmastar.show.report.sensors import stream_card

__all__ = ["measurement_sections"]

_FRAMES = 400
_MOST_STATES = 40
_MOST_COLUMNS = 16
_MOST_MATRICES = 12


def measurement_sections(
    model: MeasurementHMM, history: Mapping[str, Any], data: Measurements | None
) -> list[Section]:
    """Return the sections of the page of a hidden Markov model over measurements."""
    return [
        Section("Test", [] if data is None else _test(model, data)),
        Section("Machine", [_moves(model), _means(model), *_covariances(model)]),
        Section("Learning", learning_cards(history)),
    ]


def _moves(model: MeasurementHMM) -> Markup:
    n = min(model.n_states, _MOST_STATES)
    names = list(model.names or ())[:n]
    return card(
        "Moves between states",
        heatmap(
            model.moves()[:n, :n],
            names,
            names,
            title="probability of the next state (column) after a state (row)",
            cell=max(6.0, min(28.0, 260.0 / n)),
        ),
        note="Rows: now; columns: the next frame.",
    )


def _means(model: MeasurementHMM) -> Markup:
    means, variances = model.emission.moments()
    columns = list(model.columns or ())[:_MOST_COLUMNS]
    share = model.occupancy()
    stay = np.diagonal(model.moves())
    rows = []
    for k in range(min(model.n_states, _MOST_STATES)):
        lasting = f"{1.0 / (1.0 - stay[k]):.1f}" if stay[k] < 1.0 - 1e-9 else "never left"
        cells = [
            f"{m:.4g} ± {s:.3g}" for m, s in zip(means[k], np.sqrt(variances[k]), strict=True)
        ][:_MOST_COLUMNS]
        rows.append([(model.names or ())[k], f"{100 * share[k]:.1f} %", lasting, *cells])
    return card(
        "What states emit",
        table(["state", "share of time", "frames at a time", *columns], rows),
        note="Mean ± standard deviation of each column.",
        wide=True,
    )


def _covariances(model: MeasurementHMM) -> list[Markup]:
    """Return the correlations within each state, where columns may be correlated."""
    covariance = getattr(model.emission, "covariance", None)
    if covariance is None or not 2 <= model.n_columns <= _MOST_COLUMNS:
        return []
    small = [
        Small(name, f"correlations in state {name}", _correlation(covariance(k)))
        for k, name in enumerate((model.names or ())[:_MOST_MATRICES])
    ]
    return [
        matrices_card(
            "Correlations within states",
            small,
            names=model.columns,
            cells=(6.0, 16.0),
            note="Orange is negative.",
            wide=True,
        )
    ]


def _correlation(matrix: FloatArray) -> FloatArray:
    spread = np.sqrt(np.diagonal(matrix))
    return np.asarray(matrix / np.outer(spread, spread), np.float64)


def _test(model: MeasurementHMM, data: Measurements) -> list[Markup]:
    path = decode(model, data).states
    sure = (smooth(model, data).posterior @ model.membership).max(axis=1)
    odd = -log_masses(model, data)
    first = slice(0, min(int(data.lengths[0]), _FRAMES))
    names = list(model.names or ())
    steps = list(map(float, range(first.stop)))
    rows = [
        ("sequences", f"{len(data.lengths):,}"),
        ("frames", f"{data.n_frames:,}"),
        ("not observed", f"{100 * float(np.isnan(data.values).mean()):.2f} %"),
        ("log-likelihood of a frame", f"{-float(odd.mean()):.4f}"),
        ("most surprising frame", f"{int(odd.argmax()):,} ({float(odd.max()):.1f})"),
    ]
    return [
        stream_card(names, {"state": [names[s] for s in path[first]]}, sure[first]),
        card("How well it fits", table(("", ""), rows)),
        card(
            "Surprise along the stream",
            lines(
                {"surprise": (steps, [float(v) for v in odd[first]])},
                title="surprise along the stream",
                x_title="frame",
                y_title="-log P(frame | before)",
            ),
        ),
    ]
