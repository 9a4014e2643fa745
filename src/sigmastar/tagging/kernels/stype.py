"""Building s-type transducers directly: tries between unambiguous classes, tagged, pushed, merged.

A node of the trie is a barrier's tag followed by ambiguous classes; node arrays are ordered so that
parents precede children. ``ends`` are the unambiguous classes, and last the end of the sentence
(code ``n_classes``). Viterbi paths to a node live as one back pointer for each of its candidates;
``greedy`` is the tag that the n-type gives to the node's last class, and ``greedy_state`` its state
then.

What all continuations of a node agree on is written before the node is reached (``settled`` tags);
nodes whose remaining futures agree are one state, found by a 128-bit signature from the leaves up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sigmastar.core.hashing import EMPTY, find_pair, find_slot, pair_key
from sigmastar.core.jit import kernel
from sigmastar.core.types import IndexArray, Int, SymbolArray
from sigmastar.tagging.kernels.ntype import Greedy
from sigmastar.tagging.kernels.records import Classes

__all__ = [
    "BackPointers",
    "Coverage",
    "States",
    "Trie",
    "collect_nodes",
    "score_nodes",
    "sign_nodes",
]

_LOWEST = -(1 << 62)
_POSITIVE = (1 << 63) - 1


class Trie(NamedTuple):
    """Subsequences between barriers; the first ``n_roots`` nodes are the tags of barriers."""

    parent: SymbolArray
    code: SymbolArray  # class that leads to the node
    places: IndexArray  # where the node's candidates begin
    child_starts: IndexArray
    children: IndexArray
    n_roots: int
    widest: int  # the most candidates of a node
    deepest: int  # the most classes that lead to one, at least 1


class BackPointers(NamedTuple):
    """Viterbi at every candidate of every node, and the greedy tag and state of every node."""

    score: IndexArray
    back: NDArray[np.int16]
    greedy: SymbolArray
    greedy_state: SymbolArray


class Coverage(NamedTuple):
    """Which ends each node covers, as places among ``ends``, unless every node covers all."""

    ends: SymbolArray
    n_ambiguous: int  # classes that may follow a node
    complete: bool  # what is not covered is tagged greedily
    all_covered: bool
    starts: IndexArray
    covered: IndexArray


class States(NamedTuple):
    """What nodes become: settled tags, and states by their signatures (open addressing)."""

    settled: SymbolArray  # settled tags of each node, from settled_at on
    settled_at: IndexArray
    n_settled: SymbolArray
    state: SymbolArray  # of each node
    leader: SymbolArray  # a node of each state
    keys: IndexArray
    others: IndexArray
    numbers: SymbolArray  # of the states in the table


@kernel
def collect_nodes(
    codes: SymbolArray,
    starts: IndexArray,
    barrier: SymbolArray,
    parent: SymbolArray,
    code: SymbolArray,
    keys: IndexArray,
    ended: SymbolArray,
) -> tuple[int, int]:
    """Grow the trie of the subsequences of a corpus below one root for each tag.

    ``barrier[c]`` is the tag of an unambiguous class, -1 otherwise. Nodes go to ``parent`` and
    ``code``, which hold the roots already (-1) and have room for one node a token; ``keys`` is an
    empty table for as many. Row i of ``ended`` receives the last node of subsequence i and the
    code that ended it. Returns the numbers of nodes and of subsequences.
    """
    n_roots = len(parent) - len(codes)
    numbers = np.empty(len(keys), np.int32)
    n_nodes = n_roots
    n = 0
    for s in range(len(starts) - 1):
        node = np.int32(n_roots - 1)
        for i in range(starts[s], starts[s + 1]):
            c = codes[i]
            if barrier[c] >= 0:
                ended[n, 0] = node
                ended[n, 1] = c
                n += 1
                node = barrier[c]
                continue
            key = pair_key(node, c)
            slot = find_slot(keys, key)
            if keys[slot] == EMPTY:
                keys[slot] = key
                numbers[slot] = n_nodes
                parent[n_nodes] = node
                code[n_nodes] = c
                n_nodes += 1
            node = numbers[slot]
        ended[n, 0] = node
        ended[n, 1] = len(barrier)
        n += 1
    return n_nodes, n


@kernel
def score_nodes(
    classes: Classes, bigram: SymbolArray, n_type: Greedy, trie: Trie, paths: BackPointers
) -> None:
    """Run Viterbi and the greedy choice down the trie; a root has one candidate, its tag."""
    offsets, candidates, scores, context_rows, context = classes[:5]
    score, back, greedy, greedy_state = paths
    places = trie.places
    for node in range(len(trie.parent)):
        if node < trie.n_roots:
            score[places[node]] = 0
            back[places[node]] = 0
            greedy[node] = node
            greedy_state[node] = n_type.roots[node]
            continue
        above = trie.parent[node]
        c = trie.code[node]
        first = offsets[c]
        row = context_rows[c]
        greedy[node] = n_type.tags[greedy_state[above], c]
        greedy_state[node] = n_type.onward[greedy_state[above], c]
        for q in range(offsets[c + 1] - first):
            tag = candidates[first + q]
            best = np.int64(_LOWEST)
            chosen = 0
            for p in range(places[above + 1] - places[above]):
                before = last_tag(above, p, classes, trie)
                value = score[places[above] + p] + bigram[before, tag]
                if row >= 0:
                    value += context[row + q, before]
                if value > best:
                    best = value
                    chosen = p
            score[places[node] + q] = best + scores[first + q]
            back[places[node] + q] = chosen


@kernel
def last_tag(node: Int, which: Int, classes: Classes, trie: Trie) -> Int:
    """Return the tag of a node's candidate."""
    if node < trie.n_roots:
        return np.int64(node)
    return np.int64(classes.candidates[classes.offsets[trie.code[node]] + which])


