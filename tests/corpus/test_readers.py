"""Readers of corpora: formats, detection, batches, compression, messages."""

import gzip
import io
import lzma
import sys
import types

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sigmastar as ss
from sigmastar.core.errors import DataNotFound, InvalidData, InvalidParameter, ParseError
from sigmastar.corpus.readers.source import Source

PAUTOMAC = "3 4\n2 1 0\n0\n3 2 2 1\n"
TREBA = "\n1 1 7 \n# a comment\n0\n"
CONLLU = (
    "# text = du bist\n"
    "1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tde\tde\tADP\tP\t_\t_\t_\t_\t_\n"
    "2\tle\tle\tDET\tD\t_\t_\t_\t_\t_\n"
    "2.1\tnul\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "\n"
    "1\tOui\toui\tINTJ\tI\t_\t_\t_\t_\t_\n"
)
COLUMNS = "10 000\tNUM\tCD\n#\tSYM\t_\n\nOui\tINTJ\tUH\n\n"
SLASHES = "The/at 1/2/cd jury/nn\n\n,/,\n"
PAIRS = "anna\tж и к\t3\nmax\tш л я\t1\n"

INTEGERS = [[1, 0], [], [2, 2, 1]]


def write(path, text):
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("6.pautomac.train", PAUTOMAC, INTEGERS),
        ("anything", PAUTOMAC, INTEGERS),
        ("4.spice.train", PAUTOMAC.replace("\n", "\r\n"), INTEGERS),
        ("tags.obs", TREBA, [[], [1, 1, 7], [0]]),
        ("anything", TREBA, [[], [1, 1, 7], [0]]),
        ("fr.conllu", CONLLU, [["de", "le"], ["Oui"]]),
        ("anything", CONLLU, [["de", "le"], ["Oui"]]),
        ("fr.tsv", COLUMNS, [["10 000", "#"], ["Oui"]]),
        ("brown.txt", SLASHES, [["The", "1/2", "jury"], [","]]),
        ("names.tsv", PAIRS, [list("anna"), list("max")]),
        ("text.txt", "to be or\n\nnot to be", [["to", "be", "or"], [], ["not", "to", "be"]]),
        ("empty.txt", "", []),
    ],
)
def test_formats_are_detected_and_read(tmp_path, name, text, expected):
    assert list(ss.read_corpus(write(tmp_path / name, text))) == expected


def test_alphabets_of_integer_files_have_no_gaps(tmp_path):
    assert ss.read_corpus(write(tmp_path / "a", PAUTOMAC)).alphabet.symbols == (0, 1, 2, 3)
    assert ss.read_corpus(write(tmp_path / "b", TREBA)).alphabet.symbols == tuple(range(8))


def test_text_by_characters_and_by_chunks(tmp_path):
    path = write(tmp_path / "t.txt", "añb\n\nc☃")
    assert list(ss.read_corpus(path, "chars")) == [list("añb"), [], list("c☃")]
    assert ["".join(x) for x in ss.read_corpus(path, chunk=3)] == ["añb", "\n\nc", "☃"]


@pytest.mark.parametrize(("column", "tags"), [("upos", ["ADP", "DET"]), ("xpos", ["P", "D"])])
def test_tagged_words_are_aligned_with_their_tags(tmp_path, column, tags):
    pairs = ss.read_tagged(write(tmp_path / "fr.conllu", CONLLU), column=column)
    assert pairs.is_aligned
    assert pairs[0] == (["de", "le"], tags)


def test_word_tag_lines_split_at_the_last_slash(tmp_path):
    pairs = ss.read_tagged(write(tmp_path / "brown.txt", SLASHES))
    assert pairs[0] == (["The", "1/2", "jury"], ["at", "cd", "nn"])


def test_missing_xpos_is_told(tmp_path):
    path = write(tmp_path / "x.tsv", "a\tDET\t_\n")
    with pytest.raises(InvalidData, match=r"no XPOS tags\. Use column='upos'"):
        ss.read_tagged(path, column="xpos")


def test_untagged_text_is_told(tmp_path):
    with pytest.raises(InvalidData, match="expected tagged sentences"):
        ss.read_tagged(write(tmp_path / "x.txt", "just words\n"))


def test_pairs_by_characters_and_at_spaces(tmp_path):
    path = write(tmp_path / "names.tsv", PAIRS)
    assert ss.read_pairs(path, target="words")[0] == (list("anna"), list("жик"))
    assert ss.read_pairs(path)[1] == (list("max"), list("ш л я"))
    assert ss.read_pairs(path, columns=(2, 0))[0] == (["3"], list("anna"))
    assert len(ss.read_pairs(path, limit=1)) == 1


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress], ids=["gzip", "xz"])
def test_compression_is_told_by_the_first_bytes(tmp_path, pack):
    path = tmp_path / "no-suffix"
    path.write_bytes(pack(b"3 4\n2 1 0\n") + pack(b"0\n3 2 2 1\n"))  # two streams make one file
    assert list(ss.read_corpus(path)) == INTEGERS


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress], ids=["gzip", "xz"])
def test_truncated_compression_is_told_with_its_line(tmp_path, pack):
    path = tmp_path / "x.obs"
    path.write_bytes(pack("\n".join(map(str, range(20_000))).encode())[:-20])
    with pytest.raises(ParseError, match=r"x\.obs:[0-9]+: expected an undamaged file"):
        ss.read_corpus(path)


