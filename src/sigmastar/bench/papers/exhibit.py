"""A table or figure of a paper: how it is made again, and what was made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

__all__ = ["Cell", "Exhibit", "Settings", "Shown"]

# What a cell of a table holds; None is printed as a dash.
Cell: TypeAlias = float | int | str | None


@dataclass(frozen=True)
class Settings:
    """What every exhibit is told: where the data are, and how thorough to be.

    ``quick`` asks for a smoke run of seconds on generated or small data, every step of the full
    run taken once; its figures mean nothing.
    """

    data: Path | None = None
    quick: bool = False
    seed: int = 0


@dataclass(frozen=True)
class Shown:
    """The rows of a table, the pictures drawn from it (SVG), and what must be said about it.

    The columns are the names of the first row; published figures stand in columns of their own.
    """

    rows: Sequence[Mapping[str, Cell]]
    pictures: Sequence[str] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Exhibit:
    """One table or figure: ``key`` names its files, ``command`` makes this part alone.

    ``needs`` are the folders of data a full run reads, as ``datasets`` names them; ``minutes`` is
    what it takes on two cores, announced before a run begins.
    """

    key: str
    paper: str
    title: str
    command: str
    minutes: float
    run: Callable[[Settings], Shown]
    needs: tuple[str, ...] = ()
