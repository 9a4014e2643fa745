"""Ask many taggers for words that they never saw, and see that the memory stops growing.

Run ``python tools/stress/new_words.py``: every tagger could remember what all of them may together.
"""

from __future__ import annotations

import checkout  # isort: skip  # noqa: F401

import argparse
import re
import sys
from pathlib import Path

import sigmastar as ss
from sigmastar.core.remembered import MOST_BYTES, remembered

__all__ = ["main"]

_WORDS = 5000  # of a request
_SENTENCES = [["the", "dog", "barks"], ["a", "cat", "sleeps"]] * 4


def main() -> int:
    """Run the tool; return its exit code."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--taggers", type=int, default=92)
    options.add_argument("--words", type=int, default=1_000_000)
    given = options.parse_args()
    tags = [["DT", "NN", "VBZ"]] * len(_SENTENCES)
    taggers = [ss.HMMTagger(1).fit(_SENTENCES, tags).model_ for _ in range(given.taggers)]
    taggers[0].predict([["a", "word"]])
    print(f"{'words':>10} {'held, MB':>9} {'memory, MB':>11}")
    print(f"{0:10,} {remembered.held / 2**20:9.1f} {_memory():11,}")
    most = 0
    for turn in range(given.words // _WORDS):
        words = [f"w{turn}x{number}ing" for number in range(_WORDS)]
        taggers[turn * 37 % given.taggers].predict([words])
        most = max(most, remembered.held)
        if turn % 40 == 39:
            print(f"{(turn + 1) * _WORDS:10,} {remembered.held / 2**20:9.1f} {_memory():11,}")
    return int(most > MOST_BYTES)


def _memory() -> int:
    found = re.search(r"VmRSS:\s+(\d+)", Path("/proc/self/status").read_text())
    return 0 if found is None else int(found[1]) // 1024


if __name__ == "__main__":
    sys.exit(main())
