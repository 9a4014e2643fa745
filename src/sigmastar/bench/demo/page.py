"""The demonstration as one page: what was computed, drawn."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from sigmastar.automata.gramians import hankel_singular_values
from sigmastar.bench.demo.automaton import AutomatonDemo
from sigmastar.bench.demo.names import NamesDemo
from sigmastar.bench.demo.run import DemoResults
from sigmastar.bench.demo.sensors import SensorsDemo
from sigmastar.bench.demo.text import TextDemo
from sigmastar.drawing.charts import bars, lines, stems
from sigmastar.drawing.markup import join
from sigmastar.sensors.inference.tag import tag_frames
from sigmastar.show.report.automata import graph_card
from sigmastar.show.report.labels import confusion_cards, percent
from sigmastar.show.report.page import Section, card, page, table, write_page
from sigmastar.show.report.sensors import stream_card
from sigmastar.show.report.taggers import tagged_sentence
from sigmastar.show.report.transducers import pair_cards
from sigmastar.show.views.states import state_graph

__all__ = ["write_demo_report"]

_SENTENCES = 6


def write_demo_report(results: DemoResults, path: str | os.PathLike[str]) -> None:
    """Write the page of a demonstration; it appears whole or not at all."""
    draw: dict[str, Callable[[Any], Section]] = {
        "automaton": _automaton,
        "text": _text,
        "names": _names,
        "sensors": _sensors,
    }
    sections = [draw[name](part) for name, part in results.parts.items()]
    write_page(
        path,
        page(
            "What sigmastar does",
            "Machines over strings, learned from data that came with the package, on this machine.",
            sections,
            _figures(results),
        ),
    )


def _figures(results: DemoResults) -> dict[str, Any]:
    """Choose one number of each part for the head of the page."""
    facts: dict[str, Any] = {}
    if results.automaton is not None:
        truth, best = results.automaton.rows[0], results.automaton.best
        facts["perplexity above the truth"] = percent(best.perplexity / truth.perplexity - 1)
    if results.text is not None:
        exact = results.text.rows[-1]
        facts["words tagged right"] = percent(exact.accuracy)
        facts["words tagged a second"] = f"{(exact.tokens_per_second or 0) / 1e6:.1f} million"
    if results.names is not None:
        facts["names spelt right"] = percent(results.names.rows[-1].word_accuracy)
    if results.sensors is not None:
        facts["movements told right"] = percent(results.sensors.shown.accuracy)
    facts["everything took"] = f"{results.seconds:.0f} s"
    return facts


def _automaton(found: AutomatonDemo) -> Section:
    problem = found.problem
    rows = [
        (
            row.method,
            str(row.n_states),
            f"{row.perplexity:.3f}",
            percent(row.word_error_rate),
            "" if row.seconds is None else f"{row.seconds:.2f}",
        )
        for row in found.rows
    ]
    curves = {
        row.method: (list(map(float, range(len(row.curve)))), list(row.curve))
        for row in found.rows
        if len(row.curve) > 1
    }
    values = hankel_singular_values(found.best.model)
    cards = [
        card(
            "Who came closest",
            table(("method", "states", "perplexity", "wrong guesses", "seconds"), rows),
            note="Perplexity of strings that no method saw; nothing can be below the truth.",
            wide=True,
        ),
        card(
            "Likelihood by step",
            lines(curves, title="likelihood by step", x_title="step", y_title="log-likelihood"),
            note="Mean log-likelihood of a training string, from a random start and from moments.",
        ),
        card(
            f"After {' '.join(found.prefix)}",
            bars(
                [f"{s.symbol} {who}" for s in found.following for who in ("learned", "true")],
                [p for s in found.following for p in (s.learned, s.true)],
                title="next symbol, learned and true",
            ),
            note="What the best machine expects, beside the truth.",
        ),
    ]
    if values is not None:
        shown = [float(v) for v in values if v > 1e-9 * values[0]]
        cards.append(
            card(
                "Singular values of the best machine",
                stems(shown, title="singular values", x_title="rank", y_title="singular value"),
            )
        )
    cards.append(graph_card(state_graph(found.best.model)))
    return Section(
        "A machine is learned back",
        cards,
        f"A hidden machine of {problem.model.n_states} states wrote {len(problem.train):,} strings "
        f"over {len(problem.train.alphabet)} symbols; each method sees those only.",
    )


def _text(found: TextDemo) -> Section:
    rows = [
        (
            row.method,
            percent(row.accuracy),
            percent(row.unknown_accuracy),
            percent(row.agreement),
            "" if row.n_states is None else f"{row.n_states:,}",
            "" if row.tokens_per_second is None else f"{row.tokens_per_second / 1e6:.1f} M",
        )
        for row in found.rows
    ]
    columns = ("tagger", "right", "new words", "as Viterbi", "states", "words/s")
    wrong = [example for example in found.examples if example.true != example.given]
    right = [example for example in found.examples if example.true == example.given]
    shown = [*sorted(right, key=lambda e: -len(e.words))[: _SENTENCES // 2], *wrong]
    sentences = [tagged_sentence(e.words, e.given, e.true) for e in shown[:_SENTENCES]]
    cards = [
        card("From an HMM to transducers", table(columns, rows), wide=True),
        card(
            "Sentences it had not seen",
            join(*sentences),
            note="Given tags under the words; where they are wrong, the right one stands behind.",
            wide=True,
        ),
        *confusion_cards(found.confusion)[:2],
    ]
    return Section(
        "English is tagged by a transducer",
        cards,
        f"A hidden Markov model learns from {len(found.train)} sentences and is compiled; "
        f"{len(found.test)} others test it.",
    )


def _names(found: NamesDemo) -> Section:
    rows = [
        (
            row.method,
            percent(row.word_accuracy),
            percent(row.character_error_rate),
            f"{row.seconds:.2f}",
            f"{row.names_per_second:,.0f}",
        )
        for row in found.rows
    ]
    columns = ("method", "right", "character errors", "seconds to learn", "names/s")
    offers = pair_cards(
        [example.source for example in found.examples],
        [list(example.true) for example in found.examples],
        [[(list(text), share) for text, share in e.guesses] for e in found.examples],
    )
    return Section(
        "Names change their alphabet",
        [card("Three ways to spell", table(columns, rows)), *offers],
        f"{len(found.train)} names in Latin and Russian letters teach how to spell "
        f"{len(found.test)} others.",
    )


def _sensors(found: SensorsDemo) -> Section:
    rows = [
        (row.method, percent(row.accuracy), str(row.n_states), f"{row.seconds:.2f}")
        for row in found.rows
    ]
    walk = found.walks[0]
    model = found.shown.tagger.model_
    tagged = tag_frames(model, walk, lengths=[len(walk)])
    strips = {"right": list(found.true[0]), "given": list(found.shown.given[0])}
    names = [str(name) for name in model.labels.symbols]
    return Section(
        "A robot's movements are told from its sonars",
        [
            stream_card(names, strips, tagged.confidence[0]),
            card("Who labels best", table(("tagger", "right", "states", "seconds"), rows)),
            *confusion_cards(found.confusion)[:2],
        ],
        f"A simulated robot follows walls: {found.n_train} walks of {len(walk)} steps with "
        f"{walk.shape[1]} noisy readings each; {len(found.walks)} walks in other rooms test it. "
        f"The commonest movement alone makes {percent(found.majority)}.",
    )
