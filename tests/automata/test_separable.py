"""Separable PFAs: always proper, exact on residual automata; the QPs agree with another solver."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from qpsolvers import solve_qp

import sigmastar as ss
from automata.oracles import all_strings
from automata.oracles_moments import residual_pfa, some_strings
from sigmastar.automata.inference import string_weights
from sigmastar.automata.learn.blocks.separable import extreme_rows, rounded
from sigmastar.automata.learn.separable import FREQUENT, SHRINKAGE, learn_separable
from sigmastar.core.linalg.simplex import (
    fit_coupled_mixtures,
    fit_mixtures,
    project_to_simplex,
)

STRINGS = all_strings("ab", 6)


@pytest.mark.parametrize("coupled", [False, True])
@pytest.mark.parametrize("statistics", ["string", "prefix", "substring"])
def test_exact_moments_recover_a_residual_automaton(statistics, coupled):
    truth = residual_pfa()
    # "", "a" and "b" lead to single states: their futures are the three residuals.
    basis = ss.moments.all_basis(2, 3)
    moments = ss.moments.exact_moments(truth, basis, statistics)
    learned = learn_separable(moments, n_states=3, coupled=coupled)
    expected = string_weights(truth, STRINGS)
    if statistics == "substring":  # there no prefix is a pure state, only mixtures occur
        assert learned.model.n_states == 3
    else:
        np.testing.assert_allclose(string_weights(learned.model, STRINGS), expected, atol=1e-8)
        assert learned.info["residual"] < 1e-8


def test_the_start_is_the_mixture_nearest_to_how_sequences_begin():
    """With substrings, how sequences begin is not how they go on: a start of its own."""
    strings = ["abbb", "abb", "bba", "abbbb"] * 30
    moments = ss.moments.MomentPlan("substring", max_length=2).moments_of(
        ss.Corpus.from_sequences(strings)
    )
    learned = learn_separable(moments, n_states=3)
    listed = [moments.alphabet.decode(string) for string in moments.basis.prefixes]
    chosen = [listed.index(prefix) for prefix in learned.info["prefixes"]]
    futures = moments.block[chosen] / moments.mass[chosen, None]
    begins = [
        np.mean([s.startswith("".join(moments.alphabet.decode(v))) for s in strings])
        for v in moments.basis.suffixes
    ]
    theirs = solve_qp(
        futures @ futures.T + 1e-12 * np.eye(3),
        -futures @ np.array(begins),
        A=np.ones((1, 3)),
        b=np.ones(1),
        lb=np.zeros(3),
        solver="daqp",
    )
    np.testing.assert_allclose(learned.model.initial, theirs, atol=1e-6)


def mixed_start():
    """Give a machine that starts in either state; each symbol leads to a state of its own."""
    arcs = np.zeros((2, 2, 2))
    arcs[0, :, 0], arcs[1, :, 1] = [0.6, 0.1], [0.2, 0.5]
    return ss.PFA([0.5, 0.5], arcs, [0.2, 0.4], ss.Alphabet("ab"))


@pytest.mark.parametrize("statistics", ["string", "prefix"])
def test_exact_moments_recover_a_machine_that_starts_in_a_mixture(statistics):
    truth = mixed_start()
    moments = ss.moments.exact_moments(truth, ss.moments.all_basis(2, 3), statistics)
    learned = learn_separable(moments, n_states=2)
    # The empty prefix is the most frequent one, but a mixture.
    assert sorted("".join(prefix) for prefix in learned.info["prefixes"]) == ["a", "b"]
    expected = string_weights(truth, STRINGS)
    np.testing.assert_allclose(string_weights(learned.model, STRINGS), expected, atol=1e-10)


@pytest.mark.parametrize("shrinkage", [0.0, 1e9])
def test_exact_moments_need_no_shrinkage(shrinkage):
    moments = ss.moments.exact_moments(mixed_start(), ss.moments.all_basis(2, 3), "prefix")
    plain = learn_separable(moments, n_states=2, shrinkage=shrinkage)
    assert plain.info["residual"] < 1e-10


def states_of(estimator):
    return sorted("".join(prefix) for prefix in estimator.info_["prefixes"])


def test_the_states_of_a_mixed_start_are_found_in_a_sample():
    strings = ss.sample(mixed_start(), 10_000, random_state=0)
    states = {
        scale: states_of(ss.SeparablePFA(2, shrinkage=scale).fit(strings))
        for scale in ("auto", 0.0, SHRINKAGE, FREQUENT)
    }
    assert states["auto"] == states[SHRINKAGE] == ["a", "b"]
    assert len(states[0.0][0]) > 1  # the noisy futures of rare prefixes stick out
    assert "" in states[FREQUENT]  # the empty prefix is the longest row of the Hankel block


def test_few_states_for_rich_data_are_frequent_prefixes():
    truth = ss.datasets.make_dpfa(20, 6, random_state=0)
    strings = ss.sample(truth, 3000, random_state=0)
    est = ss.SeparablePFA(2, statistics="substring").fit(strings)
    scores = {trial["shrinkage"]: trial["score"] for trial in est.info_["path"]}
    assert scores[FREQUENT] > scores[SHRINKAGE]
    assert est.info_["shrinkage"] == FREQUENT


def test_one_sequence_is_enough_for_a_given_size():
    assert ss.SeparablePFA(2).fit(["abababab"]).model_.n_states == 2


def test_a_size_that_only_the_whole_sample_allows_is_learned():
    # Three prefixes are seen, one of them only in the sequence that would be held out.
    est = ss.SeparablePFA(3, max_length=1).fit(["a", "b"])
    assert len(est.info_["prefixes"]) >= 2
    assert "path" not in est.info_


@pytest.mark.parametrize("seed", range(4))
def test_mixtures_agree_with_a_general_qp_solver(seed):
    rng = np.random.default_rng(seed)
    atoms, vectors = rng.random((6, 9)), rng.random((20, 9)) * 2 - 0.5
    weights = fit_mixtures(atoms, vectors)
    for vector, mine in zip(vectors, weights, strict=True):
        theirs = solve_qp(
            atoms @ atoms.T,
            -atoms @ vector,
            A=np.ones((1, 6)),
            b=np.ones(1),
            lb=np.zeros(6),
            solver="daqp",
        )
        np.testing.assert_allclose(mine, theirs, atol=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_coupled_mixtures_agree_with_a_general_qp_solver(seed):
    rng = np.random.default_rng(seed)
    atoms = rng.random((5, 9))
    vectors = rng.random((14, 9)) * 2 - 0.5 * (seed % 2)
    prices, groups = rng.random(14) ** 3 + 1e-3, np.arange(14) % 2
    weights = fit_coupled_mixtures(atoms, vectors, prices, groups)
    for group in range(2):
        price = prices[groups == group]
        theirs = solve_qp(
            np.kron(np.eye(7), atoms @ atoms.T),
            -(vectors[groups == group] @ atoms.T).ravel(),
            A=np.repeat(price, 5)[None, :],
            b=price.sum(keepdims=True),
            lb=np.zeros(35),
            solver="daqp",
        )
        np.testing.assert_allclose(weights[groups == group].ravel(), theirs, atol=1e-8)


def test_coupled_mixtures_of_futures_that_were_never_seen_meet_their_constraint():
    prices = np.array([0.2, 0.0003, 0.5])
    weights = fit_coupled_mixtures(np.eye(2, 3), np.zeros((3, 3)), prices, np.zeros(3, int))
    assert weights.min() >= 0
    assert weights.sum(axis=1) @ prices == pytest.approx(prices.sum(), rel=1e-14)
    np.testing.assert_allclose(weights[:, 0] / prices, weights[0, 0] / prices[0], rtol=1e-6)


def test_step_four_is_the_published_program():
    """The arcs of each state solve the quadratic program of the paper, by a general solver."""
    corpus = ss.sample(ss.datasets.make_pfa(5, 3, random_state=1), 400, random_state=0)
    moments = ss.moments.MomentPlan("prefix", basis_size=30).moments_of(corpus)
    model = learn_separable(moments, n_states=4, coupled=True)
    strings = [moments.alphabet.decode(string) for string in moments.basis.prefixes]
    chosen = [strings.index(prefix) for prefix in model.info["prefixes"]]
    futures = moments.block[chosen] / moments.mass[chosen, None]
    for state, u in enumerate(chosen):
        met = np.flatnonzero(moments.next_mass[:, u])
        going_on = moments.next_mass[met, u]
        after = [moments.symbol_blocks.block(o)[u] / moments.next_mass[o, u] for o in met]
        theirs = solve_qp(
            np.kron(np.eye(len(met)), futures @ futures.T),
            -(np.array(after) @ futures.T).ravel(),
            A=np.repeat(going_on, 4)[None, :],
            b=np.array([moments.mass[u] - moments.end_column[u]]),
            lb=np.zeros(4 * len(met)),
            solver="daqp",
        ).reshape(-1, 4)
        arcs = theirs * (going_on / moments.mass[u])[:, None]
        np.testing.assert_allclose(model.model.transitions[met, state], arcs, atol=1e-6)
    apart = learn_separable(moments, n_states=4)
    assert model.info["residual"] < apart.info["residual"]  # fewer constraints, a better fit


def test_mixtures_with_equal_atoms_still_sum_to_one():
    atoms = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    weights = fit_mixtures(atoms, np.array([[0.25, 0.75], [2.0, 0.0]]))
    np.testing.assert_allclose(weights @ atoms, [[0.25, 0.75], [1.0, 0.0]], atol=1e-6)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-12)


def test_projection_to_the_simplex_is_the_nearest_distribution():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(30, 5))
    expected = fit_mixtures(np.eye(5), rows)
    np.testing.assert_allclose(project_to_simplex(rows), expected, atol=1e-9)


@pytest.mark.parametrize("precondition", [False, True])
@pytest.mark.parametrize("revise", [False, True])
def test_extreme_rows_are_found_among_mixtures(precondition, revise):
    rng = np.random.default_rng(1)
    corners = rng.random((4, 10))
    mixtures = rng.dirichlet(np.ones(4), 50) @ corners
    rows = np.vstack([mixtures[:25], corners, mixtures[25:]])
    found = extreme_rows(rows, 4, precondition=precondition, revise=revise)
    assert sorted(found) == [25, 26, 27, 28]


def test_of_equal_rows_the_first_is_taken():
    corners = np.random.default_rng(1).random((4, 10))
    rows = np.vstack([corners, corners * (1 + 1e-14), corners])
    assert sorted(extreme_rows(rows, 4)) == [0, 1, 2, 3]


def middle_points(seed, push=0.08, n=8):
    """Give badly conditioned corners and the middles between them, pushed outwards (gillis2013)."""
    rng = np.random.default_rng(seed)
    left, _, right = np.linalg.svd(rng.random((n, 20)), full_matrices=False)
    corners = (left * np.logspace(0, -2, n)) @ right
    middles = np.array([(corners[i] + corners[j]) / 2 for i in range(n) for j in range(i)])
    return np.vstack([corners, middles + push * (middles - corners.mean(axis=0))])


def test_preconditioning_finds_corners_that_plain_projection_misses():
    def right(precondition):
        found = [
            extreme_rows(middle_points(seed), 8, precondition=precondition, revise=False)
            for seed in range(10)
        ]
        return sum(sorted(rows) == list(range(8)) for rows in found)

    assert right(True) == 10
    assert right(False) < 10


def test_rounded_rows_have_a_ball_as_their_smallest_ellipsoid():
    points = rounded(middle_points(0), 8)
    squares = np.square(points).sum(axis=1)
    touching = points[squares > 0.97 * squares.max()]
    assert len(touching) >= 8  # as many as there are dimensions hold the ball in place
    assert np.linalg.matrix_rank(touching) == 8


@given(st.integers(0, 100), st.sampled_from(["prefix", "string", "substring"]), st.booleans())
def test_the_result_is_always_a_pfa(seed, statistics, coupled):
    strings = some_strings(seed, n=15)
    est = ss.SeparablePFA(3, statistics=statistics, max_length=2, coupled=coupled).fit(strings)
    model = est.model_
    leaving = model.transitions.sum(axis=(0, 2)) + model.final
    np.testing.assert_allclose(leaving, 1.0, atol=1e-12)
    assert model.initial.sum() == pytest.approx(1.0, abs=1e-12)
    assert min(model.transitions.min(), model.final.min(), model.initial.min()) >= 0
    assert np.isfinite(est.log_proba(strings)).all()


def test_auto_takes_the_best_size_and_comes_close_to_the_truth():
    truth = residual_pfa()
    train, test = (ss.sample(truth, 3000, random_state=seed) for seed in (0, 1))
    est = ss.SeparablePFA(max_states=8).fit(train)
    best = max(est.info_["path"], key=lambda trial: trial["score"])
    assert est.model_.n_states == best["n_states"] >= 3
    gap = np.mean(ss.log_proba(truth, test)) - est.score(test)
    assert -0.02 < gap < 0.05


def test_smoothing_keeps_unseen_strings_possible():
    strings = ["ab", "abab"] * 10
    assert ss.SeparablePFA(2, smoothing=0.0).fit(strings).log_proba(["bb"])[0] == -np.inf
    assert np.isfinite(ss.SeparablePFA(2).fit(strings).log_proba(["bb"])[0])


def test_too_many_states_are_refused():
    with pytest.raises(ss.errors.InvalidParameter, match="n_states must be between 1 and 4"):
        ss.SeparablePFA(9, max_length=1).fit(["abc", "b", "c"])
