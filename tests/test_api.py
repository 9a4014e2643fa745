"""The public surface is what `__all__` says, each name resolves, and importing is cheap."""

import importlib
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import sigmastar as ss


@pytest.mark.parametrize("name", sorted(ss.__all__))
def test_every_public_name_resolves_and_is_documented(name):
    value = getattr(ss, name)
    if name not in ("__version__", "END"):
        assert (value.__doc__ or "").strip(), f"{name} has no docstring"


def test_names_for_type_checkers_are_the_public_ones():
    """The block that type checkers read lists the same names as the lazy table."""
    source = Path(ss.__file__).read_text()
    block = source.split("if TYPE_CHECKING:")[1].split("\n\n")[0]
    named = {line.rsplit(" as ", 1)[1].strip(" ,") for line in block.splitlines() if " as " in line}
    assert named == set(ss.__all__) - {"__version__"}


def test_dir_lists_the_public_names():
    assert set(dir(ss)) == set(ss.__all__)


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        ss.nonsense  # noqa: B018


@pytest.mark.parametrize(
    ("path", "home"),
    [
        ("inference", "automata.inference"),
        ("moments", "automata.moments"),
        ("plots", "show.plots"),
        ("report", "show.report"),
    ],
)
def test_public_module_paths_hold_the_names_of_their_home(path, home):
    """``from sigmastar.inference import viterbi`` works wherever inference lives."""
    public = importlib.import_module(f"sigmastar.{path}")
    inner = importlib.import_module(f"sigmastar.{home}")
    assert public.__all__ == inner.__all__
    for name in inner.__all__:
        assert getattr(public, name) is getattr(inner, name)


def test_importing_brings_in_nothing_heavy():
    heavy = "('numpy', 'numba', 'sklearn')"
    code = f"import sys, sigmastar; print([m for m in {heavy} if m in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


def test_every_module_says_what_it_is_for():
    import pkgutil

    for module in pkgutil.walk_packages(ss.__path__, "sigmastar."):
        if module.name == "sigmastar.spacy_component" and find_spec("spacy") is None:
            continue
        assert (importlib.import_module(module.name).__doc__ or "").strip(), module.name
