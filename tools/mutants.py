"""Break code in small ways, one at a time, and see whether its tests notice.

    python tools/mutants.py src/sigmastar/tagging/learn --tests tests/tagging/test_tagger.py \
        --sample 40 --seconds 200 --results tagging.jsonl

Each mutant is a comparison, sum, product, truth value, number or choice of an extreme turned into
another. Tests run in a copy of the sources, so nothing here is touched; a mutant is killed if they
fail, crash or hang. Results are kept line by line: another call goes on where this one stopped.

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
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
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

    def made(begin: tuple[int, int], end: tuple[int, int], new: str) -> Mutant:
        first, last = starts[begin[0] - 1] + begin[1], starts[end[0] - 1] + end[1]
        old = source[first:last].decode()
        return Mutant(str(path.relative_to(ROOT)), begin[0], first, last, old, new)

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


def is_killed(mutant: Mutant, sources: Path, tests: Sequence[str], seconds: float) -> bool:
    """Run the tests on a copy of the sources with one mutant in it."""
    path = sources.parent / mutant.path
    original, times = path.read_bytes(), path.stat()
    path.write_bytes(original[: mutant.start] + mutant.new.encode() + original[mutant.end :])
    try:
        return run_tests(sources, tests, seconds) != 0
    finally:
        path.write_bytes(original)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def run_tests(sources: Path, tests: Sequence[str], seconds: float) -> int:
    """Return the exit code of the tests; 124 if they took longer than they may."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(sources)}
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, timeout=seconds, capture_output=True, check=False
        )
    except subprocess.TimeoutExpired:
        return 124
    return done.returncode


def main() -> None:
    """Try a sample of the mutants of some files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("paths", nargs="+", type=Path, help="files and folders to break")
    parser.add_argument("--tests", nargs="+", required=True, help="what to run")
    parser.add_argument("--sample", type=int, default=40, help="how many mutants, of all files")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=600, help="begin no mutant after these")
    parser.add_argument("--results", type=Path, help="where results are kept")
    given = parser.parse_args()
    files = [
        file.resolve()
        for path in given.paths
        for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path])
    ]
    every = [mutant for file in files for mutant in mutants_of(file)]
    chosen = random.Random(given.seed).sample(every, min(given.sample, len(every)))
    known: dict[str, bool] = {}
    if given.results and given.results.exists():
        lines = map(json.loads, given.results.read_text().splitlines())
        known = {json.dumps(line["mutant"]): line["killed"] for line in lines}
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        sources = Path(folder) / "src"
        shutil.copytree(ROOT / "src", sources)  # with times: what is compiled stays valid
        missing = [mutant for mutant in chosen if json.dumps(mutant) not in known]
        if missing and run_tests(sources, given.tests, 600):
            sys.exit("the tests fail without any mutant")
        most = 3 * (time.monotonic() - begin) + 10
        for mutant in missing:
            if time.monotonic() - begin > given.seconds:
                break
            killed = known[json.dumps(mutant)] = is_killed(mutant, sources, given.tests, most)
            print(
                f"{'killed  ' if killed else 'SURVIVED'} {mutant.path}:{mutant.line}: "
                f"{mutant.old!r} -> {mutant.new!r}",
                flush=True,
            )
            if given.results:
                with given.results.open("a") as file:
                    file.write(json.dumps({"mutant": mutant, "killed": killed}) + "\n")
    tried = [known[json.dumps(mutant)] for mutant in chosen if json.dumps(mutant) in known]
    print(f"{sum(tried)} of {len(tried)} killed; {len(every)} mutants in {len(files)} files")


if __name__ == "__main__":
    main()