@kernel
def path_of(
    node: Int, which: Int, classes: Classes, trie: Trie, paths: BackPointers, tags: SymbolArray
) -> Int:
    """Write the tags of the path to a node's candidate (the greedy path if -1); return how many."""
    depth = 0
    at = node
    while at >= trie.n_roots:
        depth += 1
        at = trie.parent[at]
    at = node
    for x in range(depth - 1, -1, -1):
        if which < 0:
            tags[x] = paths.greedy[at]
        else:
            tags[x] = last_tag(at, which, classes, trie)
            which = paths.back[trie.places[at] + which]
        at = trie.parent[at]
    return depth


@kernel
def best_end(
    node: Int, end: Int, classes: Classes, bigram: SymbolArray, trie: Trie, paths: BackPointers
) -> Int:
    """Return the candidate of a node on the best path to an unambiguous class (or the end)."""
    offsets, candidates, _, context_rows, context = classes[:5]
    places = trie.places
    at_end = end == len(offsets) - 1
    tag = trie.n_roots - 1 if at_end else candidates[offsets[end]]
    best = np.int64(_LOWEST)
    chosen = 0
    for p in range(places[node + 1] - places[node]):
        before = last_tag(node, p, classes, trie)
        value = paths.score[places[node] + p] + bigram[before, tag]
        if not at_end and context_rows[end] >= 0:
            value += context[context_rows[end], before]
        if value > best:
            best = value
            chosen = p
    return chosen


@kernel
def string_hash(tags: SymbolArray, first: Int, last: Int, seed: Int) -> Int:
    """Return a hash of some tags and their number."""
    h = np.uint64(seed) + np.uint64(last - first + 1)
    for x in range(first, last):
        h = (h ^ np.uint64(tags[x] + 1)) * np.uint64(0x9E3779B97F4A7C15)
        h ^= h >> np.uint64(31)
    return np.int64(h & np.uint64(0x7FFFFFFFFFFFFFFF))


