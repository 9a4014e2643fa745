"""Every command explains itself: examples that run, one vocabulary, lines that fit."""

import re
from pathlib import Path

import pytest

from cli.oracles import ROOT, commands, examples, help_text, run_example, taken_apart, write_files

ALL = {" ".join(path): (path, command) for path, command in commands()}
EXAMPLES = {path: examples(help_text(path)) for path, _ in ALL.values()}
ROOM = Path(__file__).parents[2]
PAGES = [ROOM / "README.md", *sorted((ROOM / "docs").rglob("*.md"))]
# Not run here: hours of benchmarks, a search of a minute, and what has tests of its own.
SLOW = ("bench", "demo", "report", "doctor", "serve")


@pytest.mark.parametrize("name", ALL)
def test_help_has_examples_that_fit_the_screen(name):
    path, command = ALL[name]
    written = examples(command.help)
    assert written, f"sigmastar {name} --help has no example"
    assert EXAMPLES[path] == written, "an example is broken into two lines at 80 columns"
    assert all(len(line) <= 78 for line in command.help.splitlines()[1:])


@pytest.mark.parametrize("example", [line for lines in EXAMPLES.values() for line in lines])
def test_every_example_parses(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _, arguments, _ = taken_apart(example)
    command = ROOT
    while hasattr(command, "commands"):
        command = command.commands[arguments.pop(0)]
    assert command.make_context(command.name, arguments).params


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_in_the_documentation_parse(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    inline = re.findall(r"`(sigmastar [^`|…A-Z]+)`", text)
    lines = [line.partition("  #")[0] for line in examples(text)]
    for example in {*inline, *lines}:
        _, arguments, _ = taken_apart(example)
        command = ROOT
        while hasattr(command, "commands") and arguments and not arguments[0].startswith("-"):
            command = command.commands[arguments.pop(0)]
        if arguments and arguments[0] not in (
            "--help",
            "--install-completion",
            "--show-completion",
        ):
            assert command.make_context(command.name, arguments).params, example


def test_examples_run_one_after_the_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    every = [line for path, lines in EXAMPLES.items() if path for line in lines]
    for example in dict.fromkeys(every):
        words = taken_apart(example)[1]
        if words[0] not in SLOW and "--budget" not in words:
            run_example(example)
    written = {"logs.sigma", "fst.sigma", "rules.txt", "names.sigma", "walk.sigma", "labels.tsv"}
    assert written <= {path.name for path in tmp_path.iterdir()}


def test_the_same_flag_means_the_same_everywhere():
    meanings = {}
    for _, command in ALL.values():
        for parameter in command.params:
            short = [flag for flag in parameter.opts if len(flag) == 2]
            long = [flag for flag in parameter.opts if len(flag) > 2 and flag.startswith("--")]
            for flag in short:
                meanings.setdefault(flag, set()).add(long[0] if long else "")
    number = meanings.pop("-n")
    assert number == {"--states", "--number"}
    assert {flag for flag, names in meanings.items() if len(names) > 1} == set()


def test_what_has_a_result_has_json():
    without = {
        name
        for name, (_, command) in ALL.items()
        if not hasattr(command, "commands") and "json" not in {p.name for p in command.params}
    }
    assert without == {"sensors stream", "serve"}  # answer as they are asked, without end


def test_overview_has_panels_in_order():
    text = help_text(())
    panels = ["Learn", "Ask a model", "Systems", "Measure", "Help"]
    places = [text.index(f"─ {panel} ─") for panel in panels]
    assert places == sorted(places)
