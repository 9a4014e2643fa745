"""Learn a mixture: count all contexts, see how far counts can be trusted, then learn the weights.

Corrections and weights are learned from the very data that were counted, every case without itself:
its own count is taken off before the experts are asked, as if all other data had been counted. So
nothing is held out from the counts. Automata cannot be taken back by one case; they are learned
without a part of the sequences, and what weight they deserve is learned on that part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from sigmastar.automata.inference.expected_counts import thread_count
from sigmastar.automata.mixture.code_tree import grow_tree, tree_depth
from sigmastar.automata.mixture.contexts import usual_views
from sigmastar.automata.mixture.evidence import Experts, make_scratch
from sigmastar.automata.mixture.machines import machines_of
from sigmastar.automata.mixture.mixer import N_LEVELS, Weights, n_experts, no_weights
from sigmastar.automata.mixture.model import ContextMixtureModel, leaves_of
from sigmastar.automata.mixture.passes import Lesson, collect, train
from sigmastar.automata.mixture.repeats import first_times
from sigmastar.automata.mixture.tables import count_contexts
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.progress import stage
from sigmastar.core.splits import draw_part
from sigmastar.core.types import BoolArray, FloatArray, IndexArray, Learned, SymbolArray
from sigmastar.corpus.corpus import Corpus

__all__ = ["Automata", "MixtureSettings", "learn_mixture"]

_RECENT = (2, 3, 5)  # lengths of the contexts that are looked up in the sequence at hand
_PARTS = 8  # in which corrections are collected: the same on any number of threads
_CASES_OF_CORRECTIONS = 1_000_000
_PRIOR = 4.0  # cases by which a cell's correction is held back
_HELD_OUT = 0.2
_GAIN = 0.002  # bits a symbol that automata must save to be kept
_MOST_TIMES = 4  # that the same data are gone through


class MixtureSettings(NamedTuple):
    """How long and how fast weights are learned."""

    order: int
    rate: float = 0.02
    cases: int = 6_000_000
    online_rate: float = 0.0


class Automata(NamedTuple):
    """How to learn automata from a part of the data, and how to go on with all."""

    learn: Callable[[Corpus], Sequence[WFA | HMM]]
    finish: Callable[[Sequence[WFA | HMM], Corpus], Sequence[WFA | HMM]]


class _Text(NamedTuple):
    """The data as leaves of the code tree, and which of them are learned from."""

    leaves: SymbolArray
    offsets: IndexArray
    learned: BoolArray


def learn_mixture(
    corpus: Corpus,
    *,
    ends: bool,
    settings: MixtureSettings,
    automata: Automata | None = None,
    rng: np.random.Generator,
) -> Learned[ContextMixtureModel]:
    """Learn a mixture of n-grams, other contexts and automata.

    Without ``ends``, sequences are pieces of running text, and what several of them hold is learned
    once.
    """
    counts = np.bincount(corpus.symbols, minlength=len(corpus.alphabet) + ends)
    frequent = int(np.argmax(counts[: len(corpus.alphabet)]))
    if ends:
        counts[-1] = len(corpus)
    tree, leaf_of = grow_tree(counts + 1)
    leaves, offsets = leaves_of(corpus, leaf_of, ends)
    learned = np.ones(len(leaves), dtype=np.bool_) if ends else first_times(leaves, offsets)
    text = _Text(leaves, offsets, learned)
    views = usual_views(settings.order, int(leaf_of[frequent]))
    with stage("counting contexts"):
        tables = count_contexts(leaves, offsets, learned, views, len(leaf_of))
    recent = np.array([k for k in _RECENT if k < settings.order], dtype=np.int64)
    experts = Experts(tree, views, settings.order, tables, recent, machines_of([], leaf_of, ends))
    order = rng.permutation(len(corpus))
    corrections = _corrections(experts, text, order)
    info: dict[str, Any] = {"n_grams": len(tables.keys), "learned_symbols": int(learned.sum())}
    weights = no_weights(experts)
    weights.corrections[:-1] = corrections
    weights, losses = _weights(experts, weights, text, order, settings, heard=False)
    info["objective"] = losses
    if automata is not None:
        experts, weights, found = _with_automata(
            experts, weights, text, corpus, settings, automata, rng, leaf_of, ends
        )
        info |= found
    model = ContextMixtureModel(
        corpus.alphabet, ends, leaf_of, experts, weights, settings.online_rate
    )
    return Learned(model, info)


def _corrections(experts: Experts, text: _Text, order: IndexArray) -> FloatArray:
    """Learn by how much the counts of each expert say too much or too little."""
    parts = np.array_split(_few(order, text, _CASES_OF_CORRECTIONS), _PARTS)

    def count(rows: IndexArray) -> FloatArray:
        part = _take(text, rows)
        found = np.zeros((n_experts(experts) - 1, N_LEVELS * N_LEVELS, 3))
        scratch = _scratch(experts, part)
        collect(experts, nothing, scratch, part.leaves, part.offsets, part.learned, found)
        return found

    nothing = no_weights(experts)
    with stage("learning what counts are worth"), ThreadPoolExecutor(thread_count(None)) as pool:
        found = sum(pool.map(count, parts), np.zeros(()))
    cases, right, expected = np.moveaxis(found, 2, 0)
    said = np.clip(expected / np.maximum(cases, 1.0), 1e-4, 1 - 1e-4)
    true = np.clip((right + _PRIOR * said) / (cases + _PRIOR), 1e-4, 1 - 1e-4)
    return np.where(cases > 0, np.log(true / (1 - true)) - np.log(said / (1 - said)), 0.0)


def _weights(
    experts: Experts,
    start: Weights,
    text: _Text,
    order: IndexArray,
    settings: MixtureSettings,
    *,
    heard: bool,
) -> tuple[Weights, list[float]]:
    """Learn weights from sequences in an order; return them and the loss of each time through.

    Fewer data are gone through more often, ever slower.
    """
    weights = Weights(*(part.copy() for part in start))
    squares = Weights(*(np.ones_like(part) for part in start))
    scratch = _scratch(experts, text)
    few = _few(order, text, settings.cases)
    n_cases = int(np.diff(text.offsets)[few].sum())
    losses = []
    n_times = min(max(settings.cases // max(n_cases, 1), 1), _MOST_TIMES)
    with stage("learning weights", n_times) as progress:
        for time in range(n_times):
            lesson = Lesson(*text[:2], few, text.learned, settings.rate / (1 + time), heard)
            losses.append(float(train(experts, weights, squares, scratch, lesson)))
            progress.advance(note=f"{losses[-1]:.4f} bits")
    return weights, losses


def _with_automata(
    experts: Experts,
    weights: Weights,
    text: _Text,
    corpus: Corpus,
    settings: MixtureSettings,
    automata: Automata,
    rng: np.random.Generator,
    leaf_of: SymbolArray,
    ends: bool,
) -> tuple[Experts, Weights, dict[str, Any]]:
    """Add automata to the experts if that helps on sequences they were learned without."""
    apart = draw_part(len(corpus), _HELD_OUT, rng, least=1)
    models = automata.learn(corpus.take(np.flatnonzero(~apart)))
    wider = experts._replace(machines=machines_of(models, leaf_of, ends))
    start = _widened(weights, len(models))
    order = rng.permutation(np.flatnonzero(apart))
    _, without = _weights(experts, weights, text, order, settings, heard=False)
    heard, losses = _weights(wider, start, text, order, settings, heard=True)
    # The first time through, every case is predicted before it is learned from.
    found: dict[str, Any] = {"loss_without_automata": without[0], "loss_with_automata": losses[0]}
    if losses[0] > without[0] - _GAIN:
        return experts, weights, found
    models = automata.finish(models, corpus)
    return experts._replace(machines=machines_of(models, leaf_of, ends)), heard, found


def _widened(weights: Weights, n_machines: int) -> Weights:
    """Make room for automata before the constant."""
    before = len(weights.by_gate) - 1

    def room(part: FloatArray, axis: int) -> FloatArray:
        return np.insert(part, [before] * n_machines, 0.0, axis=axis)

    return Weights(*(room(part, axis) for part, axis in zip(weights, (0, 0, 1, 1, 1), strict=True)))


def _scratch(experts: Experts, text: _Text) -> Any:
    longest = int(np.diff(text.offsets).max(initial=0))
    return make_scratch(experts, tree_depth(experts.tree), longest, learning=True)


def _few(order: IndexArray, text: _Text, most: int) -> IndexArray:
    """Return the first sequences of an order that have so many symbols together."""
    total = np.cumsum(np.diff(text.offsets)[order])
    return order[: int(np.searchsorted(total, most)) + 1]


def _take(text: _Text, rows: IndexArray) -> _Text:
    lengths = np.diff(text.offsets)[rows]
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    source = np.repeat(text.offsets[rows] - offsets[:-1], lengths) + np.arange(offsets[-1])
    return _Text(text.leaves[source], offsets, text.learned[source])
