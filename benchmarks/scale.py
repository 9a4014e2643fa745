"""Learning and tagging over more and more text: seconds, MB/s and the peak memory of each process.

Text is generated (lines of characters from a random automaton, lines of words from a small
vocabulary) into a directory, once. Every measurement runs in a process of its own, so that peaks
are its own; workers report theirs.

    python benchmarks/scale.py --sizes 0.1 1 5            # GB; time linear? memory flat?
    python benchmarks/scale.py --overhead --sizes 1       # two workers against two threads
    python benchmarks/scale.py --in-memory --sizes 0.1    # parts against one corpus, on one core
    python benchmarks/scale.py --where --sizes 0.1        # where the time goes, on one core

Prints one line of JSON for each measurement; ``--output`` also writes them to a file. Seconds are
those of the clock; ``processor_seconds``, those of this process and its workers, say something on a
machine that has other things to do as well. Compiling is not measured: every job is done once
before, on little text.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

MEMORY = 2_000_000_000  # of two threads; each of two workers may use half as much again
JOBS = ("spectral", "kneser-ney", "em", "tag")
STEPS = int(os.environ.get("SCALE_EM_STEPS", "3"))  # so that processes of a measurement know it
ROWS = 200_000  # lines generated at a time
_SHARES = 1 << 14  # probabilities of generated text are multiples of one of so many


def lines_of_characters(rng: np.random.Generator, n: int) -> bytes:
    """Draw lines from a Markov chain over 26 letters with few likely successors."""
    chain = np.random.default_rng(0).dirichlet(np.full(27, 0.15), size=26).cumsum(axis=1)
    share = (np.arange(_SHARES) + 0.5) / _SHARES
    following = np.stack([np.searchsorted(row, share) for row in chain]).astype(np.uint8)
    state = rng.integers(0, 26, size=n)
    columns = []
    alive = np.ones(n, dtype=bool)
    for _ in range(80):
        columns.append(np.where(alive, state + ord("a"), 0).astype(np.uint8))
        drawn = following[state, rng.integers(0, _SHARES, size=n, dtype=np.uint16)]
        alive &= drawn < 26
        state = np.minimum(drawn, 25)
    text = np.stack([*columns, np.full(n, ord("\n"), np.uint8)], axis=1).ravel()
    return text[text > 0].tobytes()


@functools.cache
def sentences() -> list[bytes]:
    """Draw sentences of the words that the demonstration's tagger knows."""
    from sigmastar.datasets import load_demo_english

    words = np.array([str(w) for w in load_demo_english().train.source.alphabet])
    picks = np.random.default_rng(0).zipf(1.3, size=(ROWS, 12)) % len(words)
    return [" ".join(row).encode() for row in words[picks]]


def lines_of_words(rng: np.random.Generator, n: int) -> bytes:
    """Give sentences in another order each time."""
    lines = sentences()
    return b"".join(lines[i] + b"\n" for i in rng.integers(0, len(lines), size=n).tolist())


def generate(folder: Path, kind: str, gigabytes: float) -> str:
    """Write text of a size, unless it is there; return a pattern of its files."""
    target = folder / f"{kind}-{gigabytes:g}"
    wanted = int(gigabytes * 1e9)
    if not (target / "done").exists():
        target.mkdir(parents=True, exist_ok=True)
        draw = lines_of_characters if kind == "chars" else lines_of_words
        size, number = 0, 0
        while size < wanted:
            rng = np.random.default_rng([number, len(kind)])
            path = target / f"{number:04d}.txt"
            with open(path, "wb") as file:
                while file.tell() < min(250_000_000, wanted - size):
                    file.write(draw(rng, ROWS))
                size += file.tell()
            number += 1
        (target / "done").touch()
    return str(target / "*.txt")


