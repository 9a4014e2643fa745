"""s-type transducers: equal to the tagger on the subsequences they cover (Kempe 1997, section 3).

Unambiguous classes and the ends of a sentence are barriers: a first-order tagger may tag what lies
between two of them by itself. Subsequences come (a) from a corpus, those seen often enough, or (b)
are all up to a length, counted like the paper's: ambiguous classes and the closing unambiguous one.
Everything else is left to the n1-type (``complete``, the s+n1-type) or refused (s-type).

The paper composes relations over the whole alphabet (equations 14 to 18); here tries between
barriers are tagged by one Viterbi step a node, outputs are pushed towards the start, and equal
futures merged, so that the result is deterministic and minimal in its acyclic part at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sigmastar.core.errors import InvalidParameter
from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.tagging.fst.names import class_names
from sigmastar.tagging.fst.ntype import n1_choices, reachable
from sigmastar.tagging.fst.sequential import SequentialTransducer
from sigmastar.tagging.kernels.stype import collect_nodes, score_nodes, sign_nodes
from sigmastar.tagging.kernels.stype_rows import fill_rows
from sigmastar.tagging.model import TagModel

__all__ = ["Subsequences", "all_subsequences", "s_type", "subsequences_of"]

_MOST_NODES = 30_000_000
_MOST_ENTRIES = 1 << 28


class Subsequences:
    """A set of subsequences between barriers, as a trie below one root for each barrier's tag.

    ``covered`` lists (node, end) pairs, ``end`` an unambiguous class or ``n_classes`` for the end
    of the sentence; None: every node may end everywhere.
    """

    def __init__(self, parent: SymbolArray, code: SymbolArray, covered: IndexArray | None) -> None:
        self.parent = parent
        self.code = code
        self.covered = covered

    @property
    def n_nodes(self) -> int:
        """How many nodes the trie has."""
        return len(self.parent)


def all_subsequences(model: TagModel, max_length: int) -> Subsequences:
    """Enumerate all subsequences of at most so many classes (the closing barrier counts as one)."""
    ambiguous = np.flatnonzero(model.is_ambiguous).astype(np.int32)
    n_roots = model.n_tags + 1
    # Only tags of unambiguous classes, and the boundary, begin a subsequence.
    roots = np.append(
        np.unique(model.candidates[model.offsets[:-1][~model.is_ambiguous]]), n_roots - 1
    )
    total = sum(len(roots) * len(ambiguous) ** d for d in range(max_length))
    if total > _MOST_NODES:
        raise InvalidParameter(
            f"max_length={max_length} with {len(ambiguous)} ambiguous classes makes {total:,} "
            f"subsequences, more than {_MOST_NODES:,}. Lower it, take those of a corpus, "
            'or use kind="lazy".'
        )
    parents = [np.full(n_roots, -1, np.int32)]
    codes = [np.full(n_roots, -1, np.int32)]
    level = roots.astype(np.int64)
    begin = n_roots
    for _ in range(max_length - 1):
        parents.append(np.repeat(level, len(ambiguous)).astype(np.int32))
        codes.append(np.tile(ambiguous, len(level)))
        level = np.arange(begin, begin + len(parents[-1]))
        begin += len(level)
    return Subsequences(np.concatenate(parents), np.concatenate(codes), None)


def subsequences_of(
    model: TagModel, codes: SymbolArray, starts: IndexArray, min_count: int = 1
) -> Subsequences:
    """Collect the subsequences that occur at least so often in sequences of classes."""
    n_roots = model.n_tags + 1
    barrier = np.where(model.is_ambiguous, -1, model.candidates[model.offsets[:-1]]).astype(
        np.int32
    )
    room = len(codes) + n_roots + 1
    parent = np.full(room, -1, np.int32)
    code = np.full(room, -1, np.int32)
    slots = 16
    while slots < 2 * room:
        slots *= 2
    n_nodes, last, ended = collect_nodes(
        codes, starts, barrier, model.n_tags, parent, code, np.full(slots, -1, np.int32)
    )
    pairs = last.astype(np.int64) * (model.n_classes + 1) + ended
    found, counts = np.unique(pairs, return_counts=True)
    found = found[counts >= min_count]
    nodes, ends = found // (model.n_classes + 1), found % (model.n_classes + 1)
    kept = np.zeros(n_nodes, bool)
    kept[:n_roots] = True
    front = nodes
    while len(front):
        front = np.unique(front[~kept[front]])
        kept[front] = True
        front = parent[front]
    renumber = np.cumsum(kept) - 1
    parents = parent[:n_nodes][kept]
    above = np.where(parents >= 0, renumber[parents], -1).astype(np.int32)
    covered = np.stack((renumber[nodes], ends), axis=1)
    return Subsequences(above, code[:n_nodes][kept], covered)


def s_type(model: TagModel, subsequences: Subsequences, *, complete: bool) -> SequentialTransducer:
    """Build the s-type (or, complete, the s+n1-type) transducer of a first-order tagger."""
    if model.order != 1:
        raise InvalidParameter("s-type transducers are of first order; use model.first_order().")
    parent, code = subsequences.parent, subsequences.code
    n_nodes, n_roots, n_classes = len(parent), model.n_tags + 1, model.n_classes
    classes = (model.offsets, model.candidates, model.scores, model.context_rows, model.context)
    counts = np.ones(n_nodes, np.int64)
    counts[n_roots:] = np.diff(model.offsets)[code[n_roots:]]
    places = np.concatenate(([0], np.cumsum(counts)))
    choices = n1_choices(model)
    score = np.empty(places[-1], np.int64)
    results = (score, np.empty(places[-1], np.int16), np.empty(n_nodes, np.int32))
    score_nodes(classes, model.bigram, choices, parent, code, places, results)
    depth = np.zeros(n_nodes, np.int64)
    at = np.arange(n_roots, n_nodes)
    above = parent[at]
    while len(at):
        depth[at] += 1
        going = above >= n_roots
        at, above = at[going], parent[above[going]]
    settled_at = np.concatenate(([0], np.cumsum(depth)))
    trie = (parent, code, places, n_roots)
    family = _family(parent, n_nodes)
    coverage = _coverage(model, subsequences, complete)
    slots = 16
    while slots < 2 * n_nodes:
        slots *= 2
    merged = (
        np.empty(settled_at[-1] + 1, np.int32),
        np.zeros(n_nodes, np.int32),
        settled_at,
        np.empty(n_nodes, np.int32),
        np.empty(n_nodes, np.int32),
        np.empty((n_nodes, 2), np.int64),
        np.full(slots, -1, np.int32),
    )
    n_states = int(sign_nodes(classes, model.bigram, trie, family, coverage, results, merged))
    state = merged[3]
    # The start of a sentence becomes state 0, and changes places with whoever was there.
    numbers = np.arange(n_states, dtype=np.int32)
    start = state[n_roots - 1]
    numbers[0], numbers[start] = start, 0
    rows = n_states + (n_roots if complete else 0)
    if rows * n_classes > _MOST_ENTRIES:
        raise InvalidParameter(
            f"a table of {rows:,} states and {n_classes:,} classes is too large. Train the tagger "
            'with classes="sets", raise min_count, or use kind="lazy".'
        )
    table = np.full((rows, n_classes), -1, np.int64)
    final = np.full(rows, -1, np.int32)
    pool = _fill(
        classes, model, trie, family, coverage, results, merged, (table, final, numbers, choices)
    )
    machine = SequentialTransducer.from_table(table, final, pool, class_names(model), model.tags)
    return reachable(machine)


def _family(parent: SymbolArray, n_nodes: int) -> tuple[IndexArray, IndexArray]:
    """List the children of every node."""
    born = np.flatnonzero(parent >= 0)
    order = born[np.argsort(parent[born], kind="stable")]
    counts = np.bincount(parent[born], minlength=n_nodes)
    return np.concatenate(([0], np.cumsum(counts))), order


def _coverage(model: TagModel, subsequences: Subsequences, complete: bool) -> tuple[Any, ...]:
    """List the ends, and which of them each node covers."""
    ends = np.append(np.flatnonzero(~model.is_ambiguous), model.n_classes).astype(np.int32)
    if subsequences.covered is None:
        nothing = np.zeros(1, np.int64)
        return ends, complete, True, nothing, nothing
    place = np.full(model.n_classes + 1, -1, np.int64)
    place[ends] = np.arange(len(ends))
    node, end = subsequences.covered.T
    order = np.argsort(node, kind="stable")
    counts = np.bincount(node, minlength=subsequences.n_nodes)
    starts = np.concatenate(([0], np.cumsum(counts)))
    return ends, complete, False, starts, place[end[order]]


def _fill(
    classes: Any,
    model: TagModel,
    trie: Any,
    family: Any,
    coverage: Any,
    results: Any,
    merged: Any,
    target: Any,
) -> tuple[SymbolArray, IndexArray]:
    """Fill the table, with more room for output strings until they fit; return the strings."""
    size = 1 << 16
    while True:
        used = np.zeros(1, np.int64)
        symbols = np.empty(4 * size, np.int32)
        offsets = np.zeros(size + 1, np.int64)
        strings = (symbols, offsets, np.full(2 * size, -1, np.int32), used)
        if fill_rows(
            classes, model.bigram, trie, family, coverage, results, merged, (*target, strings)
        ):
            n = int(used[0])
            return np.append(symbols[: offsets[n]], 0).astype(np.int32), offsets[: n + 1].copy()
        size *= 4
