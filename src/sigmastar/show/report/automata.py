"""What a page shows of automata and HMMs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sigmastar.automata import inference
from sigmastar.automata.gramians import hankel_singular_values
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.subject import as_wfa
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.types import FloatArray
from sigmastar.corpus.corpus import Corpus
from sigmastar.drawing.charts import stems
from sigmastar.drawing.graph import draw_graph
from sigmastar.drawing.heatmap import heatmap
from sigmastar.drawing.markup import Markup
from sigmastar.metrics import perplexity_per_symbol, word_error_rate
from sigmastar.show.report.learning import learning_cards
from sigmastar.show.report.matrices import Small, matrices_card
from sigmastar.show.report.page import Section, card, scrolling, table
from sigmastar.show.report.prediction import prediction_card, string_cell
from sigmastar.show.views.states import StateGraph, state_graph
from sigmastar.show.views.summary import ends_soon, summarize

__all__ = ["automaton_facts", "automaton_sections", "graph_card"]

_LARGEST_SPECTRUM = 120  # states
_WIDEST = 36  # columns of a heat-map
_LARGEST_SEARCH = 2000  # symbols among which to search for the likeliest strings
_SEARCH_PRODUCTS = 2e9  # multiplications that this search may cost
_BEGINNING = 24  # symbols


def automaton_facts(model: WFA | HMM) -> dict[str, Any]:
    """Return the numbers that stand at the head of the page."""
    facts = summarize(model, strings=0)
    facts.pop("likeliest_strings")
    facts.pop("kind")
    facts.pop("entropy_standard_error", None)
    if not facts["negative_weights"]:
        facts.pop("negative_weights")
    return facts


def automaton_sections(
    model: WFA | HMM, history: Mapping[str, Any], data: Corpus | None
) -> list[Section]:
    """Return the sections of an automaton's page."""
    graph = state_graph(model)
    return [
        Section("Machine", [graph_card(graph), *_matrices(model, graph)]),
        Section(
            "Predictions",
            _predictions(model, graph),
            "What the machine expects next, in its states and after its likeliest beginnings.",
        ),
        Section("Learning", [*_spectrum(model), *learning_cards(history)]),
        Section("Test", [] if data is None else _test(model, data)),
        Section("Examples", _examples(model)),
    ]


def graph_card(graph: StateGraph) -> Markup:
    """Show the state graph, and say what was left out of it."""
    what = (
        "A learned WFA's own states mean nothing by themselves, so each circle is a group of "
        "beginnings that predict alike. "
        if graph.grouped
        else ""
    )
    note = (
        f"{what}Circles grow with visits, arcs with probability (written behind the symbol); a "
        "short arrow marks starts, an inner ring ends. The arcs shown stand for "
        f"{100 * graph.kept_share:.0f} % of the moves"
        + (f"; {graph.hidden_states} rarer states are left out." if graph.hidden_states else ".")
    )
    picture = draw_graph(
        graph.names,
        graph.arcs,
        visits=graph.visits,
        start=graph.start,
        stop=graph.stop,
        title="state graph",
    )
    return card("State graph", picture, note=note, wide=True)


def _matrices(model: WFA | HMM, graph: StateGraph) -> list[Markup]:
    if graph.grouped:
        names: Sequence[str] = [str(i) for i in range(min(model.n_states, _WIDEST))]
        move = as_wfa(model).transition_sum[: len(names), : len(names)]
        note = "The sum of all operators in the learned basis; orange is negative."
    else:
        names, move = graph.names, graph.move
        note = "From the row's to the column's state, any symbol."
    cards = [
        card(
            "Transitions",
            scrolling(heatmap(move, names, names, title="transitions", percent=not graph.grouped)),
            note=note,
        )
    ]
    automaton = as_wfa(model)
    weights = np.abs(automaton.transitions).sum(axis=(1, 2))
    busiest = np.argsort(-weights, kind="stable")[:6]
    order = [int(name) for name in names]
    reading = [f"reading {automaton.alphabet.symbols[s]}" for s in busiest]
    small = [
        Small(read, f"transitions {read}", automaton.transitions[s][np.ix_(order, order)])
        for read, s in zip(reading, busiest, strict=True)
    ]
    if small and (not graph.grouped or len(order) == model.n_states):
        cards.append(
            matrices_card(
                "Transitions by symbol",
                small,
                cells=(3.0, 10.0),
                percent=not graph.grouped,
                note="The six symbols of most weight, states in the same order.",
            )
        )
    return cards


