"""Taggers that learn on: later sentences, new words and tags, from a file."""

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.core.model_files import Stored, read_stored, write_stored

FIRST = ([["the", "dog", "barks"], ["a", "cat", "sleeps"]] * 4, [["DT", "NN", "VBZ"]] * 8)
LATER = ([["dogs", "bark", "loudly"], ["the", "bark"]] * 3, [["NNS", "VB", "RB"], ["DT", "NN"]] * 3)
ALL = (FIRST[0] + LATER[0], FIRST[1] + LATER[1])


@pytest.fixture
def saved(tmp_path):
    ss.HMMTagger(1).fit(*FIRST).save(tmp_path / "t.sigma", resumable=True)
    return tmp_path / "t.sigma"


def arrays(tagger):
    return {name: a.tobytes() for name, a in tagger.model_.to_stored().arrays.items()}


@pytest.mark.parametrize("options", [{}, {"classes": "sets"}, {"training": "discriminative"}])
def test_later_sentences_are_learned_as_if_they_had_been_there(options):
    whole = ss.HMMTagger(1, **options).fit(*ALL)
    later = ss.HMMTagger(1, **options).fit(*FIRST).partial_fit(*LATER)
    assert later.tags == whole.tags
    assert arrays(later) == arrays(whole)
    pairs = ss.PairCorpus.from_pairs(zip(*LATER, strict=True))
    in_parts = ss.HMMTagger(1, **options).partial_fit(*FIRST).partial_fit(pairs)
    assert arrays(in_parts) == arrays(whole)


def test_a_saved_tagger_goes_on_in_another_process(saved):
    tagger = ss.HMMTagger(1).resume(saved)
    assert tagger.predict([["a", "dog"]]) == ss.load(saved).predict([["a", "dog"]])
    assert arrays(tagger.partial_fit(*LATER)) == arrays(ss.HMMTagger(1).fit(*ALL))


def test_what_is_not_there_is_not_gone_on_from(tmp_path):
    ss.HMMTagger(1).fit(*FIRST).save(tmp_path / "t.sigma")
    with pytest.raises(ss.errors.FileFormatError, match="resumable=True"):
        ss.HMMTagger(1).resume(tmp_path / "t.sigma")
    lexicon = ss.Lexicon.from_tagged(ss.PairCorpus.from_pairs(zip(*FIRST, strict=True)))
    learned = ss.HMMTagger(1, classes="sets").fit(FIRST[0], lexicon=lexicon)
    with pytest.raises(ss.errors.InvalidParameter, match="Fit all of it together"):
        learned.partial_fit(*LATER)
    with pytest.raises(ss.errors.InvalidParameter, match="Fit all of it together"):
        learned.save(tmp_path / "t.sigma", resumable=True)


def test_sequences_of_symbols_are_no_sentences(tmp_path):
    ss.KneserNey(2).fit(["ab"] * 4).save(tmp_path / "m.sigma", resumable=True)
    with pytest.raises(ss.errors.InvalidParameter, match="the file has a Ngram"):
        ss.HMMTagger(1).resume(tmp_path / "m.sigma")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("words", lambda a: a + 100),
        ("tags", lambda a: a[:-1]),
        ("offsets", lambda a: a[::-1]),
        ("words", lambda a: a.astype(float)),
        ("names", lambda a: a[:-1]),
        ("names", lambda a: np.frombuffer(b"[[], {}]", np.uint8)),
        ("names", lambda a: np.frombuffer(b"7", np.uint8)),
    ],
)
def test_sentences_of_a_stranger_are_proved(saved, name, change):
    stored = read_stored(saved)
    broken = np.ascontiguousarray(change(stored.arrays[f"learned_from.{name}"]))
    changed = {**stored.arrays, f"learned_from.{name}": broken}
    write_stored(saved, Stored(stored.kind, changed, stored.meta))
    with pytest.raises(ss.SigmastarError):
        ss.HMMTagger(1).resume(saved)
