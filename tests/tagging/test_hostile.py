"""Taggers under attack: hostile files and codes, many threads, forks, raw streams."""

import io
import pickle
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest

import sigmastar as ss
from fresh import in_fresh_process, mapped
from sigmastar.core.errors import FileFormatError, InvalidData, InvalidModel, ParseError, TooLarge
from sigmastar.core.model_files import Stored, read_stored, write_stored
from sigmastar.tagging.fst import phrases
from sigmastar.tagging.lexicon import vocabulary
from sigmastar.tagging.text import stream

SENTENCES = [["the", "dog", "barks"], ["a", "cat", "sees", "the", "dog"], ["dogs", "bark"]]
TAGS = [["DT", "NN", "VBZ"], ["DT", "NN", "VBZ", "DT", "NN"], ["NNS", "VB"]]


@pytest.fixture(scope="module")
def tagger():
    return ss.HMMTagger(1).fit(SENTENCES * 5, TAGS * 5)


def of_kind(tagger, kind):
    return tagger if kind == "hmm" else ss.FSTTagger.from_hmm(tagger, kind, corpus=SENTENCES)


KINDS = ("hmm", "n1", "s+n1", "lazy", "b")


def test_a_machine_that_decides_by_force_stays_within_its_memory():
    # Words of many tags each, and a look-ahead that is always used up: every step keeps all pairs.
    rng = np.random.default_rng(0)
    tags = [f"T{i}" for i in range(24)]
    words = [f"w{i}" for i in range(12)]
    pairs = [(words[int(i)], tags[int(j)]) for i, j in rng.integers(0, (12, 24), (4000, 2))]
    text = [pairs[i : i + 8] for i in range(0, len(pairs), 8)]
    hmm = ss.HMMTagger(2, threshold=1e-9, prior=0, context_weight=0).fit(
        [[w for w, _ in s] for s in text], [[t for _, t in s] for s in text]
    )
    machine = ss.FSTTagger.from_hmm(hmm, "b", look_ahead=6, max_states=16384)
    (found,) = machine.predict([[words[int(i)] for i in rng.integers(0, 12, 300)]])
    assert len(found) == 300


@pytest.mark.parametrize("name", ["offsets", "form_offsets"])
def test_offsets_that_wrap_around_are_refused(tmp_path, tagger, name):
    tagger.save(tmp_path / "t.sigma")
    stored = read_stored(tmp_path / "t.sigma")
    whole = stored.arrays[name]
    bad = np.array([0, 2**63 - 1, -2, *whole[3:]], np.int64)
    write_stored(
        tmp_path / "t.sigma", Stored(stored.kind, stored.arrays | {name: bad}, stored.meta)
    )
    with pytest.raises(FileFormatError, match=f"{name} must ascend"):
        ss.load(tmp_path / "t.sigma")


def test_candidates_that_are_repeated_are_refused(tmp_path, tagger):
    tagger.save(tmp_path / "t.sigma")
    stored = read_stored(tmp_path / "t.sigma")
    many = {
        "offsets": np.r_[stored.arrays["offsets"][:-1], stored.arrays["offsets"][-1] + 5000],
        "candidates": np.r_[stored.arrays["candidates"], np.zeros(5000, np.int32)],
        "scores": np.r_[stored.arrays["scores"], np.zeros(5000, np.int32)],
    }
    write_stored(tmp_path / "t.sigma", Stored(stored.kind, stored.arrays | many, stored.meta))
    with pytest.raises(FileFormatError, match="ascend within each class"):
        ss.load(tmp_path / "t.sigma")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("codes", "starts", "words"),
    [
        ([10**6], [0, 1], "must lie between 0"),
        ([-1], [0, 1], "must lie between 0"),
        ([0], [0, 2], "starts must rise"),
        ([0, 0], [0, 2**62, 2], "starts must rise"),
        ([0.5], [0, 1], "whole numbers"),
        ([0], [], "starts must rise"),
    ],
)
def test_codes_out_of_range_are_refused(tagger, kind, codes, starts, words):
    with pytest.raises(InvalidData, match=words):
        of_kind(tagger, kind).tag_classes(np.array(codes), np.array(starts, np.int64))


