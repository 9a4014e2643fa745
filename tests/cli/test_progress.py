"""Bars appear for what lasts, on standard error only, and go away."""

import io

import pytest
from rich.console import Console

import sigmastar as ss
from patience import until
from sigmastar.cli.bars import Bars
from sigmastar.core.progress import listening, stage


@pytest.fixture
def screen():
    return Console(file=io.StringIO(), force_terminal=True, width=100)


def shown(screen, work, patience=0.05):
    bars = Bars(lambda: screen, patience)
    with listening(bars):
        work()
    bars.close()
    return screen.file.getvalue()


def test_a_stage_that_never_advances_gets_a_bar(screen):
    def work():
        with stage("one big decomposition"):
            until(lambda: "one big decomposition" in screen.file.getvalue())

    shown(screen, work)


def test_titles_are_not_markup(screen):
    def work():
        with stage("Reading odd[/].txt") as progress:
            progress.advance(0, note="[b]")
            until(lambda: "odd[/].txt" in screen.file.getvalue())

    assert "[b]" in shown(screen, work)


def test_a_short_stage_gets_none(screen):
    def work():
        for _ in range(100):
            with stage("short", 2) as progress:
                progress.advance()

    assert shown(screen, work, patience=2.0) == ""


def test_bars_tell_how_far_and_are_taken_away(screen):
    def work():
        with stage("reading", 40) as progress:
            for i in range(30):
                progress.advance(note=f"file {i}")
            until(lambda: "30/40" in screen.file.getvalue())

    text = shown(screen, work)
    assert "file 29" in text
    assert text.endswith("\r\x1b[2K\x1b[?25h\r")  # the line is erased, the cursor is back


def test_results_are_not_redirected_while_a_bar_is_shown(screen, capsys):
    def work():
        with stage("working"):
            until(lambda: "working" in screen.file.getvalue())
            print("result")

    shown(screen, work)
    assert capsys.readouterr().out == "result\n"


def test_every_reader_tells_what_it_reads(tmp_path):
    told = []

    class Listener:
        def start(self, stage):
            told.append(stage.title)

        def update(self, stage):
            told.append(stage.done)

        def finish(self, stage):
            pass

    for name, text in {"a.txt": "x/Y z/W\n", "a.tsv": "x\ty\n", "a.csv": "1,2\n3,4\n"}.items():
        (tmp_path / name).write_text(text)
    with listening(Listener()):
        ss.read_tagged(tmp_path / "a.txt")
        ss.read_pairs(tmp_path / "a.tsv")
        ss.read_frames(tmp_path / "a.csv")
    assert told == ["Reading a.txt", 1, "Reading a.tsv", 1, "Reading a.csv"]
