"""Pronunciation dictionaries: what each style says, bad lines, and back to a file."""

import pytest

from sigmastar.core.errors import InvalidData, InvalidParameter, ParseError
from sigmastar.corpus.readers.dictionary import (
    STYLES,
    Pronunciation,
    PronunciationDictionary,
    dictionary_lines,
    read_dictionary,
)

CMU = """;;; a comment
READ  R EH1 D # past tense
READ(2)  R IY1 D

2ND  S EH1 K AH0 N D
"""


def read(tmp_path, text, **options):
    path = tmp_path / "words.dict"
    path.write_text(text, encoding="utf-8")
    return read_dictionary(path, **options)


def test_cmu_has_variants_comments_and_stress(tmp_path):
    found = read(tmp_path, CMU)
    assert [entry.word for entry in found.entries] == ["READ", "READ", "2ND"]
    assert found.entries[1].phones == ("R", "IY1", "D")
    plain = read(tmp_path, CMU, stress=False)
    assert plain.entries[2].phones == ("S", "EH", "K", "AH", "N", "D")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ága\taː ɡ ɒ", ("ága", ("aː", "ɡ", "ɒ"), 1.0)),
        ("hello hh ah l ow", ("hello", ("hh", "ah", "l", "ow"), 1.0)),
        ("hello 0.25 hh ah", ("hello", ("hh", "ah"), 0.25)),
        ("hello\t0.5\t0.2\t1.0\t1.1\thh ah", ("hello", ("hh", "ah"), 0.5)),
        ("a priori\tə p", ("a priori", ("ə", "p"), 1.0)),
        ("(x) e k s", ("(x)", ("e", "k", "s"), 1.0)),
    ],
)
def test_a_line_says_by_itself_which_style_it_has(tmp_path, line, expected):
    assert read(tmp_path, line).entries == (Pronunciation(*expected),)


def test_stress_marks_go_as_well(tmp_path):
    found = read(tmp_path, "x\tˈa b2 ˌ t͡ɕ1", stress=False)
    assert found.entries[0].phones == ("a", "b", "t͡ɕ")


def test_bad_lines_are_refused_or_named(tmp_path):
    text = "good\tɡ ʊ d\nbad\t\n\nworse\n"
    with pytest.raises(ParseError, match=r"words.dict:2: expected a word and its phones"):
        read(tmp_path, text)
    found = read(tmp_path, text, on_error="skip")
    assert len(found) == 1
    assert ["words.dict:2" in found.skipped[0], "words.dict:4" in found.skipped[1]] == [True, True]
    with pytest.raises(InvalidParameter, match="on_error must be 'raise' or 'skip'"):
        read(tmp_path, text, on_error="ignore")


@pytest.mark.parametrize("style", STYLES)
def test_what_is_written_is_read_again(tmp_path, style):
    entries = (
        Pronunciation("read", ("r", "ɛ", "d"), 0.75),
        Pronunciation("read", ("r", "iː", "d"), 0.25),
        Pronunciation("a", ("ə",), 0.5),
    )
    PronunciationDictionary(entries).write(tmp_path / "again.dict", style)
    found = read_dictionary(tmp_path / "again.dict").entries
    keeps = style in ("kaldi-probabilities", "mfa")
    assert found == tuple(e if keeps else e._replace(probability=1.0) for e in entries)


def test_an_entry_must_be_a_line():
    with pytest.raises(InvalidData, match="a word of one line and its phones"):
        list(dictionary_lines([Pronunciation("a\tb", ("x",))]))


def test_pairs_are_characters_and_phones(tmp_path):
    pairs = read(tmp_path, "ab\tx yy").pairs()
    assert pairs[0] == (["a", "b"], ["x", "yy"])
