"""Taggers learned from parts are those learned from the whole."""

import pytest

import sigmastar as ss
from sigmastar.core.errors import InvalidData, InvalidParameter


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "tagged.txt"
    train = ss.datasets.load_demo_english().train
    path.write_text(
        "".join(
            " ".join(f"{word}/{tag}" for word, tag in zip(*pair, strict=True)) + "\n"
            for pair in train
        )
    )
    return path


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("rare_count", [1, 10])
def test_a_tagger_does_not_see_the_cuts(text, tmp_path, order, rare_count):
    tagger = ss.HMMTagger(order, rare_count=rare_count)
    tagger.fit(ss.read_tagged(text)).save(tmp_path / "whole.sigma")
    for size in (3000, 1 << 20):
        parts = ss.Partitions.from_files(text, "word-tag", column="form+upos", part_bytes=size)
        tagger.fit(parts).save(tmp_path / "parts.sigma")
        whole, found = (tmp_path / name for name in ("whole.sigma", "parts.sigma"))
        assert found.read_bytes() == whole.read_bytes()


def test_parts_must_hold_words_with_tags(text):
    words = ss.Partitions.from_files(text, "word-tag", part_bytes=3000)
    with pytest.raises(InvalidData, match=r"pairs of a word and a tag.*form\+upos"):
        ss.HMMTagger().fit(words)
    pairs = ss.Partitions.from_files(text, "word-tag", column="form+upos")
    with pytest.raises(InvalidParameter, match='classes must be "words"'):
        ss.HMMTagger(classes="sets").fit(pairs)
    with pytest.raises(InvalidParameter, match="left out with Partitions"):
        ss.HMMTagger().fit(pairs, [["X"]])
