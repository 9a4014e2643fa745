"""Pages: well-formed, self-contained, true to the model, safe against what symbols say."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import sigmastar as ss
from browser.pages import HOSTILE, write_all
from sigmastar.cli.main import app
from sigmastar.drawing.canvas import ticks
from sigmastar.drawing.charts import lines, stems
from sigmastar.drawing.graph import Arc, _free_side, draw_graph
from sigmastar.drawing.markup import Markup, element, join, number

run = CliRunner().invoke


class Outline(HTMLParser):
    """Checks that all tags are closed, and collects headings and addresses."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.headings: list[str] = []
        self.addresses: list[str] = []
        self.scripts = 0
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        if tag not in ("meta", "link", "br", "input", "hr"):
            self.open.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("href", "src")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("h1", "h2", "h3"):
            self.headings.append(data)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    paths = write_all(tmp_path_factory.mktemp("pages"))
    return {name: path.read_text(encoding="utf-8") for name, path in paths.items()}


def test_every_page_is_well_formed_and_alone(pages: dict[str, str]) -> None:
    for text in pages.values():
        outline = Outline(text)
        assert outline.scripts == 1
        assert all(address.startswith(("#", "data:")) for address in outline.addresses)


def test_symbols_cannot_write_markup(pages: dict[str, str]) -> None:
    assert HOSTILE not in pages["hostile"]
    assert (
        HOSTILE.replace("<", "&lt;").replace(">", "&gt;").replace("'", "&#x27;") in pages["hostile"]
    )


def test_test_figures_are_those_of_the_metrics(pages: dict[str, str]) -> None:
    problem = ss.datasets.make_problem(
        "pfa", n_states=5, n_symbols=4, n_train=800, n_test=50, random_state=1
    )
    est = ss.BaumWelchPFA(5, max_iter=20, random_state=0).fit(problem.train)
    wrong = ss.metrics.word_error_rate(est, problem.test)
    assert f"{100 * wrong:.2f} %" in pages["em"]
    perplexity = ss.metrics.perplexity_per_symbol(est, problem.test)
    assert f"{perplexity:.4f}" in pages["em"]


def test_elements_escape_all_but_markup() -> None:
    bold = element("b", "<&", class_="x\"'")
    assert bold == '<b class="x&quot;&#x27;">&lt;&amp;</b>'
    assert element("p", bold, None, 1.5) == f"<p>{bold}1.5</p>"
    assert join("\x00", Markup("<i>")) == "\ufffd<i>"
    assert [number(v) for v in (1.0, -0.001, 2.5, 2.126)] == ["1", "0", "2.5", "2.13"]


def test_ticks_are_round_and_cover() -> None:
    assert ticks(0, 100, 4) == [0, 25, 50, 75, 100]
    assert ticks(-13.6, -13.2, 4) == pytest.approx([-13.6, -13.5, -13.4, -13.3, -13.2])
    assert ticks(1, 1) == [1]
    assert ticks(0, 1e-13, 4) == pytest.approx([0, 2.5e-14, 5e-14, 7.5e-14, 1e-13], abs=1e-18)
    assert ticks(0, 5e-324) == [0]


def test_charts_of_nothing_say_so() -> None:
    empty = lines({"a": ([], [])}, title="t", x_title="x", y_title="y")
    assert "nothing to draw" in empty
    assert "nothing to draw" in stems([0.0], title="t", x_title="x", y_title="y")


def test_command_writes_a_page_from_a_file(tmp_path: Path) -> None:
    est = ss.BaumWelchPFA(2, max_iter=4, random_state=0).fit(["ab", "b", "aab"] * 9)
    est.save(tmp_path / "m.sigma")
    (tmp_path / "test.txt").write_text("a b\nb\n")
    target = tmp_path / "page.html"
    result = run(
        app,
        [
            "report",
            f"{tmp_path}/m.sigma",
            "--data",
            f"{tmp_path}/test.txt",
            "-o",
            str(target),
            "--json",
        ],
    )
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["saved"] == str(target)
    headings = Outline(target.read_text(encoding="utf-8")).headings
    assert {"Likelihood by step", "How well it does", "State graph"} <= set(headings)


