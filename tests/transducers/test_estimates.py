"""What learners estimate from counts of trigrams, held against the formulas one by one."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.core.types import Learned
from sigmastar.transducers.inference import log_proba, sample_outputs
from sigmastar.transducers.learn import em_restarts, recover
from sigmastar.transducers.learn.baselines import learn_joint_hmm, learn_k_hmm
from sigmastar.transducers.learn.em import chain_of_pairs, em_transducer, random_transducer
from sigmastar.transducers.learn.recover import recover_parameters
from sigmastar.transducers.learn.select import Trials, choose_n_states
from sigmastar.transducers.learn.spectral import (
    first_outputs,
    learn_transducer,
    output_basis,
    reweighted,
)
from sigmastar.transducers.learn.theory import learnability, noise_level
from sigmastar.transducers.learn.unit_em import align_best, learn_unit_weights
from sigmastar.transducers.moments.lattices import allowed_sizes, build_lattices, find_units
from sigmastar.transducers.moments.trigrams import aligned_moments
from transducers.oracles import (
    best_permutation_gap,
    exact_moments,
    markov_inputs,
    random_parameters,
)

K, SIZE = 3, 4


def markov_moments(seed=0):
    return exact_moments(random_parameters(K, SIZE, 2, seed), markov_inputs(K, seed), K, SIZE)


@pytest.mark.parametrize(
    "learn",
    [
        lambda moments: learn_transducer(moments, n_states=2, inputs="independent", smoothing=0),
        lambda moments: learn_transducer(moments, n_states=2, inputs="exact", smoothing=0),
        lambda moments: learn_transducer(moments, n_states=2, inputs="reweighted", smoothing=0),
        lambda moments: learn_joint_hmm(moments, n_states=2),
        lambda moments: learn_k_hmm(moments, n_states=2),
        lambda moments: recover_parameters(moments, n_states=2),
        lambda moments: recover_parameters(moments, n_states=2, inputs="reweighted"),
    ],
    ids=["independent", "exact", "reweighted", "joint", "k", "recovered", "both"],
)
def test_only_the_shares_of_trigrams_matter(learn):
    moments = markov_moments()
    many = replace(moments, weights=500 * moments.weights, first=200 * moments.first)
    one, other = learn(moments).model, learn(many).model
    if isinstance(one, ss.ParametricTransducer):
        assert best_permutation_gap(one, other) < 1e-6
    else:
        assert one.allclose(other, rtol=1e-6, atol=1e-8)


def test_first_outputs_are_counted_as_they_are_or_with_inputs_in_their_overall_shares():
    moments = aligned_moments(
        ss.PairCorpus.from_pairs([("abb", "xyy"), ("abb", "xxy"), ("bab", "yyx"), ("aab", "yxx")])
    )
    np.testing.assert_allclose(first_outputs(moments, by_input=False), [2 / 4, 2 / 4])
    # a writes x first in two of three pairs, b never; five of the twelve inputs are a.
    expected = np.array([5 / 12 * 2 / 3, 5 / 12 * 1 / 3 + 7 / 12])
    np.testing.assert_allclose(first_outputs(moments, by_input=True), expected)
    assert learn_k_hmm(moments, n_states=2).model.initial.tolist() == [0.5, 0.5]


def test_an_output_that_begins_every_sequence_gives_the_state_after_it():
    """β1 = Uᵀ P[y2 | y1 = start], and β∞ᵀ = ρᵀ(UᵀP)⁺."""
    truth = random_parameters(2, 3, 2, 1)
    moments = exact_moments(truth, lambda *_: 20.0, 2, 3)
    model = learn_transducer(moments, n_states=2, inputs="independent", smoothing=0, start=1).model
    _, b1, _, b2, _, _ = moments.columns()
    table = np.zeros((3, 3))
    np.add.at(table, (b2, b1), moments.weights / moments.total)
    left = output_basis(moments).left[:, :2]
    np.testing.assert_allclose(model.initial, left.T @ (table[:, 1] / table[:, 1].sum()))
    np.testing.assert_allclose(model.final, table.sum(axis=0) @ np.linalg.pinv(left.T @ table))


@pytest.mark.parametrize("smoothing", [0.0, 1.0])
def test_inputs_never_seen_second_write_nothing_without_smoothing(smoothing):
    pairs = [("abab", "xyxy"), ("baba", "yxyx"), ("bab", "yxx"), ("cba", "xyx")] * 10
    model = ss.SpectralTransducer(2, smoothing=smoothing).fit(pairs).model_
    unseen = model.table[model.input_alphabet.index("c")]
    assert (unseen >= 0).all() if smoothing else (unseen == -1).all()


def test_transitions_of_inputs_never_read_first_are_the_mean_of_the_others():
    truth = random_parameters(K, SIZE, 2, 1)
    moments = exact_moments(truth, lambda a, b, c: [0.25, 0.75, 0.0][a] / K**2, K, SIZE)
    found = recover_parameters(moments, n_states=2).model.transition
    np.testing.assert_allclose(found[2], 0.25 * found[0] + 0.75 * found[1], atol=1e-8)
    assert np.abs(found[0] - found[1]).max() > 0.1


@pytest.mark.parametrize("place", [0, 2, 3], ids=["emission", "transition", "initial"])
def test_the_largest_correction_of_a_recovery_is_told(place, monkeypatch):
    corrections = []

    def moved(rows):
        """Move what is asked for a little towards one corner, and the rest not at all."""
        corner = 0.001 * np.eye(rows.shape[1])[0]
        mixed = 0.999 * rows + corner if len(corrections) == place else rows
        corrections.append(np.abs(mixed - rows).max())
        return mixed

    monkeypatch.setattr(recover, "project_to_simplex", moved)
    moments = exact_moments(random_parameters(K, SIZE, 2, 1), lambda *_: 1 / K**3, K, SIZE)
    found = recover_parameters(moments, n_states=2).info["moved"]
    assert found == pytest.approx(corrections[place])
    assert found > 1e-5


def drawn(n, seed=1):
    truth = ss.ParametricTransducer(
        np.full(3, 1 / 3),
        [np.roll(np.eye(3), 1, axis=1) * 0.7 + 0.1, np.eye(3) * 0.7 + 0.1],
        np.eye(3, 4) * 0.8 + 0.05,
        ss.Alphabet(range(2)),
        ss.Alphabet(range(4)),
    ).to_transducer()
    rng = np.random.default_rng(seed)
    inputs = ss.Corpus.from_sequences(rng.integers(2, size=(n, 4)).tolist())
    outputs = sample_outputs(truth, inputs, random_state=rng)
    return ss.PairCorpus.from_pairs(zip(inputs, [o.tolist() for o in outputs], strict=True))


@pytest.mark.parametrize(("n", "max_states"), [(10, 4), (60, 4), (3000, 2), (3000, 4)])
def test_sizes_above_the_noise_are_tried_on_pairs_held_out(n, max_states):
    corpus = drawn(n)
    found = choose_n_states(corpus, Trials(max_states=max_states, random_state=0))
    judged, rest = corpus.split(0.1, random_state=0)
    assert len(judged) == n // 10
    values = found.info["singular_values"]
    clear = int((values > noise_level(len(rest)) / 3).sum())
    tried = range(1, min(max(clear, 2), max_states) + 1)
    moments = aligned_moments(rest)
    expected = {
        m: np.mean(
            log_proba(learn_transducer(moments, n_states=m, inputs="independent").model, judged)
        )
        for m in tried
    }
    assert found.info["held_out"] == pytest.approx(expected)
    assert found.model == max(expected, key=expected.get)


@pytest.mark.parametrize("n", [1, 2])
def test_a_size_cannot_be_chosen_without_pairs_to_hold_out(n):
    with pytest.raises(InvalidParameter, match="too few"):
        choose_n_states(drawn(n), Trials())


def test_the_noise_of_bigrams_is_the_bound_of_the_paper():
    """(1 + √ log 4/δ) / √n with probability 1 − δ (eq. 24)."""
    assert noise_level(400.0, 0.1) == pytest.approx((1 + np.sqrt(np.log(40))) / 20)
    assert noise_level(400.0) == noise_level(400.0, 0.05)
    assert noise_level(0.0) == pytest.approx(1 + np.sqrt(np.log(80)))


def test_the_least_singular_value_of_the_outputs_counts():
    truth = random_parameters(K, 3, 3, 4)
    moments = exact_moments(truth, lambda *_: 1 / K**3, K, 3)
    values = np.linalg.svd(truth.emission, compute_uv=False)
    report = learnability(moments, n_states=3, model=truth)
    assert report.sigma_output == pytest.approx(values[2])
    assert report.sigma_bigrams == pytest.approx(output_basis(moments).values[2])
    assert report.assumptions[0]  # as many outputs as states are enough


def test_assumptions_that_fail_are_told_one_by_one():
    truth = random_parameters(K, SIZE, 2, 1)
    moments = exact_moments(truth, lambda *_: 1e6 / K**3, K, SIZE)
    assert learnability(moments, n_states=2).assumptions == (True, True, True, True)
    assert learnability(moments, n_states=1).assumptions[0]
    many = learnability(moments, n_states=5)
    assert many.assumptions == (False, False, False, True)
    assert (many.sigma_bigrams, many.sigma_output, many.difficulty) == (0.0, 0.0, np.inf)
    few = replace(moments, weights=moments.weights / 1e6)
    assert learnability(few, n_states=2).assumptions == (True, True, False, True)
    assert learnability(few, n_states=2, model=truth).assumptions == (True, True, True, True)
    silent = exact_moments(truth, lambda _, b, __: 1e6 * (b < 2), K, SIZE)
    assert learnability(silent, n_states=2).assumptions == (True, True, True, False)
    absent = replace(truth, initial=np.array([1.0, 0.0]))
    assert learnability(moments, n_states=2, model=absent).assumptions == (True, False, True, True)
    alike = replace(truth, emission=truth.emission[[0, 0]])
    assert learnability(moments, n_states=2, model=alike).assumptions == (True, False, True, True)


@pytest.mark.parametrize(
    "change", [{"n_states": 0}, {"epsilon": 0.0}, {"epsilon": 1.5}, {"delta": 2}]
)
def test_bounds_need_an_error_and_a_risk_below_one(change):
    with pytest.raises(InvalidParameter, match=f"{next(iter(change))} must be"):
        learnability(markov_moments(), **{"n_states": 2, **change})


def test_what_is_reported_is_what_was_counted():
    moments = aligned_moments(ss.PairCorpus.from_pairs([("abab", "xyzx"), ("bbc", "zyx")] * 40))
    report = learnability(moments, n_states=1, epsilon=1.0, delta=1.0)
    assert (report.n_pairs, report.mean_length) == (80, 3.5)
    assert (report.n_inputs, report.n_outputs) == (3, 3)
    assert report.rarest_input == 0.0  # a and c are never second
    evenly = aligned_moments(ss.PairCorpus.from_pairs([("aba", "xyz"), ("bab", "zyx")] * 9))
    assert learnability(evenly, n_states=1).rarest_input == 0.5
    counts = np.zeros((3, 3))
    np.add.at(counts, ([1, 1], [0, 2]), 0.5)  # y after x, y after z
    np.testing.assert_allclose(report.sigma_bigrams, np.linalg.svd(counts)[1][0])
    assert report.noise == noise_level(80)
    lines = str(report).splitlines()
    assert [line.split()[-1] for line in lines[1:5]] == ["holds", "holds", "holds", "FAILS"]
    assert len({line.rindex(" ") for line in lines[1:5]}) == 1


def test_the_weights_of_a_joint_hmm_are_those_of_pairs_of_symbols():
    """f(x, y) of all pairs of one length adds up to one; those not seen have none."""
    moments = exact_moments(random_parameters(K, SIZE, 2, 2), lambda *_: 3.0, K, SIZE)
    model = learn_joint_hmm(moments, n_states=2).model
    assert model.joint
    state = model.initial @ np.sum(
        [model.operator(a, b) for a, b in product(range(K), range(SIZE))], axis=0
    )
    assert state @ model.final == pytest.approx(1.0)


def test_importance_weights_make_inputs_independent():
    """q(x1) q(x2) q(x3) / p(x1 x2 x3), with q the shares among all inputs."""
    moments = replace(markov_moments(), weights=40 * markov_moments().weights)
    a1, _, a2, _, a3, _ = moments.columns()
    together, alone = np.zeros((K, K, K)), np.zeros(K)
    for a, b, c, weight in zip(a1, a2, a3, moments.weights / moments.total, strict=True):
        together[a, b, c] += weight
        alone[[a]] += weight / 3
        alone[[b]] += weight / 3
        alone[[c]] += weight / 3
    expected = alone[a1] * alone[a2] * alone[a3] / together[a1, a2, a3]
    np.testing.assert_allclose(reweighted(moments), moments.weights * expected)


@pytest.mark.parametrize("learn", [learn_joint_hmm, learn_k_hmm])
def test_pairs_of_symbols_never_seen_have_no_weight(learn):
    moments = aligned_moments(ss.PairCorpus.from_pairs([("abab", "xyxy"), ("bab", "yxy")] * 9))
    table = learn(moments, n_states=1).model.table
    assert (table >= 0).tolist() == [[True, False], [False, True]]


def test_the_start_that_got_farthest_is_kept_whatever_the_step_before(monkeypatch):
    curves = iter([[-9.0, -3.0], [-4.0, -3.5], [], [-8.0, -2.0], [-5.0, -2.5]])
    monkeypatch.setattr(
        em_restarts,
        "em_transducer",
        lambda *_, **__: Learned(None, {"log_likelihood": next(curves)}),
    )
    corpus = ss.PairCorpus.from_pairs([("ab", "xy")])
    found = em_restarts.learn_em_transducer(corpus, em_restarts.Climb(n_restarts=5, random_state=0))
    assert found.info["log_likelihood"] == [-8.0, -2.0]


def test_em_needs_a_pair_that_the_model_allows():
    corpus = ss.PairCorpus.from_pairs([("ab", "xy"), ("b", "y")])
    table = np.array([[0, 1], [2, -1]], np.int32)  # b never writes y
    start = random_transducer(
        table, 2, (corpus.source.alphabet, corpus.target.alphabet), random_state=0
    )
    with pytest.raises(InvalidData, match="no pair has an alignment"):
        em_transducer(chain_of_pairs(corpus, table), start)


def laid_out(pairs, sizes=((1, 0), (1, 1))):
    corpus = ss.PairCorpus.from_pairs(pairs)
    units = find_units(corpus, allowed_sizes(sizes))
    return build_lattices(corpus, units), len(units)


def test_pairs_without_an_alignment_teach_nothing():
    lattices, n = laid_out([("ab", "x"), ("a", "xxx"), ("a", "x")])
    some = learn_unit_weights(lattices, n, max_iter=2)
    again, _ = laid_out([("ab", "x"), ("a", "x")])
    alone = learn_unit_weights(again, n, max_iter=2)
    np.testing.assert_array_equal(some.model, alone.model)
    assert some.info["log_likelihood"] == alone.info["log_likelihood"]
    assert learn_unit_weights(*laid_out([("a", "x")])).info["log_likelihood"][-1] == 0.0
    nothing = learn_unit_weights(again, n + 1, weights=np.eye(n + 1)[n])  # of a unit elsewhere
    assert nothing.model.tolist() == np.eye(n + 1)[n].tolist()
    assert set(nothing.info["log_likelihood"]) == {-np.inf}


def test_rounding_does_not_choose_among_alignments_that_are_equally_good():
    lattices, n = laid_out([("a" * 5, "x")])
    assert n == 2
    found = {
        tuple(align_best(lattices, np.array([p, 1 - p]))[0]) for p in np.linspace(0.1, 0.9, 99)
    }
    assert len(found) == 1
