"""Kernels compile where nothing can be cached, survive damaged caches, and can be checked."""

import os
import pickle
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numba
import pytest

from sigmastar.core import compiled, jit
from sigmastar.core.hashing import find_slot
from sigmastar.core.jit import kernel

pytestmark = pytest.mark.compiled

MODULE = """
from sigmastar.core.jit import kernel

@kernel
def shifted(value, by):
    return value + by

@kernel
def total(values):
    result = 0.0
    for i in range(len(values)):
        result = shifted(shifted(result, values[i]), 0)
    return result

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
    return own.double(21), sum(own.double.compiled.stats.cache_hits.values())

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
        compiled._SOURCES.clear()
        compiled._digest.cache_clear()
        whole = import_module("package_of_kernels.whole").whole
        found.append((whole(10), sum(whole.compiled.stats.cache_hits.values())))
    assert found == [(22, 0), (22, 1), (33, 0)]


LAZY = "import sys; print(own.total.sized(3)(np.arange(3.0)), 'numba' in sys.modules)"


def test_a_little_work_is_done_without_the_compiler(tmp_path):
    (tmp_path / "own.py").write_text(MODULE)
    done = subprocess.run(
        [sys.executable, "-c", f"import numpy as np, own; {LAZY}"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.stdout == "3.0 False\n", done.stderr


def test_what_kernels_call_is_compiled_once_and_not_kept_alone(tmp_path):
    more = "own.total(np.ones(2)); print(len(own.shifted.compiled._inner.signatures))"
    done = run(tmp_path, more, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    # A float and a float, a float and a literal zero; nothing for 32 and 64 bits apart.
    assert done.stdout == "42\n2\n", done.stderr
    assert not list((tmp_path / "cache").rglob("own.shifted*"))


def test_a_kernel_that_has_done_enough_is_compiled():
    @kernel
    def three(x):
        return 3 * x

    plain = three.sized(jit.PATIENCE - 1)
    assert (plain(2), three._compiled) == (6, None)
    assert three.sized(2) is three


def test_without_patience_nothing_is_too_little():
    with jit.without_patience():
        assert find_slot.sized(0) is find_slot


def test_kernels_are_pickled_by_name():
    assert pickle.loads(pickle.dumps(find_slot)) is find_slot