def test_command_reads_machines_of_other_formats(tmp_path: Path) -> None:
    model = ss.datasets.make_pfa(3, 2, random_state=0)
    ss.write_model(model, tmp_path / "six.pautomac_model.txt")
    target = tmp_path / "six.html"
    result = run(app, ["report", f"{tmp_path}/six.pautomac_model.txt", "-o", str(target)])
    assert result.exit_code == 0, result.output
    assert "State graph" in target.read_text(encoding="utf-8")


def test_machines_that_hardly_ever_end_are_shown_too(tmp_path: Path) -> None:
    arcs = [[[0.0, 1 - 1e-6], [0.0, 1 - 1e-6]]]
    model = ss.PFA([1, 0], arcs, [1e-6, 1e-6], ss.Alphabet("a"))
    ss.write_report(model, tmp_path / "long.html")
    assert "Beginnings of 24 symbols" in (tmp_path / "long.html").read_text(encoding="utf-8")
    endless = ss.HMM([1.0], [[1.0]], [[1.0]], [0.0], ss.Alphabet("a"))
    ss.write_report(endless, tmp_path / "endless.html")
    assert "Beginnings of 24 symbols" in (tmp_path / "endless.html").read_text(encoding="utf-8")


def test_unknown_symbols_of_test_data_are_refused_or_left_out(tmp_path: Path) -> None:
    model = ss.datasets.make_pfa(2, 2, random_state=0)
    with pytest.raises(ss.errors.UnknownSymbol):
        ss.write_report(model, tmp_path / "x.html", data=[["?"]])
    ss.write_report(model, tmp_path / "x.html", data=[["?", 0]], unknown="ignore")
    assert (tmp_path / "x.html").exists()


def test_wrong_data_is_refused_with_its_remedy(tmp_path: Path) -> None:
    tagger = ss.HMMTagger().fit([["a", "b"]] * 4, [["X", "Y"]] * 4)
    with pytest.raises(ss.errors.InvalidParameter, match=r"PairCorpus.*read_pairs or read_tagged"):
        ss.write_report(tagger, tmp_path / "x.html", data=[["a"]])
    assert not (tmp_path / "x.html").exists()


def test_models_show_themselves_in_notebooks_and_terminals() -> None:
    model = ss.datasets.make_pfa(3, 2, random_state=0)
    card = model._repr_html_()
    assert "<b>PFA</b>" in card
    assert "spectral radius" in card
    assert card.count("<rect") > 4
    facts = dict(model.__rich_repr__())
    assert facts["states"] == 3
    big = ss.datasets.make_pfa(60, 2, random_state=0)
    assert "<svg" not in big._repr_html_()


def test_labels_of_a_graph_stay_inside_the_picture():
    arcs = [Arc(i, i, 0.5, "a long symbol 49%") for i in range(4)]
    arcs += [Arc(i, (i + 1) % 4, 0.5, "b 51%") for i in range(4)]
    even = np.full(4, 0.25)
    picture = str(draw_graph("abcd", arcs, visits=even, start=even, stop=0 * even, title="graph"))
    places = re.findall(r'<text x="([\d.]+)"[^>]*>a long symbol', picture)
    assert len(places) == 4
    assert all(60 < float(x) < 760 - 60 for x in places)


def test_a_loop_keeps_away_from_other_arcs_and_from_the_arrow_of_the_start():
    centres = np.array([[0.0, 0.0], [100.0, 0.0], [0.0, 100.0]])
    arcs = [Arc(0, 1, 0.5, "a"), Arc(2, 0, 1.0, "b"), Arc(0, 0, 0.5, "c")]
    side = _free_side(0, arcs, centres, begins=True)
    assert side @ [0.0, -1.0] > 0.9
    assert np.isclose(np.hypot(*_free_side(0, arcs[2:], centres[:1], begins=False)), 1.0)
