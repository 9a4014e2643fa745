"""Break code in small ways, one at a time, and see whether its tests notice.

    python tools/mutants.py src/sigmastar/tagging/learn --tests tests/tagging/test_tagger.py \
        --sample 40 --seconds 200 --results tagging.jsonl

Each mutant is a comparison, sum, product, truth value, number or choice of an extreme turned into
another. Tests run in a copy of the sources, so nothing here is touched; a mutant is killed if they
fail, crash or hang. Results are kept line by line: another call goes on where this one stopped.

All tests run once on the sources as they are, to see which of them come by which line; a mutant
gets only those that come by its own, the fastest first. They run in a fork of this process, which
has imported what others wrote but nothing of ours. Kernels that were compiled beside the sources
stay compiled, so run the tests here first. What hangs is told by the processor's time, not the
clock's: a busy machine kills no mutant.

The well-known tools are no help here: mutmut puts a dispatcher into every function, which the
compiler of kernels refuses and which hides sources from tests that read them; cosmic-ray has no
samples and changes files in place.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import coverage
import pytest

ROOT = Path(__file__).resolve().parent.parent
_IMPORTED = ("hypothesis", "numba", "scipy.optimize", "scipy.sparse.linalg", "sklearn.cluster")
_OPTIONS = ("-x", "-p", "no:cacheprovider", "-W", "ignore:Module already imported")
_MOST_MEMORY = 12 << 30  # bytes; a broken size may ask for all there is
_IDLE = 30  # what has not ended after so many times its limit of processor time is waiting
_OPERATORS: dict[type[ast.AST], str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "/",
    ast.Div: "*",
    ast.FloorDiv: "*",
}
_NAMES = {"min": "max", "max": "min", "argmin": "argmax", "argmax": "argmin"}
_NAMES |= {"any": "all", "all": "any", "maximum": "minimum", "minimum": "maximum"}


class Mutant(NamedTuple):
    """A piece of a file, given in bytes, and what stands there instead."""

    path: str
    line: int
    lines: tuple[int, int]  # of the statement, the first and the last
    start: int
    end: int
    old: str
    new: str


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Give all mutants of a file; what is only told, annotated or raised is left alone."""
    source = path.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    statement = (1, 1)  # the lines of the one that is looked at

    def made(begin: tuple[int, int], end: tuple[int, int], new: str) -> Mutant:
        first, last = starts[begin[0] - 1] + begin[1], starts[end[0] - 1] + end[1]
        old = source[first:last].decode()
        return Mutant(str(path.relative_to(ROOT)), begin[0], statement, first, last, old, new)

    def start_of(node: ast.expr) -> tuple[int, int]:
        return node.lineno, node.col_offset

    def end_of(node: ast.expr) -> tuple[int, int]:
        return node.end_lineno or 0, node.end_col_offset or 0

    def text(node: ast.expr) -> str:
        return ast.get_source_segment(source.decode(), node) or ""

    def between(left: ast.expr, operator: ast.AST, right: ast.expr, node: ast.expr) -> Mutant:
        # Parentheses make the new order of evaluation that of the tree.
        new = f"(({text(left)}) {_OPERATORS[type(operator)]} ({text(right)}))"
        return made(start_of(node), end_of(node), new)

    def visit(node: ast.AST) -> Iterator[Mutant]:
        nonlocal statement
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)  # which has statements of its own
            last = body[0].lineno - 1 if body else node.end_lineno or 0
            statement = node.lineno, max(last, node.lineno)
        if isinstance(node, (ast.Raise, ast.AnnAssign, ast.arg, ast.JoinedStr, ast.Assert)):
            if isinstance(node, ast.AnnAssign) and node.value is not None:
                yield from visit(node.value)
            return
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _OPERATORS:
            yield between(node.left, node.ops[0], node.comparators[0], node)
        elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            yield between(node.left, node.op, node.right, node)
        elif isinstance(node, ast.BoolOp) and len(node.values) == 2:
            left, right = map(text, node.values)
            word = "or" if isinstance(node.op, ast.And) else "and"
            yield made(start_of(node), end_of(node), f"(({left}) {word} ({right}))")
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
            yield made(start_of(node), end_of(node), f"({text(node.operand)})")
        elif isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)):
            new = not node.value if isinstance(node.value, bool) else node.value + 1
            yield made(start_of(node), end_of(node), repr(new))
        elif isinstance(node, ast.Name) and node.id in _NAMES:
            yield made(start_of(node), end_of(node), _NAMES[node.id])
        elif isinstance(node, ast.Attribute) and node.attr in _NAMES:
            new = f"({text(node.value)}).{_NAMES[node.attr]}"
            yield made(start_of(node), end_of(node), new)
        children = list(ast.iter_child_nodes(node))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            children = [*node.args.defaults, *(d for d in node.args.kw_defaults if d), *node.body]
        elif isinstance(node, ast.Subscript):  # of a type, or an index
            children = [node.value, node.slice]
        for child in children:
            yield from visit(child)

    yield from visit(ast.parse(source))


