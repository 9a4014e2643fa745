"""Where Baum–Welch may start: the separable PFA that does best after a few steps.

Separable PFAs of prefix and of substring statistics, of the wanted size, a half and a third of it,
with the usual shrinkage and with so much that the most frequent prefixes are chosen, are each
trained a little on a part of the sequences; the one that does best on the rest is the start.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from sigmastar.automata.learn.baum_welch import BaumWelchSettings, learn_baum_welch
from sigmastar.automata.learn.blocks.em_family import Family, Parameters
from sigmastar.automata.learn.choose_separable import SeparableSettings, choose_separable
from sigmastar.automata.learn.em_start import smoothed, start_from
from sigmastar.automata.learn.separable import FREQUENT, SHRINKAGE
from sigmastar.automata.moments.plan import MomentPlan
from sigmastar.corpus.corpus import Corpus
from sigmastar.ngrams.counts import Statistic

__all__ = ["separable_start"]

_HELD_OUT = 0.1
_STATISTICS: tuple[Statistic, ...] = ("prefix", "substring")


def separable_start(
    corpus: Corpus,
    family: Family,
    n_states: int,
    *,
    n_iter: int,
    rng: np.random.Generator,
    n_jobs: int | None = None,
) -> Parameters | None:
    """Return the parameters of the best start of at most ``n_states``, after ``n_iter`` steps."""
    held_out, train = corpus.split(_HELD_OUT, random_state=rng)
    if len(held_out) == 0:
        held_out = train
    short = BaumWelchSettings(max_iter=n_iter, tol=0.0, n_jobs=n_jobs)
    sizes = sorted({max(n_states // share, 1) for share in (1, 2, 3)})
    best, best_score = None, -np.inf
    for statistics, size, shrinkage in product(_STATISTICS, sizes, (SHRINKAGE, FREQUENT)):
        wanted = SeparableSettings(n_states=size, shrinkage=shrinkage)
        separable = choose_separable(train, MomentPlan(statistics), wanted).model
        start = start_from(smoothed(separable, 0.1), family, train)
        learned = learn_baum_welch(
            train, family, size, start=start, settings=short, validation=held_out
        )
        if max(learned.info["held_out"]) > best_score:
            best_score = max(learned.info["held_out"])
            best = start_from(learned.model, family, corpus)
    return best