def test_a_public_machine_refuses_codes_out_of_range(tagger):
    machine = ss.FSTTagger.from_hmm(tagger, "n1").machine
    for run in (machine.run, machine.run_aligned, machine.accepts):
        with pytest.raises(InvalidData, match="must lie between"):
            run(np.array([99]), np.array([0, 1]))


def test_rules_after_rules_apply_both(tagger):
    first = ss.RuleSet.from_text("dog/NN -> VB", tagger.tags_)
    second = ss.RuleSet.from_text("cat/NN -> NNS / the/ANY _\ncat/NN -> NNS", tagger.tags_)
    for kind in ("n1", "lazy"):
        both = of_kind(tagger, kind).with_rules(first).with_rules(second)
        assert both.predict([["the", "dog"], ["a", "cat"]]) == [["DT", "VB"], ["DT", "NNS"]]
        assert both.info["n_rules"] == 3


@pytest.mark.parametrize("kind", ["n1", "lazy"])
def test_rules_and_phrases_keep_each_other_in_any_order(tagger, kind):
    rules = ss.RuleSet.from_text("dog/NN -> VB", tagger.tags_)
    plain = of_kind(tagger, kind)
    expected = [["DT|B-NP", "NN|I-NP"], ["DT", "VB"]]
    for made in (
        plain.with_rules(rules).with_phrases("DT NN"),
        plain.with_phrases("DT NN").with_rules(rules),
    ):
        assert made.predict([["the", "cat"], ["the", "dog"]]) == expected


def test_an_empty_pattern_is_refused(tagger):
    with pytest.raises(InvalidData, match="must match at least one tag"):
        of_kind(tagger, "n1").with_phrases("")


@pytest.mark.parametrize(
    "pattern",
    [
        "(" * 3000 + "DT" + ")" * 3000,
        "(DT | NN)* DT " + "ANY " * 40,
        "DT " * 9000,
        "ANY? DT? " * 200,  # each part leads to all that follow it
        "DT? " * 600,
    ],
)
def test_patterns_have_bounds(pattern):
    with pytest.raises(TooLarge):
        phrases.phrase_transducer(["DT", "NN"], pattern)


@pytest.mark.parametrize(
    ("pattern", "said"), [("DT? NN? \0", "character NUL"), ('DT ""', "is not a tag")]
)
def test_patterns_of_nothing_are_refused_in_words(pattern, said):
    with pytest.raises(InvalidData, match=said):
        phrases.phrase_transducer(["DT", "NN"], pattern)


def test_many_threads_tag_like_one(tagger, monkeypatch):
    monkeypatch.setattr(vocabulary, "_MOST_REMEMBERED", 40)  # the memory starts anew all the time
    rng = np.random.default_rng(0)
    texts = [[[f"dog{i}s" for i in rng.integers(0, 60, 5)]] for _ in range(40)]
    machine = of_kind(tagger, "lazy")
    expected = [machine.predict(text) for text in texts]
    wrong = []

    def work():
        for text, tags in zip(texts, expected, strict=True):
            if machine.predict(text) != tags:
                wrong.append(text)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert not wrong


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_by_pickle_tags_the_same(tagger, kind):
    machine = of_kind(tagger, kind)
    assert pickle.loads(pickle.dumps(machine)).predict(SENTENCES) == machine.predict(SENTENCES)


def test_rules_are_copied_by_pickle(tagger):
    machine = of_kind(tagger, "lazy").with_rules(ss.RuleSet.from_text("dog/NN -> VB", tagger.tags_))
    machine.predict(SENTENCES)
    assert pickle.loads(pickle.dumps(machine)).predict(SENTENCES) == machine.predict(SENTENCES)


def _predict(machine):
    return machine.predict(SENTENCES * 100)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes_tag_the_same(tagger, method):
    machine = of_kind(tagger, "lazy")
    expected = _predict(machine)
    found = in_fresh_process(mapped, method, _predict, [machine, machine])
    assert found == [expected, expected]


