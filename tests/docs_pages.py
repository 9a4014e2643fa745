"""Read the pages of the documentation and run what stands in them.

Conventions of a page:

- Blocks of ``python`` run one after the other in one namespace, in a directory of the page's own.
  With prompts (``>>>``) they are doctests; without, what they print is compared with the block of
  ``text`` that follows, if one does. ``...`` stands for anything.
- Blocks of ``bash`` run too, through the command line itself and in the same directory.
- ``<!-- not run: why -->`` before a block says that it is not run. Its commands must still exist,
  with the options that are used.
- ``<!-- needs: module -->`` anywhere names a module without which a page cannot run.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import typer.main

from sigmastar.cli.main import app, main

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]

_FENCE = re.compile(r"^( *)```([\w-]*)[^\n]*\n(.*?)^\1```[ ]*$", re.MULTILINE | re.DOTALL)
_NOT_RUN = re.compile(r"<!-- not run: [^>]+ -->\s*$")
_FLAGS = doctest.ELLIPSIS
OURS = typer.main.get_command(app)
_SHELL = {"echo", "cat", "printf", "head", "cut", "sort", "mkdir"}


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, text, line, whether it runs, and what it should print."""

    language: str
    text: str
    line: int
    runs: bool
    output: str | None


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def needs(page: Path) -> list[str]:
    return re.findall(r"<!-- needs: (\w+) -->", page.read_text())


def prose(text: str) -> str:
    """Return a page without its fenced blocks."""
    return _FENCE.sub("", text)


def blocks(text: str) -> list[Block]:
    """Return the fenced blocks of a page; outputs belong to the block before them."""
    found = list(_FENCE.finditer(text))
    result = []
    for place, fence in enumerate(found):
        after = found[place + 1] if place + 1 < len(found) else None
        adjacent = after is not None and not text[fence.end() : after.start()].strip()
        output = _body(after) if adjacent and after[2] == "text" else None
        line = text.count("\n", 0, fence.start()) + 1
        runs = not _NOT_RUN.search(text[: fence.start()])
        result.append(Block(fence[2], _body(fence), line, runs, output))
    return result


def _body(fence: re.Match) -> str:
    indent = len(fence[1])
    return "".join(f"{line[indent:]}\n" for line in fence[3].splitlines())


def commands(block: str) -> list[str]:
    """Return the commands of a shell block, comments dropped and continued lines joined."""
    lines = block.replace("\\\n", " ").splitlines()
    stripped = [re.sub(r"(^|\s)#.*$", "", line).strip().removeprefix("$ ") for line in lines]
    return [line for line in stripped if line]


def run_doctest(block: str, names: dict, where: str, line: int) -> None:
    test = doctest.DocTestParser().get_doctest(block, names, where, where, line)
    test.globs = names  # shared by the blocks of a page, not copied
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=_FLAGS, verbose=False)
    runner.run(test, out=report.write, clear_globs=False)
    assert runner.failures == 0, report.getvalue()


def run_python(block: str, names: dict, where: str, line: int) -> str:
    code = compile("\n" * line + block, where, "exec")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, names)
    return printed.getvalue()


def check_output(want: str, got: str, where: str) -> None:
    want, got = ("\n".join(line.rstrip() for line in t.strip().splitlines()) for t in (want, got))
    same = doctest.OutputChecker().check_output(want + "\n", got + "\n", _FLAGS)
    assert same, f"{where} should print\n{want}\nbut prints\n{got}"


def _call(arguments: list[str], given: bytes) -> bytes:
    """Run our command line in this process, as a shell would."""
    stdin, stdout = (io.TextIOWrapper(io.BytesIO(text), encoding="utf-8") for text in (given, b""))
    stderr, before, code = io.StringIO(), (sys.argv, sys.stdin), 0
    sys.argv, sys.stdin = ["sigmastar", *arguments], stdin
    try:
        with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
            main()
    except SystemExit as left:
        code = left.code
    finally:
        sys.argv, sys.stdin = before
    assert not code, f"sigmastar {shlex.join(arguments)}: {stderr.getvalue()}"
    stdout.flush()
    return stdout.buffer.getvalue()


def run_command(line: str) -> str:
    """Run a pipeline of simple commands; return what it prints."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|<>")
    lexer.whitespace_split = True
    stages: list[list[str]] = [[]]
    data, target = b"", None
    words = iter(lexer)
    for word in words:
        if word == "|":
            stages.append([])
        elif word == ">":
            target = Path(next(words))
        elif word == "<":
            data = Path(next(words)).read_bytes()
        else:
            stages[-1].append(word)
    for program, *arguments in stages:
        if program == "sigmastar":
            data = _call(arguments, data)
        else:
            assert program in _SHELL, f"cannot run {program!r}; mark the block as not run"
            ran = subprocess.run([program, *arguments], input=data, capture_output=True, check=True)
            data = ran.stdout
    if target is not None:
        target.write_bytes(data)
        return ""
    return data.decode()


def check_command(line: str) -> None:
    """Check that a command exists and has the options it is given, without running it."""
    for stage in line.split("|"):
        words = shlex.split(stage)
        if not words:
            continue
        if words[0] == "sigmastar":
            _check_ours(words[1:])
        elif words[0] == "make":
            targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
            assert set(words[1:]) <= set(targets), line
        elif words[0] == "python" and words[1].endswith(".py"):
            source = (ROOT / words[1]).read_text()
            for option in (word.split("=")[0] for word in words[2:] if word.startswith("--")):
                assert f'"{option}"' in source, f"{words[1]} has no {option}"
        elif words[:2] == ["pip", "install"]:
            known = re.findall(r"^(\w+) = \[", (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
            for extras in re.findall(r"\[([\w,]+)\]", line):
                assert set(extras.split(",")) <= set(known), line


def _check_ours(words: list[str]) -> None:
    command = OURS
    path = "sigmastar"
    while words and hasattr(command, "commands") and not re.match(r"-|[A-Z]+$", words[0]):
        path += f" {words[0]}"
        assert words[0] in command.commands, f"there is no command {path!r}"
        command, words = command.commands[words[0]], words[1:]
    options = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
    for word in words:
        if re.match(r"--?[a-zA-Z]", word):
            assert word.split("=")[0] in options | {"--help"}, f"{path} has no {word}"
