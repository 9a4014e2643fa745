"""Smoothed probabilities of tags, one count after the other, against their formulas."""

from itertools import product

import numpy as np
import pytest

from sigmastar.tagging.learn.smoothing import deleted_weights, smooth_tags

N = 4
TRIPLES = np.random.default_rng(0).poisson(0.7, (N, N, N)).astype(float)
TRIPLES[1, 2] = 0  # a context never seen
TRIPLES[:, 3] = 0  # nor this one, whatever came before


def shorter(triples):
    """Count pairs and single tags; half a count more of each tag."""
    pairs = [
        [sum(triples[h, i, j] for h in range(len(triples))) for j in range(N)] for i in range(N)
    ]
    singles = [0.5 + sum(row[j] for row in pairs) for j in range(N)]
    return pairs, [single / sum(singles) for single in singles]


@pytest.mark.parametrize("triples", [TRIPLES, TRIPLES[:1]], ids=["triples", "pairs"])
def test_witten_bell_shrinks_by_how_many_tags_followed(triples):
    """P(t|h) = (N(ht) + s·D(h)·P(t|h')) / (N(h) + s·D(h))."""
    strength = 1.7

    def shrunk(counts, prior):
        weight = strength * max(sum(count > 0 for count in counts), 1)
        return [
            (c + weight * p) / (sum(counts) + weight) for c, p in zip(counts, prior, strict=True)
        ]

    bigram, trigram = smooth_tags(triples, method="witten-bell", strength=strength)
    pairs, single = shorter(triples)
    for i in range(N):
        np.testing.assert_allclose(np.exp(bigram[i]), shrunk(pairs[i], single))
    if len(triples) == 1:
        assert trigram is None
        return
    for h, i in product(range(N), range(N)):
        np.testing.assert_allclose(
            np.exp(trigram[h, i]), shrunk(triples[h, i], shrunk(pairs[i], single))
        )


def brants_weights(triples):
    """Figure 1 of Brants (TnT, 2000): each triple, left out once, votes for what tells it best."""
    pairs = triples.sum(axis=0)
    singles, total = pairs.sum(axis=0), triples.sum()
    votes = [0.0, 0.0, 0.0]
    for h, i, j in zip(*np.nonzero(triples), strict=True):
        told = [
            (count - 1) / (of - 1) if of > 1 else 0.0
            for count, of in (
                (singles[j], total),
                (pairs[i, j], pairs[i].sum()),
                (triples[h, i, j], triples[h, i].sum()),
            )[: 3 if len(triples) > 1 else 2]
        ]
        best = max(range(len(told)), key=lambda order: (told[order], order))  # ties: the longest
        votes[best] += triples[h, i, j]
    used = votes[: len(told)]
    return [vote / sum(votes) for vote in used]


@pytest.mark.parametrize("seed", range(8))
def test_deleted_interpolation_weighs_orders_by_what_they_tell_of_the_rest(seed):
    rng = np.random.default_rng(seed)
    triples = rng.poisson(0.5, (N, N, N)).astype(float) * rng.integers(1, 4, (N, N, N))
    np.testing.assert_allclose(deleted_weights(triples), brants_weights(triples))
    np.testing.assert_allclose(deleted_weights(triples[:1]), brants_weights(triples[:1]))


def test_deleted_interpolation_mixes_the_frequencies_of_all_orders():
    """Where a context was never seen, what is left is made to sum to one."""
    bigram, trigram = smooth_tags(TRIPLES, method="deleted", strength=0.0)
    pairs, single = shorter(TRIPLES)
    weights = brants_weights(TRIPLES)
    assert min(weights) > 0

    def mixed(*counted):
        shares = np.zeros(N)
        for weight, counts in zip(weights, (single, *counted), strict=False):
            shares += weight * np.array(counts) / max(np.sum(counts), 1e-300)
        return shares / shares.sum()

    for h, i in product(range(N), range(N)):
        np.testing.assert_allclose(np.exp(bigram[i]), mixed(pairs[i]))
        np.testing.assert_allclose(np.exp(trigram[h, i]), mixed(pairs[i], TRIPLES[h, i]))


@pytest.mark.parametrize("method", ["witten-bell", "deleted"])
def test_triples_are_told_from_pairs_by_their_contexts_alone(method):
    one_tag = np.array([[[0, 3], [0, 0]], [[2, 1], [4, 2]]])  # and a boundary
    assert len(deleted_weights(one_tag.astype(float))) == 3
    assert smooth_tags(one_tag, method=method, strength=1.0)[1].shape == (2, 2, 2)
    assert len(deleted_weights(one_tag[1:].astype(float))) == 2
    assert smooth_tags(one_tag[1:], method=method, strength=1.0)[1] is None
