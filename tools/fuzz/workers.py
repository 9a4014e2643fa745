"""Work on numbered cases in processes that may die, hang or run out of memory.

Workers are forked off once everything is imported and compiled. Before a worker takes up a case it
writes the number into memory shared with the parent; so when it dies, the parent knows of what, and
starts another one at the next case. Time is that of the processor: a busy machine makes no hangs.
"""

from __future__ import annotations

import faulthandler
import json
import mmap
import os
import re
import resource
import select
import shutil
import signal
import struct
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

from outcomes import SOURCE, Failure

__all__ = ["Case", "Found", "Limits", "Tally", "memory_folder", "work_on"]

Work = Callable[[int, Path, Callable[[str], None]], Iterator[Failure]]

_SLOT = struct.Struct("<q64s")  # the case taken up, the call being made
_GENERATION = 5000  # cases after which a worker is replaced: what leaks a little is not found here
_SECONDS_BETWEEN_WRITES = 30
_FRAME = re.compile(r'File "([^"]+)", line (\d+) in (.*)')


class Limits(NamedTuple):
    """What a case may use: seconds of processor, seconds on the wall, bytes above those at rest."""

    seconds: float = 10.0
    wall: float = 90.0
    memory: int = 3 << 30


class Case(NamedTuple):
    """What a number stands for, made again to be kept and described."""

    kind: str
    changes: str
    data: bytes


@dataclass
class Found:
    """One distinct failure: how often it was met, and the first case that showed it."""

    kind: str
    failure: Failure
    number: int
    changes: str = ""
    file: str = ""
    count: int = 1


@dataclass
class Tally:
    """All failures, told apart by kind, exception and line."""

    cases: int = 0
    seconds: float = 0.0  # of the processor
    found: dict[tuple[str, str, str], Found] = field(default_factory=dict)

    def add(self, number: int, failure: Failure, again: Callable[[int], Case], keep: Path) -> None:
        """Count a failure; keep the file of one that is new."""
        case = again(number)
        # In which line a kernel crashes or a loop hangs is chance: the function tells them apart.
        by_chance = failure.what == "hang" or failure.what.startswith("SIG")
        frame = re.sub(r":\d+", "", failure.frame) if by_chance else failure.frame
        key = (case.kind, failure.what, frame)
        if key in self.found:
            self.found[key].count += 1
            return
        keep.mkdir(parents=True, exist_ok=True)
        place = re.sub(r"\W+", "-", f"{case.kind}-{failure.what}-{failure.frame}")[:100]
        file = keep / f"{place}-{number}{'.sigma' if case.data[8:9] == b'{' else ''}"
        file.write_bytes(case.data)
        self.found[key] = Found(case.kind, failure, number, case.changes, str(file))

    def table(self) -> str:
        """Give the failures as lines of text, the frequent ones first."""
        rate = self.cases / max(self.seconds, 1e-9)
        lines = [
            f"{self.cases} cases in {self.seconds:.0f} s of processor ({rate:.0f} a second): "
            f"{len(self.found)} distinct failures"
        ]
        for one in sorted(self.found.values(), key=lambda one: (one.kind, -one.count)):
            failure = one.failure
            lines.append(
                f"{one.count:6} {one.kind:20} {failure.what:20} {failure.call:22} {failure.frame}\n"
                f"       {one.number}: {one.changes}\n       {failure.message}"
            )
        return "\n".join(lines)

    def write(self, path: Path) -> None:
        """Write everything as JSON."""
        entries = [asdict(one) for one in self.found.values()]
        said = {"cases": self.cases, "seconds": self.seconds, "failures": entries}
        path.write_text(json.dumps(said, indent=1, ensure_ascii=True))


def memory_folder() -> Path:
    """Make a folder for the files of a run: in memory, where no disk has to be waited for."""
    inside = "/dev/shm" if os.path.isdir("/dev/shm") else None
    return Path(tempfile.mkdtemp(prefix="sigmastar-fuzz-", dir=inside))


def work_on(
    numbers: range,
    work: Work,
    again: Callable[[int], Case],
    keep: Path,
    json_file: Path,
    *,
    jobs: int = 2,
    limits: Limits = Limits(),  # noqa: B008
) -> Tally:
    """Work on every case.

    Parameters
    ----------
    numbers : range
        The cases.
    work : callable
        Works on the case of a number, in a folder of its own, telling each call; gives failures.
    again : callable
        Makes the case once more.
    keep : path
        Where files that showed something new are kept.
    json_file : path
        Where the failures are written, now and then and at the end.
    jobs : int
        How many processes.
    limits : Limits
        What a case may use.
    """
    tally, folder = Tally(), memory_folder()
    written, begun = time.monotonic(), _seconds_of_children()
    shares = [numbers[job::jobs] for job in range(jobs)]
    workers = [_Worker(share, work, folder / str(job), limits) for job, share in enumerate(shares)]
    try:
        while any(worker.process for worker in workers):
            ears = [worker.ear for worker in workers if worker.process]
            select.select(ears, [], [], 0.5)
            for worker in workers:
                for number, failure in worker.news():
                    tally.add(number, failure, again, keep)
            if time.monotonic() > written + _SECONDS_BETWEEN_WRITES:
                tally.cases = len(numbers) - sum(worker.n_left for worker in workers)
                tally.write(json_file)
                written = time.monotonic()
    finally:
        for worker in workers:
            worker.end()
        shutil.rmtree(folder, ignore_errors=True)
    tally.cases, tally.seconds = len(numbers), _seconds_of_children() - begun
    tally.write(json_file)
    return tally


