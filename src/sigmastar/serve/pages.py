"""Pages on which models can be tried: one for each kind, filled by one script."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from sigmastar.drawing.graph import draw_graph
from sigmastar.drawing.markup import Child, Markup, element, join
from sigmastar.serve.answers import operations_of, reads_characters
from sigmastar.serve.limits import Refused
from sigmastar.serve.store import ModelStore, Served
from sigmastar.show.report.page import stylesheet
from sigmastar.show.views.states import state_graph

__all__ = ["index_page", "model_page", "state_picture"]

_AUTOMATA = ("WFA", "PFA", "HMM")
# What a visitor is invited to do, by what the model can be asked first.
_INVITATIONS = {
    "predict": ("Next symbol", "Type a beginning, or click on what comes next."),
    "tag": ("Tags", "Type a sentence: each word gets its tag, paler where it is less sure."),
    "text": ("Tags", "Type text as it is: it is cut into words, and each gets its tag."),
    "frames": ("Labels", "Drop a CSV file of frames here, or paste lines of numbers."),
    "transduce": ("Outputs", "Type an input: the best outputs appear below."),
}


def index_page(store: ModelStore) -> str:
    """Return the page that lists the models."""
    cards = [
        element(
            "a",
            element("h3", served.name),
            element("p", f"{served.model.kind}: {', '.join(operations_of(served))}"),
            href=f"/models/{served.name}",
            class_="card choice",
        )
        for served in store
    ]
    lead = element(
        "p",
        "Choose a model to try. Programs find the interface described in ",
        element("a", "/openapi.json", href="/openapi.json"),
        ".",
        class_="lead",
    )
    return _document("Models", "sigmastar serve", [lead, element("div", *cards, class_="cards")])


def model_page(served: Served) -> str:
    """Return the page of one model."""
    asked = operations_of(served)
    if not asked:
        raise Refused(404, f"{served.name} cannot be tried on a page.")
    kind = served.model.kind
    what = "frames" if kind in ("ContinuousTagger", "MeasurementHMM") else asked[0]
    title, invitation = _INVITATIONS["text" if kind == "Pipeline" else what]
    told = {"name": served.name, "ask": what, "graph": kind in _AUTOMATA}
    if what == "frames":
        named = kind == "MeasurementHMM" and served.model.named_columns
        told["columns"] = named or served.reading.get("columns")
    if what == "predict":
        told["spaced"] = not reads_characters(served)
    box = element(
        "section",
        element("h2", title),
        element("p", invitation, class_="lead", id="invitation"),
        element(
            "textarea",
            id="input",
            rows="6" if what == "frames" else "2",
            aria_labelledby="invitation",
            spellcheck="false",
            autofocus="",
        ),
        element("div", id="chips", class_="chips"),
        element("div", id="output", class_="card wide", role="status", aria_live="polite"),
        element("p", id="problem", class_="wrong", role="alert"),
    )
    graph = element(
        "section", element("h2", "States"), element("div", id="graph", class_="card wide")
    )
    facts = element("section", element("h2", "Model"), element("dl", id="facts", class_="tiles"))
    body: list[Child] = [box, graph if told["graph"] else None, facts]
    return _document(served.name, kind, body, told)


def state_picture(served: Served) -> str:
    """Return the state graph of an automaton as SVG, its nodes numbered by ``data-node``."""
    if served.model.kind not in _AUTOMATA:
        raise Refused(404, f"a {served.model.kind} has no graph of states.")
    graph = state_graph(served.model)
    return draw_graph(
        graph.names,
        graph.arcs,
        visits=graph.visits,
        start=graph.start,
        stop=graph.stop,
        title="state graph",
    )


def _document(
    title: str, subtitle: str, body: list[Child], told: dict[str, Any] | None = None
) -> str:
    header = element(
        "header",
        element(
            "div",
            element("a", "Σ*", class_="logo", href="/", aria_label="All models"),
            element("div", element("h1", title), element("p", subtitle)),
            class_="title",
        ),
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width,initial-scale=1"),
        element("title", f"{title} · sigmastar"),
        Markup('<link rel="icon" href="data:,">'),
        element("style", Markup(stylesheet() + _resource("live.css"))),
    )
    script: list[Child] = []
    if told is not None:
        # Escaped for a script: nothing in a name can end the element.
        data = json.dumps(told).replace("<", "\\u003c")
        code = f'"use strict";\nconst MODEL = {data};\n' + _resource("live.js")
        script = [element("script", Markup(code))]
    document = element(
        "html", head, element("body", header, element("main", *body), *script), lang="en"
    )
    return join(Markup("<!doctype html>\n"), document, Markup("\n"))


def _resource(name: str) -> str:
    return files("sigmastar.serve").joinpath(name).read_text(encoding="utf-8")
