"""The commands around transducers, their benchmarks, and the examples of their documentation."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import sigmastar as ss
from sigmastar.bench import transducer_synthetic as synthetic
from sigmastar.cli import transducer_stream
from sigmastar.cli.main import app
from sigmastar.transducers.transliteration.model import TransliterationModel

PAIRS = [("max", "макс"), ("anna", "анна"), ("axa", "акса"), ("nana", "нана"), ("man", "ман")] * 6


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("transducer")
    lines = [f"{x}\t{y}\n" for x, y in PAIRS] + ["a\tаааааааа\n"]
    (folder / "pairs.tsv").write_text("".join(lines), encoding="utf-8")
    result = CliRunner().invoke(
        app,
        [
            *("transducer", "train", str(folder / "pairs.tsv"), "-o", str(folder / "m.sigma")),
            *("--method", "joint-ngram", "--json"),
        ],
    )
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["n_unalignable"] == 1
    return folder


def test_apply_reads_lines_and_writes_lines(model):
    arguments = ["transducer", "apply", str(model / "m.sigma")]
    result = CliRunner().invoke(app, arguments, input="xana\n\nmaqx\n")
    assert result.exit_code == 0
    assert result.stdout == "ксана\n\nмакс\n"
    assert "1 input with symbols never learned" in result.stderr


def test_apply_answers_lines_as_they_come_a_few_at_a_time(model, monkeypatch):
    monkeypatch.setattr(transducer_stream, "AT_ONCE", 4)
    asked, apply = [], TransliterationModel.apply

    def watched(self, sequences, *more, **how):
        asked.append(len(sequences))
        return apply(self, sequences, *more, **how)

    monkeypatch.setattr(TransliterationModel, "apply", watched)
    words = ["xana", "", "max", "nan", "maqx"] * 3
    arguments = ["transducer", "apply", str(model / "m.sigma")]
    result = CliRunner().invoke(app, arguments, input="\n".join([*words, ""]))
    assert asked == [4, 4, 4, 3]
    assert result.stdout == "ксана\n\nмакс\nнан\nмакс\n" * 3
    assert "3 inputs with symbols never learned" in result.stderr


@pytest.mark.parametrize(
    ("bad", "options", "problem"),
    [
        (b"an\xffna", [], "words.txt:3: expected UTF-8 text, found the byte 0xff at byte 3"),
        (b"anqa", ["--unknown", "error"], "words.txt:3: "),
    ],
)
def test_apply_names_bad_lines_and_leaves_them_out_if_asked(model, tmp_path, bad, options, problem):
    text = tmp_path / "words.txt"
    text.write_bytes(b"max\nxana\n" + bad + b"\nnan\n")
    arguments = ["transducer", "apply", str(model / "m.sigma"), str(text), *options]
    refused = CliRunner().invoke(app, arguments)
    assert refused.exit_code == 1
    assert problem in str(refused.exception)
    passed = CliRunner().invoke(app, [*arguments, "--on-error", "skip"])
    assert passed.exit_code == 0
    assert passed.stdout == "макс\nксана\nнан\n"
    assert problem in passed.stderr


def test_apply_gives_scored_alternatives_as_json(model):
    arguments = ["transducer", "apply", str(model / "m.sigma"), "-k", "2", "--json"]
    found = json.loads(CliRunner().invoke(app, arguments, input="xana\n").stdout)
    outputs = found["results"][0]["outputs"]
    assert outputs[0]["output"] == "ксана"
    scores = [output["log_score"] for output in outputs]
    assert scores == sorted(scores, reverse=True)


def test_evaluate_measures_what_the_metrics_measure(model):
    arguments = [
        "transducer",
        "evaluate",
        str(model / "m.sigma"),
        str(model / "pairs.tsv"),
        "--json",
    ]
    found = json.loads(CliRunner().invoke(app, arguments).stdout)
    assert found["word_accuracy"] == pytest.approx(30 / 31)
    assert found["pairs"] == 31


def test_strict_training_refuses_what_it_would_leave_out(model):
    arguments = ["transducer", "train", str(model / "pairs.tsv"), "-o", str(model / "no.sigma")]
    result = CliRunner().invoke(app, [*arguments, "--method", "joint-ngram", "--strict"])
    assert "1 cannot be aligned" in str(result.exception)
    assert not (model / "no.sigma").exists()


def test_dependent_inputs_defeat_the_published_estimator_only():
    rows = synthetic.run(("dependence",), runs=3, sizes=(4_000, 1_024_000), seed=0)
    last = {row.curve: row.error for row in rows if row.x == 1_024_000}
    assert last["exact"] < 0.02
    assert last["independent"] > 0.2


@pytest.mark.compiled
def test_curves_fall_with_samples_in_the_order_of_difficulty(tmp_path):
    rows = synthetic.run(("difficulty",), runs=2, sizes=(4_000, 64_000), seed=0)
    errors = np.array([row.error for row in rows]).reshape(4, 2)
    assert (errors[:, 1] < errors[:, 0]).all()
    assert (np.diff(errors[:, 1]) > 0).all()
    synthetic.write_csv(rows, tmp_path / "curves.csv")
    assert len((tmp_path / "curves.csv").read_text().splitlines()) == 9


@pytest.fixture(scope="module")
def equal(tmp_path_factory):
    """Pairs of equal length: outputs alternate after every b, so that there are two states."""
    folder = tmp_path_factory.mktemp("equal")
    rng = np.random.default_rng(0)
    lines = []
    for word in rng.choice(["a", "b"], size=(80, 8), p=[0.75, 0.25]):
        before = np.cumsum(word == "b") - (word == "b")
        lines.append("".join(word) + "\t" + "".join("xy"[n % 2] for n in before) + "\n")
    (folder / "pairs.tsv").write_text("".join(lines), encoding="utf-8")
    return folder


def ask(*arguments, **given):
    result = CliRunner().invoke(app, ["transducer", *map(str, arguments)], **given)
    assert result.exit_code == 0, result.output
    return result


@pytest.mark.parametrize("kind", ["spectral", "em", "joint-hmm", "k-hmm"])
def test_pairs_of_equal_length_are_learned_applied_and_measured(equal, kind):
    pairs, path = equal / "pairs.tsv", equal / f"{kind}.sigma"
    # Every pair starts with x: the first three symbols alone show one state.
    more = ("--restarts", "8") if kind == "em" else ("--positions", "all")
    summary = json.loads(
        ask("train", pairs, "-o", path, "--model", kind, "-n", "2", *more, "--json").stdout
    )
    assert (summary["model"], summary["states"], summary["pairs"]) == (kind, 2, 80)
    assert ask("apply", path, input="abba\n\nabqa\n").stdout == "xxyx\n\nxxy\n"
    assert json.loads(ask("evaluate", path, pairs, "--json").stdout)["word_accuracy"] == 1.0
    drawn = json.loads(ask("apply", path, "--draws", "5", "--json", input="ab\n").stdout)
    assert drawn["results"][0]["outputs"][0]["output"] == "xx"


def test_what_a_model_of_equal_lengths_cannot_take_is_refused(equal):
    train = ["transducer", "train", str(equal / "pairs.tsv"), "-o", str(equal / "no.sigma")]
    for more, told in (
        (["--model", "em"], "must be a number for --model em"),
        (["--model", "spectral", "--method", "em"], "without --method"),
        (["--model", "spectral", "-n", "9"], "n_states must be between"),
    ):
        result = CliRunner().invoke(app, [*train, *more])
        assert result.exit_code != 0
        said = f"{result.output} {result.exception}".replace("│", " ")
        assert told in " ".join(said.split())
    assert not (equal / "no.sigma").exists()


def test_the_report_says_what_the_theory_says(equal):
    asked = ("report", equal / "pairs.tsv", "-n", "2", "--positions", "all")
    found = json.loads(ask(*asked, "--json").stdout)
    lines = (equal / "pairs.tsv").read_text(encoding="utf-8").splitlines()
    corpus = ss.PairCorpus.from_pairs([line.split("\t") for line in lines])
    told = ss.SpectralTransducer(2, positions="all").fit(corpus).report()
    assert found["difficulty"] == pytest.approx(told.difficulty)
    assert found["sample_bound"] == pytest.approx(told.sample_bound)
    assert found["singular_values"] == pytest.approx(told.singular_values.tolist())
    assert found["assumptions"] == list(told.assumptions)
    shown = ask(*asked).stdout
    assert shown.count("holds") + shown.count("fails") == 4


def test_recovered_states_write_what_they_stand_for(equal):
    path = equal / "states.sigma"
    shown = ask("recover", equal / "pairs.tsv", "-n", "2", "--positions", "all", "-o", path).stdout
    assert "y 1.00" in shown
    model = ss.load(path)
    order = np.argsort(-model.emission[:, 0])
    np.testing.assert_allclose(model.emission[order], np.eye(2), atol=0.05)
    kept, turned = model.transition[:, order][:, :, order]
    np.testing.assert_allclose(kept, np.eye(2), atol=0.05)
    np.testing.assert_allclose(turned, np.eye(2)[::-1], atol=0.05)
    assert ask("apply", path, input="abba\n").stdout == "xxyx\n"