def _seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class _Worker:
    """A share of the cases and the process that is working on it."""

    def __init__(self, share: range, work: Work, folder: Path, limits: Limits) -> None:
        self.share, self.work, self.folder, self.limits = share, work, folder, limits
        self.slot = mmap.mmap(-1, mmap.PAGESIZE)
        self.process = 0
        self.ear = -1
        folder.mkdir()
        self._start()

    def _start(self) -> None:
        """Fork a process for what is left of the share, if anything is."""
        self.process = 0
        if not self.share:
            return
        self.unread = b""
        self.ear, mouth = os.pipe()
        os.set_blocking(self.ear, False)
        self.last = self.share[0]
        self._take_up(self.last, "start")
        self.stuck, self.looked, self.seen = 0.0, time.monotonic(), b""
        sys.stdout.flush()
        self.process = os.fork()
        if self.process == 0:
            os.close(self.ear)
            try:
                self._labour(mouth)
            except BaseException:  # of the tool itself; the parent reads it in the log
                traceback.print_exc()
            finally:
                os._exit(0)
        os.close(mouth)

    @property
    def n_left(self) -> int:
        """How many cases of the share have not been taken up."""
        return len(self.share) - self.share.index(self.last) - 1 if self.share else 0

    def _taken_up(self) -> str:
        """Return the call that the process is making; remember its case."""
        number, call = _SLOT.unpack_from(self.slot)
        # A kernel that writes where it must not may hit even this: the last known case counts then.
        if number not in self.share:
            return "something that overwrote the number of its case"
        self.last = number
        return call.rstrip(b"\0").decode(errors="replace")

    def _take_up(self, number: int, call: str) -> None:
        # Copied at once: pack_into would clear the slot first, and the parent may be reading.
        self.slot[: _SLOT.size] = _SLOT.pack(number, call.encode()[:64])

    def _end_if_stuck(self) -> None:
        """End a process that has made the same call all the time that we were awake."""
        now, state = time.monotonic(), self.slot[: _SLOT.size]
        # A machine that slept, or a user who paused us, makes one look last longer, not more looks.
        self.stuck = self.stuck + min(now - self.looked, 1.0) if state == self.seen else 0.0
        self.looked, self.seen = now, state
        if self.stuck > self.limits.wall:
            late = self.stuck > self.limits.wall + 5
            os.kill(self.process, signal.SIGKILL if late else signal.SIGPROF)

    def _labour(self, mouth: int) -> None:
        """Be the child."""
        with open("/proc/self/statm") as file:
            at_rest = int(file.read().split()[0]) * mmap.PAGESIZE
        most = at_rest + self.limits.memory
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        log = open(self.folder / "stack", "w")
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        faulthandler.enable(log, all_threads=False)
        faulthandler.register(signal.SIGPROF, log, all_threads=False, chain=True)
        parent = os.getppid()
        for number in self.share[:_GENERATION]:
            if os.getppid() != parent:  # nobody listens any more
                return
            signal.setitimer(signal.ITIMER_PROF, self.limits.seconds)
            announce = partial(self._take_up, number)
            announce("make")
            for failure in self.work(number, self.folder, announce):
                line = json.dumps([number, *asdict(failure).values()])
                os.write(mouth, line.encode() + b"\n")
        self._take_up(number, "done")

    def news(self) -> Iterator[tuple[int, Failure]]:
        """Give the failures told since; if the process is gone, say of what, and start another."""
        if not self.process:
            return
        self._taken_up()
        self._end_if_stuck()
        gone, status = os.waitpid(self.process, os.WNOHANG)
        for line in self._lines():
            number, *said = json.loads(line)
            yield number, Failure(*said)
        if not gone:
            return
        self.process = 0
        call = self._taken_up()
        os.close(self.ear)
        if os.WIFSIGNALED(status) or call != "done":
            yield self.last, self._obituary(status, call)
        self.share = self.share[self.share.index(self.last) + 1 :]
        self._start()

    def _lines(self) -> list[bytes]:
        while True:
            try:
                piece = os.read(self.ear, 1 << 16)
            except BlockingIOError:
                break
            if not piece:
                break
            self.unread += piece
        *lines, self.unread = self.unread.split(b"\n")
        return lines

    def _obituary(self, status: int, call: str) -> Failure:
        stack = (self.folder / "stack").read_text(errors="replace")
        frames = _FRAME.findall(stack.rpartition("most recent call first")[2])
        ours = [frame for frame in frames if Path(frame[0]).is_relative_to(SOURCE)]
        where = "?"
        if frames:
            file, line, function = (ours or frames)[0]
            short = Path(file).relative_to(SOURCE) if ours else Path(file).name
            where = f"{short}:{line} {function}"
        innermost = f"innermost frame: {frames[0][0]}:{frames[0][1]}" if frames else stack[-300:]
        what = "exit"
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGABRT:
            innermost += " (memory was damaged, perhaps by a case before: see run.py)"
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            what = (
                "hang"
                if number in (signal.SIGPROF, signal.SIGKILL)
                else signal.Signals(number).name
            )
        return Failure(what, call, where, innermost)

    def end(self) -> None:
        """Leave no process behind."""
        if self.process:
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
            self.process = 0
