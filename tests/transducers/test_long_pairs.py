"""Pairs with more units than a first table holds: learning ends all the same."""

import subprocess
import sys

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.transducers.moments import lattices

SIZES = lattices.allowed_sizes([(1, 0), (1, 1), (1, 2), (2, 1)])
LEARN = """
import sigmastar as ss
symbols = [str(i) for i in range({n})]
pairs = [(symbols, symbols)] + [(symbols[i : i + 3], symbols[i : i + 3]) for i in range({short})]
learner = ss.Transliterator("joint-ngram").fit(pairs)
print(learner.predict([symbols]) == [symbols])
"""


@pytest.mark.compiled
@pytest.mark.parametrize(("n", "short"), [(140, 0), (200, 50)])
def test_a_pair_of_many_different_symbols_is_learned(n, short):
    # In a process of its own: a search in a full table would never return.
    script = LEARN.format(n=n, short=short)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=400
    )
    assert done.stdout.strip() == "True", done.stderr


def test_units_do_not_depend_on_the_room_of_the_first_table(monkeypatch):
    rng = np.random.default_rng(0)
    pairs = [
        [rng.integers(30, size=size).tolist() for size in rng.integers(1, 12, size=2)]
        for _ in range(40)
    ]
    corpus = ss.PairCorpus.from_pairs(pairs)
    expected = lattices.find_units(corpus, SIZES)
    monkeypatch.setattr(lattices, "FEWEST", 1)
    np.testing.assert_array_equal(lattices.find_units(corpus, SIZES).keys, expected.keys)
    assert len(expected) > 1000


def test_no_more_units_are_expected_than_the_alphabets_can_make(monkeypatch):
    corpus = ss.PairCorpus.from_pairs([("a" * 60, "b" * 60)])
    asked = []
    empty = lattices.empty_keys
    monkeypatch.setattr(lattices, "FEWEST", 1)
    monkeypatch.setattr(lattices, "empty_keys", lambda n: asked.append(n) or empty(n))
    assert len(lattices.find_units(corpus, SIZES)) == 4
    assert max(asked) <= 4
