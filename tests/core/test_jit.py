"""Kernels compile where nothing can be cached, survive damaged caches, and can be checked."""

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numba
import pytest

from sigmastar.core import jit

pytestmark = pytest.mark.compiled

MODULE = """
from sigmastar.core.jit import kernel

@kernel
def double(x):
    return 2 * x

@kernel
def beyond(values, i):
    return values[i]
"""
USE = "import numpy as np, own; print(own.double(21)); {more}"


def run(folder: Path, more: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    (folder / "own.py").write_text(MODULE)
    return subprocess.run(
        [sys.executable, "-c", USE.format(more=more)],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment},
        check=False,
    )


def test_a_kernel_is_cached(tmp_path):
    assert run(tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache")).stdout == "42\n"
    assert list((tmp_path / "cache").rglob("*.nbc"))


DAMAGED = """
import sys
import numba
from importlib import import_module
from pathlib import Path

def answer(folder):
    numba.config.CACHE_DIR = str(folder)
    sys.modules.pop("own", None)
    own = import_module("own")
    return own.double(21), sum(own.double.stats.cache_hits.values())

for suffix in ("nbi", "nbc"):
    for name, damage in {"empty": b"", "garbage": b"\\x80\\x04garbage", "half": None}.items():
        folder = Path("cache", suffix, name)
        answer(folder)
        for file in folder.rglob(f"*.{suffix}"):
            content = file.read_bytes()
            file.write_bytes(content[: len(content) // 2] if damage is None else damage)
        print(suffix, name, answer(folder), answer(folder))
"""


def test_a_damaged_cache_costs_a_compilation_only(tmp_path):
    (tmp_path / "own.py").write_text(MODULE)
    (tmp_path / "damaged.py").write_text(DAMAGED)
    done = subprocess.run(
        [sys.executable, "damaged.py"], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    cases = [(suffix, how) for suffix in ("nbi", "nbc") for how in ("empty", "garbage", "half")]
    # Right both times: compiled anew first, found on disk then.
    expected = [f"{suffix} {how} (42, 0) (42, 1)" for suffix, how in cases]
    assert (done.stdout.splitlines(), done.stderr) == (expected, "")


def test_without_a_place_to_write_kernels_compile_all_the_same(tmp_path):
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where the directory would be")
    done = run(tmp_path, NUMBA_CACHE_DIR=str(blocked / "cache"), HOME=str(blocked))
    assert done.stdout == "42\n", done.stderr


def test_checked_kernels_refuse_to_leave_their_arrays(tmp_path):
    more = "own.beyond(np.zeros(3), 3)"
    done = run(tmp_path, more, SIGMASTAR_CHECKED_KERNELS="1", HOME=str(tmp_path))
    assert "IndexError" in done.stderr


def test_code_is_compiled_anew_when_what_it_was_made_from_has_changed(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(tmp_path)
    package = tmp_path / "package_of_kernels"
    package.mkdir()
    (package / "whole.py").write_text(
        "from sigmastar.core.jit import kernel\n"
        "from package_of_kernels.part import times, FACTOR\n\n"
        "@kernel\ndef whole(x):\n    return FACTOR + times(x)\n"
    )
    found = []
    for factor in (2, 2, 3):
        (package / "part.py").write_text(
            f"from sigmastar.core.jit import kernel\nFACTOR = {factor}\n\n"
            "@kernel\ndef times(x):\n    return FACTOR * x\n"
        )
        for name in [name for name in sys.modules if name.startswith(package.name)]:
            monkeypatch.delitem(sys.modules, name)
        jit._SOURCES.clear()
        jit._digest.cache_clear()
        whole = import_module("package_of_kernels.whole").whole
        found.append((whole(10), sum(whole.stats.cache_hits.values())))
    assert found == [(22, 0), (22, 1), (33, 0)]