def test_standard_input(monkeypatch):
    stdin = types.SimpleNamespace(buffer=io.BytesIO(gzip.compress(PAUTOMAC.encode())))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert list(ss.read_corpus("-")) == INTEGERS


def test_byte_order_mark_is_no_symbol(tmp_path):
    path = tmp_path / "t.txt"
    path.write_bytes(b"\xef\xbb\xbfa b\n")
    assert list(ss.read_corpus(path)) == [["a", "b"]]
    assert list(ss.read_corpus(path, chunk=9)) == [list("a b\n")]


LINES = st.lists(st.lists(st.sampled_from(["a", "bb", "ç"]), max_size=4), min_size=1, max_size=30)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    return tmp_path_factory.mktemp("shared")


@given(LINES, st.integers(1, 7), st.none() | st.integers(0, 12))
def test_batches_under_the_last_alphabet_are_the_corpus(shared, lines, batch, limit):
    path = write(shared / "t.txt", "".join(" ".join(line) + "\n" for line in lines))
    parts = list(ss.iter_corpus(path, "words", batch=batch, limit=limit))
    assert [x for part in parts for x in part] == lines[:limit]
    assert all(len(part) == batch for part in parts[:-1])
    last = parts[-1].alphabet.symbols if parts else ()
    assert all(part.alphabet.symbols == last[: len(part.alphabet)] for part in parts)
    assert list(ss.read_corpus(path, "words", limit=limit)) == lines[:limit]


@given(st.lists(st.lists(st.integers(0, 4), max_size=5), max_size=20), st.integers(1, 6))
def test_pautomac_and_treba_give_back_what_was_written(shared, sequences, batch):
    rows = [" ".join(map(str, [len(x), *x])) for x in sequences]
    path = write(shared / "p", "\n".join([f"{len(rows)} 5", *rows]))
    assert list(ss.read_corpus(path, "pautomac")) == sequences
    assert [x for c in ss.iter_corpus(path, "pautomac", batch=batch) for x in c] == sequences
    path = write(shared / "t", "".join(" ".join(map(str, x)) + "\n" for x in sequences))
    assert list(ss.read_corpus(path, "treba")) == sequences


@pytest.mark.compiled
def test_long_files_are_read_across_blocks(tmp_path):
    rng = np.random.default_rng(0)
    sequences = [rng.integers(0, 1000, size=rng.integers(0, 60)).tolist() for _ in range(20_000)]
    rows = [" ".join(map(str, [len(x), *x])) for x in sequences]
    path = write(tmp_path / "big", "\n".join([f"{len(rows)} 1000", *rows]))
    assert path.stat().st_size > 2**21
    corpus = ss.read_corpus(path)
    np.testing.assert_array_equal(corpus.symbols, np.concatenate(sequences))
    rows[15_000] = "1 1000"
    with pytest.raises(ParseError, match="big:15002: expected a symbol between 0 and 999"):
        ss.read_corpus(write(path, "\n".join([f"{len(rows)} 1000", *rows])))


def test_a_given_alphabet_and_unknown_policy_hold_for_every_format(tmp_path):
    alphabet = ss.Alphabet([1, 0])
    path = write(tmp_path / "6.pautomac.train", PAUTOMAC)
    corpus = ss.read_corpus(path, alphabet=alphabet, unknown="ignore")
    assert corpus.alphabet == alphabet
    assert list(corpus) == [[1, 0], [], [1]]
    words = write(tmp_path / "t.txt", "a b c\n")
    known = ss.Alphabet("ab").with_unk()
    assert list(ss.read_corpus(words, alphabet=known, unknown="unk")) == [["a", "b", "<unk>"]]
    assert ss.read_corpus(words, unknown="unk").alphabet.unk == "<unk>"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.pautomac", "", ":1: expected a header of two integers.*, found an empty file"),
        ("a.pautomac", "x 4\n", ":1: expected a header of two integers"),
        ("a.pautomac", "1 4\n2 1\n", ":2: expected 2 symbols, as the line's first number says, fo"),
        ("a.pautomac", "1 4\n2 1 x\n", ":2: expected a non-negative integer, found 'x'"),
        ("a.pautomac", "1 4\n2 1 4\n", ":2: expected a symbol between 0 and 3, found '4'"),
        (
            "a.pautomac",
            "2 4\n1 1\n",
            ":2: expected 2 strings, as the header says, found 1; .*-f words",
        ),
        ("a.pautomac", "1 4\n1 1\n1 1\n", ":3: expected 1 strings.*found at least 2"),
        ("a.pautomac", "1 99999999999\n", ":1: expected an alphabet of at most"),
        ("a.obs", "1 2\n3 -4\n", ":2: expected a non-negative integer, found '-4'"),
        ("a.obs", "1 2\n99999999999\n", ":2: expected a symbol between 0 and"),
        ("a.conllu", "1\tde\n", ":1: expected 10 tab-separated columns, found 2"),
        ("a.conllu", CONLLU + "x" + CONLLU[-30:], ":8: expected"),
    ],
)
def test_malformed_files_name_file_and_line(tmp_path, name, text, message):
    with pytest.raises(ParseError, match=name.replace(".", r"\.") + message):
        ss.read_corpus(write(tmp_path / name, text))


