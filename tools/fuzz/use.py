"""Use a model in every way a user can; only our own exceptions may come out.

Each way is a generator of calls: name and function. A call that raises a foreign exception is
reported, and the next one is made all the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from outcomes import Failure, foreign
from ways import RARELY, WAYS, Calls, continued_runs

import sigmastar as ss

__all__ = ["CHECKPOINT", "Failure", "foreign", "use_file"]

CHECKPOINT = "BaumWelchCheckpoint"  # a kind that is no model: a run goes on from it


def use_file(
    path: Path, kind: str, rng: random.Random, announce: Callable[[str], None]
) -> Iterator[Failure]:
    """Load a file and use what is in it; give each failure.

    Parameters
    ----------
    path : path
        The file.
    kind : str
        What it was before it was changed.
    rng : Random
        Decides which of the slow calls are made.
    announce : callable
        Told the name of each call before it is made, should it never end.
    """
    if kind == CHECKPOINT:
        calls = continued_runs(path)
    else:
        announce("load")
        model, failure = foreign("load", lambda: ss.load(path))
        if failure:
            yield failure
        if model is None:
            return
        calls = _all_calls(model, path, rng)
    for call, function in calls:
        announce(call)
        _, failure = foreign(call, function)
        if failure:
            yield failure


def _all_calls(model: Any, path: Path, rng: random.Random) -> Calls:
    yield "repr", lambda: repr(model)
    yield "_repr_html_", model._repr_html_
    yield "rich", lambda: list(model.__rich_repr__())
    again = path.with_name("again.sigma")

    def save_and_load() -> None:
        model.save(again)
        ss.load(again)

    yield "save", save_and_load
    yield from WAYS[model.kind](model, path, rng)
    if rng.random() < RARELY:
        yield "write_report", lambda: ss.write_report(model, path.with_name("report.html"))
        yield "write_report of file", lambda: ss.write_report(path, path.with_name("report.html"))
