"""What small data are spared, compiling, changes no bit of the results."""

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.automata.inference.expected_counts import Forest
from sigmastar.core import jit
from sigmastar.ngrams.counts import count_ngrams

pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(3)
    weights = rng.dirichlet(np.ones(16), size=3)
    moves = weights[:, :15].reshape(3, 5, 3).transpose(1, 0, 2)
    return ss.PFA(rng.dirichlet(np.ones(3)), moves, weights[:, 15], ss.Alphabet("abcde"))


@pytest.fixture(scope="module")
def corpus(model):
    return ss.sample(model, 40, random_state=5)


def ask(model, corpus):
    counts = Forest(corpus).expected_counts(model.initial, model.transitions, model.final)
    grams = count_ngrams(corpus, 3)
    wfa = ss.SpectralWFA(n_states=2).fit(corpus).model_
    return [
        counts.transitions,
        counts.log_likelihood,
        grams.windows,
        grams.window_counts,
        wfa.transitions,
        ss.log_proba(model, corpus),
        ss.log_proba(wfa, corpus),
        ss.next_distribution(wfa, corpus),
        ss.next_likelihoods(wfa, corpus),
    ]


def test_plain_and_compiled_kernels_give_the_same_bits(model, corpus, monkeypatch):
    with jit.without_patience():
        compiled = ask(model, corpus)
    monkeypatch.setattr(jit, "PATIENCE", 10**9)
    monkeypatch.setattr(jit.Kernel, "sized", lambda kernel, steps: kernel.plain)
    for one, other in zip(compiled, ask(model, corpus), strict=True):
        np.testing.assert_array_equal(one, other, strict=True)
