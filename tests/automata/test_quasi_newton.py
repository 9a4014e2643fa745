"""Steps that remember get further than plain ones, and never end worse than they began."""

from contextlib import nullcontext

import numpy as np
import pytest

import sigmastar as ss
from automata.oracles import random_pfa
from sigmastar.automata.inference.expected_counts import Forest
from sigmastar.automata.learn.blocks.em_family import HMMFamily, PFAFamily
from sigmastar.automata.learn.blocks.em_step import em_step, held_out_score
from sigmastar.automata.learn.blocks.quasi_newton import FURTHEST, SHORTER, QuasiNewton
from sigmastar.core.blas import one_blas_thread

TRUTH = random_pfa(7, n_states=4, symbols="abc")
FOREST = Forest(ss.sample(TRUTH, 800, random_state=0))
FAMILIES = pytest.mark.parametrize("family", [PFAFamily(), HMMFamily()], ids=["pfa", "hmm"])


def begun(family):
    return family.random(np.random.default_rng(1), 5, 3)


def assert_same(one, other):
    for name, array in one.items():
        assert np.array_equal(array, other[name])


@FAMILIES
def test_no_step_begins_lower_than_the_last_or_ends_lower_than_it_began(family):
    run, parameters, last = QuasiNewton(FOREST, family), begun(family), -np.inf
    for _ in range(80):
        step = run.step(parameters)
        parameters = step.parameters
        assert step.objective >= last - 1e-12
        assert held_out_score(FOREST, family, parameters, 1) >= step.objective - 1e-12
        last = step.objective


@FAMILIES
def test_steps_get_further_than_four_times_as_many_plain_ones(family):
    run, parameters = QuasiNewton(FOREST, family), begun(family)
    for _ in range(40):
        parameters = run.step(parameters).parameters
    plain = begun(family)
    for _ in range(160):
        plain = em_step(FOREST, family, plain).parameters
    scores = [held_out_score(FOREST, family, each, 1) for each in (parameters, plain)]
    assert scores[0] > scores[1]


@FAMILIES
def test_the_first_step_is_a_plain_one(family):
    step = QuasiNewton(FOREST, family).step(begun(family))
    plain = em_step(FOREST, family, begun(family))
    assert step.objective == plain.objective
    assert_same(plain.parameters, step.parameters)


@FAMILIES
def test_slopes_are_those_of_the_likelihood(family):
    parameters = begun(family)
    run = QuasiNewton(FOREST, family)
    run.step(parameters)
    rng = np.random.default_rng(2)
    toward = {name: rng.normal(size=array.shape) for name, array in parameters.items()}

    def value(distance):
        moved = {
            name: array * np.exp(distance * toward[name]) for name, array in parameters.items()
        }
        return FOREST.weight * held_out_score(FOREST, family, family.normalized(moved), 1)

    measured = (value(1e-5) - value(-1e-5)) / 2e-5
    assert run._last.slope @ run._flat(toward) == pytest.approx(measured, rel=1e-6)


@FAMILIES
def test_where_steps_begin_is_a_model(family):
    run, parameters = QuasiNewton(FOREST, family), begun(family)
    for _ in range(5):
        parameters = run.step(parameters).parameters
    begin = run._along(parameters, run._last.logs + run._way)
    initial, arcs, stop = family.expand(begin)
    np.testing.assert_allclose(arcs.sum(axis=(0, 2)) + stop, 1.0, rtol=0, atol=1e-12)
    assert initial.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.abs(run._way).max() <= FURTHEST


def test_a_step_too_far_is_taken_back():
    family = PFAFamily()
    run, parameters = QuasiNewton(FOREST, family), begun(family)
    parameters = run.step(parameters).parameters
    run._way = 30.0 * np.random.default_rng(3).normal(size=run._way.shape)  # beyond all reason
    expected = em_step(FOREST, family, parameters)
    step = run.step(parameters)
    assert step.objective == expected.objective
    assert_same(expected.parameters, step.parameters)
    assert not run._turns


def test_a_step_that_leads_down_is_tried_at_a_quarter_of_its_length():
    family = PFAFamily()
    run, start = QuasiNewton(FOREST, family), begun(family)
    first = run.step(start)
    logs, way = run._last.logs, run._way

    def after(share):
        return em_step(FOREST, family, run._along(start, logs + share * way))

    times = next(
        times
        for times in np.geomspace(1.0, 1e3, 40)
        if after(times).objective < first.objective < after(SHORTER * times).objective
    )
    expected = after(SHORTER * times)
    run._way = times * way
    step = run.step(first.parameters)
    assert step.objective == expected.objective
    assert_same(expected.parameters, step.parameters)


def test_what_is_zero_stays_zero():
    family = PFAFamily()
    parameters = begun(family)
    parameters["transitions"][0, :, 2] = 0.0
    parameters = family.normalized(parameters)
    run = QuasiNewton(FOREST, family)
    for _ in range(10):
        parameters = run.step(parameters).parameters
    assert not parameters["transitions"][0, :, 2].any()


def test_steps_are_the_same_on_any_number_of_blas_threads():
    family = PFAFamily()
    ends = []
    for limit in (one_blas_thread, nullcontext):
        run, parameters = (
            QuasiNewton(FOREST, family),
            family.random(np.random.default_rng(1), 72, 3),
        )
        with limit():
            for _ in range(12):  # over 15,000 parameters: products of vectors are shared out
                parameters = run.step(parameters).parameters
        ends.append(parameters)
    assert_same(*ends)
