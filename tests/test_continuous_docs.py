"""The examples of the page on measurements, of the modules behind it, and of the gallery."""

import doctest
import runpy
import sys
from importlib import import_module
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
MODULES = ["estimators.continuous", "estimators.continuous_features", "inference.continuous_stream"]


def test_examples_of_the_page_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = doctest.testfile(str(DOCS / "sensors.md"), module_relative=False, encoding="utf-8")
    assert found.failed == 0
    assert found.attempted > 10


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_the_modules_run(name):
    module = import_module(f"sigmastar.{name}")
    names = {"CentroidFeatures": import_module("sigmastar").CentroidFeatures}
    found = doctest.testmod(module, extraglobs=names)
    assert found.failed == 0
    assert found.attempted > 0


def test_the_gallery_runs_without_data_and_network(tmp_path, monkeypatch, capsys):
    import sigmastar as ss

    def offline(**options):
        raise ss.errors.DataNotFound("no network here")

    monkeypatch.setattr(ss.datasets, "load_wall_following", offline)
    monkeypatch.setattr(sys, "argv", ["wall_following.py"])
    runpy.run_path(str(DOCS / "gallery" / "wall_following.py"), run_name="__main__")
    shown = capsys.readouterr().out
    assert "making up a walk" in shown
    assert "streamed 36 frames" in shown
