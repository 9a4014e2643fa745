"""Damaged and hostile files: only our own exceptions come out of any reader."""

import contextlib
import gzip
import lzma

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sigmastar as ss
from automata.oracles import random_hmm, random_pfa, random_wfa
from corpus.test_readers import COLUMNS, CONLLU, PAIRS, PAUTOMAC, SLASHES, TREBA
from sigmastar.automata.formats.att import read_att
from sigmastar.core.errors import SigmastarError

INTEGERS = ss.Alphabet(range(2))


def _pfa():
    model = random_pfa(0)
    return ss.PFA(model.initial, model.transitions, model.final, INTEGERS)


def _hmm():
    model = random_hmm(0)
    return ss.HMM(model.initial, model.transition, model.emission, model.stop, INTEGERS)


def _written(tmp, model, format):
    path = tmp / "model"
    ss.write_model(model, path, format)
    return path.read_bytes()


def _att_with_table(path):
    """Read the bytes both as arcs and as a symbol table."""
    with contextlib.suppress(SigmastarError):
        read_att(path, symbols=path)
    arcs = path.with_name("arcs")
    arcs.write_text("0 1 1 1 0.5\n0 1 0 0 0.5\n1 0.0\n")
    return read_att(arcs, symbols=path)


def _iterate(path):
    return list(ss.iter_corpus(path, batch=2))


READERS = {
    "detected": ss.read_corpus,
    "batches": _iterate,
    "pautomac": lambda p: ss.read_corpus(p, "pautomac"),
    "treba": lambda p: ss.read_corpus(p, "treba"),
    "conllu": lambda p: ss.read_tagged(p, "conllu"),
    "tag-tsv": lambda p: ss.read_tagged(p, "tag-tsv"),
    "word-tag": lambda p: ss.read_tagged(p, "word-tag"),
    "pairs": ss.read_pairs,
    "words": lambda p: ss.read_corpus(p, "words"),
    "chars": lambda p: ss.read_corpus(p, "chars"),
    "chunks": lambda p: ss.read_corpus(p, chunk=3),
    "solution": ss.read_solution,
    "model": ss.read_model,
    "pautomac-model": lambda p: ss.read_model(p, "pautomac"),
    "treba-model": lambda p: ss.read_model(p, "treba"),
    "att-model": lambda p: ss.read_model(p, "att"),
    "att-symbols": _att_with_table,
    "sigma": ss.load,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz")


@pytest.fixture(scope="module")
def valid(folder):
    """Give sound files of every format, some of them compressed."""
    texts = {
        "detected": [gzip.compress(PAUTOMAC.encode()), lzma.compress(COLUMNS.encode())],
        "batches": [PAUTOMAC.encode(), gzip.compress(TREBA.encode())],
        "pautomac": [PAUTOMAC.encode()],
        "treba": [TREBA.encode()],
        "conllu": [CONLLU.encode()],
        "tag-tsv": [COLUMNS.encode()],
        "word-tag": [SLASHES.encode()],
        "pairs": [PAIRS.encode()],
        "words": ["ça va\nbien".encode()],
        "chars": ["ça va\nbien".encode()],
        "chunks": ["ça va\nbien".encode(), gzip.compress(b"abc")],
        "solution": [b"2\n0.5\n0.25\n"],
        "att-symbols": [b"<eps> 0\na 1\nb 2\n"],
        "sigma": [
            _written(folder, make(1), "sigma") for make in (random_pfa, random_hmm, random_wfa)
        ],
        "pautomac-model": [_written(folder, _pfa(), "pautomac")],
        "treba-model": [_written(folder, _pfa(), "treba"), _written(folder, _hmm(), "treba")],
        "att-model": [_written(folder, _pfa(), "att")],
    }
    texts["model"] = texts["sigma"] + texts["pautomac-model"] + texts["treba-model"]
    return texts


def survives(name, folder, data):
    """Read the bytes; let nothing out but our own exceptions."""
    path = folder / f"fuzz-{name}"
    path.write_bytes(data)
    with contextlib.suppress(SigmastarError):
        READERS[name](path)


@pytest.mark.parametrize("name", READERS)
@given(data=st.binary(max_size=60) | st.text("0123 \n\t.-e>/()#,:IFSTanif\\u", max_size=60))
@settings(max_examples=60)
def test_random_bytes(folder, name, data):
    survives(name, folder, data if isinstance(data, bytes) else data.encode())


@pytest.mark.parametrize("name", READERS)
def test_sound_files_are_read(folder, valid, name):
    for data in valid[name]:
        path = folder / f"sound-{name}"
        path.write_bytes(data)
        if name != "model" or data[:1] == b"I" or b">" in data or b"{" in data[:16]:
            READERS[name](path)


@pytest.mark.parametrize("name", READERS)
def test_truncations(folder, valid, name):
    rng = np.random.default_rng(0)
    for data in valid[name]:
        for end in rng.integers(0, len(data), size=25):
            survives(name, folder, data[:end])


@pytest.mark.parametrize("name", READERS)
@given(where=st.lists(st.integers(0, 2**20), min_size=1, max_size=3), pick=st.integers(0, 2))
@settings(max_examples=60)
def test_bit_flips(folder, valid, name, where, pick):
    data = bytearray(valid[name][pick % len(valid[name])])
    for bit in where:
        data[bit // 8 % len(data)] ^= 1 << bit % 8
    survives(name, folder, bytes(data))


@pytest.mark.parametrize("name", READERS)
@given(
    where=st.integers(0, 2**16),
    piece=st.sampled_from([b"99999999999", b"-1", b"nan", b"1e999", b"\0", b"\xff", b"\n", b"\t"]),
)
@settings(max_examples=40)
def test_hostile_insertions(folder, valid, name, where, piece):
    for data in valid[name]:
        at = where % (len(data) + 1)
        survives(name, folder, data[:at] + piece + data[at:])


def _stored(path, **changes):
    """Write a file whose arrays match their checksum but whose record was tampered with."""
    from sigmastar.core.model_files import Stored, write_stored

    stored = random_pfa(0).to_stored()
    fields = {"kind": stored.kind, "arrays": dict(stored.arrays), "meta": dict(stored.meta)}
    fields.update(changes)
    write_stored(path, Stored(**fields))


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "Pickle"},
        {"meta": {}},
        {"meta": {"alphabet": 5}},
        {"meta": {"alphabet": {"symbols": ["a", "a"], "unk": None}}},
        {"meta": {"alphabet": {"symbols": [{"bytes": "zz"}, []], "unk": None}}},
        {"meta": {"alphabet": {"symbols": ["a", "b"], "unk": -1}}},
        {"meta": {"alphabet": {"symbols": ["a", "b"], "unk": 10**30}}},
        {"arrays": {}},
        {
            "arrays": {
                "initial": np.zeros(0),
                "transitions": np.zeros((2, 0, 0)),
                "final": np.zeros(0),
            }
        },
        {"arrays": {"initial": np.array(1.0), "transitions": np.ones(1), "final": np.ones(1)}},
        {"kind": "HMM"},
    ],
)
def test_tampered_models_are_refused(tmp_path, changes):
    path = tmp_path / "m.sigma"
    _stored(path, **changes)
    with pytest.raises(SigmastarError, match=r"m\.sigma: "):
        ss.load(path)
