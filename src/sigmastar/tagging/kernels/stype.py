"""Building s-type transducers directly: tries between unambiguous classes, tagged, pushed, merged.

A node of the trie is a barrier's tag followed by ambiguous classes; node arrays are ordered so that
parents precede children. ``ends`` are the unambiguous classes, and last the end of the sentence
(code ``n_classes``). Viterbi paths to a node live as one back pointer for each of its candidates;
``greedy`` is the tag that the n1-type gives to the node's last class.

What all continuations of a node agree on is written before the node is reached (``settled`` tags);
nodes whose remaining futures agree are one state, found by a 128-bit signature from the leaves up.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sigmastar.core.jit import kernel

__all__ = ["collect_nodes", "score_nodes", "sign_nodes"]

_LOWEST = -(1 << 62)


@kernel
def collect_nodes(
    codes: Any, starts: Any, barrier: Any, n_tags: Any, parent: Any, code: Any, slots: Any
) -> Any:
    """Grow the trie of the subsequences of a corpus below one root for each tag.

    ``barrier[c]`` is the tag of an unambiguous class, -1 otherwise. Nodes beyond the n_tags + 1
    roots go to ``parent`` and ``code``; ``slots`` (-1 everywhere, a power of two) is working space.
    Returns the number of nodes, and for every subsequence its last node and the code that ended it.
    """
    n_nodes = n_tags + 1
    last = np.empty(len(codes) + len(starts), np.int32)
    ended = np.empty(len(codes) + len(starts), np.int32)
    n = 0
    mask = len(slots) - 1
    for s in range(len(starts) - 1):
        node = n_tags
        for i in range(starts[s], starts[s + 1]):
            c = codes[i]
            if barrier[c] >= 0:
                last[n] = node
                ended[n] = c
                n += 1
                node = barrier[c]
                continue
            h = np.uint64(np.int64(node) * len(barrier) + c) * np.uint64(0x9E3779B97F4A7C15)
            slot = np.int64(h >> np.uint64(24)) & mask
            while slots[slot] >= 0 and (parent[slots[slot]] != node or code[slots[slot]] != c):
                slot = (slot + 1) & mask
            if slots[slot] < 0:
                slots[slot] = n_nodes
                parent[n_nodes] = node
                code[n_nodes] = c
                n_nodes += 1
            node = slots[slot]
        last[n] = node
        ended[n] = len(barrier)
        n += 1
    return n_nodes, last[:n], ended[:n]


@kernel
def score_nodes(
    classes: Any, bigram: Any, choices: Any, parent: Any, code: Any, places: Any, results: Any
) -> None:
    """Run Viterbi and the greedy choice down the trie.

    Node i's candidates stand at ``places[i]`` of ``results`` = (scores, back pointers, greedy);
    a root has one candidate, its tag.
    """
    offsets, candidates, scores, context_rows, context = classes
    score, back, greedy = results
    n_roots = len(bigram)
    for node in range(len(parent)):
        if node < n_roots:
            score[places[node]] = 0
            back[places[node]] = 0
            greedy[node] = node
            continue
        above = parent[node]
        c = code[node]
        first = offsets[c]
        row = context_rows[c]
        greedy[node] = choices[greedy[above], c]
        for q in range(offsets[c + 1] - first):
            tag = candidates[first + q]
            best = np.int64(_LOWEST)
            chosen = 0
            for p in range(places[above + 1] - places[above]):
                before = above if above < n_roots else candidates[offsets[code[above]] + p]
                value = score[places[above] + p] + bigram[before, tag]
                if row >= 0:
                    value += context[row + q, before]
                if value > best:
                    best = value
                    chosen = p
            score[places[node] + q] = best + scores[first + q]
            back[places[node] + q] = chosen


@kernel
def path_of(node: Any, which: Any, classes: Any, trie: Any, results: Any, tags: Any) -> Any:
    """Write the tags of the path to a node's candidate (the greedy path if -1); return how many."""
    offsets, candidates = classes[0], classes[1]
    parent, code, places, n_roots = trie
    back, greedy = results[1], results[2]
    depth = 0
    at = node
    while at >= n_roots:
        depth += 1
        at = parent[at]
    at = node
    for x in range(depth - 1, -1, -1):
        if which < 0:
            tags[x] = greedy[at]
        else:
            tags[x] = candidates[offsets[code[at]] + which]
            which = back[places[at] + which]
        at = parent[at]
    return depth


