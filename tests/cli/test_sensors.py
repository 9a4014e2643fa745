import json

import numpy as np
import pytest
from typer.testing import CliRunner

import sigmastar as ss
from sensors.oracles import robot_walk
from sigmastar.cli.main import app
from sigmastar.core.errors import FileFormatError, InvalidData, InvalidParameter, ParseError

RUNNER = CliRunner()
X, Y = robot_walk(0, n_sequences=12)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write the same walk as CSV, TSV, NPZ and Parquet, and learn a tagger from it."""
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    place = tmp_path_factory.mktemp("walk")
    rows = [(i, *frame, y) for i in range(12) for frame, y in zip(X[i], Y[i], strict=True)]
    lines = [
        f"{i},{a!r},{b!r},{y}"
        for i, a, b, y in ((r[0], float(r[1]), float(r[2]), r[3]) for r in rows)
    ]
    (place / "walk.csv").write_text("\n".join(["sequence,a,b,mode", *lines]) + "\n")
    blocks = [
        "\n".join(line.partition(",")[2].replace(",", "\t") for line in lines[i : i + 30])
        for i in range(0, 360, 30)
    ]
    (place / "walk.tsv").write_text("\n\n".join(blocks) + "\n")
    np.savez(place / "walk.npz", frames=np.stack(X), labels=np.array(Y))
    columns = dict(zip(["sequence", "a", "b", "mode"], zip(*rows, strict=True), strict=True))
    pq.write_table(pa.table({k: list(v) for k, v in columns.items()}), place / "walk.parquet")
    done = RUNNER.invoke(
        app,
        [
            "sensors",
            "train",
            str(place / "walk.csv"),
            "-o",
            str(place / "walk.sigma"),
            "--json",
            "--features",
            "logistic",
            "--centroids",
            "20",
        ],
    )
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["held_out_accuracy"] > 0.7
    return place


@pytest.mark.parametrize("name", ["walk.csv", "walk.tsv", "walk.npz", "walk.parquet"])
def test_every_format_holds_the_same_frames(folder, name):
    table = ss.read_frames(folder / name)
    np.testing.assert_array_equal(table.frames, np.concatenate(X))
    assert table.labels == [label for y in Y for label in y]
    assert table.lengths.tolist() == [30] * 12


def test_evaluate_counts_what_is_right(folder):
    done = RUNNER.invoke(
        app, ["sensors", "evaluate", str(folder / "walk.sigma"), str(folder / "walk.npz"), "--json"]
    )
    report = json.loads(done.stdout)
    right = sum(ok for ok, _ in report["labels"].values())
    assert report["frames"] == 360
    assert report["accuracy"] == pytest.approx(right / 360)
    assert report["accuracy"] > 0.75


def test_tag_and_stream_print_a_line_for_each_frame(folder):
    tagged = RUNNER.invoke(
        app,
        [
            "sensors",
            "tag",
            str(folder / "walk.sigma"),
            str(folder / "walk.csv"),
            "--decoding",
            "filter",
        ],
    )
    lines = "".join(f"{a}, {b}\n" for a, b in X[0])
    streamed = RUNNER.invoke(app, ["sensors", "stream", str(folder / "walk.sigma")], input=lines)
    assert streamed.exit_code == 0
    assert streamed.stdout.splitlines() == tagged.stdout.splitlines()[:30]


def test_stream_names_the_bad_line(folder):
    done = RUNNER.invoke(
        app, ["sensors", "stream", str(folder / "walk.sigma")], input="0.1 0.2\n0.1 oops\n"
    )
    assert isinstance(done.exception, ParseError)
    assert "standard input:2: expected 2 numbers" in str(done.exception)


def test_a_line_of_a_stream_that_is_not_finite_is_named(folder):
    streamed = RUNNER.invoke(
        app, ["sensors", "stream", str(folder / "walk.sigma")], input="0.1 0.2\nnan 0.2\n"
    )
    assert isinstance(streamed.exception, InvalidData)
    assert "standard input:2: a frame must be 2 finite numbers" in str(streamed.exception)


def test_another_kind_of_model_is_refused(folder):
    other = folder / "other.sigma"
    ss.WFA([1.0], [[[0.5]]], [0.5], ss.Alphabet("a")).save(other)
    done = RUNNER.invoke(app, ["sensors", "tag", str(other), str(folder / "walk.csv")])
    assert isinstance(done.exception, FileFormatError)
    assert "holds a WFA" in str(done.exception)


def test_length_cuts_sequences(folder):
    assert ss.read_frames(folder / "walk.npz", length=7).lengths.tolist() == [7, 7, 7, 7] * 12


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("", InvalidData, "at least one frame"),
        ("a,b\n1,2\n1\n", ParseError, ":3: expected 2 cells"),
        ("1,2\n1,x\n", ParseError, ":2: expected a number in column '2', found 'x'"),
        ("1,2\n1,nan\n", InvalidData, "NaN"),
        ("a,b,c\n1,x,y\n", InvalidData, "do not hold numbers"),
    ],
)
def test_bad_files_are_explained(tmp_path, text, error, words):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(error, match=words):
        ss.read_frames(path)


def test_unknown_columns_and_endings_are_explained(folder, tmp_path):
    with pytest.raises(InvalidParameter, match="label must name a column"):
        ss.read_frames(folder / "walk.csv", label="nothing")
    with pytest.raises(InvalidParameter, match="must end in"):
        ss.read_frames(tmp_path / "walk.xls")


def test_show_tells_the_facts_of_a_tagger(folder):
    done = RUNNER.invoke(app, ["show", str(folder / "walk.sigma"), "--json"])
    facts = json.loads(done.stdout)
    model = ss.load(folder / "walk.sigma")
    assert facts["kind"] == "ContinuousTagger"
    assert (facts["states"], facts["inputs"]) == (model.n_states, model.n_inputs)


def test_unlabelled_frames_are_read_beside_the_labelled_ones(folder):
    np.savez(folder / "more.npz", frames=np.stack(X[:3]) + 0.1)
    arguments = ["sensors", "train", str(folder / "walk.npz"), "-o", str(folder / "two.sigma")]
    options = ["--features", "centroids", "--centroids", "10", "--states", "2"]
    plain = RUNNER.invoke(app, [*arguments, *options])
    assert plain.exit_code == 0, plain.output
    first = ss.load(folder / "two.sigma")
    helped = RUNNER.invoke(app, [*arguments, *options, "--unlabelled", str(folder / "more.npz")])
    assert helped.exit_code == 0, helped.output
    assert ss.load(folder / "two.sigma") != first


def trained(folder, *options):
    arguments = ["sensors", "train", str(folder / "walk.npz"), "-o", str(folder / "any.sigma")]
    done = RUNNER.invoke(app, [*arguments, "--json", *options])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout), ss.load(folder / "any.sigma")


@pytest.mark.parametrize(
    ("options", "states", "stages"),
    [
        ("-m em -n 2 --max-iter 3 --features tree", 2, ["forest"]),
        ("-m em --features centroids --start spectral", 10, ["centroids"]),
        ("-m gibbs -n 2 --sweeps 2 --draws 3", 6, ["centroids"]),
        ("-m framewise --features boosting", 1, ["forest"]),
        (
            "--features centroids --tau 0.2,0.4 --ridge 1e-3 -n 3 --memory 1 --kernel rbf "
            "--readings standard",
            3,
            ["affine", "kernel", "centroids"],
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_method_and_kind_of_features_is_trained(folder, options, states, stages):
    report, model = trained(folder, "--centroids", "20", *options.split())
    assert (report["states"], model.n_states) == (states, states)
    assert [stage.name for stage in model.features.stages] == stages
    found = ss.tag_frames(model, X).labels
    assert np.mean(np.array(found) == np.array(Y)) > 0.6


def test_tau_and_ridge_reach_the_learner(folder):
    options = ["--features", "centroids", "--centroids", "10", "-n", "2", "--memory", "1"]
    report, model = trained(folder, *options, "--tau", "0.25", "--ridge", "0.01")
    assert report["chosen"]["ridge"] == 0.01
    assert model.features.stages[-1].tau == 0.25


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--prior", "1"], "--prior must go with --method gibbs; got --method spectral"),
        (["-m", "em", "--ridge", "1"], "--ridge must go with --method spectral or framewise"),
        (["-m", "em", "-n", "2,3"], "--states must be one number for --method em; got 2,3"),
        (["-m", "gibbs", "--features", "forest"], "must be centroids for --tau and for --method"),
        (["--features", "forest", "--tau", "1"], "must be centroids for --tau"),
    ],
)
def test_options_that_a_method_would_not_read_are_refused(folder, options, words):
    arguments = ["sensors", "train", str(folder / "walk.npz"), "-o", str(folder / "no.sigma")]
    done = RUNNER.invoke(app, [*arguments, *options])
    assert isinstance(done.exception, InvalidParameter)
    assert words in str(done.exception)
    wrong = RUNNER.invoke(app, [*arguments, "--features", "centroids", "--tau", "x"])
    assert wrong.exit_code == 2
    assert "numbers of at least 0" in wrong.output


def test_evaluate_tells_for_how_many_sequences_the_search_is_proven(folder):
    files = [str(folder / "walk.sigma"), str(folder / "walk.npz")]
    arguments = ["sensors", "evaluate", *files, "--decoding", "exact"]

    def proven(*options):
        return json.loads(RUNNER.invoke(app, [*arguments, "--json", *options]).stdout)["proven"]

    assert proven("--max-nodes", "1") == 0.0
    assert proven() > 0.5
    shown = RUNNER.invoke(app, arguments).stdout
    assert "proven best" in shown
    tagged = RUNNER.invoke(app, ["sensors", "tag", *files, "--decoding", "exact", "--json"])
    assert len(json.loads(tagged.stdout)["proven"]) == 12