def peak_bytes() -> int:
    """Return the peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def processor_seconds() -> float:
    """Return what this process has used."""
    return time.process_time()


def measure(
    job: str, pattern: str, *, workers: int, threads: int, scratch: str
) -> dict[str, object]:
    """Run one job in this process and tell what it took."""
    from sigmastar.core.progress import listening

    stages = Stages()
    report: dict[str, object] = {"job": job, "workers": workers, "threads": threads}
    size = sum(path.stat().st_size for path in Path(pattern).parent.glob("*.txt"))
    with cluster(workers) as client:
        run(job, small(pattern), client, threads, f"{scratch}/warm")  # compiles
        used = used_by_all(client)
        with listening(stages):
            began = time.perf_counter()
            report |= run(job, pattern, client, threads, scratch)
            report["seconds"] = time.perf_counter() - began
        report["processor_seconds"] = used_by_all(client) - used
        if client:
            report["worker_peaks"] = list(client.run(peak_bytes).values())  # type: ignore[attr-defined]
    report |= {"stages": stages.seconds, "bytes": size, "peak": peak_bytes()}
    report["megabytes_a_second"] = size / 1e6 / float(str(report["seconds"]))
    return report


def used_by_all(client: object) -> float:
    """Return the processor seconds of this process and of the workers."""
    workers = client.run(processor_seconds).values() if client else ()  # type: ignore[attr-defined]
    return processor_seconds() + sum(workers)


def small(pattern: str) -> str:
    """Write the first lines of text beside it; return a pattern that matches them."""
    folder = Path(pattern).parent / "first"
    if not folder.exists():
        folder.mkdir()
        with open(min(Path(pattern).parent.glob("*.txt")), "rb") as source:
            lines = source.read(3_000_000)
        for number in range(2):
            (folder / f"{number}.txt").write_bytes(lines[: lines.rindex(b"\n") + 1])
    return str(folder / "*.txt")


def run(job: str, pattern: str, client: object, threads: int, scratch: str) -> dict[str, object]:
    """Do one job; return what is known beside how long it took."""
    import sigmastar as ss

    began = time.perf_counter()
    if job == "tag":
        tag(pattern, client, scratch)
        return {}
    if job.startswith("in-memory-"):
        (path, *_) = sorted(Path(pattern).parent.glob("*.txt"))  # up to 250 MB are one file
        data = ss.read_corpus(path, "chars")
    else:
        where = {"client": client} if client else {"threads": threads, "max_memory": MEMORY}
        data = ss.Partitions.from_files(pattern, "chars", scratch=scratch, **where)
    encoding = time.perf_counter() - began
    learner(job.removeprefix("in-memory-")).fit(data)
    return {"encoding": encoding}


def learner(job: str):
    """Return the estimator of a job."""
    import sigmastar as ss

    return {
        "spectral": ss.SpectralWFA(20),
        "kneser-ney": ss.KneserNey(5),
        "em": ss.BaumWelchPFA(20, max_iter=STEPS, tol=0, random_state=0),
    }[job]


def tag(pattern: str, client: object, scratch: str) -> None:
    """Tag text into a directory."""
    import sigmastar as ss
    from sigmastar.cli.parts import Spread, apply_to_files, as_it_is
    from sigmastar.cli.tagger import _tag_part

    tagger = ss.HMMTagger(order=1).fit(ss.datasets.load_demo_english().train).model_
    address = None if client is None else client.scheduler_info()["address"]  # type: ignore[attr-defined]
    from functools import partial

    apply_to_files(
        partial(_tag_part, tagger, None, "lines", "word/TAG", None),
        as_it_is,
        pattern,
        "words",
        folder=Path(scratch) / "tagged",
        job="scale",
        spread=Spread(cluster=address, memory=f"{MEMORY // 1_000_000}MB"),
    )


def where_time_goes(job: str, pattern: str, scratch: str) -> dict[str, object]:
    """Do one job on one thread and add up the processor seconds of its pieces."""
    from sigmastar.core.runners import LocalRunner
    from sigmastar.corpus.part_sources import FileSpan, file_parts
    from sigmastar.corpus.scratch import ScratchPart

    run(job, small(pattern), None, 1, f"{scratch}/warm")
    spent: dict[str, float] = {}

    def timed(name, function):
        def call(*arguments, **options):
            began = processor_seconds()
            try:
                return function(*arguments, **options)
            finally:
                spent[name] = spent.get(name, 0.0) + processor_seconds() - began

        return call

    reduce = LocalRunner.reduce

    def reduce_timed(self, reduction, *rest):
        for name in ("summarize", "merge", "finish"):
            object.__setattr__(reduction, name, timed(name, getattr(reduction, name)))
        return reduce(self, reduction, *rest)

    began = processor_seconds()
    for part in file_parts(pattern, format="chars", part_bytes=16 << 20):
        with part.stream() as source:
            while source.read(1 << 20):
                pass
    reading = processor_seconds() - began
    LocalRunner.reduce = reduce_timed  # type: ignore[method-assign]
    FileSpan.read = timed("encode", FileSpan.read)  # type: ignore[method-assign]
    ScratchPart.write = timed("write", ScratchPart.write)  # type: ignore[method-assign]
    ScratchPart.open = timed("open", ScratchPart.open)  # type: ignore[method-assign]
    began = processor_seconds()
    run(job, pattern, None, 1, scratch)
    total = processor_seconds() - began
    spent["encode"] -= reading
    spent = {"read": reading, **spent}
    return {"job": job, "where": spent | {"rest": total - sum(spent.values())}, "total": total}


class Stages:
    """Adds up the seconds of each stage that the library tells of."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._began: dict[int, float] = {}

    def start(self, stage) -> None:  # noqa: D102
        self._began[id(stage)] = time.perf_counter()

    def update(self, stage) -> None:  # noqa: D102
        pass

    def finish(self, stage) -> None:  # noqa: D102
        spent = time.perf_counter() - self._began.pop(id(stage))
        self.seconds[stage.title] = self.seconds.get(stage.title, 0.0) + spent


