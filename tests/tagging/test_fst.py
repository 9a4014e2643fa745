"""Transducers compiled from taggers agree with Viterbi, and with the paper's own construction."""

from itertools import pairwise, product, takewhile

import numpy as np
import pytest

from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.tagging.decode import decode_classes
from sigmastar.tagging.fst.lazy import LazyTransducer
from sigmastar.tagging.fst.memory import Room, enlarged
from sigmastar.tagging.fst.ntype import greedy_machine, n_type
from sigmastar.tagging.fst.openfst import from_openfst, to_openfst
from sigmastar.tagging.fst.sequential import SequentialTransducer
from sigmastar.tagging.fst.stype import all_subsequences, s_type, subsequences_of
from tagging.oracles import (
    all_taggings,
    composed_s_type,
    path_score,
    random_model,
    random_sentences,
)


@pytest.mark.parametrize("near", [False, True])
@pytest.mark.parametrize(("order", "context"), [(1, False), (1, True), (2, True)])
def test_viterbi_finds_the_best_of_all_taggings(order, context, near):
    model = random_model(order, order=order, context=context, near=near)
    rng = np.random.default_rng(0)
    for _ in range(40):
        codes = rng.integers(0, model.n_classes, 5).astype(np.int32)
        best = max(path_score(model, codes, tags) for tags in all_taggings(model, codes))
        found = decode_classes(model, codes, np.array([0, 5]))
        assert path_score(model, codes, found) == best


@pytest.mark.parametrize("near", [False, True])
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("look_ahead", [None, 14])
def test_lazy_equals_viterbi_tag_for_tag(order, near, look_ahead):
    model = random_model(7, order=order, context=True, near=near)
    codes, starts = random_sentences(np.random.default_rng(1), model.n_classes, 3000, 14)
    machine = LazyTransducer(model, look_ahead=look_ahead)
    expected = decode_classes(model, codes, starts)
    assert np.array_equal(machine.run_aligned(codes, starts), expected)
    assert np.array_equal(machine.run_aligned(codes, starts), expected)  # from memory


@pytest.mark.parametrize("look_ahead", [None, 30])
def test_lazy_equals_viterbi_when_its_memory_is_far_too_small(look_ahead):
    model = random_model(3, order=2, sets=[(0,), (1, 2), (0, 3), (1, 2, 3), (0, 1, 2, 3)])
    codes, starts = random_sentences(np.random.default_rng(2), model.n_classes, 400, 30)
    machine = LazyTransducer(model, max_states=64, look_ahead=look_ahead)
    assert np.array_equal(machine.run_aligned(codes, starts), decode_classes(model, codes, starts))
    assert machine.n_restarts > 0


def test_look_ahead_is_a_function_and_exact_when_long_enough():
    model = random_model(4, order=2)
    codes, starts = random_sentences(np.random.default_rng(3), model.n_classes, 500, 9)
    expected = decode_classes(model, codes, starts)
    agreement = []
    for look_ahead in (0, 1, 3, 9):
        machine = LazyTransducer(model, look_ahead=look_ahead)
        first = machine.run_aligned(codes, starts)
        backwards = LazyTransducer(model, look_ahead=look_ahead)
        for s in range(len(starts) - 2, -1, -1):  # met in another order, the same tags
            part = codes[starts[s] : starts[s + 1]]
            one = backwards.run_aligned(part, np.array([0, len(part)]))
            assert np.array_equal(one, first[starts[s] : starts[s + 1]])
        agreement.append(float(np.mean(first == expected)))
    assert agreement[-1] == 1.0
    assert agreement[0] < agreement[-1]


@pytest.mark.parametrize("context", [False, True])
def test_s_type_equals_viterbi_on_every_covered_sequence(context):
    model = random_model(5, context=context)
    machine = s_type(model, all_subsequences(model, 3), complete=True)
    ambiguous = model.is_ambiguous
    for codes in product(range(model.n_classes), repeat=4):
        runs = "".join("a" if ambiguous[c] else "u" for c in codes).split("u")
        if max(map(len, runs)) <= 2:
            array = np.array(codes, np.int32)
            found = machine.run_aligned(array, np.array([0, 4]))
            assert np.array_equal(found, decode_classes(model, array, np.array([0, 4])))


