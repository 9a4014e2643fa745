"""``sensors learn`` and ``sensors states``: tables with holes in, states out."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import sigmastar as ss
from sigmastar.cli import sensors_states
from sigmastar.cli.main import app
from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.corpus.readers import frames_csv
from sigmastar.sensors.hmm.emissions.gaussian import SHAPES
from sigmastar.sensors.hmm.learn.starts import STARTS
from sigmastar.sensors.hmm.structure import STRUCTURES

RUNNER = CliRunner()


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pump")
    rng = np.random.default_rng(0)
    hidden = np.repeat(rng.integers(0, 2, 30), 10)
    X = rng.normal(hidden[:, None] * [4.0, -3.0], 1.0)
    rows = []
    for i, ((a, b), h) in enumerate(zip(X, hidden, strict=True)):
        flow = "" if i % 40 == 7 else f"{a:.4f}"
        mode = ["off", "on"][h] if i % 9 == 0 else ""
        rows.append(f"{i // 150},{flow},{b:.4f},{mode}")
    (folder / "pump.csv").write_text("\n".join(["sequence,flow,heat,mode", *rows]) + "\n")
    (folder / "truth.json").write_text(json.dumps(["on" if h else "off" for h in hidden]))
    return folder


def run(*arguments):
    done = RUNNER.invoke(app, ["sensors", *map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_learning_with_some_labels_and_asking_for_states(place):
    model, table = place / "m.sigma", place / "pump.csv"
    told = json.loads(run("learn", table, "-o", model, "--label", "mode", "--json"))
    assert told["states"] == 2
    assert told["sequences"] == 2
    found = json.loads(
        run("states", model, table, "--label", "mode", "--proba", "--surprise", "--json")
    )
    right = np.array(found["states"]) == json.loads((place / "truth.json").read_text())
    assert right.mean() > 0.97
    np.testing.assert_allclose(np.sum(found["probabilities"], axis=1), 1.0, atol=1e-9)
    lines = run("states", model, table, "--label", "mode", "--proba").splitlines()
    assert len(lines) == 302
    assert lines[150] == ""
    assert lines[0].split("\t")[0] in ("off", "on")
    assert ss.load(model).columns == ("flow", "heat")
    page = place / "page.html"
    done = RUNNER.invoke(
        app, ["report", str(model), "--data", str(table), "--label", "mode", "-o", str(page)]
    )
    assert done.exit_code == 0, done.output
    text = page.read_text()
    for words in ("Moves between states", "What states emit", "Surprise along the stream"):
        assert words in text


def test_tag_and_stream_take_a_model_of_learn(place):
    model, table = place / "tagged.sigma", place / "pump.csv"
    run("learn", table, "-o", model, "--label", "mode")
    hmm, data = ss.load(model), ss.read_frames(table, label="mode", holes=True)
    asked = ss.GaussianHMM.from_model(hmm)
    proba = asked.predict_proba(data.values, lengths=data.lengths)
    found = json.loads(run("tag", model, table, "--label", "mode", "--json"))
    flat = [name for piece in found["labels"] for name in piece]
    assert flat == [hmm.names[state] for state in proba.argmax(axis=1)]
    exact = json.loads(run("tag", model, table, "--label", "mode", "--json", "--decoding", "exact"))
    path = asked.predict(data.values, lengths=data.lengths)
    assert [name for piece in exact["labels"] for name in piece] == [hmm.names[s] for s in path]
    lines = "".join(" ".join(map(str, row)) + "\n" for row in data.values[:6])
    done = RUNNER.invoke(app, ["sensors", "stream", str(model), "--proba", "--lag", "2"], lines)
    rows = np.array([line.split("\t") for line in done.stdout.splitlines()[1:]], float)
    stream = ss.StateStream(hmm, 2)
    expected = [p for row in data.values[:6] if (p := stream.push_proba(row)) is not None]
    np.testing.assert_allclose(rows, [*expected, *stream.rest()], atol=6e-5)
    assert len(rows) == 6


def test_parquet_reads_as_csv_does(place):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    table = ss.read_frames(place / "pump.csv", label="mode", holes=True)
    columns = {name: table.values[:, i] for i, name in enumerate(table.columns)}
    columns["sequence"] = np.repeat(np.arange(2), table.lengths)
    pq.write_table(pa.table(columns), place / "pump.parquet")
    other = ss.read_frames(place / "pump.parquet", holes=True)
    np.testing.assert_array_equal(other.values, table.values)
    np.testing.assert_array_equal(other.offsets, table.offsets)
    assert np.isnan(table.values).sum() == 8


def test_holes_are_the_same_with_pyarrow_and_without(tmp_path, monkeypatch):
    rows = [f"{i}.5,{'' if i % 3 else i},{'NA' if i % 5 else 'on'}" for i in range(60_000)]
    (tmp_path / "long.csv").write_text("\n".join(["a,b,label", *rows]))
    table = ss.read_frames(tmp_path / "long.csv", holes=True)
    monkeypatch.setattr(frames_csv, "find_spec", lambda _: None)
    other = ss.read_frames(tmp_path / "long.csv", holes=True)
    np.testing.assert_array_equal(table.values, other.values)
    assert np.isnan(table.values[:, 1]).sum() == 40_000
    assert table.labels == other.labels == ["on", None, None, None, None] * 12_000


def test_bad_tables_and_options_are_named(place, tmp_path):
    (tmp_path / "bad.csv").write_text("a,b,c\n1,x,y\n")
    with pytest.raises(InvalidData, match="columns 'b', 'c' do not hold numbers"):
        ss.read_frames(tmp_path / "bad.csv", holes=True)
    with pytest.raises(InvalidParameter, match="label must name a column"):
        ss.read_frames(place / "pump.csv", label="nothing", holes=True)
    with pytest.raises(
        InvalidData, match=r"pump.csv:\d+: expected a number in column '\w+', found"
    ):
        ss.read_frames(place / "pump.csv", label="mode")


def test_names_on_the_command_line_are_those_of_the_library():
    assert tuple(sensors_states.COVARIANCES) == SHAPES
    assert tuple(sensors_states.STARTS) == STARTS
    assert tuple(sensors_states.CHAINS) == STRUCTURES