@pytest.mark.parametrize(
    ("format", "text", "message"),
    [
        ("word-tag", "a/b c\n", ":1: expected tokens of the form word/TAG, found 'c'"),
        ("tag-tsv", "a\tX\tY\nb\tX\n", ":2: expected three tab-separated columns"),
        ("pairs", "a\tb\nc\n", ":2: expected at least 2 tab-separated columns, found 1"),
    ],
)
def test_malformed_text_names_file_and_line(tmp_path, format, text, message):
    with pytest.raises(ParseError, match=message):
        ss.read_corpus(write(tmp_path / "x", text), format)


@pytest.mark.parametrize("options", [{"format": "words"}, {"format": "chars"}, {"chunk": 2}])
def test_bytes_that_are_not_utf8_are_told_with_their_line(tmp_path, options):
    path = tmp_path / "t.txt"
    path.write_bytes(b"good\nbad \xff\n")
    with pytest.raises(ParseError, match=r"t\.txt:2: expected UTF-8 text, found the byte 0xff"):
        ss.read_corpus(path, **options)


def test_a_line_that_never_ends_is_refused_in_bounded_memory(tmp_path):
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(b"\n" + b"a" * 5_000_000))
    with Source(path, max_line=1 << 20) as source:
        with pytest.raises(ParseError, match=r"bomb\.gz:2: expected a line of at most 1,048,576"):
            for _ in source.lines():
                pass


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(DataNotFound, match="cannot be opened"):
        ss.read_corpus(tmp_path / "nowhere")
    with pytest.raises(OSError, match="Check the path"):
        ss.read_solution(tmp_path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "csv"}, "format must be"),
        ({"chunk": 0}, "chunk must be"),
        ({"chunk": 2, "format": "words"}, "chunk= goes with"),
        ({"format": "chunks"}, "needs chunk="),
        ({"limit": -1}, "limit must be"),
        ({"column": "upos"}, "column must be left out"),
        ({"alphabet": "ab"}, "alphabet must be"),
    ],
)
def test_wrong_options_are_told(tmp_path, options, message):
    with pytest.raises(InvalidParameter, match=message):
        ss.read_corpus(write(tmp_path / "t.txt", "a b\n"), **options)


def test_batches_check_their_arguments_at_the_call(tmp_path):
    with pytest.raises(InvalidParameter, match="batch must be an integer of at least 1; got 0"):
        ss.iter_corpus(tmp_path / "t.txt", batch=0)


def test_solutions(tmp_path):
    path = write(tmp_path / "s", "3\n0.5\n2e-9\n0.25\n")
    np.testing.assert_array_equal(ss.read_solution(path), [0.5, 2e-9, 0.25])
    for text, message in [
        ("2\n0.5\n", ":2: expected 2 probabilities"),
        ("1\nnan\n", ":2: expected a probability, found 'nan'"),
        ("x\n", ":1: expected the number of strings"),
        ("", ":1: expected the number of strings, found an empty file"),
    ]:
        with pytest.raises(ParseError, match=message):
            ss.read_solution(write(path, text))


@pytest.mark.parametrize(
    "text", ["", "ab", "ab\n", "a\r\n\r\nb\r", "a\r\r\nb\rc\n\n", "ü\r\n\nзи\u2028ма\x85\n", "\n\n"]
)
@pytest.mark.parametrize("block", [1, 4, 1 << 20])
def test_lines_of_characters_are_those_between_line_ends(tmp_path, monkeypatch, text, block):
    monkeypatch.setattr("sigmastar.corpus.readers.source.BLOCK", block)
    path = tmp_path / "text"
    path.write_bytes(text.encode())
    rows = text.split("\n")
    rows = rows[:-1] if rows[-1] == "" else rows
    wanted = [list(row.removesuffix("\r")) for row in rows]
    assert list(ss.read_corpus(path, "chars")) == wanted
    letters = ss.Alphabet("ab")
    given = ss.read_corpus(path, "chars", alphabet=letters, unknown="ignore")
    assert list(given) == [[c for c in row if c in "ab"] for row in wanted]
