"""All exhibits, paper by paper."""

from __future__ import annotations

from sigmastar.bench.papers.automata import EXHIBITS as AUTOMATA
from sigmastar.bench.papers.exhibit import Exhibit
from sigmastar.bench.papers.sensors import EXHIBITS as SENSORS
from sigmastar.bench.papers.tagging import EXHIBITS as TAGGING
from sigmastar.bench.papers.transducers import EXHIBITS as TRANSDUCERS

__all__ = ["ALL_EXHIBITS"]

ALL_EXHIBITS: tuple[Exhibit, ...] = (*AUTOMATA, *TRANSDUCERS, *TAGGING, *SENSORS)
