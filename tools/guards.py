"""Make known mistakes on purpose, one at a time, and see that the test named for each notices.

    python tools/guards.py
    python tools/guards.py --only brill-folds-see-everything --why

``guards.toml`` names the mistakes: learners that are judged by what they learned from, priors that
count twice, published figures with a wrong digit. Each is a piece of a file of ``src/sigmastar``
(``old``, which must be there exactly once), what stands there instead (``new``), and the tests that
must fail then. ``tools/mutants.py`` draws mistakes at random and asks all tests; here every mistake
has been thought of, and so has its test.

Tests run on copies of sources and tests: first all of them without a mistake, since a test that
fails anyway guards nothing, then those of each guard, in a process of its own as for mutants. Only
a failed test counts; what cannot be imported, hangs or asks for a name that is not there shows no
more than that the mistake is badly written. Seconds are the processor's. Compiled kernels are kept
beside the copied sources and believed only while no file that they were made from has changed: a
mistake in a kernel is compiled, and what has nothing to do with it is not compiled again.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from compileall import compile_dir
from functools import cache
from pathlib import Path
from typing import NamedTuple

from mutants import ROOT, import_others, run_tests, written

LIST = Path(__file__).with_suffix(".toml")
_COPIED = ("src", "tests", "tools", "pyproject.toml")
_LIMIT = 200.0  # the processor's seconds for the tests of a guard, compiling included
_BADLY_WRITTEN = re.compile("tests: (NameError|SyntaxError|ImportError|UnboundLocalError)")


class Guard(NamedTuple):
    """A mistake, and the tests that notice it."""

    name: str
    file: str  # within src/sigmastar
    old: str
    new: str
    tests: tuple[str, ...]

    def mistaken(self, source: str) -> str:
        """Make the mistake in the text of its file."""
        if (n := source.count(self.old)) != 1:
            raise ValueError(f"its text is found {n} times in {self.file}")
        return source.replace(self.old, self.new)

    def line(self, source: str) -> int:
        """Return the first line that differs."""
        differs = [a != b for a, b in zip(self.old, self.new, strict=False)]
        same = differs.index(True) if any(differs) else len(differs)
        return source[: max(source.find(self.old), 0) + same].count("\n") + 1


def read_guards(path: Path = LIST) -> list[Guard]:
    """Read the list."""
    rows = tomllib.loads(path.read_text(encoding="utf-8"))["guard"]
    guards = [Guard(**{**row, "tests": tuple(row["tests"])}) for row in rows]
    if len({guard.name for guard in guards}) < len(guards):
        raise ValueError(f"{path.name} has a name twice")
    return guards


class Copy:
    """A copy of the project in which mistakes are made."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in _COPIED:  # with times: what is compiled stays valid
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, folder / name)
            else:
                shutil.copy2(ROOT / name, folder / name)
        compile_dir(folder / "src", quiet=1)  # a file with a mistake is compiled again each time
        self.run_plainly = cache(self.run)  # without a mistake, once for all guards of a test

    def run(self, tests: tuple[str, ...], n_guards: int = 1) -> tuple[str, str, float]:
        """Run tests in a process of their own; tell what came of them, why, and the seconds."""
        limit = _LIMIT * n_guards
        outcome, seconds = run_tests(self.folder / "src", tests, limit, root=self.folder)
        said = (self.folder / "said").read_text(errors="replace")
        lines = re.findall(r"^E +(\S.*)", said, re.M) or said.strip().splitlines()[-1:]
        return outcome, f"{outcome}: {lines[0]}" if lines else outcome, seconds

    def all_pass(self, guards: Sequence[Guard]) -> bool:
        """Tell whether all tests pass without a mistake: then none need be tried alone."""
        tests = tuple(sorted({test for guard in guards for test in guard.tests}))
        return self.run(tests, len(guards))[0] == "survived"

    def fate_of(self, guard: Guard, *, passes: bool) -> tuple[str, str, float]:
        """Tell what became of a mistake, why, and in how many seconds."""
        path = self.folder / "src" / "sigmastar" / guard.file
        try:
            mistaken = guard.mistaken(path.read_text(encoding="utf-8"))
        except ValueError as error:
            return "BROKEN", str(error), 0.0
        if not passes:
            outcome, reason, seconds = self.run_plainly(guard.tests)
            if outcome != "survived":
                return "BROKEN", f"without the mistake: {reason}", seconds
        with written(path, mistaken.encode()):
            outcome, reason, seconds = self.run(guard.tests)
        if outcome == "survived":
            return "SURVIVED", "", seconds
        failed = outcome == "tests" and not _BADLY_WRITTEN.match(reason)
        return "killed" if failed else "BROKEN", reason, seconds


def replay(guards: Sequence[Guard], *, why: bool) -> list[str]:
    """Make every mistake, print a row for each, and return what became of them."""
    fates = []
    import_others()
    print("mutation | file:line | test | fate | seconds")
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(folder).resolve())
        passes = copy.all_pass(guards)
        for guard in guards:
            fate, reason, seconds = copy.fate_of(guard, passes=passes)
            source = (ROOT / "src" / "sigmastar" / guard.file).read_text(encoding="utf-8")
            place = f"{guard.file}:{guard.line(source)}"
            tests = ", ".join(guard.tests)
            print(f"{guard.name} | {place} | {tests} | {fate} | {seconds:.1f}", flush=True)
            if reason and (why or fate == "BROKEN"):
                print(f"    {reason}", flush=True)
            fates.append(fate)
    return fates


def main() -> None:
    """Replay the list, or what is asked for of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", metavar="NAME", help="guards whose names contain this")
    parser.add_argument("--why", action="store_true", help="say how each test failed")
    given = parser.parse_args()
    guards = [guard for guard in read_guards() if (given.only or "") in guard.name]
    if not guards:
        sys.exit(f"no guard has {given.only!r} in its name; {LIST.name} lists them")
    fates = replay(guards, why=given.why)
    counts = {fate: fates.count(fate) for fate in ("killed", "SURVIVED", "BROKEN")}
    broken = f", {counts['BROKEN']} broken" if counts["BROKEN"] else ""
    print(f"{counts['killed']} killed, {counts['SURVIVED']} survived{broken}")
    sys.exit(counts["killed"] < len(guards))


if __name__ == "__main__":
    main()
