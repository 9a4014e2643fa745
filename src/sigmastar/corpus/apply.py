"""Write what comes of each part to a file of its own: whole or not at all, and never twice.

A job has a directory. Part i of the input becomes ``part-00000i`` there, written beside its place
and moved to it; a job that is begun again leaves finished parts alone and does the others. The
directory knows its job by name, so that results of two jobs do not mix.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from sigmastar.core.atomic import atomic_open, atomic_write
from sigmastar.core.errors import InvalidData, InvalidParameter, SigmastarError
from sigmastar.core.extras import require
from sigmastar.core.progress import stage
from sigmastar.core.rules import Choice, check
from sigmastar.core.runners import Runner
from sigmastar.core.threads import step_aside
from sigmastar.corpus.encoding import Skipped

__all__ = ["WriteResults", "Written", "name_of", "write_parts"]

_JOB = "job.json"
FORMATS = ("text", "parquet")


class Written(NamedTuple):
    """What a job has done.

    Attributes
    ----------
    files : list of str
        The files of all parts that are finished, in order.
    n_before : int
        How many of them were finished before.
    counts : tuple of int
        What the others counted, such as sequences and symbols.
    skipped : tuple of Skipped
        Parts that could not be read.
    """

    files: list[str]
    n_before: int
    counts: tuple[int, ...]
    skipped: tuple[Skipped, ...]


def write_parts(
    write: Callable[[Any, BinaryIO], tuple[int, ...]],
    open_part: Any,
    shared: Any,
    parts: Sequence[Any],
    extras: Sequence[Any],
    *,
    names: Sequence[str],
    runner: Runner,
    folder: str | os.PathLike[str],
    job: str,
    suffix: str = ".txt",
    on_error: str = "raise",
) -> Written:
    """Write each part to its file.

    Parameters
    ----------
    write : callable
        Takes what ``open_part`` gives and an open file; returns what it counted.
    open_part, shared, parts, extras
        The parts, as a :class:`~sigmastar.core.runners.Runner` takes them.
    names : list of str
        What parts are called in messages.
    runner : Runner
        Who does the work; it must be able to write to the directory.
    folder : path
        The directory; made if there is none.
    job : str
        Tells this job from others.
    suffix : str
        How the files' names end.
    on_error : {"raise", "skip"}
        What to do with a part that cannot be read: leave it out, and list it.
    """
    check("on_error", on_error, Choice("raise", "skip"))
    folder = os.path.abspath(os.fspath(folder))
    _claim(folder, hashlib.sha256(repr((job, list(names), suffix)).encode()).hexdigest())
    files = [os.path.join(folder, f"part-{i:06d}{suffix}") for i in range(len(parts))]
    rest = [i for i, file in enumerate(files) if not os.path.exists(file)]
    work = [(files[i], names[i], extras[i]) for i in rest]
    counts: list[tuple[int, ...]] = []
    skipped: dict[int, Skipped] = {}
    with stage("Writing parts", len(parts)) as progress:
        progress.advance(len(parts) - len(rest))
        sent = (write, open_part, shared, on_error == "raise")
        results = runner.stream(_write_one, sent, [parts[i] for i in rest], work, waits=True)
        for i, result in zip(rest, results, strict=True):
            if isinstance(result, SigmastarError):
                skipped[i] = Skipped(names[i], str(result))
            else:
                counts.append(result)
            progress.advance(note="parts")
    done = [file for i, file in enumerate(files) if i not in skipped]
    sums = tuple(sum(column) for column in zip(*counts, strict=True))
    return Written(done, len(parts) - len(rest), sums, tuple(skipped.values()))


def _write_one(
    sent: tuple[Any, Any, Any, bool], part: Any, work: tuple[str, str, Any]
) -> tuple[int, ...] | SigmastarError:
    write, open_part, shared, fails = sent
    path, _, extra = work
    try:
        opened = open_part(shared, part, extra)
        with atomic_open(path) as target:
            counted: tuple[int, ...] = write(opened, target)
            del opened
            target.flush()
            step_aside()  # what is written now goes to the disk
            return counted
    except SigmastarError as error:
        if fails:  # raised here and not where results are taken: the runner ends what is under way
            raise
        return error


def _claim(folder: str, job: str) -> None:
    """Make a directory this job's; refuse one that is another's."""
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise InvalidParameter(f"results go into a directory; {folder} is a file. Name another.")
    os.makedirs(folder, exist_ok=True)
    record = Path(folder, _JOB)
    try:
        found = json.loads(record.read_bytes())["job"]
    except FileNotFoundError:
        if any(name.startswith("part-") for name in os.listdir(folder)):
            found = None
        else:
            atomic_write(record, json.dumps({"job": job}).encode())
            return
    except (OSError, ValueError, KeyError, TypeError):
        found = None
    if found != job:
        raise InvalidParameter(
            f"{folder} holds the results of other data, another model or other options. "
            "Name another directory, or delete this one."
        )


@dataclass(frozen=True)
class WriteResults:
    """Write what a function gives for each sequence of a part, as lines or as Parquet.

    Parameters
    ----------
    function : callable
        Takes a corpus; gives one value for each of its sequences: a number, a text, a list of
        texts, or a list of pairs of a symbol and a number.
    format : {"text", "parquet"}
        A line for each value, or a table with the column ``value``.
    """

    function: Callable[[Any], Any]
    format: str = "text"

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InvalidParameter(
                f"function must be callable, such as model.log_proba; got {self.function!r}."
            )

    def __call__(self, corpus: Any, target: BinaryIO) -> tuple[int, ...]:
        """Write the results of one part."""
        values = self.function(corpus)
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise InvalidData(
                f"function must give a value for each sequence of a part; got {values!r:.60}."
            )
        values = values.tolist() if isinstance(values, np.ndarray) else list(values)
        if len(values) != len(corpus):
            raise InvalidData(
                f"function must give a value for each sequence of a part; got {len(values)} values "
                f"for {len(corpus)} sequences."
            )
        if self.format == "parquet":
            pa = require("pyarrow", "arrow", "writing Parquet files")
            parquet = require("pyarrow.parquet", "arrow", "writing Parquet files")
            table = pa.table({"value": pa.array([_record(value) for value in values])})
            parquet.write_table(table, target)
        else:
            target.write("".join(f"{_line(value)}\n" for value in values).encode())
        return len(values), corpus.n_symbols


def name_of(function: Any) -> str:
    """Tell functions apart as a program that is started again tells them: by name and owner."""
    if isinstance(function, partial):
        return f"{name_of(function.func)} {function.args!r} {function.keywords!r}"
    owner = getattr(function, "__self__", None)
    name = getattr(function, "__qualname__", type(function).__qualname__)
    told = "" if owner is None else repr(owner)
    return f"{name} of {type(owner).__name__ if ' at 0x' in told else told}"


def _pairs(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], tuple)


def _record(value: Any) -> Any:
    if _pairs(value):
        return [{"symbol": str(symbol), "p": float(p)} for symbol, p in value]
    return value


def _line(value: Any) -> str:
    if isinstance(value, float):
        return repr(value)
    if _pairs(value):
        return "\t".join(f"{symbol} {p:.6g}" for symbol, p in value)
    return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
