"""What a page shows of transducers: what is written for what, units, pairs that went wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sigmastar.core.confusion import check_overlap, confusion
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.drawing.heatmap import heatmap
from sigmastar.drawing.markup import Markup, element
from sigmastar.metrics import (
    character_error_rate,
    mean_f_score,
    normalized_edit_distance,
    word_accuracy,
)
from sigmastar.show.report.labels import confusion_cards, first_states, percent
from sigmastar.show.report.learning import learning_cards
from sigmastar.show.report.matrices import Small, matrices_card
from sigmastar.show.report.page import Section, card, scrolling, table
from sigmastar.show.views.summary import shown_string
from sigmastar.transducers import inference as inference
from sigmastar.transducers.models.parametric import ParametricTransducer
from sigmastar.transducers.models.transducer import Transducer
from sigmastar.transducers.transliteration.model import TransliterationModel

__all__ = ["pair_cards", "transducer_sections", "transliterator_sections"]

_WIDEST = 30
_EXAMPLES = 14
_MOST_STATES = 40


def transducer_sections(
    model: Transducer | ParametricTransducer, history: Mapping[str, Any], data: PairCorpus | None
) -> list[Section]:
    """Return the sections of the page of a transducer that keeps lengths."""
    machine = model.to_transducer() if isinstance(model, ParametricTransducer) else model
    return [
        Section("Machine", _machine(machine)),
        Section("Test", [] if data is None else _aligned_test(machine, data)),
        Section("Learning", learning_cards(history)),
    ]


def _machine(machine: Transducer) -> list[Markup]:
    inputs = [str(s) for s in machine.input_alphabet.symbols][:_WIDEST]
    outputs = [str(s) for s in machine.output_alphabet.symbols][:_WIDEST]
    first = np.array(
        [
            inference.next_output(machine, np.array([s], np.int32), np.array([], np.int32))
            for s in range(len(inputs))
        ]
    )[:, : len(outputs)]
    small = [
        Small(f"reading {name}", f"moves reading {name}", moves[:_MOST_STATES, :_MOST_STATES])
        for name, moves in zip(inputs[:8], machine.input_sums, strict=False)
    ]
    return [
        card(
            "What is written for what",
            scrolling(
                heatmap(
                    first,
                    inputs,
                    outputs,
                    title="output by input at the beginning",
                    row_title="read",
                    column_title="written",
                )
            ),
            note="Probability of each output for the first symbol of a sequence.",
        ),
        matrices_card(
            "Moves by input",
            small,
            note="Operators summed over all outputs; orange is negative."
            + first_states(machine.n_states, _MOST_STATES),
        ),
    ]


def _aligned_test(machine: Transducer, data: PairCorpus) -> list[Markup]:
    source = data.source.recode(machine.input_alphabet)
    target = data.target.recode(machine.output_alphabet)
    pairs = PairCorpus(source, target)
    logs = inference.log_proba(machine, pairs)
    names = machine.output_alphabet.symbols
    given: list[object] = []
    for index in range(len(source)):
        best = inference.marginals(machine, source.codes(index)).argmax(axis=1)
        given += [names[code] for code in best]
    right = [symbol for sequence in target for symbol in sequence]
    found = confusion(right, given)
    rows = [
        ("pairs", f"{len(pairs):,}"),
        ("symbols right", percent(found.accuracy)),
        ("mean log P(y | x)", f"{float(np.mean(logs)):.4f}"),
    ]
    return [card("How well it does", table(("", ""), rows)), *confusion_cards(found)]


def transliterator_sections(
    model: TransliterationModel, history: Mapping[str, Any], data: PairCorpus | None
) -> list[Section]:
    """Return the sections of a transliterator's page."""
    return [
        Section("Test", [] if data is None else _pair_test(model, data)),
        Section("Machine", _units(model)),
        Section("Learning", learning_cards(history)),
    ]


def _units(model: TransliterationModel) -> list[Markup]:
    if not len(model.units):
        return []
    strongest = np.argsort(-model.unit_weights, kind="stable")[:24]
    read, write = model.units.inputs, model.units.outputs
    rows = [
        (
            _spelled(model.source_alphabet.symbols, read[u]),
            _spelled(model.target_alphabet.symbols, write[u]),
            f"{100 * model.unit_weights[u]:.2f} %",
        )
        for u in strongest
    ]
    columns = [rows[k::3] for k in range(3)]
    tables = [table(("reads", "writes", "share"), part, left=2) for part in columns if part]
    cards = [
        card(
            "Units of most weight",
            element("div", *tables, class_="grid"),
            note=f"Pieces that are rewritten as a whole, of {len(model.units):,} in all.",
        )
    ]
    single = _single_units(model)
    return [single, *cards] if single is not None else cards