@contextmanager
def cluster(workers: int) -> Iterator[object]:
    """Give a client of a local cluster of processes, or none."""
    if not workers:
        yield None
        return
    from sigmastar.core.local_cluster import local_client

    with local_client(workers, memory=3 * MEMORY // 4) as client:
        yield client


def in_new_process(arguments: list[str]) -> dict[str, object]:
    """Run this script again for one measurement."""
    command = [sys.executable, __file__, "--one", *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Generate, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", type=float, nargs="+", default=[0.1])
    parser.add_argument("--jobs", nargs="+", default=list(JOBS), choices=JOBS)
    parser.add_argument("--folder", type=Path, default=Path("scale-data"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--overhead", action="store_true", help="two workers against two threads")
    parser.add_argument("--in-memory", action="store_true", help="parts against one corpus")
    parser.add_argument("--where", action="store_true", help="where the time goes")
    parser.add_argument("--steps", type=int, default=STEPS, help="of EM")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--only-generate", action="store_true", help="write the text, and stop")
    parser.add_argument("--one", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        job, pattern, workers, threads, scratch = options.one
        if workers == "where":
            found = where_time_goes(job, pattern, scratch)
        else:
            found = measure(
                job, pattern, workers=int(workers), threads=int(threads), scratch=scratch
            )
        print(json.dumps(found))
        return
    import tempfile

    os.environ["SCALE_EM_STEPS"] = str(options.steps)
    rows = []
    for size in options.sizes:
        for job in options.jobs:
            pattern = generate(options.folder, "words" if job == "tag" else "chars", size)
            if options.only_generate:
                continue
            runs: list[tuple[str, object, int]] = [(job, options.workers, options.threads)]
            if options.where:
                runs = [(job, "where", 1)] if job != "tag" else []
            if options.overhead:
                runs = [(job, 0, 2), (job, 2, 1)]
            if options.in_memory and job != "tag":
                runs = [(f"in-memory-{job}", 0, 1), (job, 0, 1)]
            for name, workers, threads in runs:
                with tempfile.TemporaryDirectory(dir=options.folder) as scratch:
                    row = in_new_process([name, pattern, str(workers), str(threads), scratch])
                row["gigabytes"] = size
                rows.append(row)
                print(json.dumps(row), flush=True)
    if options.output:
        options.output.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
