"""Files written whole: rights, litter, failure."""

import os
import signal
import stat
import subprocess
import sys

import pytest

from sigmastar.core.atomic import atomic_open, atomic_write, atomic_write_all, tidy


def rights(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_that_is_replaced_keeps_its_rights(tmp_path):
    path = tmp_path / "secret"
    path.write_bytes(b"old")
    path.chmod(0o600)
    atomic_write(path, b"new")
    assert (path.read_bytes(), rights(path)) == (b"new", 0o600)


@pytest.mark.parametrize(("umask", "expected"), [(0o022, 0o644), (0o077, 0o600)])
def test_a_new_file_follows_the_umask(tmp_path, umask, expected):
    before = os.umask(umask)
    try:
        atomic_write(tmp_path / "new", b"")
    finally:
        os.umask(before)
    assert rights(tmp_path / "new") == expected


def test_an_unfinished_copy_of_a_private_file_is_private(tmp_path):
    path = tmp_path / "secret"
    path.write_bytes(b"old")
    path.chmod(0o600)
    with atomic_open(path) as file:
        file.write(b"new")
        (part,) = tmp_path.glob(".secret.*")
        assert rights(part) == 0o600


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(b"old")

    def write():
        with atomic_open(path) as file:
            file.write(b"half")
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError):
        write()
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("model", b"old")]


KILLED = """
import os, signal, sys
from sigmastar.core.atomic import atomic_open
with atomic_open(sys.argv[1]) as file:
    file.write(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_left_goes_with_the_next_write(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(b"old")
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert path.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 2
    atomic_write(tmp_path / "other", b"")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model", "other"]


def test_what_a_living_process_writes_stays(tmp_path):
    with atomic_open(tmp_path / "slow") as file:
        atomic_write(tmp_path / "quick", b"")
        file.write(b"done")
    assert (tmp_path / "slow").read_bytes() == b"done"


def test_files_that_belong_together_appear_in_order_once_all_are_written(tmp_path, monkeypatch):
    one, two = tmp_path / "one", tmp_path / "two"
    moved = []
    replace = os.replace

    def recorded(part, target):
        parts = [path for path in tmp_path.iterdir() if path.name.endswith(".part")]
        moved.append((target.name, sorted(path.read_bytes() for path in parts)))
        replace(part, target)

    monkeypatch.setattr(os, "replace", recorded)
    atomic_write_all({one: b"1", two: b"2"})
    assert moved == [("one", [b"1", b"2"]), ("two", [b"2"])]
    assert (one.read_bytes(), two.read_bytes()) == (b"1", b"2")


def test_of_files_that_belong_together_none_appears_if_one_cannot_be_written(tmp_path):
    one = tmp_path / "one"
    one.write_bytes(b"old")
    with pytest.raises(FileNotFoundError, match="directory that exists"):
        atomic_write_all({one: b"1", tmp_path / "missing" / "two": b"2"})
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("one", b"old")]


KILLED_BETWEEN_MOVES = """
import os, signal, sys
from sigmastar.core.atomic import atomic_write_all
replace = os.replace
def killed(part, target):
    replace(part, target)
    os.kill(os.getpid(), signal.SIGKILL)
os.replace = killed
atomic_write_all({sys.argv[1]: b"new 1", sys.argv[2]: b"new 2"})
"""


@pytest.mark.parametrize("after", ["a reader", "a writer"])
def test_files_that_belong_together_are_not_mixed_by_a_kill(tmp_path, after):
    one, two = tmp_path / "one", tmp_path / "two"
    atomic_write_all({one: b"old 1", two: b"old 2"})
    command = [sys.executable, "-c", KILLED_BETWEEN_MOVES, str(one), str(two)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert (one.read_bytes(), two.read_bytes()) == (b"new 1", b"old 2")
    if after == "a reader":
        tidy(tmp_path)
    else:
        atomic_write(tmp_path / "zero", b"")
        (tmp_path / "zero").unlink()
    contents = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert contents == {"one": b"new 1", "two": b"new 2"}


def test_a_full_disk_leaves_the_old_file(tmp_path):
    resource = pytest.importorskip("resource")
    path = tmp_path / "model"
    path.write_bytes(b"old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            atomic_write(path, b"x" * 1000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("model", b"old")]
