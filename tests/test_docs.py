"""What the documentation shows is what happens, and nothing public is left out of it."""

import doctest
import re
import runpy
import sys
from importlib import import_module
from importlib.util import find_spec

import pytest

import docs_pages as pages
import sigmastar as ss

SOURCES = pages.ROOT / "src"
WITH_EXAMPLES = [
    ".".join(path.relative_to(SOURCES).with_suffix("").parts)
    for path in sorted(SOURCES.rglob("*.py"))
    if re.search(r"^\s*>>> ", path.read_text(), re.MULTILINE)
]
RUNNABLE = [page for page in pages.PAGES if all(find_spec(name) for name in pages.needs(page))]


@pytest.mark.parametrize("page", RUNNABLE, ids=pages.name_of)
def test_the_code_of_a_page_does_what_it_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    names = {"__name__": "page"}
    for block in pages.blocks(page.read_text()):
        where = f"{pages.name_of(page)}:{block.line}"
        printed = ""
        if block.language in ("python", "pycon") and ">>> " in block.text:
            pages.run_doctest(block.text, names, where, block.line)
        elif block.language == "python" and block.runs:
            printed = pages.run_python(block.text, names, where, block.line)
        elif block.language == "python":
            compile(block.text, where, "exec")
        elif block.language == "bash":
            for line in pages.commands(block.text):
                pages.check_command(line)
                printed += pages.run_command(line) if block.runs else ""
        if block.output is not None and block.runs:
            pages.check_output(block.output, printed, where)


@pytest.mark.parametrize("page", pages.PAGES, ids=pages.name_of)
def test_commands_in_running_text_exist(page):
    text = pages.prose(page.read_text())
    for line in re.findall(r"`((?:sigmastar|python benchmarks/|make) ?[^`|…]*)`", text):
        pages.check_command(" ".join(line.split()))
    assert not re.search(r"^ {4,}(?:sigmastar|pip) ", text, re.MULTILINE), "fence it, so it runs"


@pytest.mark.parametrize("page", pages.PAGES, ids=pages.name_of)
def test_blocks_say_what_they_are_and_links_lead_somewhere(page):
    text = page.read_text()
    allowed = {"python", "pycon", "bash", "text"}
    assert {block.language for block in pages.blocks(text)} <= allowed
    for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", pages.prose(text)):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_examples_of_a_module_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = doctest.testmod(import_module(name))
    assert found.attempted > 0
    assert found.failed == 0


def test_the_reference_has_every_public_name():
    text = "\n".join(page.read_text() for page in (pages.DOCS / "reference").glob("*.md"))
    described = set(re.findall(r"^::: sigmastar\.([\w.]+)", text, re.MULTILINE))
    wanted = set(ss.__all__) - {"__version__"}
    for area in ("inference", "datasets", "metrics", "moments", "plots", "algebra", "errors"):
        inside = {f"{area}.{name}" for name in getattr(ss, area).__all__}
        inside = {name for name in inside if name.split(".")[1] not in wanted}
        wanted = (wanted - {area}) | ({area} if area in described else inside)
    assert wanted - described == set()


def test_the_navigation_lists_every_page_once():
    navigation = runpy.run_path(str(pages.ROOT / "tools" / "docs" / "nav.py"))
    lines = (pages.ROOT / "mkdocs.yml").read_text().split("\nnav:\n")[1].splitlines()
    named = [line.split("- ")[1].split(": ")[-1].strip('"') for line in lines if "- " in line]
    named = [name for name in named if name.endswith((".md", "*"))]
    listed = navigation["completed"](named, pages.DOCS)
    assert sorted(listed) == [p.relative_to(pages.DOCS).as_posix() for p in pages.PAGES[1:]]


def test_the_walk_along_a_wall_runs_without_data_and_network(monkeypatch, capsys):
    def offline(**options):
        raise ss.errors.DataNotFound("no network here")

    monkeypatch.setattr(ss.datasets, "load_wall_following", offline)
    monkeypatch.setattr(sys, "argv", ["wall_following.py"])
    runpy.run_path(str(pages.ROOT / "examples" / "wall_following.py"), run_name="__main__")
    shown = capsys.readouterr().out
    assert "making up a walk" in shown
    assert "streamed 36 frames" in shown


def test_a_wrong_output_is_noticed(tmp_path):
    text = "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n"
    (block, _) = pages.blocks(text)
    printed = pages.run_python(block.text, {}, "page", block.line)
    with pytest.raises(AssertionError, match="should print"):
        pages.check_output(block.output, printed, "page")


@pytest.mark.parametrize(
    "line", ["sigmastar lern x", "sigmastar learn x --sates 3", "make nonsense"]
)
def test_a_wrong_command_is_noticed(line):
    with pytest.raises(AssertionError):
        pages.check_command(line)
