"""Pictures show the numbers they are given: runs, signs, scales and orders."""

from __future__ import annotations

import re

import numpy as np

import sigmastar as ss
from sigmastar.corpus.frames import FrameTable
from sigmastar.drawing.canvas import ACCENT, NEGATIVE
from sigmastar.drawing.charts import bars, lines, stems, strips
from sigmastar.drawing.heatmap import heatmap
from sigmastar.show.report.build import build_report
from sigmastar.show.report.sensors import _test as sensor_test
from sigmastar.show.report.transducers import pair_cards


def test_a_strip_has_one_rectangle_for_each_run() -> None:
    picture = strips({"given": [0, 0, 1, 0]}, ["up", "down"], title="t")
    assert re.findall(r"<title>(\w+: \d–\d)", picture) == ["up: 0–1", "down: 2–2", "up: 3–3"]
    widths = [float(w) for w in re.findall(r'width="([\d.]+)" height="26"', picture)]
    np.testing.assert_allclose(widths[0], 2 * widths[1], atol=0.02)


def test_a_steep_beginning_does_not_flatten_a_curve() -> None:
    values = [-1000.0, *np.linspace(-10, -9, 30)]
    picture = lines({"a": (range(31), values)}, title="t", x_title="x", y_title="y")
    scale = [float(t) for t in re.findall(r">(-\d[\d.]*)</text>", picture)]
    assert min(scale) > -12
    gentle = lines({"a": (range(31), np.linspace(-10, -9, 31))}, title="t", x_title="", y_title="")
    assert ">-10</text>" in gentle


def test_the_legend_stands_below_the_curves_and_inside_the_picture() -> None:
    names = [f"the {number}th of many curves" for number in range(5)]
    given = {name: ([0.0, 1.0], [0.0, float(number)]) for number, name in enumerate(names)}
    picture = lines(given, title="t", x_title="x", y_title="y")
    places = re.findall(r'x="([\d.]+)" y="([\d.]+)"[^>]*>the \dth of many curves</text>', picture)
    across, down = np.array(places, dtype=float).T
    width, height = (int(side) for side in re.findall(r'viewBox="0 0 (\d+) (\d+)"', picture)[0])
    (below,) = re.findall(r'y="([\d.]+)"[^>]*>x</text>', picture)
    assert float(below) < down.min()
    assert down.max() < height
    assert (across + 6.4 * len(names[0])).max() < width
    assert len(set(places)) == len(names)


def test_logarithmic_axes_place_powers_evenly_and_leave_out_what_is_not_positive() -> None:
    given = {"a": ([1, 10, 100, 1000], [0.0, 0.1, 0.01, 0.001])}
    picture = lines(given, title="t", x_title="x", y_title="y", dots=True, log_x=True, log_y=True)
    dots = re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', picture)
    across, down = np.array(dots, dtype=float).T
    np.testing.assert_allclose(np.diff(across, 2), 0.0, atol=0.02)
    np.testing.assert_allclose(np.diff(down, 2), 0.0, atol=0.02)
    assert re.findall(r"<title>a: ([\d.]+) at ([\d.]+)", picture) == [
        ("0.1", "10"),
        ("0.01", "100"),
        ("0.001", "1000"),
    ]
    assert ">100</text>" in picture
    assert ">1e-2</text>" in picture


def test_cells_have_the_colour_of_their_sign_and_the_strength_of_their_share() -> None:
    picture = heatmap(np.array([[-1.0, 0.25]]), ["r"], ["a", "b"], title="t")
    cells = re.findall(r"fill:([^;\"]+);fill-opacity:([\d.]+)\"><title>r → (\w)", picture)
    assert cells == [(NEGATIVE, "1.000", "a"), (ACCENT, "0.500", "b")]


def test_errors_of_a_confusion_matrix_have_their_own_colour() -> None:
    matrix = np.array([[0.5, 0.5], [0.0, 1.0]])
    picture = heatmap(matrix, ["a", "b"], ["a", "b"], title="t", wrong="red")
    found = re.findall(r"fill:([^;\"]+);fill-opacity:[\d.]+\"><title>(\w → \w)", picture)
    assert found == [(ACCENT, "a → a"), ("red", "a → b"), (ACCENT, "b → b")]


def test_values_behind_bars_are_not_cut_off():
    told = ["0.458 ms", "1.23e-05 s"]
    picture = str(bars(["Spec-Sub begin", "b"], [1.0, 0.5], title="t", told=told))
    width = float(re.search(r'viewBox="0 0 ([\d.]+)', picture)[1])
    for text in told:
        x = float(re.search(rf'x="([\d.]+)"[^>]*>{re.escape(text)}<', picture)[1])
        assert x + 6.5 * len(text) <= width  # letters of twelve pixels


def test_bars_and_stems_are_as_long_as_their_values() -> None:
    picture = bars(["a", "b"], [0.5, 0.25], title="t")
    long, short = (float(w) for w in re.findall(r'width="([\d.]+)"[^>]*><title>', picture))
    np.testing.assert_allclose(long, 2 * short, rtol=1e-2)
    heights = re.findall(
        r'height="([\d.]+)"[^>]*><title>', stems([10, 1, 0.1], title="", x_title="", y_title="")
    )
    np.testing.assert_allclose(np.diff(np.float64(heights), 2), 0, atol=1.1)


def test_the_most_surprising_sequence_comes_first() -> None:
    model = ss.PFA([1.0], [[[0.8]], [[0.1]]], [0.1], ss.Alphabet("ab"))
    page = build_report(model, data=["aaaa", "bbbb", "aabb"])
    listed = page[page.index("Most surprising") :]
    places = [listed.index(f">{string}<") for string in ("bbbb", "aabb", "aaaa")]
    assert places == sorted(places)


def test_sentences_with_errors_come_first() -> None:
    words, tags = [["a", "b", "a"]] * 6, [["X", "Y", "X"]] * 6
    tagger = ss.HMMTagger().fit(words, tags)
    odd = ["b", "a", "b"]
    pairs = ss.PairCorpus(
        ss.Corpus.from_sequences([["a", "b", "a"], odd]),
        ss.Corpus.from_sequences([["X", "Y", "X"], ["X", "X", "X"]]),
    )
    page = build_report(tagger, data=pairs)
    sentences = re.findall(r'<p class="sentence">(.*?)</p>', page)
    assert ["Y → X" in sentence for sentence in sentences] == [True, False]


def test_right_outputs_are_counted_among_all_candidates() -> None:
    found = [[(["a"], 0.0), (["b"], -1.0)], [(["c"], 0.0)], [(["d"], 0.0)], [(["g"], 0.0)]]
    card = pair_cards(list("wxyz"), [["b"], ["c"], ["e"], ["f"]], found)[0]
    figures = dict(re.findall(r"<td>([^<]+)</td><td class=\"number\">([^<]+)</td>", card))
    assert figures["whole outputs right"] == "25.00 %"
    assert figures["right among the best three"] == "50.00 %"


def test_a_stream_card_shows_the_first_sequence_alone() -> None:
    frames = np.random.default_rng(0).normal(size=(40, 2))
    labels = [str(value > 0) for value in frames[:, 0]]
    tagger = ss.FramewiseTagger(features=ss.CentroidFeatures(6, random_state=0), random_state=0)
    tagger.fit([frames], [labels])
    table = FrameTable(frames, np.array([0, 20, 40]), [*labels[:20], *["zz"] * 20])
    stream = sensor_test(tagger.model_, table)[0]
    assert "The first 20 frames" in stream
    assert "zz" not in stream