def _single_units(model: TransliterationModel) -> Markup | None:
    """Draw the units of one symbol each as a matrix of what is written for what."""
    read, write = model.units.inputs, model.units.outputs
    alone = ((read >= 0).sum(axis=1) == 1) & ((write >= 0).sum(axis=1) == 1)
    weights = model.unit_weights
    if not weights[alone].any():
        return None
    sources, targets = read[alone].max(axis=1), write[alone].max(axis=1)
    totals = np.bincount(sources, weights[alone], len(model.source_alphabet))
    rows = np.flatnonzero(totals)[:_WIDEST]
    rows = rows[np.argsort([str(model.source_alphabet.symbols[r]) for r in rows], kind="stable")]
    place = np.full(len(totals), -1)
    place[rows] = np.arange(len(rows))
    shown = place[sources] >= 0  # of large alphabets a few rows: all of them would not fit
    shares = np.zeros((len(rows), len(model.target_alphabet)))
    np.add.at(shares, (place[sources[shown]], targets[shown]), weights[alone][shown])
    shares /= totals[rows, None]
    columns = np.flatnonzero(shares.max(axis=0) >= 0.08)[:_WIDEST]
    columns = columns[np.argsort(shares[:, columns].argmax(axis=0), kind="stable")]
    return card(
        "What is written for what",
        scrolling(
            heatmap(
                shares[:, columns],
                [str(model.source_alphabet.symbols[r]) for r in rows],
                [str(model.target_alphabet.symbols[c]) for c in columns],
                title="units of one symbol each",
                cell=17,
                row_title="read",
                column_title="written",
            )
        ),
        note="Units of one symbol on each side, as shares of the row.",
    )


def _spelled(symbols: tuple[Any, ...], codes: Any) -> str:
    return shown_string([symbols[code] for code in codes if code >= 0]) or "ε"


def _pair_test(model: TransliterationModel, data: PairCorpus) -> list[Markup]:
    how = "Read them as the model did: read_pairs(…, target='words') or 'chars'."
    check_overlap(model.target_alphabet, data.target.alphabet, "output symbols", how)
    found, _ = model.apply(data.source, 3)
    return pair_cards(
        [shown_string(x) for x in data.source],
        [list(y) for y in data.target],
        [[(list(y), score) for y, score in best] for best in found],
    )


def pair_cards(
    inputs: list[str], truth: list[list[Any]], found: list[list[tuple[list[Any], float]]]
) -> list[Markup]:
    """Compare n-best outputs with the right ones: figures, and examples with errors first."""
    guesses = [best[0][0] if best else [] for best in found]
    among = [any(y == t for y, _ in best) for best, t in zip(found, truth, strict=True)]
    rows = [
        ("pairs", f"{len(truth):,}"),
        ("whole outputs right", percent(word_accuracy(truth, guesses))),
        ("right among the best three", percent(float(np.mean(among)))),
        ("character error rate", percent(character_error_rate(truth, guesses))),
        ("mean F-score", percent(mean_f_score(truth, guesses))),
        ("normalized edit distance", f"{normalized_edit_distance(truth, guesses):.4f}"),
    ]
    wrong = [i for i in range(len(truth)) if guesses[i] != truth[i]]
    fine = [i for i in range(len(truth)) if guesses[i] == truth[i]]
    shown = [*fine[: _EXAMPLES // 2], *wrong[: _EXAMPLES // 2]]
    examples = []
    for i in shown:
        good = guesses[i] == truth[i]
        others = [shown_string(y) for y, _ in found[i][1:]]
        examples.append(
            (
                inputs[i],
                element("span", shown_string(guesses[i]), class_="right" if good else "wrong"),
                shown_string(truth[i]),
                ", ".join(others),
            )
        )
    return [
        card("How well it does", table(("", ""), rows)),
        card(
            "Examples",
            table(("input", "output", "right", "other candidates"), examples, left=4),
            note="Right ones first, then wrong ones.",
            wide=True,
        ),
    ]
