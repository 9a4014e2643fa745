"""Machines that grow: when they make an arc, and how much room they take."""

from itertools import pairwise

import numpy as np
import pytest

from sigmastar.tagging.decode import decode_classes
from sigmastar.tagging.fst.composed import ComposedTransducer
from sigmastar.tagging.fst.lazy import LazyTransducer
from sigmastar.tagging.fst.memory import Room, more_room
from sigmastar.tagging.fst.rules import RuleSet
from sigmastar.tagging.kernels.lazy import STATES, STRINGS
from tagging.oracles import random_model, random_sentences

MODEL = random_model(3, order=2, n_tags=5)
CODES, STARTS = random_sentences(np.random.default_rng(0), MODEL.n_classes, 100)
RULES = RuleSet.from_text("T0 -> T1 / T2 _", list(MODEL.tags))


def machines():
    yield LazyTransducer(MODEL), decode_classes(MODEL, CODES, STARTS)
    composed = ComposedTransducer(LazyTransducer(MODEL), RULES)
    yield composed, composed.one_after_the_other(CODES, STARTS)


@pytest.mark.patient
@pytest.mark.parametrize("which", [0, 1])
def test_arcs_are_made_when_they_are_met_again(which):
    machine, expected = list(machines())[which]
    codes, starts = CODES[STARTS[0] : STARTS[1]], STARTS[:2]
    sizes = []
    for _ in range(4):
        np.testing.assert_array_equal(machine.run_aligned(codes, starts), expected[: len(codes)])
        sizes.append(machine.n_arcs)
    assert sizes == [0, len(codes) + 1, len(codes) + 1, len(codes) + 1]
    for _ in range(4):
        np.testing.assert_array_equal(machine.run_aligned(CODES, STARTS), expected)
    whole = list(machines())[which][0]
    whole.grow(CODES, STARTS)
    assert machine.n_arcs == whole.n_arcs  # nothing is left for later
    np.testing.assert_array_equal(whole.run_aligned(CODES, STARTS), expected)


@pytest.mark.patient
def test_a_machine_that_decides_by_force_has_no_one_to_leave_sentences_to():
    machine = LazyTransducer(MODEL, look_ahead=1)
    first = machine.run_aligned(CODES, STARTS)
    assert machine.n_arcs > 0
    np.testing.assert_array_equal(machine.run_aligned(CODES, STARTS), first)


def test_only_what_is_half_full_gets_more_room():
    room, most = Room(8, 16, 32, 64, 32, 16), Room(*[64] * 6)
    used = np.zeros(6, np.int64)
    used[STATES], used[STRINGS] = 4, 15
    assert more_room(room, used, most) == room._replace(states=16)
    assert more_room(room, used * 0, most) == Room(16, 32, 64, 64, 64, 32)
    assert more_room(most, used, most) is None


def test_what_a_machine_met_before_does_not_change_its_forced_decisions():
    # So small a memory that it is forgotten again and again.
    def small():
        return LazyTransducer(MODEL, look_ahead=1, max_states=64)

    alone = [small().run_aligned(CODES[a:b], np.array([0, b - a])) for a, b in pairwise(STARTS)]
    machine = small()
    for _ in range(2):
        np.testing.assert_array_equal(machine.run_aligned(CODES, STARTS), np.concatenate(alone))
    assert machine.n_restarts > 1
