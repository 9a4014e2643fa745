"""Machines that grow: when they make an arc, and how much room they take."""

from itertools import pairwise

import numpy as np
import pytest

from sigmastar.core.errors import InvalidModel
from sigmastar.tagging.decode import decode_classes
from sigmastar.tagging.fst import growing
from sigmastar.tagging.fst.composed import ComposedTransducer
from sigmastar.tagging.fst.lazy import LazyTransducer
from sigmastar.tagging.fst.memory import Room, more_room
from sigmastar.tagging.fst.rules import RuleSet
from sigmastar.tagging.kernels.lazy import (
    DEPTH,
    FIRST_NAME,
    FIRST_PATH,
    FIRST_TAG,
    N_PATHS,
    NEAR,
    OLD,
    STATES,
    STRINGS,
)
from sigmastar.tagging.kernels.meetings import MEETINGS
from tagging.oracles import random_model, random_sentences

MODEL = random_model(3, order=2, n_tags=5)
CODES, STARTS = random_sentences(np.random.default_rng(0), MODEL.n_classes, 100)
FAR = 99  # words later: a tag is always decided before, so this is the tagger, word by word
RULES = RuleSet.from_text("T0 -> T1 / T2 _", list(MODEL.tags))


def composed():
    machine = ComposedTransducer(LazyTransducer(MODEL), RULES)
    return machine, machine.one_after_the_other(CODES, STARTS)


@pytest.mark.patient
def test_arcs_are_made_when_they_were_met_several_times():
    machine, expected = composed()
    codes, starts = CODES[STARTS[0] : STARTS[1]], STARTS[:2]
    sizes = []
    for _ in range(MEETINGS + 2):
        np.testing.assert_array_equal(machine.run_aligned(codes, starts), expected[: len(codes)])
        sizes.append(machine.n_arcs)
    assert sizes == [0] * (MEETINGS - 1) + [len(codes) + 1] * 3
    for _ in range(4 * MEETINGS):
        np.testing.assert_array_equal(machine.run_aligned(CODES, STARTS), expected)
    whole = composed()[0]
    whole.grow(CODES, STARTS)
    assert machine.n_arcs == whole.n_arcs  # nothing is left for later
    np.testing.assert_array_equal(whole.run_aligned(CODES, STARTS), expected)


@pytest.mark.patient
@pytest.mark.parametrize(("n_sentences", "one_in"), [(1, 3), (5, 3), (9, 9), (100, 3)])
def test_sentences_in_step_are_tagged_as_one_by_one(n_sentences, one_in, monkeypatch):
    monkeypatch.setattr(growing, "_MANY_WORDS", 0)
    monkeypatch.setattr(growing, "_MANY_SLOTS", 0)
    starts = STARTS[: n_sentences + 1]
    codes = CODES[: starts[-1]]
    machine, expected = composed()
    expected = expected[: len(codes)]
    some = np.flatnonzero(np.arange(n_sentences) % one_in == 0)  # others meet arcs that are missing
    for s in some:
        machine.grow(codes[starts[s] : starts[s + 1]], starts[s : s + 2] - starts[s])
    sizes = []
    for _ in range(4 * MEETINGS):
        np.full(len(codes), FAR, np.int32)  # an array that nobody writes to holds no tags of before
        np.testing.assert_array_equal(machine.run_aligned(codes, starts), expected)
        sizes.append(machine.n_arcs)
    assert sizes == sorted(sizes)
    whole = composed()[0]
    whole.grow(codes, starts)
    assert sizes[-1] == whole.n_arcs


def test_sentences_in_step_are_tagged_in_a_memory_that_is_far_too_small(monkeypatch):
    monkeypatch.setattr(growing, "_MANY_WORDS", 0)
    monkeypatch.setattr(growing, "_MANY_SLOTS", 0)
    machine = ComposedTransducer(LazyTransducer(MODEL), RULES, max_states=64)
    for _ in range(3):
        machine.grow(CODES, STARTS)
        found = machine.run_aligned(CODES, STARTS)
        np.testing.assert_array_equal(found, machine.one_after_the_other(CODES, STARTS))
    assert machine.n_restarts > 0


@pytest.mark.patient
@pytest.mark.parametrize("max_states", [1, 1 << 20])
def test_what_is_decided_by_viterbi_passes_through_rules_and_words(max_states):
    text = "T0 -> T1 / T2 _ T1\na/T1 -> T3 / _ b/ANY\nT3 -> T0 / <s> _\nT2 -> T4 / _ T4 </s>"
    rules = RuleSet.from_text(text, list(MODEL.tags))
    rng = np.random.default_rng(1)
    codes, starts = random_sentences(rng, MODEL.n_classes, 60)
    # One sentence holds more tags than there is room for what the rules remember.
    codes = np.concatenate((codes, rng.integers(0, MODEL.n_classes, 200, np.int32)))
    starts = np.append(starts, len(codes))
    words = rng.integers(0, 1 + len(rules.alphabet.words), len(codes), np.int32)
    machine = ComposedTransducer(LazyTransducer(MODEL), rules, max_states=max_states)
    found = machine.run_aligned(words * MODEL.n_classes + codes, starts)
    plain = decode_classes(MODEL, codes, starts)
    np.testing.assert_array_equal(found, rules.apply(plain, starts, words))
    assert (found != plain).any()
    assert machine.n_arcs == 0
    assert (machine.n_restarts > 0) == (max_states == 1)