def test_s_type_of_a_corpus_equals_viterbi_on_it_and_refuses_the_rest():
    model = random_model(6)
    codes, starts = random_sentences(np.random.default_rng(4), model.n_classes, 60)
    machine = s_type(model, subsequences_of(model, codes, starts), complete=False)
    expected = decode_classes(model, codes, starts)
    assert np.array_equal(machine.run_aligned(codes, starts), expected)
    strange = np.array([4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7], np.int32)
    with pytest.raises(InvalidData, match="not in the domain"):
        machine.run_aligned(strange, np.array([0, len(strange)]))


def test_completed_s_type_tags_uncovered_subsequences_as_n1_does():
    model = random_model(8)
    machine = s_type(model, all_subsequences(model, 2), complete=True)
    greedy = n_type(model, 1)
    rng = np.random.default_rng(5)
    for _ in range(200):
        inner = rng.choice(np.flatnonzero(model.is_ambiguous), 3)
        codes = np.concatenate(([0], inner, [1])).astype(np.int32)
        ends = np.array([0, 5])
        assert np.array_equal(machine.run_aligned(codes, ends), greedy.run_aligned(codes, ends))


@pytest.mark.parametrize("order", [0, 1, 2])
def test_completed_s_type_tags_a_stretch_as_viterbi_or_as_its_n_type(order):
    model = random_model(12, order=2)
    first = model.first_order()
    machine = s_type(
        first,
        all_subsequences(first, 2),
        complete=True,
        completion=greedy_machine(model, order),
    )
    codes, starts = random_sentences(np.random.default_rng(7), model.n_classes, 300, 12)
    expected = []
    for a, b in pairwise(starts.tolist()):
        sentence = codes[a:b].tolist()
        while sentence:
            stretch = list(takewhile(lambda code: model.is_ambiguous[code], sentence))
            end = sentence[len(stretch) : len(stretch) + 1]
            begins = len(expected) == a
            before = None if begins else expected[-1]
            tags = _stretch(model, stretch, before, end, order)
            expected += [*tags, *(int(model.candidates[model.offsets[code]]) for code in end)]
            sentence = sentence[len(stretch) + 1 :]
    assert machine.run_aligned(codes, starts).tolist() == expected


def _stretch(model, stretch, before, end, order):
    """Tag ambiguous classes after a tag: one class by Viterbi, more of them greedily."""
    n = model.n_tags
    if len(stretch) < 2:
        after = int(model.candidates[model.offsets[end[0]]]) if end else n
        taggings = all_taggings(model, stretch)
        return max(taggings, key=lambda tags: _between(model, stretch, tags, before, after))
    older, old = (n, n) if before is None else (None, before)
    tags = []
    for code in stretch:
        begin, last = model.offsets[code : code + 2]
        scores = model.scores[begin:last].astype(np.int64)
        if order:
            known = order == 2 and older is not None
            row = model.trigram[older, old] if known else model.bigram[old]
            scores += row[model.candidates[begin:last]]
        older, old = old, int(model.candidates[begin + np.argmax(scores)])
        tags.append(old)
    return tags


def test_a_machine_of_two_tags_needs_a_tagger_that_knows_them():
    with pytest.raises(InvalidParameter, match=r"s\+n2 need a tagger of order 2"):
        greedy_machine(random_model(12), 2)


def test_min_count_drops_rare_subsequences():
    model = random_model(9)
    codes = np.array([0, 4, 1, 0, 4, 1, 0, 5, 1], np.int32)
    starts = np.array([0, 3, 6, 9])
    often = s_type(model, subsequences_of(model, codes, starts, 2), complete=False)
    assert often.accepts(codes, starts).tolist() == [True, True, False]


def test_directly_built_s_type_equals_the_composition_of_equations_14_to_18():
    model = random_model(10, n_tags=3, sets=[(0,), (1,), (0, 1), (1, 2)])
    end = model.n_tags

    def viterbi(inner, before, close):
        if not inner:
            return ()
        after = end if close is None else int(model.candidates[model.offsets[close]])
        return max(
            all_taggings(model, inner), key=lambda tags: _between(model, inner, tags, before, after)
        )

    composed, symbols, word = composed_s_type(model, 3, viterbi)
    direct = s_type(model, all_subsequences(model, 3), complete=False)
    checked = 0
    for length in range(1, 6):
        for codes in product(range(4), repeat=length):
            lattice = word([*(direct.inputs[c] for c in codes), "END"]) @ composed
            covered = direct.accepts(np.array(codes, np.int32), np.array([0, length]))[0]
            paths = list(lattice.paths(output_token_type=symbols).ostrings())
            assert bool(paths) == covered
            if covered:
                tags = direct.run_aligned(np.array(codes, np.int32), np.array([0, length]))
                assert paths == [" ".join([*(model.tags[t] for t in tags), "END"])]
                checked += 1
    assert checked > 300


