"""Counting on Dask: partitions, workers and schedulers leave no trace in the result."""

import sys

import dask
import dask.bag
import numpy as np
import pytest
from distributed import Client
from hypothesis import given, settings
from hypothesis import strategies as st

from sigmastar import Alphabet, Corpus, SpectralWFA
from sigmastar.automata.learn.spectral import learn_spectral
from sigmastar.automata.moments import MomentPlan, collect_alphabet, count_bag
from sigmastar.core.errors import InvalidData, InvalidParameter, UnknownSymbol

PLAN = MomentPlan(basis_size=12, max_length=2)


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def drawn(n, seed=0):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list("abc"), size=rng.integers(0, 9))) for _ in range(n)]


@settings(max_examples=15)
@given(st.lists(st.text("abc", max_size=6), min_size=1, max_size=30), st.integers(1, 30))
def test_any_number_of_partitions_gives_the_counts_of_the_whole(sequences, n_partitions):
    letters = Alphabet("abc")
    bag = dask.bag.from_sequence(sequences, npartitions=n_partitions)
    whole = PLAN.count(Corpus.from_sequences(sequences, alphabet=letters))
    assert count_bag(bag, PLAN, letters) == whole


def test_a_cluster_learns_the_local_model_bit_for_bit():
    sequences = drawn(400)
    bag = dask.bag.from_sequence(sequences, npartitions=20)  # more than are merged at a time
    with Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0") as c:
        with dask.config.set(scheduler=c):
            alphabet = collect_alphabet(bag)
            counts = count_bag(bag, PLAN, alphabet)
    moments = PLAN.moments(counts, alphabet)
    far = learn_spectral(moments, n_states=3, solver="randomized", random_state=7).model
    local = (
        SpectralWFA(3, basis_size=12, max_length=2, solver="randomized", random_state=7)
        .fit(sequences)
        .model_
    )
    for name in ("initial", "transitions", "final"):
        assert np.array_equal(getattr(far, name), getattr(local, name))


@pytest.mark.parametrize("sequences", [drawn(30), [["b", "a"], [], [2, "b"], [2, 1]]])
def test_symbols_are_coded_as_those_of_a_corpus(sequences):
    bag = dask.bag.from_sequence(sequences, npartitions=4)
    assert collect_alphabet(bag) == Corpus.from_sequences(sequences).alphabet


def test_unknown_symbols_follow_the_policy():
    bag = dask.bag.from_sequence(["ab", "axb"], npartitions=2)
    letters = Alphabet("ab")
    with pytest.raises(UnknownSymbol, match="'x'"):
        count_bag(bag, PLAN, letters)
    both = PLAN.count(Corpus.from_sequences(["ab", "ab"], alphabet=letters))
    assert count_bag(bag, PLAN, letters, unknown="ignore") == both


def test_what_is_no_bag_of_sequences_is_refused():
    with pytest.raises(InvalidData, match=r"expected a Dask bag.*got list.*from_sequence"):
        collect_alphabet(["ab"])
    empty = dask.bag.from_sequence(["ab"]).filter(lambda s: not s)
    with pytest.raises(InvalidData, match="at least one sequence"):
        count_bag(empty, PLAN, Alphabet("ab"))
    with pytest.raises(InvalidData, match="sequence 0 must be"):
        collect_alphabet(dask.bag.from_sequence([1, 2]))
    with pytest.raises(InvalidParameter, match="max_length must be at most"):
        count_bag(empty, MomentPlan(max_length=40), Alphabet("ab"))


def test_counts_tell_a_cluster_what_they_weigh():
    counts = MomentPlan("substring").count(Corpus.from_sequences(["abab", "ba"]))
    assert sys.getsizeof(counts) >= counts.windows.nbytes + counts.window_counts.nbytes > 0
