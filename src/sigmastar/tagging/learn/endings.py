"""Rules by the endings of words: of all edits that words need, the fewest endings that tell them.

An ending takes the edit that most of the words with that ending need, each word counted once, if
at least two do and the next shorter ending would say otherwise.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import TypeVar

from sigmastar.tagging.taggers.expansions import Expansion
from sigmastar.tagging.taggers.lemmatizer import LONGEST_ENDING, Edit

__all__ = ["ending_rules", "most_frequent"]

_FEWEST = 2  # words that an ending must have


Cut = TypeVar("Cut", Edit, Expansion)


def most_frequent(edits: Counter[Cut]) -> Cut:
    """Return the edit that was needed most often; of equals, the simplest."""
    return min(edits, key=lambda edit: (-edits[edit], edit.cut, edit))


def ending_rules(chosen: Mapping[tuple[str, str], Cut]) -> dict[tuple[str, str], Cut]:
    """Find the endings, for each tag, that need another edit than the next shorter one.

    Parameters
    ----------
    chosen : mapping from (tag, word) to an edit
        What each word needs.
    """
    counts: dict[tuple[str, str], Counter[Cut]] = defaultdict(Counter)
    for (tag, word), edit in chosen.items():
        lower = word.lower()
        for n in range(min(LONGEST_ENDING, len(lower)) + 1):
            if edit.cut <= n or n == 0:
                counts[tag, lower[len(lower) - n :]][edit] += 1
    found: dict[tuple[str, str], Cut] = {}
    for tag, ending in sorted(counts, key=lambda key: (key[0], len(key[1]), key[1])):
        best = most_frequent(counts[tag, ending])
        if counts[tag, ending][best] < _FEWEST and ending:
            continue
        above = next(
            (
                found[tag, ending[n:]]
                for n in range(1, len(ending) + 1)
                if (tag, ending[n:]) in found
            ),
            None,
        )
        if above != best:
            found[tag, ending] = best
    return found
