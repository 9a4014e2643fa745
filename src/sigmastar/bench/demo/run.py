"""All parts of the demonstration, one after the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from sigmastar.bench.demo.ahead import await_names, names_ahead
from sigmastar.bench.demo.automaton import AutomatonDemo, demo_automaton
from sigmastar.bench.demo.names import NamesDemo, demo_names
from sigmastar.bench.demo.sensors import SensorsDemo, demo_sensors
from sigmastar.bench.demo.text import TextDemo, demo_text
from sigmastar.core.rules import Choice, check

__all__ = ["PARTS", "DemoResults", "demo_text", "run_demo"]

PARTS = ("automaton", "text", "names", "sensors")


@dataclass(frozen=True, eq=False)
class DemoResults:
    """What each part found; None for parts that were not asked for."""

    seed: int
    seconds: float
    automaton: AutomatonDemo | None = None
    text: TextDemo | None = None
    names: NamesDemo | None = None
    sensors: SensorsDemo | None = None

    @property
    def parts(self) -> dict[str, Any]:
        """The parts that were run, by name."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: found[name] for name in PARTS if found[name] is not None}

    def summary(self) -> dict[str, Any]:
        """Give the figures of all parts."""
        head: dict[str, Any] = {"seed": self.seed, "seconds": self.seconds}
        return head | {name: part.summary() for name, part in self.parts.items()}

    def save(self, folder: Path) -> list[Path]:
        """Write the models to files in a folder, made if need be; return the files."""
        folder.mkdir(parents=True, exist_ok=True)
        written = []
        for part in self.parts.values():
            for name, model in part.models.items():
                written.append(folder / f"{name}.sigma")
                model.save(str(written[-1]))
        return written


def run_demo(
    parts: Sequence[str] = PARTS,
    *,
    seed: int = 7,
    n_strings: int = 5000,
    tell: Callable[[str, Any], None] = lambda name, result: None,
) -> DemoResults:
    """Run parts of the demonstration; ``tell`` hears of each as soon as it is done."""
    for part in parts:
        check("part", part, Choice(*PARTS))
    runs: dict[str, Callable[[], Any]] = {
        "automaton": lambda: demo_automaton(seed, n_strings),
        "text": demo_text,
        "names": demo_names,
        "sensors": lambda: demo_sensors(seed),
    }
    began = time.perf_counter()
    found = {}
    with names_ahead(parts) as helper:
        for name in PARTS:
            if name in parts:
                if name == "names":
                    await_names(helper)
                found[name] = runs[name]()
                tell(name, found[name])
    return DemoResults(seed, time.perf_counter() - began, **found)
