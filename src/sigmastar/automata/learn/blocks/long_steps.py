"""Baum–Welch with long steps.

A step of EM goes the right way, but often only a small part of it, most of all where a string says
little about its states. A long step goes on in the same direction, η times as far:

    θ ← θ · (EM(θ) / θ)^η, normalised.

Its length grows from step to step for as long as the likelihood does. Where it has fallen the long
step is taken back, and the next one starts from where the plain one had ended, which is never
worse than where that began. What counts as the outcome of a step is always the plain one's end.

Source: Salakhutdinov, Roweis, "Adaptive overrelaxed bound optimization methods" (2003).
"""

from __future__ import annotations

import numpy as np

from sigmastar.automata.inference.expected_counts import Forest
from sigmastar.automata.learn.blocks.em_family import Family, Parameters
from sigmastar.automata.learn.blocks.em_step import EMStep, em_step

__all__ = ["LongSteps"]

LONGER = 1.3  # factor by which the next step is longer
LONGEST = 30.0


class LongSteps:
    """A run of steps; each must be given what the last one returned."""

    def __init__(self, forest: Forest, family: Family, n_jobs: int | None = 1) -> None:
        self.forest, self.family, self.n_jobs = forest, family, n_jobs
        self.length = 1.0
        self._objective = -np.inf
        self._ahead: Parameters | None = None

    def step(self, parameters: Parameters) -> EMStep:
        """Take one, from further ahead than ``parameters`` if that is no worse than the last."""
        begin = parameters if self._ahead is None else self._ahead
        taken = em_step(self.forest, self.family, begin, n_jobs=self.n_jobs)
        if self._ahead is not None and (taken.impossible or taken.objective < self._objective):
            self.length, begin = 1.0, parameters
            taken = em_step(self.forest, self.family, begin, n_jobs=self.n_jobs)
        self._objective = taken.objective
        self.length = min(self.length * LONGER, LONGEST)
        self._ahead = self._beyond(begin, taken.parameters)
        return taken

    def _beyond(self, begin: Parameters, end: Parameters) -> Parameters:
        """Return where ``length`` times the step leads to; what is zero stays so."""
        further = {}
        for name, old in begin.items():
            new = end[name]
            ratio = np.divide(new, old, out=np.zeros_like(new), where=old > 0)
            further[name] = new * ratio ** (self.length - 1.0)
        return self.family.normalized(further)
