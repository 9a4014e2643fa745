"""A transliterator learned from parts of pairs."""

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.corpus.joined_pairs import PairCoding
from sigmastar.transducers.transliteration import of_parts
from sigmastar.transducers.transliteration.ngram_trie import (
    NgramTrie,
    count_ngrams_of_units,
    merge_tries,
    suffixes_of,
    with_units,
)

NAMES = ss.datasets.load_demo_names()
FORMS = {"source_form": "given", "target_form": "given"}


def pairs(n=400):
    return [("".join(a), "".join(b)) for a, b in NAMES.train[:n]]


def in_parts(rows, size=90, **options):
    pieces = [ss.join_pairs(rows[i : i + size]) for i in range(0, len(rows), size)]
    return ss.Partitions.from_sequences(pieces, **options)


def test_pairs_are_cut_where_they_were_joined():
    rows = [("ab", "ba"), ("", "x"), ("a", ""), ("b", "xa")]
    corpus = ss.Corpus.from_sequences(ss.join_pairs(rows))
    assert PairCoding.of(corpus.alphabet).pairs(corpus) == ss.PairCorpus.from_pairs(rows)


def random_units(rng, n):
    lengths = rng.integers(0, 6, size=n)
    return rng.integers(0, 4, size=lengths.sum()).astype(np.int32), np.append(0, lengths.cumsum())


@pytest.mark.parametrize("sizes", [(20, 30), (30, 1), (0, 9)])
def test_merged_tries_are_those_of_both_texts(sizes):
    rng = np.random.default_rng(sum(sizes))
    (one, first), (other, second) = (random_units(rng, n) for n in sizes)
    both = np.concatenate((one, other)), np.concatenate((first, first[-1] + second[1:]))
    counted = [
        count_ngrams_of_units(*text, n_units=4, order=4)
        for text in ((one, first), (other, second), both)
    ]
    for found, wanted in zip(merge_tries(*counted[:2]), counted[2], strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_suffixes_are_n_grams_without_their_first_unit():
    units, offsets = random_units(np.random.default_rng(0), 30)
    trie = count_ngrams_of_units(units, offsets, n_units=4, order=4)

    def spelled(node):
        return (*spelled(trie.parent[node]), trie.unit[node]) if node else ()

    for node, suffix in enumerate(suffixes_of(trie)):
        assert spelled(suffix) == spelled(node)[1:]


def test_unused_units_leave_no_gap():
    units = np.array([0, 2, 2], dtype=np.int32)
    offsets = np.array([0, 2, 3])
    wide = count_ngrams_of_units(units, offsets, n_units=4, order=3)
    used = np.array([True, False, True, False])
    narrow = count_ngrams_of_units(units // 2, offsets, n_units=2, order=3)
    for found, wanted in zip(with_units(wide, used), narrow, strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert isinstance(with_units(wide, used), NgramTrie)


def test_parts_teach_what_the_whole_does():
    rows = pairs()
    learner = ss.Transliterator(method="joint-ngram", **FORMS)
    whole = learner.fit(rows)
    inputs = ["".join(a) for a, _ in NAMES.test[:60]]
    wanted, units = whole.predict(inputs), whole.info_["n_units"]
    for size in (90, 400):
        found = learner.fit(in_parts(rows, size, threads=1))
        assert found.info_["n_units"] == units
        assert found.info_["n_pairs"] == len(rows)
        assert found.predict(inputs) == wanted
        assert np.diff(found.info_["log_likelihood"]) > 0


@pytest.mark.parametrize("form", ["given", "decomposed"])
def test_threads_and_files_leave_no_trace(tmp_path, form, monkeypatch):
    monkeypatch.setattr(of_parts, "SAMPLE", 150)
    rows = [*pairs(300), ("", "x"), ("é", "é")]
    (tmp_path / "a.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in rows[:200]))
    (tmp_path / "b.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in rows[200:]))
    learner = ss.Transliterator(method="joint-ngram", source_form=form, target_form="given")
    options = {"format": "pairs", "column": "source+target", "part_bytes": 1500}
    for name, threads in (("one", 1), ("two", 2)):
        parts = ss.Partitions.from_files(tmp_path / "*.tsv", threads=threads, **options)
        learner.fit(parts).save(tmp_path / name)
        assert learner.info_["n_empty"] == 1
        assert learner.info_["sampled"] < 200
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert learner.predict(["anna"])[0]


def test_what_parts_cannot_teach_is_refused():
    with pytest.raises(InvalidParameter, match=r'method must be "joint-ngram".*sample'):
        ss.Transliterator().fit(in_parts(pairs(50)))
    with pytest.raises(InvalidData, match=r"must hold pairs.*source\+target"):
        ss.Transliterator(method="joint-ngram").fit(ss.Partitions.from_sequences([["ab"]]))
    with pytest.raises(InvalidParameter, match="y and dev"):
        ss.Transliterator(method="joint-ngram").fit(in_parts(pairs(50)), dev=pairs(5))
    empty = ss.Partitions.from_sequences([ss.join_pairs([("a", "")])])
    with pytest.raises(InvalidData, match="empty side"):
        ss.Transliterator(method="joint-ngram").fit(empty)
