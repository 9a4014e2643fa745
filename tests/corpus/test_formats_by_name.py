"""Formats that must be named: columns of HunPos and CoNLL, and JSON lines."""

import pytest

import sigmastar as ss
from sigmastar.core.errors import ParseError

COLUMNS = "-DOCSTART- -X- O O\n\nthe\tDT\ndog\tNN\n\nit PRP B-NP\nbarks VBZ B-VP\n"


def test_words_and_tags_in_columns(tmp_path):
    (tmp_path / "t.txt").write_text(COLUMNS)
    pairs = ss.read_tagged(tmp_path / "t.txt", "columns")
    expected = [(["the", "dog"], ["DT", "NN"]), (["it", "barks"], ["PRP", "VBZ"])]
    assert list(pairs) == expected
    words = ss.read_corpus(tmp_path / "t.txt", "columns")
    assert list(words) == [row[0] for row in expected]
    (tmp_path / "bad.txt").write_text("the\tDT\ndog\n")
    with pytest.raises(ParseError, match=r"bad.txt:2: expected a word and its tag"):
        ss.read_tagged(tmp_path / "bad.txt", "columns")


def test_json_lines_of_sequences(tmp_path):
    (tmp_path / "s.jsonl").write_text('["a b", 5]\n{"id": 1, "events": ["x"]}\n"p q"\n\n[]\n')
    assert list(ss.read_corpus(tmp_path / "s.jsonl")) == [["a b", 5], ["x"], ["p", "q"], []]


def test_json_lines_of_sentences_and_pairs(tmp_path):
    (tmp_path / "t.jsonl").write_text(
        '{"tokens": ["the", "dog"], "tags": ["DT", "NN"]}\n[["it", "PRP"]]\n'
    )
    tagged = ss.read_tagged(tmp_path / "t.jsonl")
    assert list(tagged) == [(["the", "dog"], ["DT", "NN"]), (["it"], ["PRP"])]
    (tmp_path / "p.jsonl").write_text('{"source": "ab", "target": "A B"}\n["b", ["B"]]\n')
    pairs = ss.read_pairs(tmp_path / "p.jsonl", target="words")
    assert list(pairs) == [(["a", "b"], ["A", "B"]), (["b"], ["B"])]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("{", "a line of JSON"),
        ("[1.5]", "a list of texts or integers"),
        ('{"x": []}', "an object with"),
        ("[" * 99_999, "a line of JSON"),
    ],
)
def test_lines_that_are_none_are_told(line, expected, tmp_path):
    (tmp_path / "s.jsonl").write_text('["a"]\n' + line + "\n")
    with pytest.raises(ParseError, match=f"s.jsonl:2: expected {expected}"):
        ss.read_corpus(tmp_path / "s.jsonl")


def test_tags_and_tokens_go_together(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"tokens": ["a", "b"], "tags": ["X"]}\n')
    with pytest.raises(ParseError, match="a tag for each token"):
        ss.read_tagged(tmp_path / "t.jsonl")