class Tests(NamedTuple):
    """What tests do on the sources as they are."""

    seconds: dict[str, float]  # that each test takes
    by_line: dict[str, dict[str, list[str]]]  # which come by a line of a file

    def of(self, mutant: Mutant, most: float) -> list[str]:
        """Return the tests that come by a mutant, the fastest first, within so many seconds.

        What is done when a file is imported matters to all that come by the file, and of a file
        that has nothing else to all tests.
        """
        lines = self.by_line[mutant.path]
        own = range(mutant.lines[0], mutant.lines[1] + 1)
        found = {test for line in own for test in lines.get(str(line), [])}
        if not found:
            found = {test for tests in lines.values() for test in tests} or set(self.seconds)
        for file in {test for test in found if "::" not in test}:
            found |= {test for test in self.seconds if test.startswith(file + "::")}
        found = {test for test in found if "::" in test}
        ordered = sorted(found, key=lambda test: (self.seconds[test], test))
        used = list(accumulate(self.seconds[test] for test in ordered))
        return [test for test, spent in zip(ordered, used, strict=True) if spent <= most]


class Recorder:
    """A plug-in of pytest that notes how long each test takes and which lines it comes by."""

    def __init__(self, sources: Path, files: Sequence[Path], notes: Path) -> None:
        names = [str(file.relative_to(ROOT)) for file in files]
        self.files = {name: str(sources.parent / name) for name in names}
        self.notes = notes
        self.seconds: dict[str, float] = {}
        self.cover = coverage.Coverage(
            data_file=None, include=list(self.files.values()), config_file=False
        )
        self.cover.start()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        """Name the file: what a fixture comes by may matter to all its tests."""
        self.cover.switch_context(item.nodeid.partition("::")[0])
        yield

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Name the test."""
        self.cover.switch_context(item.nodeid)
        yield
        self.cover.switch_context("")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up the time of a test."""
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration

    def pytest_sessionfinish(self) -> None:
        """Write down what was seen."""
        self.cover.stop()
        data = self.cover.get_data()
        by_line = {
            name: {
                line: sorted(filter(None, tests))
                for line, tests in data.contexts_by_lineno(path).items()
            }
            for name, path in self.files.items()
        }
        self.notes.write_text(json.dumps([self.seconds, by_line]))


def import_others() -> None:
    """Import what others wrote, for all processes that run tests."""
    for name in _IMPORTED:
        import_module(name)


def run_tests(
    sources: Path,
    tests: Sequence[str],
    limit: float,
    plugin: Callable[[], object] | None = None,
    root: Path = ROOT,
) -> tuple[str, float]:
    """Run tests of a folder in a process of their own, for so many seconds of the processor.

    Tell what came of it ("survived", or killed by "tests", an "error" outside of them, "time" or a
    "crash"), and the seconds. What was said is in a file beside the sources.
    """
    child = os.fork()
    if child == 0:
        code = 99
        try:
            os.setsid()
            said = os.open(sources.parent / "said", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
            for stream in range(3):
                os.dup2(said, stream)
            os.chdir(root)
            os.environ["PYTHONPATH"] = str(sources)
            sys.path.insert(0, str(sources))
            sys.dont_write_bytecode = True
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, int(limit) + 5))
            resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
            plugins = [] if plugin is None else [plugin()]
            code = int(pytest.main([*_OPTIONS, *tests], plugins=plugins))
        finally:
            os._exit(code)
    latest = time.monotonic() + _IDLE * limit
    while not (ended := os.wait4(child, os.WNOHANG))[0]:
        if time.monotonic() > latest:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.02)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what it may have left behind
    _, status, usage = ended
    spent = usage.ru_utime + usage.ru_stime
    if os.WIFSIGNALED(status):
        hung = os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL)
        return "time" if hung else "crash", spent
    return {0: "survived", 1: "tests"}.get(os.WEXITSTATUS(status), "error"), spent


