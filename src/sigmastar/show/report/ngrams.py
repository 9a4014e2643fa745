"""What a page shows of n-gram models: sizes by order, predictions, samples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sigmastar.core.types import FloatArray
from sigmastar.corpus.corpus import Corpus
from sigmastar.drawing.markup import Markup
from sigmastar.ngrams.predictor import Predictor
from sigmastar.show.report.learning import learning_cards
from sigmastar.show.report.page import Section, card, table
from sigmastar.show.report.prediction import prediction_card, string_cell

__all__ = ["ngram_sections"]


def ngram_sections(
    model: Predictor, history: Mapping[str, Any], data: Corpus | None
) -> list[Section]:
    """Return the sections of the page of a model that predicts symbol by symbol."""
    return [
        Section("Predictions", _predictions(model)),
        Section("Test", [] if data is None else _test(model, data)),
        Section("Examples", _examples(model)),
        Section("Learning", learning_cards(history)),
    ]


def _predictions(model: Predictor) -> list[Markup]:
    names = [str(symbol) for symbol in model.alphabet.symbols]
    names += ["END"] if model.width > len(names) else []
    prefix: list[Any] = []
    cards = []
    for _ in range(3):
        corpus = Corpus.from_sequences([prefix], alphabet=model.alphabet)
        row = model.distributions(corpus)[0]
        cards.append(prediction_card(prefix, names, row, most=8))
        code = int(np.argmax(row[: model.n_symbols]))
        prefix = [*prefix, model.alphabet.symbols[code]]
    return cards


def _test(model: Predictor, data: Corpus) -> list[Markup]:
    inside, ends = model.likelihoods(data)
    every = np.concatenate([inside, ends]) if model.ends else inside
    rows = [
        ("sequences", f"{len(data):,}"),
        ("symbols", f"{data.n_symbols:,}"),
        ("mean likelihood of the next symbol", _mean(inside)),
        ("bits a symbol", _mean(-np.log2(every))),
    ]
    return [card("How well it does", table(("", ""), rows))]


def _mean(values: FloatArray) -> str:
    return f"{float(values.mean()):.4f}" if len(values) else "–"


def _examples(model: Predictor) -> list[Markup]:
    rng = np.random.default_rng(0)
    length = 60 if not model.ends else 200
    drawn = [model.alphabet.decode(model.draw(rng, length)) for _ in range(8)]
    rows = [(string_cell(string, 120),) for string in drawn]
    return [card("Drawn at random", table(("string",), rows), wide=True)]
