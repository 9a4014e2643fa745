"""Convex learning: the solver agrees with cvxpy, its certificate is true, exact moments suffice."""

import warnings

import numpy as np
import pytest

import sigmastar as ss
from automata.oracles import all_strings, random_pfa
from sigmastar.automata.inference import next_distribution
from sigmastar.automata.learn.blocks.nuclear import NuclearProblem, shrink
from sigmastar.automata.learn.convex import ConvexProblem, convex_path, learn_convex

TRUTH = random_pfa(2, n_states=3, symbols="ab")
CORPUS = ss.sample(TRUTH, 2000, random_state=0)


def small_problem(seed, p=5, s=8, t=12):
    rng = np.random.default_rng(seed)
    plain, target = rng.normal(size=(p, s)), rng.normal(size=(t, s))
    problem = NuclearProblem(plain @ plain.T, target @ plain.T, float(np.sum(target**2)))
    return plain, target, problem


@pytest.mark.parametrize("share", [0.5, 0.1, 0.01])
def test_the_minimum_agrees_with_cvxpy(share):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import cvxpy

        plain, target, problem = small_problem(0)
        tau = share * problem.tau_max
        variable = cvxpy.Variable((12, 5))
        objective = cvxpy.sum_squares(variable @ plain - target) + tau * cvxpy.normNuc(variable)
        oracle = cvxpy.Problem(cvxpy.Minimize(objective))
        oracle.solve(solver="SCS", eps_abs=1e-9, eps_rel=1e-9, max_iters=100_000)
    solution = problem.solve(tau, tol=1e-12, max_iter=20_000)
    assert solution.value == pytest.approx(oracle.value, rel=1e-6)
    np.testing.assert_allclose(problem.matrix(solution), variable.value, atol=1e-5)


def test_the_gap_bounds_the_distance_to_the_optimum_at_every_point():
    _, _, problem = small_problem(1)
    tau = 0.1 * problem.tau_max
    best = problem.solve(tau, tol=1e-12, max_iter=20_000).value
    for n_iter in (1, 5, 20, 60):
        early = problem.solve(tau, tol=0.0, max_iter=n_iter)
        value, gap = problem.certify(early.x, tau)
        assert value - best <= gap * value + 1e-9 * value


def test_the_objective_is_the_one_stated():
    plain, target, problem = small_problem(2)
    tau = 0.2 * problem.tau_max
    solution = problem.solve(tau)
    matrix = problem.matrix(solution)
    stated = np.sum((matrix @ plain - target) ** 2) + tau * np.linalg.norm(matrix, "nuc")
    assert solution.value == pytest.approx(stated, rel=1e-9)


def test_above_tau_max_the_solution_is_zero_and_below_it_is_not():
    _, _, problem = small_problem(3)
    assert np.abs(problem.solve(1.001 * problem.tau_max).x).max() < 1e-8
    assert np.abs(problem.solve(0.95 * problem.tau_max, tol=1e-9).x).max() > 1e-4


def test_shrinking_is_soft_thresholding_of_singular_values():
    matrix = np.random.default_rng(0).normal(size=(7, 4))
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    expected = (left * np.maximum(values - 1.5, 0)) @ right
    np.testing.assert_allclose(shrink(matrix, 1.5), expected, atol=1e-12)


@pytest.mark.parametrize("exponent", [0.5, 0.25])
def test_rows_and_columns_are_scaled_to_like_variance(exponent):
    plan = ss.moments.MomentPlan(basis_size=12)
    moments = plan.moments(plan.count(CORPUS), CORPUS.alphabet)
    rows, columns = (
        (len(CORPUS) / (counts + 5)) ** exponent
        for counts in (moments.row_counts, moments.column_counts)
    )
    problem = ConvexProblem.of(moments, exponent)
    np.testing.assert_allclose(problem.plain, moments.block * rows[:, None] * columns)
    blocks = [moments.symbol_blocks.block(s) * rows[:, None] * columns for s in range(2)]
    stacked = np.vstack([*blocks, moments.start_row * columns])
    assert problem.problem.target_square == pytest.approx(np.sum(stacked**2))
    assert problem.problem.top == pytest.approx(np.linalg.norm(stacked @ problem.plain.T, 2))


@pytest.mark.parametrize("refit", [False, True])
@pytest.mark.parametrize("statistics", ["string", "prefix", "substring"])
def test_exact_moments_and_little_penalty_recover_the_predictions(statistics, refit):
    moments = ss.moments.exact_moments(TRUTH, ss.moments.all_basis(2, 3), statistics)
    learned = learn_convex(moments, tau=1e-9, refit=refit, tol=1e-10, max_iter=5000)
    prefixes = all_strings("ab", 4)
    np.testing.assert_allclose(
        next_distribution(learned.model, prefixes),
        next_distribution(TRUTH, prefixes),
        atol=1e-7 if refit else 1e-4,  # the penalty shrinks what is not fitted anew
    )


def test_a_warm_path_reaches_what_a_cold_start_reaches():
    plan = ss.moments.MomentPlan(basis_size=20)
    moments = plan.moments(plan.count(CORPUS), CORPUS.alphabet)
    problem = ConvexProblem.of(moments)
    taus = [share * problem.problem.tau_max for share in (0.1, 0.01, 0.001)]
    warm = list(convex_path(problem, taus, tol=1e-7, max_iter=3000))
    cold = learn_convex(moments, tau=0.001, tol=1e-7, max_iter=3000)
    assert warm[-1].info["objective"] == pytest.approx(cold.info["objective"], rel=1e-6)
    sizes = [learned.model.n_states for learned in warm]
    assert sizes == sorted(sizes)


def test_auto_learns_close_to_the_truth_with_a_certificate():
    est = ss.ConvexWFA(basis_size=30, n_prefixes=20).fit(CORPUS)
    test = ss.sample(TRUTH, 2000, random_state=1)
    gap = np.mean(ss.log_proba(TRUTH, test)) - est.score(test)
    assert -0.02 < gap < 0.05
    assert est.info_["converged"] is True
    assert est.info_["duality_gap"] <= 1e-4


def test_the_estimators_path_equals_models_learned_one_by_one():
    est = ss.ConvexWFA(basis_size=20, tol=1e-9, max_iter=5000)
    models = est.path(CORPUS, [0.001, 0.1])
    alone = ss.ConvexWFA(0.001, basis_size=20, tol=1e-9, max_iter=5000).fit(CORPUS).model_
    strings = all_strings("ab", 4)
    np.testing.assert_allclose(
        next_distribution(models[0], strings), next_distribution(alone, strings), atol=1e-4
    )
    assert models[1].n_states <= models[0].n_states


@pytest.mark.parametrize("share", [1e-2, 1e-4, 1e-6])
def test_few_iterations_certify_badly_conditioned_problems(share):
    rng = np.random.default_rng(0)
    plain = rng.normal(size=(30, 40)) * np.logspace(0, -4, 30)[:, None]
    target = rng.normal(size=(60, 40)) * 0.01 + rng.normal(size=(60, 3)) @ plain[:3]
    problem = NuclearProblem(plain @ plain.T, target @ plain.T, float(np.sum(target**2)))
    solution = problem.solve(share * problem.tau_max, tol=1e-4, max_iter=300)
    assert solution.gap <= 1e-4


def test_a_basis_without_the_empty_string_is_refused():
    with pytest.raises(ss.errors.InvalidParameter, match="must hold the empty string"):
        ss.ConvexWFA(basis=(["a"], ["", "b"])).fit(CORPUS)
