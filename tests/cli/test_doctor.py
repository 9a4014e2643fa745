"""The doctor tells the truth about the installation, and a broken learner is found."""

import io
import json
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from sigmastar.automata.kernels.forward import forward_sequence
from sigmastar.automata.learn import spectral as learn_spectral
from sigmastar.bench import warm
from sigmastar.cli import checkup
from sigmastar.cli.main import app
from sigmastar.core import compiling
from sigmastar.core.compiling import watch_compiling
from sigmastar.core.types import Learned


def heard(function):
    return SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=function)})


KERNEL = heard(forward_sequence.py_func)
OF_NUMBA = heard(SimpleNamespace(__module__="numba.np.arrayobj", __name__="<lambda>"))


def doctor(*arguments, **options):
    return CliRunner().invoke(app, ["doctor", *arguments], **options)


def test_doctor_reports_versions_and_recovers_the_machine(tmp_path):
    done = doctor("--json", env={"SIGMASTAR_DATA": str(tmp_path)})
    found = json.loads(done.stdout)
    assert done.exit_code == 0
    assert found["versions"]["numpy"] == np.__version__
    assert found["self_check"]["strings"] == 127
    assert found["self_check"]["largest_deviation"] < 1e-12
    assert found["blas"]["gflops"] > 0
    assert found["data"]["SIGMASTAR_DATA"] == str(tmp_path)


def test_a_learner_that_is_slightly_wrong_fails_the_check(monkeypatch):
    learn = learn_spectral.learn_spectral

    def wrong(moments, **options):
        model, info = learn(moments, **options)
        return Learned(type(model)(model.initial * 1.001, model.transitions, model.final), info)

    monkeypatch.setattr(learn_spectral, "learn_spectral", wrong)
    done = doctor()
    assert done.exit_code == 1
    assert "✗ failed" in done.stdout
    assert "Something is wrong" in done.stdout


def test_a_missing_part_comes_with_the_command_that_adds_it(monkeypatch):
    monkeypatch.setattr(checkup.util, "find_spec", lambda name: None)
    assert [part["version"] for part in checkup.optional()] == [None] * len(checkup.OPTIONAL)
    assert checkup.optional()[0]["install"] == "pip install 'sigmastar[fst]'"


def test_what_is_broken_does_not_hide_the_rest(monkeypatch):
    def broken():
        raise ImportError("no such library")

    monkeypatch.setattr(checkup, "blas", broken)
    done = doctor()
    assert done.exit_code == 0
    assert "✗ BLAS" in done.stdout
    assert "ImportError: no such library" in done.stdout


def test_data_sets_are_found_where_they_lie(tmp_path, monkeypatch):
    monkeypatch.setenv("SIGMASTAR_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "brown").mkdir()
    (tmp_path / "brown" / "brown.txt.gz").touch()
    sets = checkup.data()["sets"]
    assert sets["brown"] == {"present": 1, "files": 2}
    assert sets["pautomac"]["present"] == 0


@pytest.mark.parametrize("extra", [extra for _, extra, _ in checkup.OPTIONAL])
def test_extras_are_those_of_the_package(extra):
    from pathlib import Path

    text = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    assert f"\n{extra} = [" in text


def test_warming_runs_every_part_and_counts_what_was_compiled(monkeypatch):
    ran = []
    watch = watch_compiling()

    def part(name):
        def run(*_):
            ran.append(name)
            watch.on_start(KERNEL)
            watch.on_end(KERNEL)

        return run

    for name in ("demo_automaton", "demo_text", "compile_names", "demo_sensors"):
        monkeypatch.setattr(warm, name, part(name))
    found = json.loads(doctor("--warm", "--json").stdout)
    assert found["warm"]["kernels"] == 4
    assert ran == ["demo_automaton", "demo_text", "compile_names", "demo_sensors"]


def test_people_are_told_once_that_kernels_are_compiled(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(compiling.time, "perf_counter", lambda: next(clock))
    for stream, times in ((Terminal(), 1), (io.StringIO(), 0)):
        monkeypatch.setattr(compiling.sys, "stderr", stream)
        watch = compiling.Compiling()
        # When each begins, what goes on is told twice, and it ends.
        clock = iter([0.0, 0.0, 0.1, 0.6, 1.0, 1.4, 1.5, 1.7, 2.0, 2.0, 2.0, 9.0])
        for _ in range(3):
            watch.on_start(KERNEL)
            watch.on_start(OF_NUMBA)  # called by the kernel, and compiled meanwhile
            watch.on_end(OF_NUMBA)
            watch.on_end(KERNEL)
        told = stream.getvalue()
        assert told.count("compiling kernels, once") == times
        assert told.count("1 compiled in 1 s, now forward_sequence") == times
        assert (watch.kernels, watch.functions) == (3, 6)
        assert watch.seconds == pytest.approx(0.6 + 0.7 + 7.0)
