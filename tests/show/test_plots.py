"""Plots draw the numbers of the model."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib as mpl
import numpy as np
import pytest

import sigmastar as ss
from sigmastar.automata.gramians import hankel_singular_values

mpl.use("agg")
import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def learned() -> ss.BaumWelchPFA:
    return ss.BaumWelchPFA(3, max_iter=5, random_state=0).fit(["ab", "aab", "b", "abb"] * 20)


def test_singular_values_are_the_heights_of_bars(learned: ss.BaumWelchPFA) -> None:
    axes = ss.plots.singular_values(learned)
    heights = [bar.get_height() for bar in axes.patches]
    np.testing.assert_allclose(heights, hankel_singular_values(learned.model_))
    assert axes.get_yscale() == "log"


def test_singular_values_of_the_data_need_a_record(learned: ss.BaumWelchPFA) -> None:
    spectral = ss.SpectralWFA().fit(["ab", "aab", "b", "abb"] * 20)
    assert len(ss.plots.singular_values(spectral, of="data").patches) > 1
    with pytest.raises(ss.errors.InvalidData, match="recorded none"):
        ss.plots.singular_values(learned, of="data")


def test_learning_curve_is_the_objective(learned: ss.BaumWelchPFA) -> None:
    (line,) = ss.plots.learning_curve(learned).lines
    np.testing.assert_allclose(line.get_ydata(), learned.info_["objective"])
    with pytest.raises(ss.errors.InvalidData, match="no learning curve"):
        ss.plots.learning_curve(learned.model_)


def test_next_symbols_are_probabilities_in_falling_order(learned: ss.BaumWelchPFA) -> None:
    axes = ss.plots.next_symbols(learned, "a")
    widths = [bar.get_width() for bar in axes.patches]
    assert widths == sorted(widths, reverse=True)
    assert sum(widths) == pytest.approx(1.0)


def test_transitions_of_one_symbol_or_all(learned: ss.BaumWelchPFA) -> None:
    everything = ss.plots.transitions(learned).images[0].get_array()
    np.testing.assert_allclose(everything, learned.model_.transition_sum)
    one = ss.plots.transitions(learned, "b").images[0].get_array()
    np.testing.assert_allclose(one, learned.model_.transitions[1])
    with pytest.raises(ss.errors.InvalidParameter, match="no transition matrix"):
        ss.plots.transitions(ss.KneserNey(2).fit(["ab"] * 4))


def test_state_graph_names_every_state(learned: ss.BaumWelchPFA) -> None:
    axes = ss.plots.state_graph(learned)
    words = {text.get_text() for text in axes.texts}
    assert {"0", "1", "2"} <= words


def test_confusion_matrix_shows_shares() -> None:
    axes = ss.plots.confusion_matrix("aaab", "aabb")
    np.testing.assert_allclose(axes.images[0].get_array(), [[2 / 3, 1 / 3], [0, 1]])
    assert axes.get_title() == "75.00 % right"


def test_confusions_among_rare_labels_are_errors_in_the_title() -> None:
    axes = ss.plots.confusion_matrix("aaabc", "aaacb", most=2)
    assert axes.get_title() == "60.00 % right"
    assert [text.get_text() for text in axes.get_yticklabels()] == ["a", "other"]


def test_streams_of_many_labels_have_the_colours_of_the_legend() -> None:
    axes = ss.plots.stream({"given": "abcdefghijkl"})
    codes = axes.images[0].get_array()[0]
    assert codes.tolist() == [*range(10), 0, 1]
    shown = axes.images[0].cmap(axes.images[0].norm(codes))
    legend = [patch.get_facecolor() for patch in axes.get_legend().get_patches()]
    np.testing.assert_allclose(shown, legend)


def test_what_cannot_be_plotted_is_refused(learned: ss.BaumWelchPFA) -> None:
    for call in (
        lambda: ss.plots.singular_values(learned, of="noise"),
        lambda: ss.plots.state_graph(learned, max_states=0),
        lambda: ss.plots.next_symbols(learned, k=0),
        lambda: ss.plots.confusion_matrix("a", "a", most=0),
    ):
        with pytest.raises(ss.errors.InvalidParameter, match="must be"):
            call()


def test_stream_gives_equal_labels_equal_colours() -> None:
    axes = ss.plots.stream({"right": "aab", "given": "abb"})
    np.testing.assert_array_equal(axes.images[0].get_array(), [[0, 0, 1], [0, 1, 1]])
    with pytest.raises(ss.errors.InvalidParameter, match="at least one strip"):
        ss.plots.stream({})


def test_plots_draw_where_they_are_told(learned: ss.BaumWelchPFA) -> None:
    _, axes = plt.subplots()
    assert ss.plots.next_symbols(learned, ax=axes) is axes
