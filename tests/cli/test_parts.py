"""Commands over many files: the answers for one file, part by part, and none of them twice."""

import gzip
import json
import signal
import subprocess
import sys
import textwrap

import pytest
from typer.testing import CliRunner

import sigmastar as ss
from sigmastar.cli.main import app
from sigmastar.corpus import partitions

LINES = ["a b", "a b a b", "b", "a b a b a b", "b a"]


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(partitions, "PART_BYTES", 100)
    options = partitions.Partitions.from_files.__func__.__kwdefaults__
    monkeypatch.setitem(options, "part_bytes", 100)


@pytest.fixture
def files(tmp_path):
    text = "\n".join(LINES * 8) + "\n"
    (tmp_path / "x1.txt").write_text(text)
    (tmp_path / "x2.txt.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "all.txt").write_text(text * 2)
    return tmp_path


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == code, result.output + result.stderr
    return result


@pytest.mark.parametrize("method", ["spectral", "separable", "em"])
def test_a_pattern_is_learned_as_its_files_together(files, method):
    common = ["-m", method, "-n", "2", "--json"]
    several = run("learn", files / "x*.txt*", *common, "-o", files / "parts.sigma")
    report = json.loads(several.stdout)
    assert (report["sequences"], report["training_symbols"]) == (80, 240)
    run("learn", files / "all.txt", *common, "-o", files / "whole.sigma")
    if method != "em":  # whose sums depend on the cuts
        assert ss.load(files / "parts.sigma") == ss.load(files / "whole.sigma")


def test_bad_files_are_left_out_and_listed(files):
    (files / "x3.txt").write_bytes(b"a b\n\xff\n")
    with pytest.raises(ss.errors.ParseError, match=r"x3\.txt:2"):
        run("learn", files / "x*", "-n", "2")
    told = run("learn", files / "x*", "-n", "2", "--on-error", "skip", "--json")
    assert "left out: " in told.stderr
    assert "x3.txt:2" in told.stderr.replace("\n", "")
    assert json.loads(told.stdout)["sequences"] == 80


def test_scores_go_to_a_folder_and_are_not_done_twice(files):
    model, out = files / "m.sigma", files / "scores"
    run("learn", files / "all.txt", "-n", "2", "-o", model)
    command = ["score", model, files / "x*", "--output-dir", out]
    report = json.loads(run(*command, "--json").stdout)
    assert (report["sequences"], report["finished_before"]) == (80, 0)
    found = [line for part in sorted(out.glob("part-*")) for line in part.read_text().splitlines()]
    assert found == run("score", model, files / "all.txt").stdout.splitlines()
    again = json.loads(run(*command, "--json").stdout)
    assert (again["sequences"], again["finished_before"]) == (0, report["parts"])
    with pytest.raises(ss.errors.InvalidParameter, match="other data, another model"):
        run(*command, "--unknown", "ignore")
    assert run("score", model, files / "x*", code=2).stderr.count("--output-dir")


def test_predictions_go_to_a_folder(files):
    model, out = files / "m.sigma", files / "next"
    run("learn", files / "all.txt", "-n", "2", "-o", model)
    run("predict", model, files / "x*", "-k", "2", "--output-dir", out)
    found = [line for part in sorted(out.glob("part-*")) for line in part.read_text().splitlines()]
    assert found == run("predict", model, files / "all.txt", "-k", "2").stdout.splitlines()


@pytest.mark.parametrize(("format", "to"), [("lines", "word/TAG"), ("conllu", "conllu")])
def test_text_of_many_files_is_tagged_as_one(files, format, to):
    english = ss.datasets.load_demo_english()
    ss.HMMTagger(order=1).fit(english.train).model_.save(files / "t.sigma")
    if format == "lines":
        text = "".join(" ".join(words) + "\n" for words, _ in english.test)
    else:
        text = "".join(
            "".join(f"{i + 1}\t{w}" + "\t_" * 8 + "\n" for i, w in enumerate(words)) + "\n"
            for words, _ in english.test
        )
    (files / "t1.txt").write_text(text)
    (files / "t2.txt.gz").write_bytes(gzip.compress(text.encode()))
    (files / "both.txt").write_text(text * 2)
    common = ["tagger", "tag", files / "t.sigma"]
    formats = ["-f", format, "-t", to]
    report = json.loads(
        run(*common, files / "t?.txt*", *formats, "--output-dir", files / "out", "--json").stdout
    )
    assert report["sentences"] == 2 * len(english.test)
    assert report["parts"] > 5
    run(*common, files / "both.txt", *formats, "-o", files / "tagged.txt")
    found = "".join(part.read_text() for part in sorted((files / "out").glob("part-*")))
    assert found == (files / "tagged.txt").read_text()


def test_names_of_many_files_are_written_as_one(files):
    pairs = ss.datasets.load_demo_names().train[:60]
    ss.Transliterator("joint-ngram").fit(pairs).save(files / "n.sigma")
    lines = ["anna", "max", "robert", "petra"] * 20
    (files / "n1.txt").write_text("\n".join(lines) + "\n")
    common = ["transducer", "apply", files / "n.sigma"]
    run(*common, files / "n?.txt", "--output-dir", files / "out", "-k", "2")
    whole = run(*common, files / "n1.txt", "-k", "2").stdout
    assert "".join(p.read_text() for p in sorted((files / "out").glob("part-*"))) == whole


TOLD = """
    import sys
    from sigmastar.automata.learn.blocks.em_checkpoint import Checkpoint
    from sigmastar.cli.main import main

    Checkpoint.due = False  # however long the first steps take
    offer = Checkpoint.offer
    def told(self, progress, *, now=False):
        offer(self, progress, now=now)
        print("step", flush=True)
    Checkpoint.offer = told
    main()
"""


def test_a_terminated_run_leaves_its_last_step(files):
    script, checkpoint = files / "run.py", files / "run.sigma"
    script.write_text(textwrap.dedent(TOLD))
    command = [sys.executable, script, "learn", files / "x*", "-m", "em", "-n", "3"]
    command += ["--max-iter", "1000000", "--checkpoint", checkpoint]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for _ in range(3):
            assert process.stdout.readline() == "step\n"
        assert not checkpoint.exists()
        process.send_signal(signal.SIGTERM)
        process.stdout.read()
    assert process.returncode == 128 + signal.SIGTERM
    assert checkpoint.exists()


@pytest.mark.compiled  # workers without compiled kernels would take minutes
def test_workers_and_a_cluster_do_what_threads_do(files):
    from distributed import Client, LocalCluster

    learn = ["learn", files / "x*", "-m", "em", "-n", "2", "--seed", "0", "--max-iter", "3"]
    run(*learn, "-o", files / "here.sigma", "--memory", "1GB")
    options = ["--workers", "2", "--memory", "2GB", "--scratch", files / "scratch"]
    run(*learn, "-o", files / "there.sigma", *options)
    assert ss.load(files / "there.sigma") == ss.load(files / "here.sigma")
    score = ["score", files / "here.sigma", files / "x*", "--output-dir"]
    run(*score, files / "scores")
    with (
        LocalCluster(n_workers=1, dashboard_address=":0", silence_logs=50) as cluster,
        Client(cluster, set_as_default=False),
    ):
        run(*score, files / "far", "--cluster", cluster.scheduler_address)
        refused = run(*learn, "--workers", "1", "--cluster", cluster.scheduler_address, code=2)
        assert "give one" in refused.stderr.replace("\n", " ")
    for path in (files / "scores").glob("part-*"):
        assert (files / "far" / path.name).read_bytes() == path.read_bytes()
