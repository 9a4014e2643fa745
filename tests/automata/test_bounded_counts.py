"""Counts cut down to what a basis reads: the moments of all windows, in bounded tables."""

from dataclasses import fields

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.automata.moments.pairs import pair_moments
from sigmastar.automata.moments.plan import MomentPlan


def letters(n, seed=0):
    rng = np.random.default_rng(seed)
    chain = rng.dirichlet(np.full(4, 2.0), size=3)
    strings = [""] * 3
    for _ in range(n):
        state, string = 0, ""
        while len(string) < 15 and (state := rng.choice(4, p=chain[state])) < 3:
            string += "abc"[state]
        strings.append(string)
    return strings


def same(one, other):
    for field in fields(one):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if field.name == "symbol_blocks":
            np.testing.assert_array_equal(a.total(), b.total())
            np.testing.assert_array_equal(a.block(1), b.block(1))
        elif field.name == "basis":
            np.testing.assert_array_equal(a.prefix_codes, b.prefix_codes)
            np.testing.assert_array_equal(a.suffix_codes, b.suffix_codes)
        elif isinstance(a, np.ndarray):
            np.testing.assert_array_equal(a, b, field.name)


GIVEN = (["", "a", "ab", "abcab"], ["", "c", "bca"])


@pytest.mark.parametrize("statistics", ["substring", "prefix", "string"])
@pytest.mark.parametrize(
    ("basis", "length"), [("frequent", 1), ("frequent", 3), ("all", 2), (GIVEN, "auto")]
)
def test_moments_of_parts_are_those_of_all_windows(statistics, basis, length):
    strings = letters(300)
    plan = MomentPlan(statistics, basis, basis_size=12, max_length=length)
    corpus = ss.Corpus.from_sequences(strings)
    parts = ss.Partitions.from_sequences([strings[:50], [], strings[50:]], threads=1)
    whole, bounded = plan.count(corpus), plan.count(parts)
    same(plan.moments(whole, corpus.alphabet), plan.moments(bounded, corpus.alphabet))
    same(pair_moments(whole), pair_moments(bounded))


def test_tables_of_parts_stop_growing():
    rng = np.random.default_rng(0)
    plan = MomentPlan(basis_size=5, max_length=3)  # of 3^7 windows
    sizes = []
    for n in (100, 1000):
        strings = ["".join(rng.choice(list("abc"), 30)) for _ in range(n)]
        parts = ss.Partitions.from_sequences([strings], threads=1)
        sizes.append(len(plan.count(parts).windows))
    assert sizes[1] <= sizes[0] * 1.1
    assert sizes[1] < len(plan.count(ss.Corpus.from_sequences(strings)).windows) / 10
