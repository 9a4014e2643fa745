"""The command line as a process: exit codes, streams, pipes, and what is loaded for nothing."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sigmastar as ss
from automata.oracles import random_pfa
from sigmastar.cli.main import app

COMMAND = [sys.executable, "-m", "sigmastar"]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("process")
    random_pfa(0).save(folder / "model.sigma")
    (folder / "data.txt").write_text("a b\nb\na\n")
    return folder


def process(*arguments, **options):
    settings = {"capture_output": True, "text": True, "check": False} | options
    return subprocess.run([*COMMAND, *map(str, arguments)], **settings)


def invoke(*arguments, **options):
    return CliRunner().invoke(app, list(map(str, arguments)), **options)


def test_success_is_0_and_the_version_is_all_there_is():
    done = process("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"sigmastar {ss.__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["learn", "x.txt", "--nonsense"], "No such option"),
        (["learn"], "Missing argument"),
        (["learn", "x.txt", "-m", "spektral"], "Did you mean 'spectral'"),
        (["learn", "x.txt", "-o", "no/such/m.sigma"], "directory that exists"),
        (["export", "m.sigma", "no/such/m.att"], "directory that exists"),
        (["bench", "pautomac", "-o", "figures.txt"], "end in .csv or .json"),
        (["bench", "pautomac", "-p", "six"], "separated by commas"),
        (["nonsense"], "No such command"),
    ],
)
def test_wrong_usage_is_2_before_any_work(arguments, words):
    done = invoke(*arguments, env={"COLUMNS": "300", "TERM": "dumb"})
    assert done.exit_code == 2
    assert done.stdout == ""
    assert words in done.stderr


def test_a_pattern_that_the_shell_replaced_is_to_be_quoted(place):
    options = {"env": {"COLUMNS": "300", "TERM": "dumb"}}
    told = invoke("learn", place / "data.txt", place / "data.txt", "-n", "2", **options).stderr
    assert "quote the pattern" in told
    assert "quote" not in invoke("learn", place / "data.txt", "nonsense", **options).stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_what_the_system_refuses_is_1(place):
    done = process("export", place / "model.sigma", "/dev/full", "--to", "dot")
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_sequence_in_place_of_a_file_is_told_the_way_in(place):
    with pytest.raises(ss.errors.DataNotFound, match=r"standard input: echo 'a b' \| … -"):
        invoke("predict", place / "model.sigma", "a b", catch_exceptions=False)


def test_a_file_without_sequences_is_told_by_name(place):
    (place / "none.txt").write_text("")
    with pytest.raises(ss.errors.InvalidData, match=r"none\.txt: holds no sequences"):
        invoke("perplexity", place / "model.sigma", place / "none.txt", catch_exceptions=False)


def test_interrupted_is_130():
    # What is started in the background of a shell ignores Ctrl-C, and so would what it starts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        running = subprocess.Popen(
            [*COMMAND, "learn", "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE
        )
    finally:
        signal.signal(signal.SIGINT, before)
    running.stdin.write(b"a b\n" * 100_000)  # more than a pipe holds: it is being read
    running.send_signal(signal.SIGINT)
    _, told = running.communicate(timeout=60)
    assert running.returncode == 130
    assert told == b"interrupted\n"


def test_a_closed_pipe_is_no_error_to_talk_about(place):
    arguments = ["sample", str(place / "model.sigma"), "-n", "100000"]
    running = subprocess.Popen(
        [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert running.stdout.readline()
    running.stdout.close()
    told = running.stderr.read()
    running.stderr.close()
    assert running.wait(timeout=60) == 128 + signal.SIGPIPE
    assert told == b""


def test_results_on_stdout_and_all_else_on_stderr(place):
    done = invoke("score", place / "model.sigma", "-", input="a b\nb\n")
    assert done.exit_code == 0
    assert len([float(line) for line in done.stdout.splitlines()]) == 2
    assert done.stderr.startswith("2 sequences")


def test_output_goes_to_a_file_or_to_stdout_alike(place):
    arguments = ["sample", place / "model.sigma", "-n", "5", "--seed", "3"]
    printed = invoke(*arguments, "-o", "-").stdout_bytes
    assert invoke(*arguments, "-o", place / "drawn.txt").stdout_bytes == b""
    assert (place / "drawn.txt").read_bytes() == printed
    invoke(*arguments, "--json", "-o", place / "drawn.json")
    assert len(json.loads((place / "drawn.json").read_text())) == 5


def test_a_failed_run_leaves_the_old_file(place):
    kept = place / "kept.txt"
    kept.write_text("old\n")
    (place / "cut.conllu").write_text("1\tdog\t_\n")
    (place / "tagged.txt").write_text("the/DT dog/NN\n" * 4)
    invoke("tagger", "train", place / "tagged.txt", "-o", place / "t.sigma")
    arguments = ["tagger", "tag", place / "t.sigma", place / "cut.conllu", "-f", "conllu"]
    assert invoke(*arguments, "-o", kept).exit_code == 1
    assert kept.read_text() == "old\n"
    assert [path.name for path in place.iterdir() if path.name.startswith(".")] == []


def test_devices_are_written_to_and_links_followed(tmp_path):
    from sigmastar.core.atomic import atomic_write

    atomic_write(os.devnull, b"gone")
    assert not os.path.isfile(os.devnull)
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    atomic_write(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"


TEXTS = {
    "tagged": ("the/DT dog/NN ./.\n" * 4, ["tagger", "train", "-", "-o", "t.sigma"]),
    "rules": (
        "NN -> DT / DT _\n",
        ["tagger", "compile", "t.sigma", "-o", "c.sigma", "--rules", "-"],
    ),
    "right tags": ("the/DT dog/NN ./.\n", ["tagger", "evaluate", "t.sigma", "-"]),
    "text": ("the dog .\n", ["tagger", "tag", "t.sigma", "-"]),
    "model": ("", ["export", "model.sigma", "-", "-t", "att"]),
    "prefixes": ("a\n", ["predict", "model.sigma", "-"]),
    "strings": ("a b\n", ["perplexity", "model.sigma", "-"]),
}


def test_a_dash_is_stdin_for_every_text(place, monkeypatch):
    monkeypatch.chdir(place)
    for name, (text, arguments) in TEXTS.items():
        done = invoke(*arguments, input=text)
        assert done.exit_code == 0, (name, done.exception, done.output)


def test_nothing_heavy_is_loaded_to_show_help():
    code = (
        "import sys, sigmastar, sigmastar.cli.main as m\n"
        "from typer.main import get_command\n"
        "get_command(m.app)\n"
        "heavy = ('numpy', 'numba', 'sklearn', 'scipy', 'matplotlib', 'rich')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("command", ["score", "predict", "perplexity", "sample", "export"])
def test_a_model_of_another_kind_is_refused_in_one_line(command, place):
    ss.HMMTagger(1).fit([["a", "b"]] * 3, [["X", "Y"]] * 3).save(place / "tagger.sigma")
    rest = {"sample": [], "export": [place / "tagger.fst"]}.get(command, [place / "data.txt"])
    done = process(command, place / "tagger.sigma", *rest)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "HMMTagger" in done.stderr


def test_data_without_a_symbol_are_named(tmp_path):
    (tmp_path / "empty.txt").write_text("\n\n")
    done = invoke("learn", tmp_path / "empty.txt")
    assert "empty.txt: there is nothing to learn from" in str(done.exception)


def test_what_is_wrong_in_a_pipe_is_told_of_standard_input(place):
    done = process("score", place / "model.sigma", "-", input=b"a\nb\xe9\n", text=False)
    assert done.stderr.startswith(b"error: standard input:2: expected UTF-8 text")


def test_text_is_not_taken_for_a_machine(tmp_path):
    (tmp_path / "words.txt").write_text("one two three four five\n")
    with pytest.raises(ss.errors.FileFormatError, match="not a model file of a known format"):
        ss.read_model(tmp_path / "words.txt")


STEERING = "\x1b]0;owned\x07\x1b[2J\u202egpj"  # a title, a cleared screen, a reversed name


@pytest.mark.skipif(os.name == "nt", reason="no such names of files there")
def test_names_of_files_do_not_steer_the_terminal(place, tmp_path):
    path = tmp_path / f"model{STEERING}.sigma"
    done = process("show", path)
    assert done.returncode == 1
    assert "\\x1b" in done.stderr
    assert not {"\x1b", "\x07", "\u202e"} & set(done.stdout + done.stderr)
    random_pfa(0).save(path)
    for command in (["export", path, tmp_path / f"{STEERING}.att"], ["show", path]):
        done = process(*command)
        assert done.returncode == 0
        assert not {"\x1b", "\x07", "\u202e"} & set(done.stdout + done.stderr)


@pytest.mark.parametrize(
    "arguments",
    [
        ["learn", "nowhere.txt"],
        ["learn", "nowhere.txt", "-m", "em"],
        ["tagger", "train", "nowhere.conllu", "-o", "t.sigma"],
        ["tagger", "pipeline", "nowhere.conllu", "-o", "t.sigma"],
        ["transducer", "train", "nowhere.tsv", "-o", "t.sigma"],
        ["sensors", "train", "nowhere.csv", "-o", "t.sigma"],
        ["report", "nowhere.sigma"],
    ],
)
def test_a_missing_file_is_told_before_anything_heavy_is_imported(arguments):
    code = (
        "import sys\nfrom sigmastar.cli.main import main\n"
        f"sys.argv[1:] = {arguments!r}\ntry:\n    main()\nexcept SystemExit as end:\n"
        "    print(end.code, 'sklearn' in sys.modules, 'scipy.stats' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "1 False False\n"
    assert f"'{next(a for a in arguments if 'nowhere' in a)}' cannot be opened" in done.stderr
