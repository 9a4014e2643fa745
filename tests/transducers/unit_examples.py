"""A few aligned pairs, and every sequence of units for a word."""

import itertools

import numpy as np

import sigmastar as ss
from sigmastar.transducers.transliteration.alignment import align_pairs
from sigmastar.transducers.transliteration.candidates import Candidates

PAIRS = ss.PairCorpus.from_pairs(
    [("ab", "x"), ("ab", "xy"), ("ba", "yx"), ("aab", "xxy"), ("bb", "yzy"), ("a", "x")]
)
SIZES = ((1, 0), (1, 1), (1, 2), (2, 1))
ALIGNED = align_pairs(PAIRS, SIZES)


def all_sequences(x, aligned=ALIGNED):
    """Every sequence of units that reads a word, by what it writes."""
    units = aligned.units
    reads = [tuple(code for code in row if code >= 0) for row in units.inputs.tolist()]
    writes = [tuple(code for code in row if code >= 0) for row in units.outputs.tolist()]
    found = []
    for length in range(1, len(x) + 1):
        for path in itertools.product(range(len(units)), repeat=length):
            if sum((reads[u] for u in path), ()) == tuple(x):
                found.append((path, sum((writes[u] for u in path), ())))
    return found


def candidates_of(x, aligned=ALIGNED):
    paths = all_sequences(x, aligned)
    source = ss.Corpus(np.array(x, np.int32), np.array([0, len(x)]), PAIRS.source.alphabet)
    lengths = [len(path) for path, _ in paths]
    outputs = [[PAIRS.target.alphabet[code] for code in written] for _, written in paths]
    found = Candidates(
        source,
        np.zeros(len(paths), np.int64),
        np.zeros(len(paths)),
        np.array([u for path, _ in paths for u in path], np.int32),
        np.cumsum([0, *lengths]),
        ss.Corpus.from_sequences(outputs, alphabet=PAIRS.target.alphabet),
    )
    return found, paths