@kernel
def stir(a: Int, b: Int, c: Int) -> Int:
    """Return one number out of three, well mixed."""
    h = (np.uint64(a) * np.uint64(0x9E3779B97F4A7C15)) ^ np.uint64(b)
    h = (h ^ (h >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ np.uint64(c)) * np.uint64(0x94D049BB133111EB)
    return np.int64((h ^ (h >> np.uint64(32))) & np.uint64(0x7FFFFFFFFFFFFFFF))


@kernel
def sign_nodes(
    classes: Classes,
    bigram: SymbolArray,
    trie: Trie,
    coverage: Coverage,
    paths: BackPointers,
    states: States,
) -> Int:
    """Give every node its settled tags and its state; return the number of states."""
    offsets = classes.offsets
    places, child_starts, children = trie.places, trie.child_starts, trie.children
    ends, n_ambiguous, complete, all_covered, cover_starts, covered = coverage
    settled, settled_at, n_settled = states.settled, states.settled_at, states.n_settled
    n_nodes = len(trie.parent)
    widest = trie.widest
    tails = np.empty((widest + 1, trie.deepest), np.int32)
    hashes = np.empty((2, widest + 1), np.int64)
    chosen = np.empty(len(ends), np.int32)  # candidate for each end; widest: greedy; -2: no arc
    used = np.empty(widest + 1, np.bool_)
    n_states = 0
    for node in range(n_nodes - 1, -1, -1):
        k = places[node + 1] - places[node]
        used[:] = False
        chosen[:] = widest if complete else -2
        n_covered = len(ends) if all_covered else cover_starts[node + 1] - cover_starts[node]
        for x in range(n_covered):
            e = x if all_covered else covered[cover_starts[node] + x]
            chosen[e] = best_end(node, ends[e], classes, bigram, trie, paths)
        for e in range(len(ends)):
            if chosen[e] >= 0:
                used[chosen[e]] = True
        n_children = child_starts[node + 1] - child_starts[node]
        leaves = complete and n_children < n_ambiguous  # some ambiguous class leaves the trie
        if leaves:
            used[widest] = True
        depth = settled_at[node + 1] - settled_at[node]
        for q in range(k):
            if used[q]:
                path_of(node, q, classes, trie, paths, tails[q])
        if used[widest]:
            path_of(node, -1, classes, trie, paths, tails[widest])
        # The longest prefix that all continuations share.
        known = -1
        common = depth
        at = settled_at[node]
        for q in range(widest + 1):
            if not used[q]:
                continue
            if known < 0:
                known = q
                for x in range(depth):
                    settled[at + x] = tails[q, x]
            x = 0
            while x < common and settled[at + x] == tails[q, x]:
                x += 1
            common = x
        for y in range(n_children):
            child = children[child_starts[node] + y]
            if known < 0:
                known = widest + 1
                common = min(depth, n_settled[child])
                for x in range(common):
                    settled[at + x] = settled[settled_at[child] + x]
            x = 0
            while (
                x < common
                and x < n_settled[child]
                and settled[at + x] == settled[settled_at[child] + x]
            ):
                x += 1
            common = x
        n_settled[node] = common
        for h in range(2):
            for q in range(widest + 1):
                if used[q]:
                    hashes[h, q] = string_hash(tails[q], common, depth, 1 + h)
        one = np.int64(0)
        two = np.int64(0)
        for e in range(len(ends)):
            if chosen[e] >= 0:
                one += stir(e + 1, hashes[0, chosen[e]], 11)
                two += stir(e + 1, hashes[1, chosen[e]], 13)
        if leaves:
            one += stir(paths.greedy_state[node] + 1, hashes[0, widest], 17)
            two += stir(paths.greedy_state[node] + 1, hashes[1, widest], 19)
        for y in range(n_children):
            child = children[child_starts[node] + y]
            first = settled_at[child] + common
            last = settled_at[child] + n_settled[child]
            mark = np.int64(states.state[child]) * len(offsets) + trie.code[child]
            one += stir(mark, string_hash(settled, first, last, 3), 23)
            two += stir(mark, string_hash(settled, first, last, 4), 29)
        one &= _POSITIVE
        slot = find_pair(states.keys, states.others, one, two)
        if states.keys[slot] == EMPTY:
            states.keys[slot] = one
            states.others[slot] = two
            states.numbers[slot] = n_states
            states.leader[n_states] = node
            n_states += 1
        states.state[node] = states.numbers[slot]
    return n_states
