"""A simulated robot that follows walls, with what its sonars hear and what it does.

The robot walks through L-shaped rooms with the wall at its left. Its controller has a memory: a
manoeuvre, once begun, goes on until the way is clear by a wider margin than the one that began it.
Between the two margins the readings of the moment do not tell what the robot does; the readings
before do. The same holds of the SCITOS robot behind :func:`load_wall_following`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.rules import Integer, Real, Rule, check_all
from sigmastar.core.types import FloatArray
from sigmastar.corpus.corpus import Corpus
from sigmastar.datasets.problem import SensorSeries

__all__ = ["make_robot_stream"]

FORWARD, SLIGHT_LEFT, SLIGHT_RIGHT, SHARP_RIGHT = (
    "forward",
    "slight-left",
    "slight-right",
    "sharp-right",
)
# Metres and degrees (to the left) of each step.
_MOVES = {
    FORWARD: (0.12, 0.0),
    SLIGHT_LEFT: (0.10, 7.0),
    SLIGHT_RIGHT: (0.10, -7.0),
    SHARP_RIGHT: (0.02, -15.0),
}
_REACH = 5.0  # metres that a sonar hears
_BODY = 0.2  # metres that the robot keeps from any wall
_WARM_UP = 30  # steps before the log begins
_RULES: dict[str, Rule] = {
    "n_sequences": Integer(1),
    "length": Integer(1),
    "n_sonars": Integer(4),
    "noise": Real(0),
    "dropout": Real(0, 1),
}


@dataclass(frozen=True)
class _Room:
    """Walls as segments from ``start`` along ``span``; the polygon's corners in order."""

    start: FloatArray
    span: FloatArray

    def distances(self, place: FloatArray, angles: FloatArray) -> FloatArray:
        """Return how far the nearest wall is in each direction."""
        ray = np.stack((np.cos(angles), np.sin(angles)), axis=1)[:, None, :]
        gap = self.start - place
        across = _cross(ray, self.span)
        with np.errstate(divide="ignore", invalid="ignore"):
            far = _cross(gap, self.span) / across
            along = _cross(gap, ray) / across
        hit = (far > 0) & (along >= 0) & (along <= 1)
        return np.asarray(np.where(hit, far, np.inf).min(axis=1))


def make_robot_stream(
    n_sequences: int = 60,
    length: int = 80,
    *,
    n_sonars: int = 12,
    noise: float = 0.1,
    dropout: float = 0.02,
    random_state: RandomState = None,
) -> SensorSeries:
    """Simulate walks along walls: sonar readings and the movement taken, step by step.

    Parameters
    ----------
    n_sequences, length : int
        Walks, each in a room of its own, and steps logged of each.
    n_sonars : int
        Readings of each step, in metres, around the robot from straight ahead to the left.
    noise : float
        Standard deviation of a reading, in metres.
    dropout : float
        Share of the readings whose echo is lost: they show the full reach of 5 m.
    random_state : int, Generator, …
        Same seed, same walks.

    Examples
    --------
    >>> stream = make_robot_stream(3, 40, random_state=0)
    >>> stream
    SensorSeries('robot': 3 sequences, 120 labelled readings)
    >>> stream.inputs[0].shape
    (40, 12)
    """
    check_all(locals(), _RULES)
    inputs, labels = [], []
    for rng in as_generator(random_state).spawn(n_sequences):
        readings, moves = _walk(_draw_room(rng), length + _WARM_UP, n_sonars, rng)
        heard = readings[_WARM_UP:] + rng.normal(0.0, noise, (length, n_sonars))
        heard[rng.random(heard.shape) < dropout] = _REACH
        heard = np.clip(heard, 0.0, _REACH)
        heard.setflags(write=False)
        inputs.append(heard)
        labels.append(moves[_WARM_UP:])
    return SensorSeries(tuple(inputs), Corpus.from_sequences(labels), name="robot")


def _walk(
    room: _Room, n_steps: int, n_sonars: int, rng: np.random.Generator
) -> tuple[FloatArray, list[str]]:
    """Let the robot walk; return exact readings and movements."""
    sonars = np.arange(n_sonars) * 2 * np.pi / n_sonars
    ahead = np.radians([-30.0, -15.0, 0.0, 15.0, 30.0])
    left = np.radians([50.0, 70.0, 90.0, 110.0])
    place, heading = _BODY + 1.0 + rng.random(2), rng.uniform(0, 2 * np.pi)
    readings = np.empty((n_steps, n_sonars))
    moves: list[str] = []
    move, since = FORWARD, 0
    for step in range(n_steps):
        every = room.distances(place, heading + np.concatenate((sonars, ahead, left)))
        readings[step] = np.minimum(every[:n_sonars], _REACH)
        front = float(every[n_sonars : n_sonars + len(ahead)].min())
        side = float(every[n_sonars + len(ahead) :].min())
        following = _next_move(move, since, front, side)
        since = since + 1 if following == move else 0
        move = following
        moves.append(move)
        distance, turn = _MOVES[move]
        heading += np.radians(turn + rng.normal(0.0, 2.5))
        if room.distances(place, np.array([heading]))[0] > distance + _BODY:
            place = place + distance * np.array([np.cos(heading), np.sin(heading)])
    return readings, moves


def _next_move(move: str, since: int, front: float, side: float) -> str:
    """Choose a movement by the distances and by what the robot is about."""
    if front < (1.3 if move == SHARP_RIGHT else 0.7):
        return SHARP_RIGHT
    if side < (0.8 if move == SLIGHT_RIGHT else 0.6):
        return SLIGHT_RIGHT
    lost = move == SLIGHT_LEFT and since > 30  # no wall to come back to: look for one ahead
    if side > (0.8 if move == SLIGHT_LEFT else 1.0) and side < 2.5 and not lost:
        return SLIGHT_LEFT
    return FORWARD


def _draw_room(rng: np.random.Generator) -> _Room:
    """Draw a room with a corner taken out."""
    wide, deep = rng.uniform(4.5, 7.0, 2)
    niche, depth = rng.uniform(1.2, 2.0, 2)
    corners = np.array(
        [
            (0.0, 0.0),
            (wide, 0.0),
            (wide, deep - depth),
            (wide - niche, deep - depth),
            (wide - niche, deep),
            (0.0, deep),
        ]
    )
    return _Room(corners, np.roll(corners, -1, axis=0) - corners)


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])