def watched(sources: Path, files: Sequence[Path], tests: Sequence[str]) -> tuple[Tests, float]:
    """Run all tests on sources without a mutant; also return the processor's seconds."""
    notes = sources.parent / "notes.json"
    outcome, spent = run_tests(sources, tests, 3600, lambda: Recorder(sources, files, notes))
    if outcome != "survived":
        said = (sources.parent / "said").read_text(errors="replace")
        sys.exit(f"{said[-2000:]}\nthe tests fail without any mutant ({outcome})")
    return Tests(*json.loads(notes.read_text())), spent


@contextmanager
def written(path: Path, content: bytes) -> Iterator[None]:
    """Let a file have another content for a while; its time comes back with its own."""
    original, times = path.read_bytes(), path.stat()
    path.write_bytes(content)
    try:
        yield
    finally:
        path.write_bytes(original)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def fate_of(mutant: Mutant, sources: Path, tests: Tests, most: float) -> tuple[str, float]:
    """Run the tests of a mutant on a copy of the sources with it."""
    chosen = tests.of(mutant, most)
    if not chosen:
        return "survived", 0.0
    limit = 20 + 5 * sum(tests.seconds[test] for test in chosen)
    path = sources.parent / mutant.path
    original = path.read_bytes()
    content = original[: mutant.start] + mutant.new.encode() + original[mutant.end :]
    with written(path, content):
        return run_tests(sources, chosen, limit)


def main() -> None:
    """Try a sample of the mutants of some files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("paths", nargs="+", type=Path, help="files and folders to break")
    parser.add_argument("--tests", nargs="+", required=True, help="what to run")
    parser.add_argument("--sample", type=int, default=40, help="how many mutants, of all files")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=600, help="begin no mutant after these")
    parser.add_argument("--most", type=float, default=60, help="seconds of tests for each mutant")
    parser.add_argument("--results", type=Path, help="where results are kept")
    given = parser.parse_args()
    files = [
        file.resolve()
        for path in given.paths
        for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path])
    ]
    every = [mutant for file in files for mutant in mutants_of(file)]
    chosen = random.Random(given.seed).sample(every, min(given.sample, len(every)))
    known: dict[str, str] = {}
    if given.results and given.results.exists():
        lines = map(json.loads, given.results.read_text().splitlines())
        known = {json.dumps(line["mutant"]): line["fate"] for line in lines}
    import_others()
    begin, processor = time.monotonic(), 0.0
    with tempfile.TemporaryDirectory() as folder:
        sources = Path(folder) / "src"
        shutil.copytree(ROOT / "src", sources)  # with times: what is compiled stays valid
        missing = [mutant for mutant in chosen if json.dumps(mutant) not in known]
        if missing:
            tests, processor = watched(sources, files, given.tests)
        for mutant in missing:
            if time.monotonic() - begin > given.seconds:
                break
            fate, spent = fate_of(mutant, sources, tests, given.most)
            known[json.dumps(mutant)] = fate
            processor += spent
            told = "SURVIVED" if fate == "survived" else f"{fate:8}"
            print(
                f"{told} {mutant.path}:{mutant.line}: {mutant.old!r} -> {mutant.new!r}", flush=True
            )
            if given.results:
                with given.results.open("a") as file:
                    file.write(json.dumps({"mutant": mutant, "fate": fate}) + "\n")
    tried = [known[json.dumps(mutant)] for mutant in chosen if json.dumps(mutant) in known]
    killed = ", ".join(f"{tried.count(by)} by {by}" for by in ("tests", "error", "time", "crash"))
    print(
        f"{len(tried) - tried.count('survived')} of {len(tried)} killed ({killed}); {len(every)} "
        f"mutants in {len(files)} files; {processor:.0f} s of processor time"
    )


if __name__ == "__main__":
    main()
