"""Slow and plain definitions that the metrics are compared with."""

from functools import cache
from itertools import product

import numpy as np


def levenshtein(a, b):
    """Return the edit distance by its recursive definition."""

    @cache
    def distance(i, j):
        if i == 0 or j == 0:
            return i + j
        same = distance(i - 1, j - 1) + (a[i - 1] != b[j - 1])
        return min(same, distance(i - 1, j) + 1, distance(i, j - 1) + 1)

    return distance(len(a), len(b))


def common_subsequence(a, b):
    """Return the length of the longest common subsequence by its recursive definition."""
    if not a or not b:
        return 0
    if a[-1] == b[-1]:
        return 1 + common_subsequence(a[:-1], b[:-1])
    return max(common_subsequence(a[:-1], b), common_subsequence(a, b[:-1]))


def weight(model, string):
    """Return f(x), one product after the other."""
    vector = model.initial
    for code in string:
        vector = vector @ model.transitions[code]
    return float(vector @ model.final)


def strings(n_symbols, max_length):
    """Return all strings of codes up to a length."""
    return [x for k in range(max_length + 1) for x in product(range(n_symbols), repeat=k)]


def wrong_predictions(model, sequences):
    """Count positions, ends included, whose likeliest symbol is another, by definition."""
    errors = positions = 0
    for string in sequences:
        for end in range(len(string) + 1):
            vector = model.initial
            for code in string[:end]:
                vector = vector @ model.transitions[code]
            scores = [float((vector @ a).sum()) for a in model.transitions]
            guess = int(np.argmax([*scores, float(vector @ model.final)]))
            right = string[end] if end < len(string) else model.n_symbols
            errors += guess != right
            positions += 1
    return errors, positions
