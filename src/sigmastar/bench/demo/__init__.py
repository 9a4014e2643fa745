"""The four stories of ``sigmastar demo``: what is computed; printing and drawing is for others."""

from sigmastar.bench.demo.automaton import AutomatonDemo, AutomatonRow, NextSymbol, demo_automaton
from sigmastar.bench.demo.names import NameExample, NamesDemo, NamesRow, demo_names
from sigmastar.bench.demo.page import write_demo_report
from sigmastar.bench.demo.run import PARTS, DemoResults, run_demo
from sigmastar.bench.demo.sensors import SensorsDemo, SensorsRow, demo_sensors
from sigmastar.bench.demo.text import TaggedExample, TextDemo, TextRow, demo_text

__all__ = [
    "PARTS",
    "AutomatonDemo",
    "AutomatonRow",
    "DemoResults",
    "NameExample",
    "NamesDemo",
    "NamesRow",
    "NextSymbol",
    "SensorsDemo",
    "SensorsRow",
    "TaggedExample",
    "TextDemo",
    "TextRow",
    "demo_automaton",
    "demo_names",
    "demo_sensors",
    "demo_text",
    "run_demo",
    "write_demo_report",
]
