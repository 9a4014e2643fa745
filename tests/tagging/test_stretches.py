"""Stretches of text that decide their tags by themselves: found, remembered, equal to Viterbi."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from sigmastar.core.errors import InvalidModel
from sigmastar.tagging.decode import decode_classes
from sigmastar.tagging.fst.lazy import LazyTransducer
from sigmastar.tagging.fst.stretches import StretchedMachine
from sigmastar.tagging.kernels.stretches import (
    LONGEST,
    Stretches,
    find_stretches,
    keep_arcs,
    take_known,
)
from tagging.oracles import random_model, random_sentences

MODEL = random_model(3, order=2, n_tags=5)
CODES, STARTS = random_sentences(np.random.default_rng(0), MODEL.n_classes, 100)


def with_ties(order, near):
    """Draw a model of few different scores, where single words heed the tag before them too."""
    sets = [(0,), (0,), (1,), (2,), (3,), (0, 1), (1, 2), (0, 2, 3), (1, 3)]
    model = random_model(21, order=order, sets=sets, near=near)
    rng = np.random.default_rng(order)

    def coarse(shape):
        return rng.integers(-1, 2, shape).astype(np.int32)

    rows = np.array([0, -1, 1, -1, -1, 2, -1, 4, -1])
    return replace(
        model,
        bigram=coarse(model.bigram.shape),
        trigram=coarse(model.trigram.shape),
        scores=coarse(model.scores.shape),
        context_rows=rows,
        context=coarse((7, 5)),
        after=coarse(model.after.shape),
        before=coarse(model.before.shape),
    )


@pytest.mark.patient
@pytest.mark.parametrize("near", [False, True])
@pytest.mark.parametrize("order", [1, 2])
def test_ties_go_where_those_of_whole_sentences_go(order, near):
    model = with_ties(order, near)
    codes, starts = random_sentences(np.random.default_rng(4), model.n_classes, 2000, 12)
    expected = decode_classes(model, codes, starts)
    machine = LazyTransducer(model)
    half = starts[:1001]
    machine.grow(codes[: half[-1]], half)
    for _ in range(3):  # some arcs are there, some are missing; then most; then all
        np.testing.assert_array_equal(machine.run_aligned(codes, starts), expected)


def stretches_of(model, codes, starts):
    """Find stretches; also return the tags outside of them."""
    n = len(codes)
    found = Stretches(*(np.empty(n, np.int64) for _ in range(2)), np.empty((n, 4), np.int32), None)
    found = found._replace(hashes=np.empty(n, np.int64))
    tags = np.full(n, -1, np.int32)
    only = np.where(model.is_ambiguous, -1, model.candidates[model.offsets[:-1]])
    second = model.order == 2
    size = find_stretches(
        codes, starts, only.astype(np.int32), model.after_rows, second, model.n_tags, found, tags
    )
    return Stretches(*(part[:size] for part in found)), tags


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        # Classes 0 to 4 have the tags 0 to 4; 5 and 6 are ambiguous; 5 stands for a boundary.
        (2, [((1, 3), [5, 1, -1, 3]), ((5, 7), [3, 4, -1, 5])]),
        (1, [((1, 3), [0, 1, -1, 0]), ((5, 7), [0, 4, -1, 0])]),
    ],
)
def test_a_stretch_ends_where_one_path_is_left(order, expected):
    model = random_model(3, order=order, n_tags=5)
    found, tags = stretches_of(model, np.array([1, 5, 2, 3, 4, 6, 0], np.int32), np.array([0, 7]))
    parts = list(zip(found.firsts.tolist(), found.ends.tolist(), strict=True))
    assert list(zip(parts, found.around.tolist(), strict=True)) == expected
    assert tags.tolist() == [1, -1, -1, 3, 4, -1, -1]


def test_a_single_tag_between_ambiguous_words_ends_no_stretch_of_order_2():
    found, _ = stretches_of(MODEL, np.array([5, 0, 6, 1, 6], np.int32), np.array([0, 5]))
    assert (found.firsts.tolist(), found.ends.tolist()) == ([0], [5])


@pytest.mark.parametrize("order", [1, 2])
def test_stretches_of_the_same_hash_are_told_apart(order):
    model = with_ties(order, near=True)
    codes, starts = random_sentences(np.random.default_rng(6), model.n_classes, 600, 8)
    machine = StretchedMachine(model, 1 << 12)
    machine._kept = machine._kept._replace(slots=np.full(1 << 12, -1))
    expected = decode_classes(model, codes, starts)
    found, tags = stretches_of(model, codes, starts)
    same = found._replace(hashes=np.zeros_like(found.hashes))
    n = len(found.firsts)
    assert keep_arcs(codes, same, expected, machine._kept) == n
    contents = {
        (*around, *codes[a:b])
        for a, b, around in zip(found.firsts, found.ends, found.around.tolist(), strict=True)
    }
    assert machine.n_arcs == len(contents) < n
    missing, due = np.empty(n, np.int64), np.empty(n, bool)
    assert take_known(codes, same, machine._kept, missing, due, tags) == 0
    np.testing.assert_array_equal(tags, expected)


@pytest.mark.patient
def test_arcs_are_kept_when_they_are_met_again():
    machine, whole = LazyTransducer(MODEL), LazyTransducer(MODEL)
    codes = np.array([5, 0, 1, 2, 6, 3], np.int32)
    starts = np.array([0, 6])
    sizes = []
    for _ in range(3):
        machine.run_aligned(codes, starts)
        sizes.append(machine.n_arcs)
    assert sizes == [0, 2, 2]
    whole.grow(codes, starts)
    assert (whole.n_arcs, whole.n_states) == (2, 2)
    other = np.array([5, 0, 1, 4, 2, 6, 3], np.int32)  # another word in between, the same arcs
    whole.grow(other, np.array([0, 7]))
    assert whole.n_arcs == 3  # two tags before the second one differ


def test_long_stretches_are_not_kept():
    machine = LazyTransducer(MODEL)
    codes = np.full(2 * LONGEST + 1, 5, np.int32)
    starts = np.array([0, LONGEST, 2 * LONGEST + 1])
    found = machine.run_aligned(codes, starts)
    np.testing.assert_array_equal(found, decode_classes(MODEL, codes, starts))
    assert machine.n_arcs == 1


@pytest.mark.parametrize("near", [False, True])
def test_arcs_are_kept_in_arrays(near):
    model = random_model(4, order=2, n_tags=5, near=near)
    machine, again = LazyTransducer(model), LazyTransducer(model)
    machine.grow(CODES, STARTS)
    again.regrow(machine.to_arrays())
    assert (again.n_states, again.n_arcs) == (machine.n_states, machine.n_arcs)
    for name, array in again.to_arrays().items():
        np.testing.assert_array_equal(array, machine.to_arrays()[name])
    expected = decode_classes(model, CODES, STARTS)
    np.testing.assert_array_equal(again.run_aligned(CODES, STARTS), expected)
    assert again.n_arcs == machine.n_arcs  # everything was there


@pytest.mark.parametrize(
    ("name", "at", "value", "message"),
    [
        ("codes", 0, 9, "codes must lie between"),
        ("codes", 0, -1, "codes must lie between"),
        ("tags", 3, 5, "tags must lie between"),
        ("tags", 3, -1, "tags must lie between"),
        ("offsets", 1, 0, "offsets"),
        ("offsets", -1, 1 << 40, "codes must have shape"),
        ("around", (0, 2), -2, "around must lie between"),
    ],
)
def test_arcs_that_would_leave_their_arrays_are_refused(name, at, value, message):
    machine = LazyTransducer(MODEL)
    machine.grow(CODES, STARTS)
    arrays = machine.to_arrays()
    arrays[name] = arrays[name].copy()
    arrays[name][at] = value
    with pytest.raises(InvalidModel, match=message):
        LazyTransducer(MODEL).regrow(arrays)
    del arrays[name]
    with pytest.raises(InvalidModel, match="lack the array"):
        LazyTransducer(MODEL).regrow(arrays)


def test_more_arcs_than_a_machine_may_have_are_refused():
    machine = LazyTransducer(MODEL)
    machine.grow(CODES, STARTS)
    assert machine.n_arcs > 64
    with pytest.raises(InvalidModel, match="at most 64 arcs has no room"):
        LazyTransducer(MODEL, max_states=64).regrow(machine.to_arrays())


def test_threads_that_share_a_memory_do_not_change_the_tags():
    codes, starts = random_sentences(np.random.default_rng(5), MODEL.n_classes, 1000)
    machine = LazyTransducer(MODEL, max_states=64)
    expected = decode_classes(MODEL, codes, starts)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: machine.run_aligned(codes, starts), range(40)):
            np.testing.assert_array_equal(found, expected)
    assert machine.n_restarts > 0
