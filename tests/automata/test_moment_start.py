"""Starts of Baum–Welch from moments: the best of several, by sequences that none of them saw."""

import numpy as np
import pytest

import sigmastar as ss
from automata.oracles_moments import separated_hmm
from sigmastar.automata.inference.expected_counts import Forest
from sigmastar.automata.inference.tree import PrefixTree
from sigmastar.automata.learn import em_start
from sigmastar.automata.learn.baum_welch import BaumWelchSettings, learn_baum_welch
from sigmastar.automata.learn.blocks.em_family import PFAFamily
from sigmastar.automata.learn.blocks.em_step import held_out_score
from sigmastar.automata.learn.em_start import smoothed, start_from
from sigmastar.automata.learn.moment_start import best_start, separable_starts, tensor_starts

TRUTH = separated_hmm(3, symbols="abcd", seed=1)
DATA = ss.sample(TRUTH, 400, random_state=0)
FAMILY = PFAFamily()


def parts(seed=0):
    """Return what is held out and what is learned from, as the search for a start draws them."""
    return DATA.split(0.1, random_state=np.random.default_rng(seed))


def test_the_start_is_the_one_that_does_best_on_the_held_out_part():
    held_out, train = parts()
    assert 0 < len(held_out) < len(train)
    learners = [*tensor_starts(2, 4), *separable_starts(2)]
    settings = BaumWelchSettings(max_iter=2, tol=0.0)
    scores, found = [], []
    for learn in learners:
        start = start_from(smoothed(learn(train), 0.1), FAMILY, train)
        size = len(start["initial"])
        learned = learn_baum_welch(
            train, FAMILY, size, start=start, settings=settings, validation=held_out
        )
        found.append(start_from(learned.model, FAMILY, DATA))
        scores.append(held_out_score(Forest(held_out), FAMILY, found[-1], 1))
    rng = np.random.default_rng(0)
    best = best_start(DATA, FAMILY, learners, n_iter=2, rng=rng)
    expected = found[int(np.argmax(scores))]
    assert max(scores) > np.median(scores) + 1e-3
    for name, array in expected.items():
        np.testing.assert_allclose(best[name], array, atol=1e-12)


def test_learners_that_refuse_are_passed_over_and_told_if_all_do():
    def refuse(corpus):
        raise ss.errors.InvalidParameter("n_states must be fewer.")

    learners = [refuse, *separable_starts(2)[:1]]
    found = best_start(DATA, FAMILY, learners, n_iter=1, rng=np.random.default_rng(0))
    assert len(found["initial"]) == 1
    with pytest.raises(ss.errors.InvalidParameter, match="n_states must be fewer"):
        best_start(DATA, FAMILY, [refuse], n_iter=1, rng=np.random.default_rng(0))


def test_tensor_starts_are_hidden_markov_models_within_the_alphabet():
    assert {learn.args[1].n_states for learn in tensor_starts(9, 4)} == {1, 2, 4}
    for learn in tensor_starts(2, 4, random_state=0):
        model = learn(DATA)
        # What is emitted and where it is moved to are independent: every arc is a product.
        emission = model.transitions.sum(axis=2).T
        moves = model.transitions.sum(axis=0) / (1 - model.final)[:, None]
        product = emission.T[:, :, None] * moves[None, :, :]
        np.testing.assert_allclose(model.transitions, product, atol=1e-12)


def test_em_tensor_starts_from_tensors_and_climbs_above_them(monkeypatch):
    est = ss.TensorBaumWelch(3, restart_iter=3, max_iter=15, tol=0.0, random_state=0).fit(DATA)
    plain = ss.TensorHMM(3).fit(DATA)
    assert est.score(DATA) > plain.score(DATA)
    assert est.model_.n_states <= 3
    from sigmastar.automata.estimators import moment_baum_welch

    asked = []
    monkeypatch.setattr(
        moment_baum_welch,
        "tensor_starts",
        lambda *sizes, random_state: asked.append(sizes) or tensor_starts(*sizes),
    )
    ss.TensorBaumWelch(3, restart_iter=1, max_iter=1, random_state=0).fit(DATA)
    assert asked == [(3, 4)]


def test_prefixes_of_many_are_described_in_blocks(monkeypatch):
    wfa = TRUTH.to_pfa()
    whole = em_start.pfa_from_wfa(wfa, DATA, 3, random_state=0)
    monkeypatch.setattr(em_start, "_BLOCK_ENTRIES", 70)
    in_blocks = em_start.pfa_from_wfa(wfa, DATA, 3, random_state=0)
    np.testing.assert_array_equal(in_blocks.transitions, whole.transitions)


def test_rare_symbols_are_taken_together_where_there_are_very_many(monkeypatch):
    wfa, tree = TRUTH.to_pfa(), PrefixTree.grow(DATA)
    whole = em_start._Futures.of(wfa, tree).of_nodes(slice(None)) ** 2
    monkeypatch.setattr(em_start, "_TOLD_APART", 4)
    lumped = em_start._Futures.of(wfa, tree).of_nodes(slice(None)) ** 2
    assert lumped.shape[1] == 8  # two symbols, the others, the end; one and two steps ahead
    frequent = np.argsort(-np.bincount(DATA.symbols, minlength=4), kind="stable")
    for ahead in (0, 1):
        one, all_of_them = lumped[:, 4 * ahead :][:, :4], whole[:, 5 * ahead :][:, :5]
        np.testing.assert_allclose(one[:, :2], all_of_them[:, frequent[:2]], atol=1e-12)
        np.testing.assert_allclose(one[:, 2], all_of_them[:, frequent[2:]].sum(axis=1), atol=1e-12)
        np.testing.assert_allclose(one[:, 3], all_of_them[:, 4], atol=1e-12)
