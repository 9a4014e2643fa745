"""What comes out of a call that should not: anything but our own exceptions."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sigmastar as ss

__all__ = ["SOURCE", "Failure", "foreign"]

SOURCE = Path(ss.__file__).parent


@dataclass(frozen=True)
class Failure:
    """Something that should not have come out.

    Parameters
    ----------
    what : str
        Type of the exception, name of the signal, or "hang".
    call : str
        What was being done.
    frame : str
        The innermost line of the package that was being run.
    message : str
        What the exception says.
    """

    what: str
    call: str
    frame: str
    message: str = ""


def foreign(call: str, function: Callable[[], Any]) -> tuple[Any, Failure | None]:
    """Make a call; return its result and what came out of it that is not ours."""
    try:
        return function(), None
    except ss.errors.SigmastarError:
        return None, None
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in frames if Path(frame.filename).is_relative_to(SOURCE)]
        frame = (ours or frames)[-1]
        where = f"{_short(frame.filename)}:{frame.lineno} {frame.name}"
        return None, Failure(type(error).__name__, call, where, str(error)[:200])


def _short(filename: str) -> str:
    path = Path(filename)
    return str(path.relative_to(SOURCE) if path.is_relative_to(SOURCE) else path.name)
