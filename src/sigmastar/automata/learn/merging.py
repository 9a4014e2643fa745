"""Deterministic automata by merging the states of a prefix tree.

The tree of all prefixes is a deterministic automaton of the sample itself. Its states are merged
wherever a test finds nothing to tell them apart: a core of *red* states grows from the root; of the
*blue* states that red ones lead to, the one seen most often is compared with every red one, and is
merged with the best of those that pass, or else becomes red. What was seen too rarely to be tested
goes where least likelihood is lost. Then the structure may be refined (:mod:`.merged_structure`),
and probabilities are counted along it.

Source: Carrasco and Oncina (1994); the tests are those of ``kernels/merging``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from sigmastar.automata.inference.tree import PrefixTree
from sigmastar.automata.kernels.merging import TESTS, MergeTree, Room, Rule, merge_some
from sigmastar.automata.learn.merged_structure import Structure, refine
from sigmastar.automata.models.pfa import PFA
from sigmastar.automata.models.size import check_weights
from sigmastar.core.memory import check_memory
from sigmastar.core.progress import stage
from sigmastar.core.types import IndexArray, Learned, SymbolArray
from sigmastar.corpus.corpus import Corpus

__all__ = ["MergeSettings", "MergeTest", "learn_merged"]

MergeTest: TypeAlias = Literal["chi2", "ratio", "alergia", "bic", "mdi"]
# Normal scores for the first two; Alergia's significance; shares of the parameters' price in BIC;
# nats of log-likelihood for each state saved.
THRESHOLDS = {"chi2": 3.5, "ratio": 3.5, "alergia": 1e-3, "bic": 1.0, "mdi": 3.0}
_WORST = 5.0  # normal score of a single pair that forbids a merge
_EXPECTED = 1.0  # outcomes expected less often are taken together in a test
_RARE = 3  # prefixes seen less often are cut off: they cannot be tested
_DECISIONS = 50  # about states, between two reports of progress


@dataclass(frozen=True)
class MergeSettings:
    """When to merge; see :class:`~sigmastar.MergedPFA`."""

    test: MergeTest = "chi2"
    threshold: float | Literal["auto"] = "auto"
    min_count: int = 20
    max_states: int = 500
    refine: bool = True
    smoothing: float = 1e-5


def learn_merged(
    corpus: Corpus,
    settings: MergeSettings = MergeSettings(),
) -> Learned[PFA]:
    """Learn a deterministic automaton; state 0 is its start.

    ``info["counts"]`` (states, symbols + 1) tells how often each arc was taken, and each state
    ended in.
    """
    least = max(settings.min_count * 3 // 4, 1)
    structure = Structure(corpus, merged_targets(corpus, settings), least)
    info: dict[str, Any] = {"n_merged": len(structure.target)}
    if settings.refine:
        info |= refine(structure)
    counts, _ = structure.count()
    model = _counted(corpus, structure.target, counts, settings.smoothing)
    return Learned(model, {"n_states": model.n_states, "counts": counts, **info})


def merged_targets(corpus: Corpus, settings: MergeSettings) -> SymbolArray:
    """Merge the prefix tree; return where each symbol leads from each state, -1 if nowhere."""
    tree = _merge_tree(corpus)
    n_nodes = len(tree.totals)
    most = min(settings.max_states, n_nodes)
    room = Room(
        stack=np.empty((n_nodes, 2), dtype=np.int32),
        log=np.empty((2 * n_nodes + 1, 3), dtype=np.int32),
        red=np.zeros(most, dtype=np.int32),
        is_red=np.zeros(n_nodes, dtype=np.bool_),
    )
    room.is_red[0] = True
    rule = Rule(
        kind=TESTS.index(settings.test),
        threshold=_threshold(settings),
        worst=_WORST,
        least=settings.min_count,
        small=_EXPECTED,
        n_sequences=len(corpus),
    )
    n_states, done = 1, False
    with stage("Merging states") as progress:
        while not done:
            n_states, done = merge_some(tree, room, rule, n_states, _DECISIONS)
            progress.advance(_DECISIONS, f"{n_states} states")
    red = room.red[:n_states]
    number = np.full(n_nodes, -1, dtype=np.int32)
    number[red] = np.arange(n_states)
    child = tree.child[red]
    return np.where(child >= 0, number[child], -1).astype(np.int32)


def _threshold(settings: MergeSettings) -> float:
    given = settings.threshold
    value = THRESHOLDS[settings.test] if given == "auto" else float(given)
    # Alergia's significance becomes the factor of Hoeffding's bound.
    return float(np.sqrt(0.5 * np.log(2.0 / value))) if settings.test == "alergia" else value


def _merge_tree(corpus: Corpus) -> MergeTree:
    """Lay out the prefixes that were seen often enough, with the counts of what followed."""
    grown = PrefixTree.grow(corpus)
    visits = grown.visits()
    kept = visits >= _RARE
    kept[0] = True
    n_nodes, n_symbols = int(kept.sum()), len(corpus.alphabet)
    check_memory(
        n_nodes * (12.0 * n_symbols + 64.0),
        f"Merging {n_nodes:,} prefixes over {n_symbols:,} symbols",
        "Map rare symbols to one (unknown='unk'), or learn from fewer sequences.",
    )
    number = np.cumsum(kept) - 1
    counts = np.zeros((n_nodes, n_symbols + 1), dtype=np.int64)
    counts[:, -1] = grown.end_counts()[kept]
    seen = 1 + np.flatnonzero(kept[grown.parent[1:]])
    counts[number[grown.parent[seen]], grown.symbol[seen]] = visits[seen]
    nodes = seen[kept[seen]]
    tree = MergeTree(
        counts=counts,
        totals=visits[kept],
        child=np.full((n_nodes, n_symbols), -1, dtype=np.int32),
        parent=np.full(n_nodes, -1, dtype=np.int32),
        symbol=grown.symbol[kept],
    )
    tree.parent[number[nodes]] = number[grown.parent[nodes]]
    tree.child[tree.parent[number[nodes]], grown.symbol[nodes]] = number[nodes]
    return tree


def _counted(corpus: Corpus, target: SymbolArray, counts: IndexArray, smoothing: float) -> PFA:
    """Normalise the counts; what never followed a state has a small share and leads to the start.

    So the automaton stays deterministic.
    """
    n_states, n_symbols = target.shape
    check_weights(n_states, n_symbols, "A merged automaton", copies=3)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    shares += smoothing / (n_symbols + 1)
    transitions = np.zeros((n_symbols, n_states, n_states))
    states, symbols = np.indices(target.shape)
    transitions[symbols, states, np.maximum(target, 0)] = shares[:, :-1]
    return PFA.normalized(np.eye(n_states)[0], transitions, shares[:, -1], corpus.alphabet)
