"""Logs of a distributed file system, generated: the lives of its blocks, normal and odd.

A block is allocated, received by three nodes whose events interleave, stored by each, served now
and then, perhaps copied once more, and often deleted in the end: long sessions over few events in
which order and number matter, as in the logs of HDFS (Xu et al., 2009) that methods for finding
anomalies are tried on. What can go wrong: a copy is not stored, one is stored after the block was
deleted, a transfer fails and is repeated, a deletion comes too early, or an event appears that no
normal session has.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.rules import Integer, Real, check
from sigmastar.core.types import BoolArray

__all__ = ["LogSessions", "make_logs"]

_FAULTS = ("lost copy", "late copy", "failed transfer", "early deletion", "new event")


class LogSessions(NamedTuple):
    """Sessions, whether each is odd, and what is odd about it.

    Attributes
    ----------
    sessions : list of lists of str
        The events of each block.
    odd : array of bool
        Which sessions are not normal.
    faults : list of str
        What went wrong, empty for normal sessions.
    """

    sessions: list[list[str]]
    odd: BoolArray
    faults: list[str]


def make_logs(
    n_sessions: int = 2000, *, odd_share: float = 0.0, random_state: RandomState = None
) -> LogSessions:
    """Draw sessions of a distributed file system, some of them odd.

    Parameters
    ----------
    n_sessions : int
        How many.
    odd_share : float
        The probability that something goes wrong in a session.
    random_state : int, Generator, …
        Same seed, same sessions.

    Examples
    --------
    >>> found = make_logs(3, random_state=0)
    >>> found.sessions[0][:3]
    ['allocate', 'receiving', 'receiving']
    """
    check("n_sessions", n_sessions, Integer(1))
    check("odd_share", odd_share, Real(0, 1))
    rng = as_generator(random_state)
    sessions, faults = [], []
    for _ in range(n_sessions):
        wrong = str(rng.choice(_FAULTS)) if rng.random() < odd_share else ""
        sessions.append(_session(rng, wrong))
        faults.append(wrong)
    return LogSessions(sessions, np.array([bool(fault) for fault in faults]), faults)


def _session(rng: np.random.Generator, wrong: str) -> list[str]:
    copies = [["receiving", "received", "responder ends", "stored"] for _ in range(3)]
    if wrong == "lost copy":
        copies[0].remove("stored")
    if wrong == "failed transfer":
        copies[1][1:1] = ["exception", "receiving"]
    events = ["allocate", *_interleaved(copies, rng)]
    served = ["served"] * int(rng.geometric(0.25) - 1)
    if rng.random() < 0.3:
        served.insert(int(rng.integers(len(served) + 1)), "verified")
    events += served
    if rng.random() < 0.05:
        events += ["ask to copy", "transfer starts", "receiving", "received", "stored"]
    gone = ["ask to delete", "deleted", "deleted", "deleted"]
    if wrong == "early deletion":
        events[5:5] = gone[:2]
    elif rng.random() < 0.6 or wrong == "late copy":
        events += gone
    if wrong == "late copy":
        events += ["receiving", "received", "stored"]
    if wrong == "new event":
        place = int(rng.integers(1, len(events)))
        events[place:place] = [f"unexpected {rng.choice(['reply', 'length', 'checksum'])}"]
    return events


def _interleaved(runs: list[list[str]], rng: np.random.Generator) -> list[str]:
    """Put runs together at random; each keeps its order."""
    turns = np.repeat(np.arange(len(runs)), [len(run) for run in runs])
    rng.shuffle(turns)
    left = [iter(run) for run in runs]
    return [next(left[turn]) for turn in turns]
