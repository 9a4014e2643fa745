"""Strange models, records from strangers and empty data: a bounded page or a clear error."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors
import safetensors.numpy

import sigmastar as ss
from sigmastar.corpus.frames import FrameTable
from sigmastar.show.report.build import build_report
from sigmastar.show.report.taggers import _transducer_cards

HALF = ss.PFA([1.0], [[[0.5]]], [0.5], ss.Alphabet("a"))


def saved_by_a_stranger(path: Path, history: Any) -> Path:
    """Write a sound model with any record at all, past everything that thins records out."""
    HALF.save(path)
    with safetensors.safe_open(path, framework="np") as file:
        record = json.loads(file.metadata()["sigmastar"])
        arrays = {key: file.get_tensor(key) for key in file.keys()}
    text = json.dumps(record | {"history": history})
    path.write_bytes(safetensors.numpy.save(arrays, metadata={"sigmastar": text}))
    return path


RECORDS = {
    "list": [1, 2],
    "word": "objective",
    "huge integers": {
        "objective": [10**400, 1, 2],
        "x": 10**400,
        "path": [{"n_states": n, "score": 1, "exponent": 10**400} for n in (10**400, 2, 3)],
    },
    "not numbers": {
        "objective": [float("nan"), float("inf"), 1, 2],
        "singular_values": [float("nan"), float("inf"), 1],
        "x": float("nan"),
    },
    "no room between": {"objective": [0.0, 5e-324], "held_out": [1.0, 1 + 1e-16]},
    "no room at all": {"objective": [-1.7e308, 1.7e308, 0.0]},
    "many keys": {f"k{i}": i for i in range(30_000)},
    "long words": {"a": "x" * 1_000_000, "y" * 1_000_000: 1},
    "long curve": {"objective": list(range(200_000))},
    "many chains": {"log_joint": [[1, 2]] * 20_000},
    "many settings": {
        "path": [{"n_states": k, "score": 1, "exponent": e} for e in range(900) for k in (1, 2)]
    },
    "odd rows": {"leaderboard": [{"a": 1}, 3, None, {"a": {"b": [1] * 100_000}}]},
    "wide rows": {"leaderboard": [{f"c{i}": i for i in range(20_000)}] * 2},
    "no rows": {"leaderboard": {"a": 1}, "validation": [[]]},
    "deep": {"a": json.loads("[" * 300 + "]" * 300)},
}


@pytest.mark.parametrize("history", RECORDS.values(), ids=RECORDS)
def test_records_of_any_shape_give_small_pages(tmp_path: Path, history: Any) -> None:
    page = build_report(saved_by_a_stranger(tmp_path / "m.sigma", history))
    assert len(page) < 120_000
    assert "State graph" in page


def test_the_best_of_a_strange_record_is_shown(tmp_path: Path) -> None:
    rows = [{"method": "em", "score": 0.25}, "no row", {"method": "spectral"}]
    page = build_report(saved_by_a_stranger(tmp_path / "m.sigma", {"leaderboard": rows}))
    assert all(word in page for word in ("What was tried", "<td>em</td>", "<td>spectral</td>"))


SYMBOLS = ["\u202eevil", "\x1b[31m", "\x9b31m", "x" * 100_000, "\u2066a", "]]>", "\n\t"]


@pytest.mark.parametrize("kind", [ss.PFA, ss.WFA])
def test_symbols_cannot_swell_or_turn_a_page(kind: type[ss.WFA]) -> None:
    drawn = ss.datasets.make_pfa(3, len(SYMBOLS), random_state=0)
    model = kind(drawn.initial, drawn.transitions, drawn.final, ss.Alphabet(SYMBOLS))
    page = build_report(model, data=[SYMBOLS, []])
    assert len(page) < 150_000
    assert not set("\u202e\u2066\x1b\x9b") & set(page)


MACHINES = {
    "unreachable states that never end": ss.PFA(
        [1, 0], [[[0.5, 0], [0, 1.0]]], [0.5, 0], ss.Alphabet("a")
    ),
    "the empty string alone": ss.PFA([1.0], [[[0.0]]], [1.0], ss.Alphabet("a")),
    "nothing": ss.WFA([0.0], [[[0.0]]], [0.0], ss.Alphabet("a")),
    "no sum": ss.WFA([1.0], [[[2.0]]], [1.0], ss.Alphabet("a")),
    "negative": ss.WFA([-1.0], [[[0.5]]], [0.5], ss.Alphabet("a")),
    "tiny weights": ss.WFA([1e-300], [[[1e-300]]], [1e-300], ss.Alphabet("a")),
    "long strings": ss.PFA([1.0], [[[0.9995]]], [0.0005], ss.Alphabet("a")),
}


@pytest.mark.parametrize("model", MACHINES.values(), ids=MACHINES)
def test_strange_machines_have_a_page(model: ss.WFA) -> None:
    assert "State graph" in build_report(model)


@pytest.mark.parametrize("size", [1e154, 1e200, 1e300])
def test_weights_that_overflow_are_refused(size: float) -> None:
    model = ss.WFA([size, 1], [[[size, 1], [1, size]]], [size, 1], ss.Alphabet("a"))
    with pytest.raises(ss.errors.InvalidModel, match="overflow"):
        build_report(model)


def test_an_unfitted_tagger_is_refused() -> None:
    with pytest.raises(ss.errors.InvalidParameter, match=r"got HMMTagger. Fit the estimator"):
        build_report(ss.HMMTagger())


def test_empty_data_are_refused_by_every_kind() -> None:
    x, y = [["a", "b", "a"]] * 9, [["X", "Y", "X"]] * 9
    frames = [np.arange(24.0).reshape(8, 3)] * 3
    nothing = ss.Corpus.from_sequences([])
    tests = {
        ss.KneserNey(2).fit(x): [],
        ss.HMMTagger().fit(x, y): ss.PairCorpus(nothing, nothing),
        ss.KHMMTransducer(1).fit(x, y): ss.PairCorpus(nothing, nothing),
        ss.FramewiseTagger(features=ss.CentroidFeatures(1), random_state=0).fit(
            frames, [["k"] * 8] * 3
        ): FrameTable(np.zeros((0, 3)), np.zeros(1, np.int64), []),
    }
    for model, data in tests.items():
        with pytest.raises(ss.errors.InvalidData, match="at least one sequence"):
            build_report(model, data=data)
    with pytest.raises(ss.errors.InvalidData, match="at least one sequence"):
        build_report(HALF, data=[])


def test_sequences_of_length_zero_can_be_tested_on() -> None:
    for model in (HALF, ss.KneserNey(2).fit(["ab"] * 4)):
        assert "How well it does" in build_report(model, data=[[]])


def test_large_transducers_are_drawn_in_part() -> None:
    n, symbols = 120, ss.Alphabet("ab")
    weights = np.random.default_rng(0).random((2, 2, n, n))
    weights /= weights.sum(axis=(1, 3), keepdims=True)
    model = ss.Transducer.from_dense(np.full(n, 1 / n), weights, np.ones(n), symbols, symbols)
    page = build_report(model)
    assert "The first 40 of 120 states" in page
    assert len(page) < 1_500_000


def test_a_machine_of_many_states_needs_no_matrix_of_pairs() -> None:
    n = 4000
    chain = np.arange(1, n + 1, dtype=np.int32)[:, None]
    chain[-1] = 0
    pool = np.zeros(0, np.int32), np.zeros(1, np.int64)
    written = np.zeros((n, 1), np.int32)
    machine = ss.SequentialTransducer(chain, written, np.zeros(n, np.int32), pool, ["a"], ["b"])
    tracemalloc.start()
    cards = _transducer_cards(machine)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8e6
    assert f"{n:,} states" in cards[0]


def test_what_no_check_foresaw_is_still_a_malformed_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tagger = ss.HMMTagger().fit([["a", "b"]] * 4, [["X", "Y"]] * 4)
    tagger.save(tmp_path / "m.sigma")
    monkeypatch.setattr(type(tagger.model_), "from_stored", lambda stored: {}["no such key"])
    with pytest.raises(ss.errors.FileFormatError, match=r"HMMTagger in the file is malformed"):
        ss.load(tmp_path / "m.sigma")
