"""Public data of labelled sensor readings."""

from __future__ import annotations

import numpy as np

from sigmastar.core.errors import InvalidData, ParseError
from sigmastar.core.rules import AnyOf, Integer, Nothing, check
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.readers.source import Source
from sigmastar.datasets import sources
from sigmastar.datasets.problem import SensorSeries
from sigmastar.datasets.store import DataHome, find_file

__all__ = ["load_wall_following"]

_N_SENSORS = 24


def load_wall_following(
    *, length: int | None = 36, n_sequences: int | None = 150, data_home: DataHome = None
) -> SensorSeries:
    """Load the walk of a robot along walls: 24 ultrasound readings and the movement taken.

    Parameters
    ----------
    length : int or None
        The walk of 5,456 readings is cut into contiguous sequences of this length, an incomplete
        last one dropped; None keeps it whole. 36 readings are four seconds, as in Recasens and
        Quattoni (2013).
    n_sequences : int or None
        How many sequences to keep, from the start; None for all.
    data_home : path, optional
        Where to look first, and where to put what is downloaded.

    Notes
    -----
    A. Freire, M. Veloso and G. Barreto, UCI data set 194 (2010). UCI distributes its data sets
    under CC BY 4.0; cite the creators.
    """
    check("length", length, AnyOf(Integer(1), Nothing()))
    check("n_sequences", n_sequences, AnyOf(Integer(1), Nothing()))
    rows: list[list[float]] = []
    labels: list[str] = []
    with Source(find_file(sources.wall_following(), data_home)) as source:
        for number, line in source.lines():
            cells = line.split(",")
            if len(cells) != _N_SENSORS + 1:
                raise ParseError(source.path, number, "24 readings and a class", repr(line[:60]))
            if number == 1 and cells[0] == "S1":
                continue  # a header that some copies of the file have
            try:
                rows.append([float(cell) for cell in cells[:-1]])
            except ValueError:
                raise ParseError(source.path, number, "24 numbers", repr(line[:60])) from None
            labels.append(cells[-1].strip())
        if not rows:
            raise InvalidData(f"{source.path} must hold readings; it has none.")
    readings = np.array(rows)
    size = len(rows) if length is None else length
    count = len(rows) // size
    kept = count if n_sequences is None else min(n_sequences, count)
    cuts = [slice(i * size, (i + 1) * size) for i in range(kept)]
    return SensorSeries(
        tuple(readings[cut] for cut in cuts),
        Corpus.from_sequences([labels[cut] for cut in cuts]),
        name="wall-following",
    )
