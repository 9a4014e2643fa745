"""Training of networks over units: Adam on the surprise at the units of aligned words.

Steps grow over the first hundred and then shrink to nothing. Whole symbols, whole units and parts
of hidden layers are left out at random, so that no network relies on any of them. (Adam: Kingma
and Ba 2015; dropout: Srivastava et al. 2014.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sigmastar.core.blas import one_blas_thread
from sigmastar.core.progress import stage
from sigmastar.core.threads import over_rows
from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.transducers.kernels.adam import Averages, step_of_adam
from sigmastar.transducers.kernels.gradients import Batch, Kept, Weights, gradient
from sigmastar.transducers.moments.lattices import Units
from sigmastar.transducers.transliteration.alignment import Alignment
from sigmastar.transducers.transliteration.candidates import mirrored
from sigmastar.transducers.transliteration.network import (
    REACHES,
    Shape,
    Singles,
    cut,
    n_parameters,
    starting_weights,
)
from sigmastar.transducers.transliteration.neural import Neural, Order, unit_cases, unit_order

__all__ = ["Course", "learn_neural"]

_AGAIN, _SLOWER = 0.35, 0.5  # of a course and its rate, for those who have learned before
_REACHES = np.array(REACHES, dtype=np.int64)
_UNHEARD = -2.0  # what speaks for a unit that is new to a network


@dataclass(frozen=True)
class Course:
    """How networks are trained."""

    n_models: int = 2
    n_epochs: int = 15
    batch: int = 32  # words a step
    rate: float = 3e-3
    dropout: float = 0.3
    hidden: float = 0.15  # the share of symbols and units that are left out


class _Lessons(NamedTuple):
    """Aligned words, as a network of one direction reads them."""

    symbols: SymbolArray
    offsets: IndexArray
    path: SymbolArray
    path_offsets: IndexArray
    within: IndexArray  # by unit of a path: where in its word it reads
    past: SymbolArray
    order: Order


def learn_neural(
    pairs: PairCorpus,
    alignment: Alignment,
    course: Course,
    *,
    rng: np.random.Generator,
    earlier: tuple[Neural, Units] | None = None,
) -> Neural:
    """Learn networks from aligned pairs.

    Those that have learned ``earlier``, from some of the pairs and with an inventory of their own,
    go on for a third of the course instead of learning everything again.
    """
    shape = Shape(len(pairs.source.alphabet), len(alignment.units))
    parameters = np.zeros((course.n_models, n_parameters(shape)), np.float32)
    again = replace(
        course, n_epochs=max(1, round(course.n_epochs * _AGAIN)), rate=course.rate * _SLOWER
    )
    n_known = 0 if earlier is None else len(earlier[0].parameters)
    lessons = [_lessons(pairs, alignment, shape, backwards) for backwards in (False, True)]
    seeds = rng.spawn(course.n_models)
    n_again = min(n_known, course.n_models)
    total = (course.n_models - n_again) * course.n_epochs + n_again * again.n_epochs
    with stage("networks", total) as progress, one_blas_thread():

        def train(first: int, last: int) -> None:
            for number in range(first, last):
                parameters[number] = starting_weights(shape, seeds[number])
                own = course
                if earlier is not None and number < n_known:
                    own = again
                    _remember(cut(parameters[number], shape), number, *earlier, alignment.units)
                pupil = _Pupil(parameters[number], shape, own, seeds[number])
                words = np.flatnonzero(alignment.alignable)
                n_steps = own.n_epochs * -(-len(words) // own.batch)
                for _ in range(own.n_epochs):
                    reached = pupil.epoch(lessons[number % 2], words, n_steps)
                    progress.advance(1, f"{reached:.4f}")

        over_rows(train, course.n_models, least=1)
    return Neural(parameters, shape)


def _remember(w: Weights, number: int, networks: Neural, before: Units, units: Units) -> None:
    """Write what a network has learned into another, whose units are in part the same."""
    learned = cut(networks.parameters[number], networks.shape)
    for name in set(Weights._fields) - {"units", "choice", "choice_shift"}:
        getattr(w, name)[:] = getattr(learned, name)
    places = np.searchsorted(before.keys, units.keys)
    known = np.flatnonzero(before.keys[np.minimum(places, len(before) - 1)] == units.keys)
    same = places[known]
    backwards = number % 2 == 1
    old, new = (unit_order(u, len(w.symbols) - 1, backwards=backwards) for u in (before, units))
    w.units[known], w.units[-2:] = learned.units[same], learned.units[-2:]
    w.choice[:], w.choice_shift[:] = 0, _UNHEARD
    w.choice[new.place[known]] = learned.choice[old.place[same]]
    w.choice_shift[new.place[known]] = learned.choice_shift[old.place[same]]


def _lessons(pairs: PairCorpus, alignment: Alignment, shape: Shape, backwards: bool) -> _Lessons:
    source, path = pairs.source, alignment.path
    symbols = source.symbols
    if backwards:
        symbols, path = symbols[mirrored(source.offsets)], path[mirrored(alignment.offsets)]
    order = unit_order(alignment.units, shape.n_symbols, backwards=backwards)
    within, past = unit_cases(path, alignment.offsets, order, shape.past)
    return _Lessons(symbols, source.offsets, path, alignment.offsets, within, past, order)


class _Pupil:
    """A network that learns, with Adam's two averages of its gradient."""

    def __init__(
        self, flat: Singles, shape: Shape, course: Course, rng: np.random.Generator
    ) -> None:
        self.flat, self.shape, self.course, self.rng = flat, shape, course, rng
        self.weights = cut(flat, shape)
        self.slope = np.zeros_like(flat)
        self.slopes = cut(self.slope, shape)
        self.averages = Averages(
            np.zeros_like(flat), np.zeros_like(flat), np.zeros(1, dtype=np.int64)
        )

    def epoch(self, lessons: _Lessons, words: IndexArray, n_steps: int) -> float:
        """Go once through the words; return the mean surprise."""
        shuffled, total = self.rng.permutation(words), 0.0
        batch = self.course.batch
        for start in range(0, len(words), batch):
            own = shuffled[start : start + batch]
            total += self._learn(lessons, own, n_steps) * len(own)
        return total / max(len(words), 1)

    def _learn(self, lessons: _Lessons, words: IndexArray, n_steps: int) -> float:
        """Take a step; return the surprise before it."""
        symbols, offsets = _taken(lessons.offsets, words)
        units, bounds = _taken(lessons.path_offsets, words)
        path, order = lessons.path[units], lessons.order
        past = self._hidden(lessons.past[units], self.shape.n_units + 1)
        seen = lessons.symbols[symbols]
        batch = Batch(
            symbols=seen,
            seen=self._hidden(seen, self.shape.n_symbols),
            offsets=offsets,
            reaches=_REACHES,
            at=lessons.within[units] + np.repeat(offsets[:-1], np.diff(bounds)),
            past=past,
            wanted=order.place[path],
            bounds=order.bounds,
        )
        kept = self._kept(len(seen), len(path))
        self.slope[:] = 0
        surprise = gradient(self.weights, batch, kept, self.slopes)
        done = int(self.averages.n_steps[0])
        rate = self.course.rate * min(1.0, (done + 1) / 100) * max(0.02, 1 - done / n_steps)
        step_of_adam(self.flat, self.slope, self.averages, rate)
        return surprise

    def _hidden(self, codes: SymbolArray, instead: int) -> SymbolArray:
        hidden = self.rng.random(codes.shape, dtype=np.float32) < self.course.hidden
        return np.where(hidden, np.int32(instead), codes)

    def _kept(self, n_places: int, n_cases: int) -> Kept:
        """Draw what is left of hidden layers; nothing is drawn where nothing is dropped."""
        share, width = self.course.dropout, self.shape.channels
        sizes = (len(REACHES), n_places, width), (n_places, width), (n_cases, self.shape.hidden)
        if share == 0:
            sizes = (len(REACHES), 0, width), (0, width), (0, self.shape.hidden)
        added, code, hidden = (
            self.rng.integers(256, size=size, dtype=np.uint8) >= share * 256 for size in sizes
        )
        return Kept(added, code, hidden, np.float32(1 / (1 - share)))


def _taken(offsets: IndexArray, words: IndexArray) -> tuple[IndexArray, IndexArray]:
    """Return the places of some words' symbols, one word after the other, and new offsets."""
    lengths = offsets[words + 1] - offsets[words]
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    places = np.repeat(offsets[words] - bounds[:-1], lengths) + np.arange(bounds[-1])
    return places, bounds