@pytest.mark.patient
def test_a_machine_that_decides_by_force_has_no_one_to_leave_sentences_to():
    machine = LazyTransducer(MODEL, look_ahead=1)
    first = machine.run_aligned(CODES, STARTS)
    assert machine.n_arcs > 0
    np.testing.assert_array_equal(machine.run_aligned(CODES, STARTS), first)


@pytest.mark.parametrize("near", [False, True])
def test_what_was_grown_is_kept_in_arrays(near):
    model = random_model(4, order=2, n_tags=5, near=near)
    machine, again = (LazyTransducer(model, look_ahead=FAR) for _ in range(2))
    machine.grow(CODES, STARTS)
    again.regrow(machine.to_arrays())
    assert (again.n_states, again.n_arcs) == (machine.n_states, machine.n_arcs)
    expected = decode_classes(model, CODES, STARTS)
    np.testing.assert_array_equal(again.run_aligned(CODES, STARTS), expected)
    assert again.n_arcs == machine.n_arcs  # everything was there
    more, starts = random_sentences(np.random.default_rng(5), model.n_classes, 60)
    again.grow(more, starts)
    expected = decode_classes(model, more, starts)
    np.testing.assert_array_equal(again.run_aligned(more, starts), expected)


@pytest.mark.parametrize(
    ("name", "at", "value", "message"),
    [
        ("arcs", (3, 1), 1 << 60, "arcs must lead from states to states"),
        ("arcs", (3, 1), (1 << 32) - 1, "outputs lie outside"),
        ("arcs", (0, 0), 1 << 40, "arcs must lead from states to states"),
        ("strings", 1, 30_000, "outputs lie outside|must write|must be tags"),
        ("strings", 0, 1, "first output must be empty"),
        ("states", (0, DEPTH), 1, "must hold back nothing"),
        ("states", (5, N_PATHS), 100, "too many paths"),
        ("states", (5, FIRST_PATH), 1 << 20, "paths lie outside"),
        ("states", (5, FIRST_NAME), 1 << 20, "names lie outside"),
        ("states", (5, FIRST_TAG), 1 << 20, "tags of paths lie outside"),
        ("states", (5, OLD), 6, "decided tags must lie between 0 and 5"),
        ("states", (5, NEAR), 0, "rows of neighbours"),
        ("names", 0, 99, "names must lie between"),
        ("path_tags", 0, 5, "path_tags must lie between"),
    ],
)
def test_states_that_would_leave_their_arrays_are_refused(name, at, value, message):
    machine = LazyTransducer(MODEL, look_ahead=FAR)
    machine.grow(CODES, STARTS)
    arrays = machine.to_arrays()
    arrays[name] = arrays[name].copy()
    arrays[name][at] = value
    with pytest.raises(InvalidModel, match=message):
        LazyTransducer(MODEL, look_ahead=FAR).regrow(arrays)


def test_states_hold_no_more_paths_than_a_step_starts_from():
    machine = LazyTransducer(MODEL, look_ahead=FAR)
    machine.grow(CODES, STARTS)
    arrays = machine.to_arrays()
    paths = arrays["paths"].copy()
    state = arrays["states"][np.argmax(arrays["states"][:, N_PATHS])]
    assert state[N_PATHS] >= 4  # of at most three candidates a word
    first = state[FIRST_PATH]
    paths[first : first + 4, 1] = [0, 1, 2, 3]
    with pytest.raises(InvalidModel, match="end in too many tags"):
        LazyTransducer(MODEL, look_ahead=FAR).regrow(arrays | {"paths": paths})


def test_arcs_write_what_they_read():
    machine = LazyTransducer(MODEL, look_ahead=FAR)
    machine.grow(CODES, STARTS)
    arrays = machine.to_arrays()
    strings = arrays["strings"].copy()
    place = int(np.flatnonzero(arrays["arcs"][:, 1] & 0xFFFFFFFF)[0])
    strings[arrays["arcs"][place, 1] & 0xFFFFFFFF] = 0
    with pytest.raises(InvalidModel, match="must write what they do not hold back"):
        LazyTransducer(MODEL, look_ahead=FAR).regrow(arrays | {"strings": strings})


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
