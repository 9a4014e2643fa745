"""The steps that a search takes and a recipe repeats.

Each depends on its arguments alone, never on the clock: taken again, it gives the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np

from sigmastar.automata.inference.expected_counts import Forest
from sigmastar.automata.learn.blocks.em_family import Parameters, PFAFamily
from sigmastar.automata.learn.blocks.em_step import em_step
from sigmastar.automata.learn.blocks.growth import family_named
from sigmastar.automata.learn.blocks.quasi_newton import QuasiNewton
from sigmastar.automata.learn.choose_separable import SeparableSettings, choose_separable
from sigmastar.automata.learn.choose_spectral import SpectralSettings, choose_spectral
from sigmastar.automata.learn.em_start import pfa_from_wfa, smoothed
from sigmastar.automata.learn.gibbs import GibbsSettings, learn_gibbs
from sigmastar.automata.learn.merging import MergeSettings, learn_merged
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.pfa import PFA
from sigmastar.automata.models.subject import as_wfa
from sigmastar.automata.models.wfa import WFA
from sigmastar.automata.moments.plan import MomentPlan
from sigmastar.core.types import Learned
from sigmastar.corpus.corpus import Corpus

__all__ = [
    "COUNTED",
    "HELD_OUT",
    "LAYOUT",
    "QUICK_LEARNERS",
    "REFINED",
    "counted_on_all",
    "first_part",
    "gibbs_from",
    "gibbs_settings",
    "given_start",
    "hold_out_part",
    "pfa_of",
    "refitting",
]

HELD_OUT = 0.1
REFINED = "merged and refined"  # pays only where merging alone comes close to the best
COUNTED = "merged", REFINED  # deterministic ones
PART_POINTS = 250_000  # symbols and ends that a track is trained on before it is on all
LAYOUT = 64  # states that corpora are laid out for; one number, so that sums can be repeated


def quick_spectral(corpus: Corpus) -> Learned[WFA]:
    """Learn as ``SpectralWFA(max_states=60)`` does."""
    return choose_spectral(corpus, MomentPlan("substring"), SpectralSettings(max_states=60))


def quick_separable(corpus: Corpus) -> Learned[PFA]:
    """Learn as ``SeparablePFA(max_states=40)`` does."""
    return choose_separable(corpus, MomentPlan("prefix"), SeparableSettings(max_states=40))


def quick_merged(corpus: Corpus, refine: bool = False) -> Learned[PFA]:
    """Learn as ``MergedPFA(max_states=160, refine=False)`` does."""
    return learn_merged(corpus, MergeSettings(max_states=160, refine=refine))


# By the names that recipes use; each gives a candidate and a place to start Baum–Welch from.
QUICK_LEARNERS: Mapping[str, Callable[[Corpus], Learned[WFA]]] = {
    "merged": quick_merged,  # takes the least time, and is mostly the best to start from
    "spectral": quick_spectral,
    "separable": quick_separable,
    REFINED: partial(quick_merged, refine=True),
}


def hold_out_part(corpus: Corpus, seed: int) -> tuple[Corpus, Corpus]:
    """Return the part to train on and the part to judge by."""
    held, train = corpus.split(HELD_OUT, random_state=seed)
    # Too few to hold any out, or all in one part: judge by what there is.
    return (train, held) if len(held) and len(train) else (corpus, corpus)


def first_part(train: Corpus, seed: int) -> Corpus | None:
    """Return the strings to train on first: some at random where there are many, else none."""
    share = PART_POINTS / (train.n_symbols + len(train))
    if share > 0.5:
        return None
    order = np.random.default_rng(seed).permutation(len(train))
    return train.take(order[: max(int(share * len(train)), 1)])


def given_start(model: WFA | HMM, train: Corpus, seed: int) -> Parameters:
    """Turn a quick learner's model into parameters to start a PFA from."""
    pfa = as_wfa(model)
    if not isinstance(pfa, PFA):
        size = min(max(pfa.n_states, 8), 48)
        pfa = pfa_from_wfa(pfa, train, size, random_state=seed)
    pfa = smoothed(pfa, 1e-3)
    return {name: getattr(pfa, name) for name in PFAFamily.names}


def pfa_of(parameters: Parameters, train: Corpus) -> PFA:
    """Return the automaton of a PFA's parameters, nothing quite impossible."""
    return smoothed(PFA.normalized(*PFAFamily().expand(parameters), train.alphabet), 1e-6)


def gibbs_settings(n_sweeps: int) -> GibbsSettings:
    """Return how to sample around a good automaton."""
    return GibbsSettings(
        n_chains=2,
        n_sweeps=n_sweeps,
        burn_in=n_sweeps // 3,
        n_samples=2,
        outcome_prior=0.5,
        state_prior=0.005,
    )


def gibbs_from(parameters: Parameters, train: Corpus, n_sweeps: int, seed: int) -> PFA:
    """Average posterior samples that start from a PFA's parameters."""
    start = pfa_of(parameters, train)
    settings = gibbs_settings(n_sweeps)
    return learn_gibbs(
        train, start.n_states, settings=settings, start=start, random_state=seed
    ).model


def counted_on_all(model: PFA, forest: Forest, n_jobs: int | None = None) -> PFA:
    """Count the arcs of a deterministic automaton over all sequences.

    What has not occurred in them either keeps a share of what it had: no sequence is impossible.
    """
    family = PFAFamily()
    old = {name: getattr(model, name) for name in family.names}
    new = em_step(forest, family, old, n_jobs=n_jobs).parameters
    both = {name: (1.0 - HELD_OUT) * new[name] + HELD_OUT * old[name] for name in family.names}
    return PFA.normalized(both["initial"], both["transitions"], both["final"], model.alphabet)


def refitting(
    family_name: str,
    parameters: Parameters,
    forest: Forest,
    fast: bool,
    n_jobs: int | None = None,
) -> Iterator[Parameters]:
    """Train a component step by step further on all sequences; zeros stay zero.

    With so many strings that there is no time for many steps, they are ``fast`` ones; nothing tells
    any more when training goes too far.
    """
    family = family_named(family_name)
    run = QuasiNewton(forest, family, n_jobs)
    while True:
        if fast:
            step = run.step(parameters)
        else:
            step = em_step(forest, family, parameters, n_jobs=n_jobs)
        if not step.impossible:
            parameters = step.parameters
        yield parameters
