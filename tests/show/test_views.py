"""What there is to see of a model is what is there."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

import sigmastar as ss
from sigmastar.automata.gramians import hankel_singular_values
from sigmastar.core.confusion import confusion
from sigmastar.drawing.layout import hop_distances, place, spread
from sigmastar.show.views.history import learning_curves, recorded_singular_values
from sigmastar.show.views.states import expected_visits, state_graph
from sigmastar.show.views.subject import automaton_of, subject_of
from sigmastar.show.views.summary import shown_string, summarize

AB = ss.Alphabet("ab")


def loop_machine() -> ss.PFA:
    """Write a, then b or c for ever until the end: three states whose moves are known."""
    arcs = np.zeros((3, 3, 3))
    arcs[0, 0, 1] = 1.0
    arcs[1, 1, 1], arcs[2, 1, 2] = 0.2, 0.3
    arcs[1, 2, 1] = 0.5
    return ss.PFA([1, 0, 0], arcs, [0, 0.5, 0.5], ss.Alphabet("abc"))


def test_singular_values_are_those_of_a_large_hankel_matrix() -> None:
    model = loop_machine()
    strings = [w for n in range(7) for w in itertools.product("abc", repeat=n)]
    vectors = {(): (np.asarray(model.initial), np.asarray(model.final))}
    for word in strings[1:]:
        ahead = vectors[word[:-1]][0] @ model.transitions["abc".index(word[-1])]
        behind = model.transitions["abc".index(word[0])] @ vectors[word[1:]][1]
        vectors[word] = (ahead, behind)
    block = (
        np.array([vectors[w][0] for w in strings]) @ np.array([vectors[w][1] for w in strings]).T
    )
    expected = np.linalg.svd(block, compute_uv=False)[:3]
    np.testing.assert_allclose(hankel_singular_values(model), expected, rtol=1e-2)


def test_singular_values_do_not_depend_on_the_basis_or_the_way() -> None:
    model = ss.datasets.make_pfa(30, 3, random_state=0)
    rng = np.random.default_rng(0)
    turned = ss.algebra.change_basis(model, np.eye(30) + 0.1 * rng.standard_normal((30, 30)))
    values = hankel_singular_values(model)
    np.testing.assert_allclose(hankel_singular_values(turned), values, rtol=1e-5, atol=1e-9)


def test_no_singular_values_without_a_square_summable_function() -> None:
    endless = ss.WFA([1.0], [[[1.0]]], [1.0], ss.Alphabet("a"))
    assert hankel_singular_values(endless) is None


def test_slow_sums_have_singular_values_too() -> None:
    # f(aⁿ) = s (1-s)ⁿ: rank one, and the only singular value is Σ f(aⁿ)² (n+1) under a root.
    stop = 1e-4
    slow = ss.PFA([1.0], [[[1 - stop]]], [stop], ss.Alphabet("a"))
    expected = stop / (1 - (1 - stop) ** 2)
    np.testing.assert_allclose(hankel_singular_values(slow), [expected], rtol=1e-9)


def test_states_that_no_string_visits_change_nothing() -> None:
    model = loop_machine()
    arcs = np.zeros((3, 4, 4))
    arcs[:, :3, :3] = model.transitions
    arcs[0, 3, 3] = 1.0
    padded = ss.PFA([1, 0, 0, 0], arcs, [0, 0.5, 0.5, 0], model.alphabet)
    np.testing.assert_allclose(expected_visits(padded), [*expected_visits(model), 0.0])
    values = hankel_singular_values(padded)
    np.testing.assert_allclose(values, [*hankel_singular_values(model), 0.0], atol=1e-7)
    assert summarize(padded)["mean_length"] == pytest.approx(2.0)


def test_sums_that_diverge_have_no_singular_values() -> None:
    rng = np.random.default_rng(0)
    wild = ss.WFA(rng.normal(size=4), rng.normal(size=(2, 4, 4)), rng.normal(size=4), AB)
    assert hankel_singular_values(wild) is None


def test_groups_are_made_by_the_symbols_expected_most() -> None:
    # Ninety symbols, more than are looked at; the last ones are by far the likeliest.
    chances = np.where(np.arange(90) < 85, 1e-4, (0.9 - 85e-4) / 5)
    model = ss.WFA([1.0], chances[:, None, None], [0.1], ss.Alphabet(range(90)))
    emit = state_graph(model).emit[0]
    np.testing.assert_allclose(emit[85:], [*chances[85:], 0.1], rtol=2e-3)


def test_iteration_and_linear_system_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    model = loop_machine()
    direct = hankel_singular_values(model)
    monkeypatch.setattr("sigmastar.automata.gramians._DIRECT_STATES", 0)
    np.testing.assert_allclose(hankel_singular_values(model), direct, rtol=1e-8)


def test_graph_has_the_strong_arcs_and_says_what_it_keeps() -> None:
    graph = state_graph(loop_machine(), arcs_each=2)
    by_name = {(graph.names[arc.source], graph.names[arc.target]): arc.label for arc in graph.arcs}
    assert by_name == {
        ("0", "1"): "a 100%",
        ("1", "1"): "b 20%",
        ("1", "2"): "c 30%",
        ("2", "1"): "b 50%",
    }
    assert graph.kept_share == pytest.approx(1.0)
    assert not graph.grouped


def test_share_of_moves_kept_counts_visits() -> None:
    graph = state_graph(loop_machine(), arcs_each=1)
    # Flows: 0→1 one visit; state 1 is visited 1/.65 times, state 2 .3/.65 times.
    moves = np.array([1.0, 0.2 / 0.65, 0.3 / 0.65, 0.5 * 0.3 / 0.65])
    assert graph.kept_share == pytest.approx(moves[[0, 2, 3]].sum() / moves.sum())


def test_expected_visits_are_those_of_drawn_paths() -> None:
    model = loop_machine()
    # Visits v solve v = initial + v A: v0 = 1, v1 = 1 + .2 v1 + .5 v2, v2 = .3 v1.
    np.testing.assert_allclose(expected_visits(model), [1.0, 1 / 0.65, 0.3 / 0.65])


def test_graph_of_a_wfa_groups_prefixes_and_ignores_its_basis() -> None:
    model = loop_machine()
    turned = ss.algebra.change_basis(model, [[1, 2, 0], [0, 1, 1], [1, 0, 1]])
    graph = state_graph(turned)
    assert graph.grouped
    start = graph.emit[int(np.argmax(graph.start))]
    np.testing.assert_allclose(start, [1, 0, 0, 0], atol=1e-6)
    rows = sorted(graph.emit.round(6).tolist())
    np.testing.assert_allclose(
        rows, [[0, 0.2, 0.3, 0.5], [0, 0.5, 0, 0.5], [1, 0, 0, 0]], atol=1e-6
    )


def test_arcs_of_many_symbols_name_two_and_say_so() -> None:
    model = ss.PFA([1.0], np.full((3, 1, 1), 0.3), [0.1], ss.Alphabet("abc"))
    (arc,) = state_graph(model).arcs
    assert arc.label == "a 30%, b 30% …"


def test_rare_states_are_left_out_and_counted() -> None:
    graph = state_graph(ss.datasets.make_pfa(20, 3, random_state=0), max_states=6)
    assert len(graph.names) == 6
    assert graph.hidden_states == 14


def test_confusion_agrees_with_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    right, given = rng.choice(list("abcd"), 200), rng.choice(list("abc"), 200)
    found = confusion(right, given)
    expected = confusion_matrix(right, given, labels=list(found.labels))
    np.testing.assert_array_equal(found.counts, expected)
    assert found.accuracy == pytest.approx(np.mean(right == given))
    assert np.isnan(found.precision[found.labels.index("d")])
    top = found.top(2)
    assert top.labels == (found.labels[0], "other")
    assert top.counts[0, 0] == found.counts[0, 0]
    assert top.counts[0, 1] == found.counts[0, 1:].sum()
    assert top.counts.sum() == 200


def test_recall_and_precision_are_shares_of_rows_and_columns() -> None:
    found = confusion("aaab", "aabb")
    assert found.labels == ("a", "b")
    np.testing.assert_allclose(found.recall, [2 / 3, 1.0])
    np.testing.assert_allclose(found.precision, [1.0, 1 / 2])
    np.testing.assert_allclose(found.shares(), [[2 / 3, 1 / 3], [0, 1]])


def test_confusion_refuses_labels_that_do_not_match() -> None:
    with pytest.raises(ss.errors.InvalidData, match="equally many; got 2 and 1"):
        confusion("ab", "a")


def test_curves_are_read_from_what_learners_record() -> None:
    words = ["ab", "aab", "b", "abb"] * 30
    em = ss.BaumWelchPFA(2, max_iter=6, validation_fraction=0.2, random_state=0).fit(words)
    curve = learning_curves(em.info_)[0]
    assert set(curve.series) == {"training", "held out"}
    assert curve.series["training"][1] == em.info_["objective"]
    spectral = ss.SpectralWFA().fit(words)
    assert learning_curves(spectral.info_)[0].x_title == "states"
    assert recorded_singular_values(spectral.info_)[0] > 0
    gibbs = ss.GibbsPFA(2, n_samples=2, burn_in=4, random_state=0).fit(words)
    assert learning_curves(gibbs.info_)[0].title == "Gibbs sampling"


def test_selection_curve_takes_the_best_of_each_size() -> None:
    rows = [(2, -3.0), (2, -1.0), (2, -2.0), (4, -0.5)]
    curve = learning_curves({"path": [{"n_states": n, "score": v} for n, v in rows]})[0]
    assert curve.series == {"score": ([2, 4], [-1.0, -0.5])}


@pytest.mark.parametrize(
    "history", [{}, {"objective": "x"}, {"path": [1, 2]}, {"path": [{"n_states": "a"}]}]
)
def test_strange_records_give_no_curves(history: dict[str, object]) -> None:
    assert learning_curves(history) == []


def test_history_travels_in_the_file(tmp_path: object) -> None:
    path = f"{tmp_path}/m.sigma"
    est = ss.BaumWelchPFA(2, max_iter=5, random_state=0).fit(["ab", "b"] * 20)
    est.save(path)
    subject = subject_of(path)
    assert subject.model == est.model_
    assert subject.history["objective"] == pytest.approx(est.info_["objective"])
    assert subject.history["method"] == "BaumWelchPFA"
    assert subject.name == "m"
    est.model_.save(path)
    assert subject_of(path).history == {}


def test_long_histories_are_thinned_and_keep_their_end(tmp_path: object) -> None:
    path = f"{tmp_path}/m.sigma"
    curve = list(range(100_001))
    loop_machine().save(path, history={"curve": curve, "bad": [np.nan, np.inf]})
    history = subject_of(path).history
    assert len(history["curve"]) <= 2001
    assert history["curve"][-1] == 100_000
    assert history["bad"] == [None, None]


def test_only_models_are_subjects() -> None:
    with pytest.raises(ss.errors.InvalidParameter, match=r"got int.*Fit the estimator"):
        subject_of(3)
    ngram = ss.KneserNey(2).fit(["ab"] * 5)
    with pytest.raises(ss.errors.InvalidParameter, match="must be an automaton"):
        automaton_of(ngram)


def test_summary_knows_entropy_and_length() -> None:
    summary = summarize(loop_machine(), 2)
    assert summary["mean_length"] == pytest.approx(2.0)
    assert summary["likeliest_strings"][0] == {"string": "a", "p": pytest.approx(0.5)}
    # A fair coin tells whether to stop before each symbol: two tosses, two bits on average.
    coin = ss.PFA([1.0], [[[0.5]]], [0.5], ss.Alphabet("a"))
    found = summarize(coin, 0)
    assert abs(found["entropy_bits_per_string"] - 2) < 4 * found["entropy_standard_error"] < 0.2
    assert shown_string(["open", "b"]) == "open b"
    assert shown_string("abcdef", 3) == "abc …"


def test_hops_and_places() -> None:
    chain = np.zeros((4, 4), dtype=bool)
    chain[0, 1] = chain[1, 2] = True
    distances = hop_distances(chain)
    assert distances[0].tolist() == [0, 1, 2, 3]  # the lone node stands further away
    places = place(chain)
    near = np.linalg.norm(places[0] - places[1])
    assert near < np.linalg.norm(places[0] - places[2])
    assert places.min() >= 0
    assert places.max() <= 1
    apart = spread(
        np.array([[0.0, 0.0], [1.0, 0.0]]), 10.0, np.array([-9.0, -9.0]), np.array([9.0, 9.0])
    )
    assert np.linalg.norm(apart[0] - apart[1]) == pytest.approx(10.0, abs=0.5)
