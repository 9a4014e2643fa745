"""The data that come with the package are well formed, and the robot obeys its controller."""

import re

import numpy as np
import pytest

import sigmastar as ss

UPOS = set("ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split())


def lines(pairs):
    return [(" ".join(map(str, a)), " ".join(map(str, b))) for a, b in pairs]


@pytest.fixture(scope="module")
def english():
    return ss.datasets.load_demo_english()


@pytest.fixture(scope="module")
def names():
    return ss.datasets.load_demo_names()


def test_sentences_have_universal_tags_and_an_end(english):
    for part in (english.train, english.test):
        assert part.is_aligned
        assert set(part.target.alphabet) <= UPOS
        assert all(tags[-1] == "PUNCT" for tags in part.target)


def test_sentences_are_many_and_none_is_there_twice(english):
    texts = [words.lower() for part in (english.train, english.test) for words, _ in lines(part)]
    assert len(texts) >= 500
    assert len(set(texts)) == len(texts)
    assert english.train.source.n_symbols + english.test.source.n_symbols >= 4500


def test_closed_classes_are_tagged_alike(english):
    allowed = {"the": {"DET"}, "and": {"CCONJ"}, "to": {"PART", "ADP"}, "her": {"PRON"}}
    allowed |= {"of": {"ADP"}, ".": {"PUNCT"}, "that": {"PRON", "DET", "SCONJ"}, "not": {"PART"}}
    for part in (english.train, english.test):
        for words, tags in part:
            for word, tag in zip(words, tags, strict=True):
                assert tag in allowed.get(word.lower(), UPOS), " ".join(words)


def test_names_are_in_two_scripts_and_none_is_there_twice(names):
    pairs = [(*pair,) for part in (names.train, names.test) for pair in lines(part)]
    assert len(pairs) >= 1000
    assert len({latin for latin, _ in pairs}) == len(pairs)
    for latin, russian in pairs:
        assert re.fullmatch("[a-z]( [a-z])*", latin)
        assert re.fullmatch("[а-я]( [а-я])*", russian)


def test_every_fifth_line_is_for_testing(english, names):
    for splits in (english, names):
        assert 3.9 < len(splits.train) / len(splits.test) < 4.1
        assert splits.dev is None


def test_walks_are_those_of_the_seed():
    first, again, other = (ss.datasets.make_robot_stream(3, 20, random_state=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(first.inputs, again.inputs)
    assert list(first.labels) == list(again.labels)
    assert not np.array_equal(first.inputs, other.inputs)


def test_sharp_turns_begin_near_a_wall_and_end_farther_from_it():
    # With 24 sonars, five of them look where the controller looks.
    stream = ss.datasets.make_robot_stream(8, n_sonars=24, noise=0, dropout=0, random_state=0)
    n_turns = n_between = 0
    for readings, moves in zip(stream.inputs, stream.labels, strict=True):
        front = readings[:, [22, 23, 0, 1, 2]].min(axis=1)
        for before, move, distance in zip(moves, moves[1:], front[1:], strict=False):
            assert (move == "sharp-right") == (distance < (1.3 if before == "sharp-right" else 0.7))
            n_turns += before != move == "sharp-right"
            n_between += 0.7 < distance < 1.3
    assert n_turns > 10
    assert n_between > 50


def test_lost_echoes_read_as_the_full_reach():
    stream = ss.datasets.make_robot_stream(4, noise=0.3, dropout=0.25, random_state=0)
    readings = np.concatenate(stream.inputs)
    assert readings.min() >= 0
    assert readings.max() == 5
    assert 0.2 < np.mean(readings == 5) < 0.5


def test_a_robot_needs_sonars():
    with pytest.raises(ss.errors.InvalidParameter, match="n_sonars must be"):
        ss.datasets.make_robot_stream(n_sonars=2)