def _between(model, codes, tags, before, after):
    old = model.n_tags if before is None else before
    total = 0
    for code, tag in zip(codes, tags, strict=True):
        where = model.offsets[code] + int(
            np.flatnonzero(model.candidates[model.offsets[code] : model.offsets[code + 1]] == tag)[
                0
            ]
        )
        total += int(model.bigram[old, tag]) + int(model.scores[where])
        old = tag
    return total + int(model.bigram[old, after])


@pytest.mark.parametrize("order", [0, 1, 2])
def test_n_type_is_the_greedy_choice(order):
    model = random_model(11, order=2 if order == 2 else 1, context=order > 0)
    machine = n_type(model, order)
    codes, starts = random_sentences(np.random.default_rng(6), model.n_classes, 200)
    found = machine.run_aligned(codes, starts)
    for a, b in pairwise(starts):
        older = old = model.n_tags
        for i in range(a, b):
            first, last = model.offsets[codes[i] : codes[i] + 2]
            scores = model.scores[first:last].astype(np.int64)
            tags = model.candidates[first:last]
            if order:
                scores += (model.trigram[older, old] if order == 2 else model.bigram[old])[tags]
                row = model.context_rows[codes[i]]
                scores += model.context[row : row + last - first, old] if row >= 0 else 0
            assert found[i] == tags[np.argmax(scores)]
            older, old = old, found[i]


def test_openfst_round_trip_keeps_outputs_and_minimal_size():
    model = random_model(12)
    machine = s_type(model, all_subsequences(model, 2), complete=True).minimized()
    back = from_openfst(to_openfst(machine), machine.inputs, machine.output_symbols)
    codes, starts = random_sentences(np.random.default_rng(7), model.n_classes, 300)
    assert np.array_equal(machine.run_aligned(codes, starts), back.run_aligned(codes, starts))
    assert back.n_states == machine.n_states


def test_minimized_machine_is_smaller_and_equal():
    model = random_model(13)
    machine = s_type(model, all_subsequences(model, 2), complete=True)
    small = machine.minimized()
    assert small.n_states <= machine.n_states
    assert small.minimized().n_states == small.n_states
    codes, starts = random_sentences(np.random.default_rng(8), model.n_classes, 300)
    assert np.array_equal(machine.run_aligned(codes, starts), small.run_aligned(codes, starts))


def test_too_many_subsequences_are_refused_with_a_remedy():
    model = random_model(14)
    with pytest.raises(InvalidParameter, match=r"max_length=20.*Lower it"):
        all_subsequences(model, 20)


def test_a_memory_that_grew_knows_its_states():
    model = random_model(15, order=2)
    codes, starts = random_sentences(np.random.default_rng(9), model.n_classes, 200)
    grown, plain = (LazyTransducer(model, look_ahead=20) for _ in range(2))
    for machine in (grown, plain):
        machine.run_aligned(codes[: starts[100]], starts[:101])
    room = Room(*(2 * size for size in grown._room))
    grown._room, grown._memory = room, enlarged(grown._memory, room)
    for machine in (grown, plain):
        machine.run_aligned(codes, starts)
    assert (grown.n_states, grown.n_arcs) == (plain.n_states, plain.n_arcs)


def test_a_machine_that_writes_too_much_is_refused_not_run():
    pool = (np.zeros(1000, np.int32), np.array([0, 1000]))
    zero = np.zeros((1, 1), np.int32)
    machine = SequentialTransducer(zero, zero + 2, np.zeros(1, np.int32), pool, ["a"], ["x"])
    with pytest.raises(InvalidData, match="not in the domain"):
        machine.run_aligned(np.zeros(3, np.int32), np.array([0, 3]))
    output, _ = machine.run(np.zeros(3, np.int32), np.array([0, 3]))
    assert len(output) == 3000
