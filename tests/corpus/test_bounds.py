"""Files that expand to more than there is memory for."""

import gzip
import lzma

import pytest

import sigmastar as ss
from sigmastar.core.errors import InvalidData, TooLarge


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_a_small_file_of_very_many_lines_is_refused_before_memory_is_full(
    tmp_path, pack, monkeypatch
):
    path = tmp_path / "bomb.txt"
    path.write_bytes(pack(b"a b c\n" * 100_000))
    monkeypatch.setenv("SIGMASTAR_MAX_MEMORY", "1MB")
    with pytest.raises(TooLarge, match=r"bomb\.txt: what was read .* iter_corpus"):
        ss.read_corpus(path, "words")
    assert sum(len(batch) for batch in ss.iter_corpus(path, "words")) == 100_000


def test_pairs_are_bounded_too(tmp_path, monkeypatch):
    path = tmp_path / "pairs.tsv"
    path.write_bytes(gzip.compress(b"abc\txyz\n" * 100_000))
    monkeypatch.setenv("SIGMASTAR_MAX_MEMORY", "1MB")
    with pytest.raises(TooLarge, match="needs about"):
        ss.read_pairs(path)


def test_chunks_have_a_largest_size(tmp_path):
    (tmp_path / "t.txt").write_text("abc")
    with pytest.raises(TooLarge, match="chunk must be at most"):
        ss.read_corpus(tmp_path / "t.txt", chunk=10**12)


def test_offsets_that_wrap_around_are_refused():
    with pytest.raises(InvalidData, match="must not decrease"):
        ss.Corpus([0, 0, 0], [0, 2**63 - 1, -2, 3], ss.Alphabet("a"))
