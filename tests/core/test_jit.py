"""Kernels compile where nothing can be cached, survive damaged caches, and can be checked."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", [b"", b"\x80\x04garbage", None])
def test_a_damaged_cache_costs_a_compilation_only(tmp_path, suffix, damage):
    place = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    run(tmp_path, **place)
    for file in (tmp_path / "cache").rglob(f"*.{suffix}"):
        content = file.read_bytes()
        file.write_bytes(content[: len(content) // 2] if damage is None else damage)
    for _ in range(2):
        done = run(tmp_path, **place)
        assert (done.stdout, done.stderr) == ("42\n", "")


def test_without_a_place_to_write_kernels_compile_all_the_same(tmp_path):
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where the directory would be")
    done = run(tmp_path, NUMBA_CACHE_DIR=str(blocked / "cache"), HOME=str(blocked))
    assert done.stdout == "42\n", done.stderr


def test_checked_kernels_refuse_to_leave_their_arrays(tmp_path):
    more = "own.beyond(np.zeros(3), 3)"
    done = run(tmp_path, more, SIGMASTAR_CHECKED_KERNELS="1")
    assert "IndexError" in done.stderr
