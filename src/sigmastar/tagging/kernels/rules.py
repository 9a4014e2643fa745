"""Applying rules with fixed contexts of neighbouring tags and words, in place."""

from __future__ import annotations

import numba

from sigmastar.core.jit import kernel, parallel_kernel
from sigmastar.core.types import IndexArray, Int, SymbolArray

__all__ = ["apply_rules"]


@kernel
def fits(rule: SymbolArray, tags: SymbolArray, words: SymbolArray, i: Int, boundary: Int) -> bool:
    """Tell whether a rule's context holds at a place of a sentence."""
    if rule[2] >= 0 and words[i] != rule[2]:
        return False
    n = len(tags)
    for c in range(4):
        tag, word = rule[3 + 2 * c], rule[4 + 2 * c]
        if tag < 0 and word < 0:
            continue
        at = i + (c - 2 if c < 2 else c - 1)
        outside = at < 0 or at >= n
        # The tag of a place outside the sentence is the boundary; no word stands there.
        if tag >= 0 and (boundary if outside else tags[at]) != tag:
            return False
        if word >= 0 and (outside or words[at] != word):
            return False
    return True


@parallel_kernel
def apply_rules(
    rules: SymbolArray, tags: SymbolArray, words: SymbolArray, starts: IndexArray, boundary: Int
) -> None:
    """Rewrite tags: rule after rule, each from left to right over every sentence.

    A row of ``rules``: old tag, new tag, word (-1: any), then tag and word wanted at the offsets
    -2, -1, 1 and 2 (-1: any; the tag ``boundary``: outside the sentence).
    """
    for s in numba.prange(len(starts) - 1):
        here = tags[starts[s] : starts[s + 1]]
        spoken = words[starts[s] : starts[s + 1]]
        for r in range(len(rules)):
            old = rules[r, 0]
            for i in range(len(here)):
                if here[i] == old and fits(rules[r], here, spoken, i, boundary):
                    here[i] = rules[r, 1]
