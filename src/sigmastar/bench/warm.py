"""Compile the kernels of all parts ahead: each part of the demonstration runs on a few data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sigmastar.bench.clock import timed
from sigmastar.bench.demo.ahead import compile_names
from sigmastar.bench.demo.automaton import demo_automaton
from sigmastar.bench.demo.common import both_parts
from sigmastar.bench.demo.sensors import demo_sensors
from sigmastar.bench.demo.text import demo_text
from sigmastar.core.compiling import watch_compiling
from sigmastar.core.jit import without_patience
from sigmastar.core.progress import stage
from sigmastar.datasets import Splits, load_demo_english

__all__ = ["compile_all"]


def compile_all() -> dict[str, Any]:
    """Run every part; return how many kernels were compiled, and the seconds that it took."""
    before = watch_compiling().kernels
    parts: dict[str, Callable[[], object]] = {
        "automata": lambda: demo_automaton(7, 300),
        "tagging": _text,
        "transducers": compile_names,
        "sensors": lambda: demo_sensors(7),
    }
    seconds = 0.0
    with stage("Compiling", len(parts)) as progress, without_patience():
        for name, run in parts.items():
            progress.advance(0, note=name)
            seconds += timed(run)
            progress.advance()
    return {"kernels": watch_compiling().kernels - before, "seconds": seconds}


def _text() -> object:
    train, test = both_parts(load_demo_english())
    return demo_text(Splits(train[:60], None, test[:5], "a few sentences"))