@kernel
def best_end(node: Any, end: Any, classes: Any, bigram: Any, trie: Any, results: Any) -> Any:
    """Return the candidate of a node on the best path to an unambiguous class (or the end)."""
    offsets, candidates, _, context_rows, context = classes
    _, code, places, n_roots = trie
    score = results[0]
    at_end = end == len(offsets) - 1
    tag = n_roots - 1 if at_end else candidates[offsets[end]]
    best = np.int64(_LOWEST)
    chosen = 0
    for p in range(places[node + 1] - places[node]):
        before = node if node < n_roots else candidates[offsets[code[node]] + p]
        value = score[places[node] + p] + bigram[before, tag]
        if not at_end and context_rows[end] >= 0:
            value += context[context_rows[end], before]
        if value > best:
            best = value
            chosen = p
    return chosen


@kernel
def string_hash(tags: Any, first: Any, last: Any, seed: Any) -> Any:
    """Return a hash of some tags and their number."""
    h = np.uint64(seed) + np.uint64(last - first + 1)
    for x in range(first, last):
        h = (h ^ np.uint64(tags[x] + 1)) * np.uint64(0x9E3779B97F4A7C15)
        h ^= h >> np.uint64(31)
    return np.int64(h & np.uint64(0x7FFFFFFFFFFFFFFF))


@kernel
def stir(a: Any, b: Any, c: Any) -> Any:
    """Return one number out of three, well mixed."""
    h = (np.uint64(a) * np.uint64(0x9E3779B97F4A7C15)) ^ np.uint64(b)
    h = (h ^ (h >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ np.uint64(c)) * np.uint64(0x94D049BB133111EB)
    return np.int64((h ^ (h >> np.uint64(32))) & np.uint64(0x7FFFFFFFFFFFFFFF))


@kernel
def sign_nodes(
    classes: Any, bigram: Any, trie: Any, family: Any, coverage: Any, results: Any, merged: Any
) -> Any:
    """Give every node its settled tags and its state; return the number of states.

    ``family`` = (where each node's children begin, the children); ``coverage`` = (ends, complete,
    everything covered, where each node's covered ends begin, their positions among the ends);
    ``merged`` = (settled tags of each node from ``settled_at`` on, their number, settled_at,
    state of each node, leading node of each state, signatures of the states, working slots).
    """
    offsets = classes[0]
    parent, code, places, _ = trie
    child_starts, children = family
    ends, complete, all_covered, cover_starts, covered = coverage
    settled, n_settled, settled_at, state, leader, signatures, slots = merged
    greedy = results[2]
    n_nodes = len(parent)
    n_ambiguous = 0
    for c in range(len(offsets) - 1):
        if offsets[c + 1] - offsets[c] > 1:
            n_ambiguous += 1
    widest = 1
    deepest = 1
    for node in range(n_nodes):
        widest = max(widest, places[node + 1] - places[node])
        deepest = max(deepest, settled_at[node + 1] - settled_at[node])
    tails = np.empty((widest + 1, deepest), np.int32)
    hashes = np.empty((2, widest + 1), np.int64)
    chosen = np.empty(len(ends), np.int32)  # candidate for each end; widest: greedy; -2: no arc
    used = np.empty(widest + 1, np.bool_)
    n_states = 0
    mask = len(slots) - 1
    for node in range(n_nodes - 1, -1, -1):
        k = places[node + 1] - places[node]
        used[:] = False
        chosen[:] = widest if complete else -2
        n_covered = len(ends) if all_covered else cover_starts[node + 1] - cover_starts[node]
        for x in range(n_covered):
            e = x if all_covered else covered[cover_starts[node] + x]
            chosen[e] = best_end(node, ends[e], classes, bigram, trie, results)
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
                path_of(node, q, classes, trie, results, tails[q])
        if used[widest]:
            path_of(node, -1, classes, trie, results, tails[widest])
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
            one += stir(greedy[node] + 1, hashes[0, widest], 17)
            two += stir(greedy[node] + 1, hashes[1, widest], 19)
        for y in range(n_children):
            child = children[child_starts[node] + y]
            first = settled_at[child] + common
            last = settled_at[child] + n_settled[child]
            mark = np.int64(state[child]) * len(offsets) + code[child]
            one += stir(mark, string_hash(settled, first, last, 3), 23)
            two += stir(mark, string_hash(settled, first, last, 4), 29)
        slot = (one ^ (one >> 17)) & mask
        while slots[slot] >= 0:
            other = slots[slot]
            if signatures[other, 0] == one and signatures[other, 1] == two:
                break
            slot = (slot + 1) & mask
        if slots[slot] < 0:
            slots[slot] = n_states
            signatures[n_states, 0] = one
            signatures[n_states, 1] = two
            leader[n_states] = node
            n_states += 1
        state[node] = slots[slot]
    return n_states
