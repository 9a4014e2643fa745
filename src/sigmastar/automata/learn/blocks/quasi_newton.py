"""Baum–Welch with memory: steps that learn from earlier ones how the likelihood bends.

A step of EM goes the right way, but often only a small part of it, most of all where a string says
little about its states. Its expected counts c are also the gradient: by the logarithm of a
parameter θ that shares its sum with others, the log-likelihood rises by c − N θ, where N is how
often that choice was made. So each E-step pays for a step of the L-BFGS method, which needs no
line search here and begins from what would be Newton's step if states were seen: (c − N θ) / N θ.
Where EM has to take hundreds of steps it takes tens.

Where the likelihood falls the step is tried once more at a quarter of its length, and then taken
back for the plain step of EM, which is never worse than where it began. What counts as the outcome
of a step is always the plain one's end.

Sources: Salakhutdinov, Roweis, Ghahramani, "Optimization with EM and
expectation-conjugate-gradient" (2003); Nocedal, "Updating quasi-Newton matrices with limited
storage" (1980).
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from sigmastar.automata.inference.expected_counts import Forest
from sigmastar.automata.learn.blocks.em_family import Family, Parameters
from sigmastar.automata.learn.blocks.em_step import EMStep, em_step
from sigmastar.core.blas import one_blas_thread
from sigmastar.core.types import FloatArray

__all__ = ["COPIES", "QuasiNewton"]

REMEMBERED = 8  # steps
COPIES = 2 * REMEMBERED + 12  # of all parameters that a run holds at the most
SHORTER = 0.25  # share of a step that is tried where the whole of it led down
FURTHEST = 4.0  # that the logarithm of a parameter goes at a step
SCALES = 0.3, 30.0  # between which what is not remembered may be longer than were states seen
RARE = 1e-9  # expected uses below which a parameter is left alone


class _Turn(NamedTuple):
    """A step that was taken, by how much it changed the slope, and one by their product."""

    step: FloatArray
    bend: FloatArray
    weight: float


class _Point(NamedTuple):
    """Where a step began: logarithms of parameters, slope, and its bend were states seen."""

    logs: FloatArray
    slope: FloatArray
    bend: FloatArray
    objective: float


class QuasiNewton:
    """A run of steps; each must be given what the last one returned.

    The family must have neither a prior nor frozen parameters; what is zero stays so.
    """

    def __init__(self, forest: Forest, family: Family, n_jobs: int | None = 1) -> None:
        self.forest, self.family, self.n_jobs = forest, family, n_jobs
        self._turns: deque[_Turn] = deque(maxlen=REMEMBERED)
        self._last: _Point | None = None
        self._way: FloatArray | None = None

    def step(self, parameters: Parameters) -> EMStep:
        """Take one, from further ahead than ``parameters`` if that is no worse than the last."""
        with one_blas_thread():  # long vectors are summed in another order by several
            return self._taken(parameters)

    def _taken(self, parameters: Parameters) -> EMStep:
        for share in (1.0, SHORTER):
            if self._last is None or self._way is None:
                break
            begin = self._along(parameters, self._last.logs + share * self._way)
            taken = self._from(begin)
            if not taken.impossible and taken.objective >= self._last.objective:
                return self._learned(begin, taken)
        self._turns.clear()
        self._last = None
        return self._learned(parameters, self._from(parameters))

    def _from(self, parameters: Parameters) -> EMStep:
        return em_step(self.forest, self.family, parameters, n_jobs=self.n_jobs)

    def _learned(self, begin: Parameters, taken: EMStep) -> EMStep:
        """Remember the turn that led here, and find the way on."""
        old, new = self._flat(begin), self._flat(taken.parameters)
        times = self._flat(self.family.choices(taken.counts))
        with np.errstate(divide="ignore"):
            logs = np.where(old > 0, np.log(old), 0.0)
        here = _Point(logs, times * (new - old), times * np.maximum(new, old), taken.objective)
        if self._last is not None:
            step, bend = here.logs - self._last.logs, self._last.slope - here.slope
            product = float(step @ bend)
            if product > 1e-10 * np.sqrt((step @ step) * (bend @ bend)):  # curved as at a summit
                self._turns.append(_Turn(step, bend, 1.0 / product))
        self._last = here
        self._way = self._ahead(here)
        return taken

    def _ahead(self, here: _Point) -> FloatArray:
        """Return the step of L-BFGS, or the first one again where that would lead down."""
        often = here.bend > RARE
        inverse = np.divide(1.0, here.bend, out=np.zeros_like(here.bend), where=often)
        way, shares = here.slope.copy(), []
        for turn in reversed(self._turns):
            shares.append(turn.weight * float(turn.step @ way))
            way -= shares[-1] * turn.bend
        scale = 1.0
        if self._turns:
            last = self._turns[-1]
            curved = float(last.bend @ (inverse * last.bend))
            scale = float(np.clip(1.0 / (last.weight * curved), *SCALES)) if curved else 1.0
        way *= scale * inverse
        for turn, share in zip(self._turns, reversed(shares), strict=True):
            way += (share - turn.weight * float(turn.bend @ way)) * turn.step
        if not way @ here.slope > 0:
            self._turns.clear()
            way = inverse * here.slope
        return np.clip(way, -FURTHEST, FURTHEST)

    def _along(self, like: Parameters, logs: FloatArray) -> Parameters:
        """Return the parameters of these logarithms, normalised; what is zero stays so."""
        further, first = {}, 0
        for name in self.family.names:
            old = like[name]
            values = np.exp(logs[first : first + old.size]).reshape(old.shape)
            further[name] = np.where(old > 0, values, 0.0)
            first += old.size
        return self.family.normalized(further)

    def _flat(self, parameters: Parameters) -> FloatArray:
        return np.concatenate([np.ravel(parameters[name]) for name in self.family.names])