def _predictions(model: WFA | HMM, graph: StateGraph) -> list[Markup]:
    symbols = [str(symbol) for symbol in model.alphabet.symbols]
    order = _busiest(graph.emit[:, :-1], graph.visits)
    columns = [symbols[s] for s in order] + ["END"]
    matrix = np.column_stack([graph.emit[:, order], graph.emit[:, -1]])
    cards = [
        card(
            "Next symbol by " + ("group" if graph.grouped else "state"),
            scrolling(heatmap(matrix, graph.names, columns, title="next symbol by state")),
            note="Rows are the circles of the graph."
            + (f" The {len(order)} likeliest symbols." if len(order) < len(symbols) else ""),
        )
    ]
    for prefix in _beginnings(model):
        distribution = inference.next_distribution(model, [prefix])[0]
        cards.append(prediction_card(prefix, [*symbols, "END"], distribution, most=7))
    return cards


def _busiest(emit: FloatArray, visits: FloatArray) -> list[int]:
    """Choose the symbols that are emitted most, in the order of the alphabet."""
    expected = visits @ emit
    return sorted(int(s) for s in np.argsort(-expected, kind="stable")[:_WIDEST])


def _beginnings(model: WFA | HMM) -> list[list[Any]]:
    """Return the empty string and a few likely beginnings, each longer than the one before."""
    prefix: list[Any] = []
    found = [list(prefix)]
    for _ in range(2):
        ranked = inference.predict_next(model, [prefix], k=2)[0]
        symbol = next((s for s, _ in ranked if s is not inference.END), None)
        if symbol is None:
            break
        prefix = [*prefix, symbol]
        found.append(list(prefix))
    return found


def _spectrum(model: WFA | HMM) -> list[Markup]:
    if model.n_states > _LARGEST_SPECTRUM:
        return []
    values = hankel_singular_values(model)
    if values is None or not values.any():
        return []
    return [
        card(
            "Singular values of the model",
            stems(
                [float(v) for v in values if v > 1e-12 * values[0]],
                title="Hankel singular values",
                x_title="rank",
                y_title="singular value",
            ),
            note="Of the infinite Hankel matrix f(uv): small ones are states one could do without.",
        )
    ]


def _test(model: WFA | HMM, data: Corpus) -> list[Markup]:
    logs = inference.log_proba(model, data)
    lengths = data.lengths
    finite = np.isfinite(logs)
    rows = [
        ("sequences", f"{len(data):,}"),
        ("symbols", f"{data.n_symbols:,}"),
        ("impossible sequences", f"{int((~finite).sum()):,}"),
        ("mean log-probability", f"{float(logs[finite].mean()):.4f}" if finite.any() else "–"),
        ("perplexity per symbol", f"{perplexity_per_symbol(model, data):.4f}"),
        ("wrong next symbols", f"{100 * word_error_rate(model, data):.2f} %"),
    ]
    each = np.where(finite, logs / (lengths + 1), -np.inf)
    worst = np.argsort(each, kind="stable")[:8]
    surprising = [
        (string_cell(data[int(i)]), f"{logs[i]:.2f}", f"{-each[i] / np.log(2):.2f}") for i in worst
    ]
    return [
        card("How well it does", table(("measure", "value"), rows)),
        card(
            "Most surprising sequences",
            table(("sequence", "log p", "bits a symbol"), surprising),
            note="What the model explains worst: look here for errors in the data.",
            wide=True,
        ),
    ]


def _examples(model: WFA | HMM) -> list[Markup]:
    cards = []
    large = model.n_symbols > _LARGEST_SEARCH
    size = model.n_states * (model.n_symbols + 1)
    opened = int(min(max(_SEARCH_PRODUCTS / size, 200), 20_000))
    likely = [] if large else inference.likeliest_strings(model, 10, max_opened=opened)
    if likely:
        rows = [(string_cell(string), f"{p:.4g}") for string, p in likely]
        cards.append(card("Likeliest strings", table(("string", "probability"), rows)))
    # Where strings may not end, or ends are rare among very many symbols: beginnings.
    length = _BEGINNING if large or not ends_soon(model) else None
    corpus = inference.sample(model, 10, random_state=0, length=length)
    drawn = [(string_cell(string),) for string in corpus]
    note = "" if length is None else f"Beginnings of {length} symbols."
    cards.append(card("Drawn at random", table(("string",), drawn), note=note))
    return cards
