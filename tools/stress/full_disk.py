"""Fill the disk under every output: the exit code says so, and the old file stays as it was.

Run ``python tools/stress/full_disk.py`` (as root, a small file system of its own is mounted; else
files are limited to a few kilobytes, which is the same to the program). Each command runs
into a file that is there already, and with its standard output on ``/dev/full``. A first run with
room enough shows that the command is one that works.
"""

from __future__ import annotations

import checkout  # isort: skip  # noqa: F401

import contextlib
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from seeds import LOGS, NAMES, TAGS, WORDS

import sigmastar as ss

__all__ = ["main"]

_OLD = b"what was there before\n"
_ROOM = 1 << 14


def main() -> int:
    """Run the tool; return its exit code."""
    problems = 0
    with tempfile.TemporaryDirectory() as name, _small_disk() as (disk, limit):
        sources = Path(name)
        _prepare(sources)
        for command in _commands():
            found = _control(command, sources)
            found += _into_file(command, sources, disk, limit)
            if "-o" in command and command[0] in (
                "sample",
                "score",
                "predict",
                "tagger",
                "sensors",
            ):
                found += _into_pipe(command, sources)
            problems += len(found)
            print(f"{' '.join(command):66} {'; '.join(found) or 'refused, old file intact'}")
    print(f"{problems} problems")
    return int(bool(problems))


def _commands() -> Iterator[list[str]]:
    yield from (
        line.split()
        for line in (
            "learn logs.txt -m spectral -n 3 -o OUT.sigma",
            "learn logs.txt -m em -n 30 --checkpoint OUT.sigma -o /dev/null",
            "sample big.sigma -n 4000 -o OUT.txt",
            "score big.sigma many.txt -o OUT.txt",
            "predict big.sigma many.txt -o OUT.txt",
            "export big.sigma OUT.att",
            "export big.sigma OUT.treba",
            "report big.sigma -o OUT.html",
            "tagger train tagged.txt -o OUT.sigma",
            "tagger compile tagger.sigma -o OUT.sigma",
            "tagger tag tagger.sigma text.txt -o OUT.txt",
            "transducer train names.tsv -o OUT.sigma",
            "transducer apply names.sigma words.txt -o OUT.txt",
            "sensors learn frames.csv -n 2 -o OUT.sigma",
            "sensors states states.sigma frames.csv -o OUT.txt",
        )
    )


def _prepare(at: Path) -> None:
    (at / "logs.txt").write_text("\n".join(map(" ".join, LOGS * 20)) + "\n")
    big = ss.datasets.make_pfa(40, 8, random_state=0)
    big.save(at / "big.sigma")
    strings = ss.sample(big, 4000, random_state=1)
    (at / "many.txt").write_text("\n".join(" ".join(map(str, string)) for string in strings) + "\n")
    tagged = [zip(words, tags, strict=True) for words, tags in zip(WORDS, TAGS, strict=True)]
    lines = [" ".join(f"{word}/{tag}" for word, tag in line) for line in tagged]
    (at / "tagged.txt").write_text("\n".join(lines * 30) + "\n")
    (at / "text.txt").write_text("\n".join(map(" ".join, WORDS * 3000)) + "\n")
    ss.HMMTagger(2).fit(WORDS, TAGS).save(at / "tagger.sigma")
    (at / "names.tsv").write_text("\n".join("\t".join(pair) for pair in NAMES * 3) + "\n")
    (at / "words.txt").write_text("\n".join(source for source, _ in NAMES * 300) + "\n")
    ss.Transliterator("joint-ngram", order=3).fit(NAMES).save(at / "names.sigma")
    frames = np.random.default_rng(0).normal(size=(4000, 12)).round(3)
    np.savetxt(at / "frames.csv", frames, "%g", ",", header=",".join("abcdefghijkl"), comments="")
    ss.GaussianHMM(2, max_iter=2, random_state=0).fit(frames).save(at / "states.sigma")


def _control(command: list[str], sources: Path) -> list[str]:
    """Run the command with room enough: what fails here says nothing about disks."""
    done = _run(command, sources)
    for path in sources.glob("OUT*"):
        path.unlink()
    return [f"fails anyhow: {done.stderr.decode()}"] if done.returncode else []


def _into_file(command: list[str], sources: Path, disk: Path, limit: bool) -> list[str]:
    for path in disk.iterdir():
        path.unlink()
    words = [str(disk / word) if word.startswith("OUT") else word for word in command]
    (target,) = (Path(word) for word in words if word.startswith(f"{disk}{os.sep}"))
    resumes = "--checkpoint" in command  # would not take the old file for one of its own
    if not resumes:
        target.write_bytes(_OLD)
    if not limit:  # leave less room than any of the outputs needs
        with contextlib.suppress(OSError), open(disk / "ballast", "wb", buffering=0) as file:
            while True:
                file.write(b"\0" * 512)
    done = _run(words, sources, limited=limit)
    found = []
    # A run whose checkpoints cannot be written goes on, with a word about it.
    if (done.returncode == 0) != resumes:
        found.append(f"exit code {done.returncode}")
    if b"Traceback" in done.stderr:
        found.append("traceback")
    if not done.stderr.strip():
        found.append("not a word")
    if not resumes and (not target.exists() or target.read_bytes() != _OLD):
        found.append("the old file is gone")
    kept = {"ballast"} if resumes else {"ballast", target.name}
    left = {path.name for path in disk.iterdir()} - kept
    if left:
        found.append(f"left behind {sorted(left)}")
    return found


def _into_pipe(command: list[str], sources: Path) -> list[str]:
    place = command.index("-o")
    words = command[:place] + command[place + 2 :]
    found = []
    for unbuffered in ("", "1"):
        with open("/dev/full", "wb") as full:
            done = _run(words, sources, stdout=full, PYTHONUNBUFFERED=unbuffered)
        if done.returncode == 0:
            found.append(f"exit code 0 on a full pipe (unbuffered {unbuffered or 'no'})")
    return found


def _run(
    words: list[str], sources: Path, *, limited: bool = False, stdout: object = None, **more: str
) -> subprocess.CompletedProcess[bytes]:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (_ROOM, _ROOM))

    environment = os.environ | {"PYTHONPATH": str(Path(ss.__file__).parents[1])} | more
    return subprocess.run(
        [sys.executable, "-m", "sigmastar", *words],
        cwd=sources,
        env=environment,
        stdout=stdout or subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=limit if limited else None,
        check=False,
    )


@contextlib.contextmanager
def _small_disk() -> Iterator[tuple[Path, bool]]:
    """Give a directory with hardly any room, and whether it is files that must be limited."""
    disk = Path(tempfile.mkdtemp(prefix="small-disk-"))
    mount = ["mount", "-t", "tmpfs", "-o", f"size={_ROOM}", "tmpfs", str(disk)]
    mounted = bool(shutil.which("mount")) and not subprocess.run(mount, stderr=-3).returncode
    try:
        yield disk, not mounted
    finally:
        if mounted:
            subprocess.run(["umount", str(disk)], check=True)
        shutil.rmtree(disk)


if __name__ == "__main__":
    sys.exit(main())
