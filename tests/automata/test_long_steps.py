"""Long steps of Baum–Welch get further than plain ones, and never end worse than they began."""

import numpy as np
import pytest

import sigmastar as ss
from automata.oracles import random_pfa
from sigmastar.automata.inference.expected_counts import Forest
from sigmastar.automata.learn.blocks import long_steps
from sigmastar.automata.learn.blocks.em_family import HMMFamily, PFAFamily
from sigmastar.automata.learn.blocks.em_step import em_step, held_out_score
from sigmastar.automata.learn.blocks.long_steps import LongSteps

TRUTH = random_pfa(7, n_states=4, symbols="abc")
FOREST = Forest(ss.sample(TRUTH, 800, random_state=0))
FAMILIES = [PFAFamily(), HMMFamily()]


def begun(family):
    return family.random(np.random.default_rng(1), 5, 3)


@pytest.mark.parametrize("family", FAMILIES, ids=["pfa", "hmm"])
def test_no_step_begins_lower_than_the_last_or_ends_lower_than_it_began(family):
    long, parameters, last = LongSteps(FOREST, family), begun(family), -np.inf
    for _ in range(80):
        step = long.step(parameters)
        parameters = step.parameters
        assert step.objective >= last - 1e-12
        assert held_out_score(FOREST, family, parameters, 1) >= step.objective - 1e-12
        last = step.objective


@pytest.mark.parametrize("family", FAMILIES, ids=["pfa", "hmm"])
def test_long_steps_get_further_than_twice_as_many_plain_ones(family):
    long, parameters = LongSteps(FOREST, family), begun(family)
    for _ in range(40):
        parameters = long.step(parameters).parameters
    plain = begun(family)
    for _ in range(80):
        plain = em_step(FOREST, family, plain).parameters
    scores = [held_out_score(FOREST, family, each, 1) for each in (parameters, plain)]
    assert scores[0] > scores[1]


@pytest.mark.parametrize("family", FAMILIES, ids=["pfa", "hmm"])
def test_the_first_step_is_a_plain_one(family):
    step = LongSteps(FOREST, family).step(begun(family))
    plain = em_step(FOREST, family, begun(family))
    assert step.objective == plain.objective
    for name, array in plain.parameters.items():
        assert np.array_equal(array, step.parameters[name])


@pytest.mark.parametrize("family", FAMILIES, ids=["pfa", "hmm"])
def test_where_steps_begin_is_a_model(family):
    long, parameters = LongSteps(FOREST, family), begun(family)
    for _ in range(5):
        parameters = long.step(parameters).parameters
    initial, arcs, stop = family.expand(long._ahead)
    np.testing.assert_allclose(arcs.sum(axis=(0, 2)) + stop, 1.0, rtol=0, atol=1e-12)
    assert initial.sum() == pytest.approx(1.0, abs=1e-12)


def test_a_step_too_far_is_taken_back(monkeypatch):
    monkeypatch.setattr(long_steps, "LONGER", 1e3)  # at once far beyond all reason
    monkeypatch.setattr(long_steps, "LONGEST", 1e3)
    family = PFAFamily()
    long, parameters = LongSteps(FOREST, family), begun(family)
    plain = begun(family)
    for _ in range(2):
        parameters = long.step(parameters).parameters
        plain = em_step(FOREST, family, plain).parameters
    for name, array in plain.items():
        assert np.array_equal(array, parameters[name])


def test_a_step_that_fell_is_followed_by_a_short_one(monkeypatch):
    monkeypatch.setattr(long_steps, "LONGER", 1e3)
    family = PFAFamily()
    long, parameters = LongSteps(FOREST, family), begun(family)
    lengths = []
    for _ in range(2):
        parameters = long.step(parameters).parameters
        lengths.append(long.length)
        monkeypatch.setattr(long_steps, "LONGER", 1.5)
    assert lengths == [long_steps.LONGEST, 1.5]


def test_what_is_zero_stays_zero():
    family = PFAFamily()
    parameters = begun(family)
    parameters["transitions"][0, :, 2] = 0.0
    parameters = family.normalized(parameters)
    long = LongSteps(FOREST, family)
    for _ in range(10):
        parameters = long.step(parameters).parameters
    assert not parameters["transitions"][0, :, 2].any()
