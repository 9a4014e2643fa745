"""Room for symbols that were not seen: a law, and how likely they are."""

import numpy as np
import pytest

import sigmastar as ss
from automata.oracles import random_pfa
from sigmastar.automata.learn.room import leave_room, share_of_new


def test_room_for_the_unknown_leaves_the_mass_and_costs_its_share():
    model = random_pfa(3, n_states=3, symbols="ab", stop=1.0)
    names = model.alphabet.with_unk()
    arcs = np.concatenate([model.transitions, np.zeros((1, 3, 3))])
    wide = leave_room(ss.PFA(model.initial, arcs, model.final, names), 0.1)
    assert wide.total_mass() == pytest.approx(1.0, abs=1e-12)
    # Three steps as before (two symbols and the end), and one that is new.
    expected = ss.log_proba(model, ["ab"]) + 3 * np.log(0.9) + np.log(0.1)
    np.testing.assert_allclose(wide.log_proba(["azb"]), expected, rtol=1e-12)


def test_events_of_one_sequence_only_tell_how_often_symbols_are_new():
    corpus = ss.Corpus.from_sequences(["aab", "acc", "ab"])  # only c has a single owner
    assert share_of_new(corpus) == pytest.approx((2 + 1) / (8 + 2))


def test_named_events_may_be_new_and_characters_may_not():
    named = ss.KneserNey(2).fit([["open", "close"]] * 5)
    assert named.alphabet_.unk == "<unk>"
    assert named.log_proba([["open", "erase"]])[0] > -np.inf
    with pytest.raises(ss.errors.UnknownSymbol):
        ss.KneserNey(2).fit(["abab"]).log_proba(["z"])
    with pytest.raises(ss.errors.UnknownSymbol):
        ss.KneserNey(2, alphabet=ss.Alphabet(["open", "close"])).fit([["open"]]).score([["x"]])


def test_parts_leave_room_as_the_whole_does():
    logs = [["open", "close"], ["open", "read", "close"]] * 5
    parts = ss.Partitions.from_sequences([logs[:3], logs[3:]], threads=1)
    assert ss.KneserNey(2).fit(parts).model_ == ss.KneserNey(2).fit(logs).model_