class Trickle(io.RawIOBase):
    """A raw stream that takes a few bytes at a time, as pipes and full disks do."""

    def __init__(self):
        self.taken = b""

    def writable(self):
        return True

    def write(self, data):
        part = bytes(data[:7])
        self.taken += part
        return len(part)


@pytest.mark.parametrize("output", ["word/TAG", "tsv", "conllu"])
def test_a_raw_stream_gets_every_byte(tagger, output):
    text, whole, raw = b"the dog barks\n" * 50, io.BytesIO(), Trickle()
    tagger.tag_file(io.BytesIO(text), whole, output_format=output)
    tagger.tag_file(io.BytesIO(text), raw, output_format=output)
    assert raw.taken == whole.getvalue()


@pytest.mark.parametrize("format", ["lines", "tokens"])
def test_a_sentence_without_end_is_refused(tagger, monkeypatch, format):
    monkeypatch.setattr(stream, "MAX_SENTENCE", 1 << 16)
    monkeypatch.setattr(stream, "_BLOCK", 1 << 12)
    with pytest.raises(ParseError, match="a sentence of at most 65,536 bytes"):
        tagger.tag_file(io.BytesIO(b"dog " * 10**5), io.BytesIO(), input_format=format)


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 64])
def test_blocks_of_any_size_hold_the_same_text(monkeypatch, end, size):
    monkeypatch.setattr(stream, "_BLOCK", size)
    text = end.join([b"one two", b"three", b"", b"four", b"", b"", b"five"])
    for blank in (False, True):
        blocks = list(stream.tag_blocks(io.BytesIO(text), blank_line=blank))
        assert b"".join(blocks) == text.replace(b"\r\n", b"\n")


@pytest.mark.parametrize("output", ["word/TAG", "tsv", "conllu"])
def test_tags_that_break_lines_are_not_written(output):
    tagger = ss.HMMTagger(1).fit([["a", "b"]] * 4, [["X\tY", "Z\n1"]] * 4)
    with pytest.raises(InvalidModel, match="tags must not be empty nor hold"):
        tagger.tag_file(io.BytesIO(b"a b\n"), io.BytesIO(), output_format=output)
    assert tagger.predict([["a", "b"]]) == [["X\tY", "Z\n1"]]


def test_a_form_that_begins_with_a_carriage_return_keeps_its_line(tagger):
    rows = ["1\t\rdog\t_\t_\t_\t_\t_\t_\t_\t_", "2\tbarks\t_\t_\t_\t_\t_\t_\t_\t_", "", ""]
    target = io.BytesIO()
    source = io.BytesIO("\n".join(rows).encode())
    tagger.tag_file(source, target, input_format="conllu", output_format="conllu")
    lines = target.getvalue().decode().split("\n")
    assert [line.split("\t")[1] for line in lines[:2]] == ["\rdog", "barks"]
    assert all(line.split("\t")[3] != "_" for line in lines[:2])


def test_half_of_a_surrogate_pair_is_a_word_like_any_other(tmp_path):
    tagger = ss.HMMTagger(1).fit([["\ud800", "b"]] * 4, [["X", "Y"]] * 4)
    tagger.save(tmp_path / "t.sigma")
    assert tagger.predict([["\ud800", "\udfffz"]])[0][0] == "X"
    assert len(ss.load(tmp_path / "t.sigma").predict([["\ud800", "b"]])[0]) == 2


def test_no_more_tags_than_back_pointers_can_tell_apart():
    model = ss.HMMTagger(1).fit([["a"]], [["A"]]).model_
    many = tuple(f"T{i}" for i in range(1 << 15))
    with pytest.raises(InvalidModel, match="32,767 tags"):
        replace(model, tags=many)


@pytest.mark.parametrize("states", [63, 1 << 31])
def test_a_growing_machine_has_a_largest_size(states):
    with pytest.raises(ss.errors.InvalidParameter, match="max_states"):
        ss.FSTTagger.from_hmm(ss.HMMTagger(1).fit([["a"]], [["A"]]), "lazy", max_states=states)
