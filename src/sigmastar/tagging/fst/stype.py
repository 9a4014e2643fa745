"""s-type transducers: equal to the tagger on the subsequences they cover (Kempe 1997, section 3).

Unambiguous classes and the ends of a sentence are barriers: a first-order tagger may tag what lies
between two of them by itself. Subsequences come (a) from a corpus, those seen often enough, or (b)
are all up to a length, counted like the paper's: ambiguous classes and the closing unambiguous one.
Everything else is left to an n-type (``complete``: s+n0, s+n1, s+n2) or refused (s-type).

The paper composes relations over the whole alphabet (equations 14 to 18); here tries between
barriers are tagged by one Viterbi step a node, outputs are pushed towards the start, and equal
futures merged, so that the result is deterministic and minimal in its acyclic part at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sigmastar.core.arrays import offsets_of
from sigmastar.core.errors import InvalidParameter
from sigmastar.core.hashing import empty_keys
from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.tagging.fst.ntype import greedy_machine
from sigmastar.tagging.fst.sequential import SequentialTransducer
from sigmastar.tagging.kernels.ntype import Greedy
from sigmastar.tagging.kernels.sequential import Pool
from sigmastar.tagging.kernels.stype import (
    BackPointers,
    Coverage,
    States,
    Trie,
    collect_nodes,
    score_nodes,
    sign_nodes,
)
from sigmastar.tagging.kernels.stype_rows import Rows, StringSlots, fill_rows
from sigmastar.tagging.model import TagModel, class_names

__all__ = ["Subsequences", "all_subsequences", "s_type", "subsequences_of"]

_MOST_NODES = 30_000_000
_MOST_ENTRIES = 1 << 28


@dataclass(frozen=True, eq=False)
class Subsequences:
    """A set of subsequences between barriers, as a trie below one root for each barrier's tag.

    ``covered`` lists (node, end) pairs, ``end`` an unambiguous class or ``n_classes`` for the end
    of the sentence; None: every node may end everywhere.
    """

    parent: SymbolArray
    code: SymbolArray
    covered: IndexArray | None

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
    room = len(codes) + n_roots
    parent = np.full(room, -1, np.int32)
    code = np.full(room, -1, np.int32)
    ended = np.empty((len(codes) + len(starts), 2), np.int32)
    n_nodes, n_ended = collect_nodes(
        codes, starts, barrier, parent, code, empty_keys(len(codes)), ended
    )
    last, end = ended[:n_ended].T
    pairs = last.astype(np.int64) * (model.n_classes + 1) + end
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


def s_type(
    model: TagModel,
    subsequences: Subsequences,
    *,
    complete: bool,
    completion: Greedy | None = None,
) -> SequentialTransducer:
    """Build the s-type transducer of a first-order tagger, or the complete one.

    What is not covered is then tagged by the given n-type, by default n1: a s+n1-type.
    """
    if model.order != 1:
        raise InvalidParameter("s-type transducers are of first order; use model.first_order().")
    depths = _depths(subsequences.parent, model.n_tags + 1)
    trie = _trie(model, subsequences, int(depths.max(initial=1)))
    coverage = _coverage(model, subsequences, complete)
    n_nodes, n_roots, n_classes = subsequences.n_nodes, trie.n_roots, model.n_classes
    classes = model.classes
    greedy = greedy_machine(model, 1) if completion is None else completion
    paths = BackPointers(
        score=np.empty(trie.places[-1], np.int64),
        back=np.empty(trie.places[-1], np.int16),
        greedy=np.empty(n_nodes, np.int32),
        greedy_state=np.empty(n_nodes, np.int32),
    )
    score_nodes(classes, model.bigram, greedy, trie, paths)
    settled_at = offsets_of(depths)
    keys = empty_keys(n_nodes)
    states = States(
        settled=np.empty(settled_at[-1] + 1, np.int32),
        settled_at=settled_at,
        n_settled=np.zeros(n_nodes, np.int32),
        state=np.empty(n_nodes, np.int32),
        leader=np.empty(n_nodes, np.int32),
        keys=keys,
        others=np.empty(len(keys), np.int64),
        numbers=np.empty(len(keys), np.int32),
    )
    n_states = int(sign_nodes(classes, model.bigram, trie, coverage, paths, states))
    # The start of a sentence becomes state 0, and changes places with whoever was there.
    numbers = np.arange(n_states, dtype=np.int32)
    start = states.state[n_roots - 1]
    numbers[0], numbers[start] = start, 0
    n_rows = n_states + (len(greedy.tags) if complete else 0)
    if n_rows * n_classes > _MOST_ENTRIES:
        raise InvalidParameter(
            f"a table of {n_rows:,} states and {n_classes:,} classes is too large. Train the "
            'tagger with classes="sets", raise min_count, or use kind="lazy".'
        )
    table = np.full((n_rows, n_classes), -1, np.int64)
    final = np.full(n_rows, -1, np.int32)
    size = 1 << 16
    while True:  # with more room for output strings until they fit
        strings = StringSlots(
            symbols=np.empty(4 * size, np.int32),
            offsets=np.zeros(size + 1, np.int64),
            slots=np.full(2 * size, -1, np.int32),
            used=np.zeros(2, np.int64),
        )
        rows = Rows(table, final, numbers, greedy, strings)
        if fill_rows(classes, model.bigram, trie, coverage, paths, states, rows):
            break
        size *= 4
    offsets = strings.offsets[: int(strings.used[0]) + 1].copy()
    pool = Pool(np.append(strings.symbols[: offsets[-1]], 0).astype(np.int32), offsets)
    names = class_names(model)
    return SequentialTransducer.from_table(table, final, pool, names, model.tags).reachable()


def _trie(model: TagModel, subsequences: Subsequences, deepest: int) -> Trie:
    """Give the nodes their candidates and their children."""
    parent, code, n_roots = subsequences.parent, subsequences.code, model.n_tags + 1
    counts = np.ones(len(parent), np.int64)
    counts[n_roots:] = np.diff(model.offsets)[code[n_roots:]]
    born = np.flatnonzero(parent >= 0)
    n_children = np.bincount(parent[born], minlength=len(parent))
    return Trie(
        parent=parent,
        code=code,
        places=offsets_of(counts),
        child_starts=offsets_of(n_children),
        children=born[np.argsort(parent[born], kind="stable")],
        n_roots=n_roots,
        widest=int(counts.max()),
        deepest=deepest,
    )


def _depths(parent: SymbolArray, n_roots: int) -> IndexArray:
    """Return how many classes lead to each node."""
    depth = np.zeros(len(parent), np.int64)
    at = np.arange(n_roots, len(parent))
    above = parent[at]
    while len(at):
        depth[at] += 1
        going = above >= n_roots
        at, above = at[going], parent[above[going]]
    return depth


def _coverage(model: TagModel, subsequences: Subsequences, complete: bool) -> Coverage:
    """List the ends, and which of them each node covers."""
    ends = np.append(np.flatnonzero(~model.is_ambiguous), model.n_classes).astype(np.int32)
    n_ambiguous = int(model.is_ambiguous.sum())
    if subsequences.covered is None:
        nothing = np.zeros(1, np.int64)
        return Coverage(ends, n_ambiguous, complete, True, nothing, nothing)
    place = np.full(model.n_classes + 1, -1, np.int64)
    place[ends] = np.arange(len(ends))
    node, end = subsequences.covered.T
    order = np.argsort(node, kind="stable")
    counts = np.bincount(node, minlength=subsequences.n_nodes)
    starts = offsets_of(counts)
    return Coverage(ends, n_ambiguous, complete, False, starts, place[end[order]])
