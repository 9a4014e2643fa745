"""Learning that goes on: later sequences, new symbols, from a file."""

import numpy as np
import pytest

import sigmastar as ss

FIRST, SECOND = ["ab", "abab", "b"] * 8, ["ca", "a", "bb", "cab"] * 8  # c is new

LEARNERS = [
    lambda: ss.SpectralWFA(2),
    lambda: ss.SpectralWFA(2, unknown="unk"),
    lambda: ss.SpectralWFA(max_states=2, basis_size=9),
    lambda: ss.SeparablePFA(2),
    lambda: ss.BaumWelchPFA(2, max_iter=3, random_state=0),
    lambda: ss.KneserNey(2),
]


@pytest.mark.parametrize("learner", LEARNERS)
def test_later_sequences_and_symbols_are_learned_as_if_they_had_been_there(learner, tmp_path):
    whole = learner().fit(FIRST + SECOND).model_
    assert learner().fit(FIRST).partial_fit(SECOND).model_ == whole
    assert learner().partial_fit(FIRST[:5]).partial_fit(FIRST[5:] + SECOND).model_ == whole
    learner().fit(FIRST).save(tmp_path / "m.sigma", resumable=True)
    resumed = learner().resume(tmp_path / "m.sigma")
    assert resumed.model_ == ss.load(tmp_path / "m.sigma") == learner().fit(FIRST).model_
    assert resumed.partial_fit(SECOND).model_ == whole


def test_counts_are_resumed_too(tmp_path):
    whole = ss.SpectralWFA(2).fit(FIRST + SECOND).model_
    ss.SpectralWFA(2).partial_fit(FIRST).save(tmp_path / "m.sigma", resumable=True)
    assert ss.SpectralWFA(2).resume(tmp_path / "m.sigma").partial_fit(SECOND).model_ == whole


def test_a_given_alphabet_stays_closed():
    learner = ss.SpectralWFA(2, alphabet=ss.Alphabet("ab")).fit(FIRST)
    with pytest.raises(ss.errors.UnknownSymbol, match="'c'"):
        learner.partial_fit(SECOND)


def test_what_is_not_there_is_not_gone_on_from(tmp_path):
    ss.KneserNey(2).fit(FIRST).save(tmp_path / "m.sigma")
    with pytest.raises(ss.errors.FileFormatError, match="resumable=True"):
        ss.KneserNey(2).resume(tmp_path / "m.sigma")
    lost = ss.KneserNey(2).fit(FIRST)
    lost._sequences = None
    with pytest.raises(ss.errors.InvalidParameter, match="Fit all sequences together"):
        lost.partial_fit(SECOND)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("windows", lambda a: a[::-1]),
        ("window_counts", lambda a: -a),
        ("owners", lambda a: a[:, 1:]),
    ],
)
def test_counts_of_a_stranger_are_proved(name, change, tmp_path):
    from sigmastar.automata.learn.counts_so_far import CountsSoFar

    learner = ss.SpectralWFA(2).partial_fit(FIRST)
    arrays = learner._kept()
    CountsSoFar.from_arrays(learner.alphabet_, arrays)
    arrays[name] = np.ascontiguousarray(change(arrays[name]))
    with pytest.raises(ss.errors.FileFormatError, match="malformed"):
        CountsSoFar.from_arrays(learner.alphabet_, arrays)
