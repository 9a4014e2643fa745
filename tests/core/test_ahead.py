"""Kernels that a second process compiles while this one is busy."""

import importlib
import os
import subprocess
import sys
import time

import numba
import pytest

from sigmastar.core import ahead, threads
from sigmastar.core.ahead import await_kernel, compiling_ahead, is_compiled
from sigmastar.core.jit import CHECKED

pytestmark = pytest.mark.skipif(
    CHECKED or bool(numba.config.DISABLE_JIT), reason="nothing is compiled as usual"
)

MODULE = """
import time

from sigmastar.core.jit import kernel

@kernel
def twice(x):
    return 2 * x

def rehearse():
    twice(1)

def linger():
    twice(1)
    time.sleep(600)
"""


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    """Return a module whose kernel no process has compiled."""
    name = f"rehearsed_{os.getpid()}_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")  # beside the module
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(ahead, "available_threads", lambda: 2)
    yield importlib.import_module(name)
    del sys.modules[name]


def test_a_kernel_that_another_process_compiles_is_waited_for_and_found(fresh):
    assert not is_compiled(fresh.twice)
    with compiling_ahead(f"{fresh.__name__}:rehearse", fresh.twice) as helper:
        assert fresh.twice(4) == 8
        assert helper is not None
    assert sum(fresh.twice.compiled.stats.cache_hits.values()) == 1
    assert sum(fresh.twice.compiled.stats.cache_misses.values()) == 0


def test_a_kernel_is_used_as_soon_as_it_is_there(fresh):
    with compiling_ahead(f"{fresh.__name__}:linger", fresh.twice) as helper:
        assert fresh.twice(4) == 8
        assert helper.poll() is None  # it has other things to do, which nobody waits for
    assert sum(fresh.twice.compiled.stats.cache_misses.values()) == 0


def test_nothing_is_started_for_a_kernel_that_is_on_disk(fresh):
    fresh.twice(1)
    with compiling_ahead(f"{fresh.__name__}:rehearse", fresh.twice) as helper:
        assert helper is None


def test_a_process_that_fails_costs_nothing_but_time(fresh):
    with compiling_ahead(f"{fresh.__name__}:no_such_name", fresh.twice) as helper:
        assert fresh.twice(4) == 8
        assert helper.wait(60) == 1


def test_one_process_compiles_a_kernel_at_a_time(fresh):
    with compiling_ahead(f"{fresh.__name__}:rehearse", fresh.twice):
        with compiling_ahead(f"{fresh.__name__}:rehearse", fresh.twice) as second:
            assert second is None
        assert await_kernel(fresh.twice.py_func, time.monotonic())
    assert not await_kernel(fresh.twice.py_func, time.monotonic())


def test_patience_ends(fresh):
    with compiling_ahead(f"{fresh.__name__}:linger", fresh.twice):
        assert not await_kernel(fresh.twice.py_func, time.monotonic() - 1000)


@pytest.mark.parametrize("executable", ["", "/opt/app/bin/server"])
def test_only_an_interpreter_is_started(fresh, monkeypatch, executable):
    monkeypatch.setattr(sys, "executable", executable)
    with compiling_ahead(f"{fresh.__name__}:rehearse", fresh.twice) as helper:
        assert helper is None


def test_without_room_for_a_process_there_is_none(fresh, monkeypatch):
    def refused(*_, **__):
        raise OSError("no more processes")

    monkeypatch.setattr(subprocess, "Popen", refused)
    with compiling_ahead(f"{fresh.__name__}:rehearse", fresh.twice) as helper:
        assert helper is None


def test_one_processor_compiles_by_itself(fresh, monkeypatch):
    monkeypatch.setattr(ahead, "available_threads", threads.available_threads)
    with (
        threads.limited_threads(1),
        compiling_ahead(f"{fresh.__name__}:rehearse", fresh.twice) as helper,
    ):
        assert helper is None
