"""Exhibits on automata: those of two papers."""

from __future__ import annotations

from sigmastar.bench.papers.exhibit import Exhibit
from sigmastar.bench.papers.moments import EXHIBITS as MOMENTS
from sigmastar.bench.papers.separable import EXHIBITS as SEPARABLE

__all__ = ["EXHIBITS"]

EXHIBITS: tuple[Exhibit, ...] = (*MOMENTS, *SEPARABLE)
