"""Kneser–Ney by its definition, with dictionaries and recursion over contexts."""

from __future__ import annotations

from collections import Counter, defaultdict

BEGIN, END = "<", ">"


def grams_of(sequences, k):
    """Count the k-grams of all sequences, the begin mark included."""
    return Counter(s[i : i + k] for s in sequences for i in range(len(s) - k + 1))


def kneser_ney(sequences, order, symbols, ends, discounts):
    """Return P(symbol, context) as a function; contexts are tuples, the begin mark first."""
    padded = [(BEGIN, *s, *([END] if ends else [])) for s in sequences]
    outcomes = [*symbols, *([END] if ends else [])]
    tables = {}
    for k in range(1, order + 1):
        raw = grams_of(padded, k)
        before = defaultdict(set)
        for gram in grams_of(padded, k + 1):
            before[gram[1:]].add(gram[0])
        tables[k] = {
            gram: count if k == order or gram[0] == BEGIN else len(before[gram])
            for gram, count in raw.items()
            if gram != (BEGIN,)
        }

    def probability(symbol, context, k=order):
        if k == 0:
            return 1.0 / len(outcomes)
        head = tuple(context)[max(len(context) - k + 1, 0) :]
        lower = probability(symbol, context, k - 1)
        if len(head) < k - 1:
            return lower
        after = {g[-1]: c for g, c in tables[k].items() if g[:-1] == head}
        total = sum(after.values())
        if total == 0:
            return lower
        taken = {s: discounts[k - 1][min(c, 3) - 1] for s, c in after.items()}
        share = (after[symbol] - taken[symbol]) / total if symbol in after else 0.0
        return share + sum(taken.values()) / total * lower

    return probability, tables
