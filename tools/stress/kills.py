"""Kill processes while they write: what was there before stays whole, and no litter remains.

Run ``python tools/stress/kills.py --kills 300``. A child replaces a file again and again by one of
two versions; it is killed at a random moment; then the file must be one of the two, byte for byte,
and after the next write to the same directory nothing else may lie there.
"""

from __future__ import annotations

import checkout  # isort: skip  # noqa: F401

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from seeds import LOGS, TAGS, WORDS

import sigmastar as ss

__all__ = ["main"]


class Job(NamedTuple):
    """Something that writes: call it with a directory and 0 or 1, the version to write."""

    name: str
    outputs: tuple[str, ...]
    write: Callable[[Path, int], object]


def main(arguments: list[str] | None = None) -> int:
    """Run the tool; return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    rng = random.Random(options.seed)
    jobs = list(_jobs())
    problems = 0
    for number, job in enumerate(jobs):
        kills = len(range(number, options.kills, len(jobs)))
        found, landed = _attack(job, kills, rng)
        problems += len(found)
        print(f"{job.name:24} {kills:4} kills, {landed:4} inside a write, {len(found)} problems")
        for line in found:
            print(f"  {line}")
    print(f"{options.kills} kills, {problems} problems")
    return int(bool(problems))


def _jobs() -> Iterator[Job]:
    pfas = [ss.datasets.make_pfa(40, 8, random_state=seed) for seed in (0, 1)]
    yield Job("save", ("model.sigma",), lambda at, v: pfas[v].save(at / "model.sigma"))
    taggers = [ss.HMMTagger(order).fit(WORDS, TAGS) for order in (1, 2)]
    yield Job("save of a tagger", ("t.sigma",), lambda at, v: taggers[v].save(at / "t.sigma"))
    for format in ("att", "pautomac", "treba"):
        names = ("machine", "machine.syms") if format == "att" else ("machine",)

        def export(at: Path, version: int, format: str = format) -> None:
            ss.write_model(pfas[version], at / "machine", format)

        yield Job(f"export {format}", names, export)
    yield Job("report", ("r.html",), lambda at, v: ss.write_report(pfas[v], at / "r.html"))
    yield Job("checkpoint", ("run.sigma",), _train)
    yield Job("tagging a file", ("out.txt",), _tag)


def _train(at: Path, version: int) -> None:
    """Learn from the start, with a checkpoint after every step."""
    (at / "run.sigma").unlink(missing_ok=True)
    _trained(at)


def _trained(at: Path) -> ss.PFA:
    """Learn, or go on from the checkpoint that is there."""
    settings = {"max_iter": 12, "tol": 0.0, "checkpoint_every": 1, "random_state": 7}
    run = ss.BaumWelchPFA(3, checkpoint=at / "run.sigma", **settings)
    return run.fit(LOGS).model_


def _tag(at: Path, version: int) -> None:
    """Tag a long text by the command."""
    text, model = at.parent / "text.txt", at.parent / "tagger.sigma"
    if not model.exists():
        text.write_text("\n".join(" ".join(line) for line in WORDS * 4000))
        ss.HMMTagger(1).fit(WORDS, TAGS).save(model)
    formats = ("word/TAG", "tsv")[version]
    command = [sys.executable, "-m", "sigmastar", "tagger", "tag", model, text]
    environment = os.environ | {"PYTHONPATH": str(Path(ss.__file__).parents[1])}
    os.execve(
        sys.executable,
        list(map(str, [*command, "-t", formats, "-o", at / "out.txt"])),
        environment,
    )


def _attack(job: Job, kills: int, rng: random.Random) -> tuple[list[str], int]:
    problems: list[str] = []
    landed = 0
    with tempfile.TemporaryDirectory() as folder:
        versions = []
        for version in (0, 1):
            at = Path(folder) / f"version{version}"
            at.mkdir()
            _wait(_child(job, at, version))
            versions.append([(at / name).read_bytes() for name in job.outputs])
        at = Path(folder) / "work"
        at.mkdir()
        seconds = _duration(job, at)
        for _ in range(kills):
            child = _child(job, at, rng.randrange(2), forever=job.write is not _tag)
            time.sleep(rng.random() * seconds)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            landed += any(path.name.endswith(".part") for path in at.iterdir())
            problems += _check(job, at, versions)
            if rng.random() < 0.25:  # the next start
                _wait(_child(job, at, rng.randrange(2)))
                left = {path.name for path in at.iterdir()} - set(job.outputs)
                problems += [f"left behind: {sorted(left)}"] if left else []
    return problems, landed


def _duration(job: Job, at: Path) -> float:
    began = time.monotonic()
    _wait(_child(job, at, 0))
    return 1.2 * (time.monotonic() - began)


def _check(job: Job, at: Path, versions: list[list[bytes]]) -> list[str]:
    found = [(at / name).read_bytes() if (at / name).exists() else None for name in job.outputs]
    if job.write is not _train:
        return [] if found in versions else ["the files are neither version"]
    if found == [None]:  # killed before the first step was done
        return []
    # Any step may be the last one written; learning must go on from it to the same end.
    with tempfile.TemporaryDirectory() as probe:
        (Path(probe) / "run.sigma").write_bytes(found[0] or b"")
        resumed = _trained(Path(probe))
    with tempfile.TemporaryDirectory() as probe:
        whole = _trained(Path(probe))
    return [] if resumed == whole else ["the resumed run ended elsewhere"]


def _child(job: Job, at: Path, version: int, *, forever: bool = False) -> int:
    child = os.fork()
    if child:
        return child
    try:
        while True:
            job.write(at, version)
            version = 1 - version
            if not forever:
                break
    except BaseException as error:
        os.write(2, f"{job.name}: {error!r}\n".encode())
        os._exit(1)
    os._exit(0)


def _wait(child: int) -> None:
    _, status = os.waitpid(child, 0)
    if status:
        raise RuntimeError(f"a child that nobody killed ended with {status}")


if __name__ == "__main__":
    sys.exit(main())
