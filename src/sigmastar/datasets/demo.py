"""Small data that come with the package, for demonstrations and first steps without a network.

Every fifth line of each file is the test part; the rest is for training. The order of the files
is fixed, so are the parts.
"""

from __future__ import annotations

from importlib.resources import as_file, files

import numpy as np

from sigmastar.corpus.pairs import PairCorpus
from sigmastar.corpus.readers.api import read_pairs, read_tagged
from sigmastar.datasets.problem import Splits

__all__ = ["load_demo_english", "load_demo_names"]

_EVERY = 5  # one of so many lines is for testing
_FOLDER = files("sigmastar.datasets") / "embedded"


def load_demo_english() -> Splits[PairCorpus]:
    """Load English sentences with Universal part-of-speech tags: 429 to learn from, 107 to test.

    About 5,000 words of everyday English, written and tagged for this package after the
    guidelines of Universal Dependencies, with many words in several roles (*light*, *that*,
    *run*). Far too little for a tagger of real use: see :func:`load_ud` for that.

    Examples
    --------
    >>> words, tags = load_demo_english().test[0]
    >>> " ".join(f"{word}/{tag}" for word, tag in zip(words[:5], tags))
    'Please/INTJ light/VERB the/DET candles/NOUN before/SCONJ'
    """
    with as_file(_FOLDER / "english.txt") as path:
        return _parted(read_tagged(path, "word-tag"), "demo-english")


def load_demo_names() -> Splits[PairCorpus]:
    """Load names in Latin and Russian letters: 822 pairs to learn from, 205 to test.

    Given names, surnames and cities, in lower case, as Russian usage has them; so *Henry* is
    генри though *Hannah* is ханна. For data of real size see :func:`load_transliteration`.

    Examples
    --------
    >>> pairs = load_demo_names().train
    >>> "".join(pairs[0][0]), "".join(pairs[0][1])
    ('aaron', 'аарон')
    """
    with as_file(_FOLDER / "names.tsv") as path:
        return _parted(read_pairs(path), "demo-names")


def _parted(pairs: PairCorpus, name: str) -> Splits[PairCorpus]:
    row = np.arange(len(pairs))
    tested = row % _EVERY == _EVERY - 1
    return Splits(pairs.take(row[~tested]), None, pairs.take(row[tested]), name)
