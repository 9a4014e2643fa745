"""LearnFST, parameter recovery, baselines and theory, against exact moments."""

import inspect
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import sigmastar as ss
from sigmastar.core.errors import InvalidData, InvalidParameter, UnknownSymbol
from sigmastar.transducers import inference as ask
from sigmastar.transducers.learn.baselines import learn_joint_hmm, learn_k_hmm
from sigmastar.transducers.learn.recover import recover_parameters
from sigmastar.transducers.learn.spectral import learn_transducer, output_basis
from sigmastar.transducers.learn.theory import learnability
from sigmastar.transducers.moments.trigrams import aligned_moments
from transducers.oracles import (
    best_permutation_gap,
    exact_moments,
    markov_inputs,
    random_parameters,
)

K, SIZE = 3, 4


def uniform(*_):
    return 1 / K**3


def value(model, x, y):
    state = model.initial
    for a, b in zip(x, y, strict=True):
        state = state @ model.operator(a, b)
    return float(state @ model.final)


def largest_gap(model, truth, length=4):
    pairs = product(product(range(K), repeat=length), product(range(SIZE), repeat=length))
    return max(abs(value(model, x, y) - value(truth, x, y)) for x, y in list(pairs)[::37])


@pytest.mark.parametrize("inputs", ["independent", "exact", "reweighted"])
@pytest.mark.parametrize("seed", range(3))
def test_exact_moments_of_independent_inputs_give_the_transducer_back(inputs, seed):
    truth = random_parameters(K, SIZE, 2, seed)
    moments = exact_moments(truth, uniform, K, SIZE)
    learned = learn_transducer(moments, n_states=2, inputs=inputs, smoothing=0)
    assert largest_gap(learned.model, truth.to_transducer()) < 1e-8


@pytest.mark.parametrize("seed", range(3))
def test_on_markov_inputs_only_the_published_estimator_is_biased(seed):
    truth = random_parameters(K, SIZE, 2, seed)
    moments = exact_moments(truth, markov_inputs(K, seed), K, SIZE)
    gaps = {
        inputs: largest_gap(
            learn_transducer(moments, n_states=2, inputs=inputs, smoothing=0).model,
            truth.to_transducer(),
        )
        for inputs in ("independent", "exact", "reweighted")
    }
    assert gaps["exact"] < 1e-8
    assert gaps["reweighted"] < 1e-8
    assert gaps["independent"] > 1e-2


def own_input_transducer(seed):
    """Draw a proper transducer whose outputs depend on the input they are written with."""
    rng = np.random.default_rng(seed)
    arcs = rng.dirichlet(np.full(SIZE * 2, 0.5), (K, 2)).reshape(K, 2, SIZE, 2)
    operators = arcs.transpose(0, 2, 1, 3)
    alphabets = (ss.Alphabet(range(K)), ss.Alphabet(range(SIZE)))
    return ss.Transducer.from_dense([0.4, 0.6], operators, [1.0, 1.0], *alphabets)


@pytest.mark.parametrize("seed", range(2))
def test_reweighting_is_right_where_outputs_look_at_their_own_input(seed):
    truth = own_input_transducer(seed)
    moments = exact_moments(truth, markov_inputs(K, seed), K, SIZE)
    gaps = {
        inputs: largest_gap(
            learn_transducer(moments, n_states=2, inputs=inputs, smoothing=0).model, truth
        )
        for inputs in ("exact", "reweighted")
    }
    assert gaps["reweighted"] < 1e-8
    assert gaps["exact"] > 1e-3


@pytest.mark.parametrize(("size", "m"), [(4, 2), (5, 3), (6, 4)])
def test_joint_schur_recovers_the_parameters(size, m):
    truth = random_parameters(K, size, m, 1)
    moments = exact_moments(truth, uniform, K, size)
    found = recover_parameters(moments, n_states=m)
    assert best_permutation_gap(found.model, truth) < 1e-6
    assert found.info["lower_energy"] < 1e-20


@pytest.mark.parametrize("inputs", ["independent", "reweighted"])
def test_moments_of_all_positions_give_the_start_back(inputs):
    truth = random_parameters(K, SIZE, 2, 1)
    start = exact_moments(truth, uniform, K, SIZE)
    later = replace(truth, initial=truth.initial @ truth.transition.mean(axis=0))
    following = exact_moments(later, uniform, K, SIZE)  # seen one position on
    pooled = replace(start, weights=start.weights + following.weights)  # first symbols: the start's
    found = recover_parameters(pooled, n_states=2, inputs=inputs).model
    assert best_permutation_gap(found, truth) < 1e-6


def test_a_single_start_meets_the_assumptions_if_all_states_are_passed():
    truth = replace(random_parameters(K, SIZE, 2, 1), initial=np.array([1.0, 0.0]))
    start = exact_moments(truth, uniform, K, SIZE)
    later = replace(truth, initial=truth.initial @ truth.transition.mean(axis=0))
    following = exact_moments(later, uniform, K, SIZE)
    pooled = replace(start, weights=1e6 * (start.weights + following.weights))
    found = recover_parameters(pooled, n_states=2)
    assert best_permutation_gap(found.model, truth) < 1e-6
    assert found.info["passed"].min() > 0.1
    assert all(learnability(pooled, n_states=2).assumptions)


def test_recovery_from_dependent_inputs_needs_reweighting():
    truth = random_parameters(K, SIZE, 2, 0)
    moments = exact_moments(truth, markov_inputs(K, 0), K, SIZE)
    reweighted = recover_parameters(moments, n_states=2, inputs="reweighted").model
    assert best_permutation_gap(reweighted, truth) < 1e-6
    printed = recover_parameters(moments, n_states=2).model
    assert best_permutation_gap(printed, truth) > 1e-2


def test_baselines_are_right_where_their_assumptions_hold():
    truth = random_parameters(K, SIZE, 2, 2)
    moments = exact_moments(truth, uniform, K, SIZE)
    assert largest_gap(learn_k_hmm(moments, n_states=2).model, truth.to_transducer()) < 1e-8
    joint = learn_joint_hmm(moments, n_states=2).model
    for x, y in [((0, 1, 2), (0, 1, 1)), ((2, 2, 0), (3, 0, 1))]:
        total = sum(value(joint, x, other) for other in product(range(SIZE), repeat=3))
        assert value(joint, x, y) / total == pytest.approx(value(truth.to_transducer(), x, y))


def test_baselines_start_where_sequences_start_also_from_all_positions():
    truth = random_parameters(K, SIZE, 2, 2)
    start = exact_moments(truth, uniform, K, SIZE)
    later = replace(truth, initial=truth.initial @ truth.transition.mean(axis=0))
    both = start.weights + exact_moments(later, uniform, K, SIZE).weights
    pooled = replace(start, weights=both / 2)  # first symbols: the start's
    assert largest_gap(learn_k_hmm(pooled, n_states=2).model, truth.to_transducer()) < 1e-8
    joint = learn_joint_hmm(pooled, n_states=2).model
    x, y = (0, 1, 2), (0, 1, 1)
    total = sum(value(joint, x, other) for other in product(range(SIZE), repeat=3))
    assert value(joint, x, y) / total == pytest.approx(value(truth.to_transducer(), x, y))


def test_moments_add_up_to_those_of_the_whole():
    rng = np.random.default_rng(0)
    pairs = [(rng.integers(3, size=n).tolist(), rng.integers(4, size=n).tolist()) for n in range(9)]
    whole = ss.PairCorpus.from_pairs(pairs)
    for positions in ("first", "all"):
        both = aligned_moments(whole[:4], positions=positions) + aligned_moments(
            whole[4:], positions=positions
        )
        together = aligned_moments(whole, positions=positions)
        np.testing.assert_array_equal(both.trigrams, together.trigrams)
        np.testing.assert_array_equal(both.weights, together.weights)
        np.testing.assert_array_equal(both.first, together.first)
        expected = sum(max(n - 2, 0) if positions == "all" else n >= 3 for n in range(9))
        assert together.total == expected


def test_an_input_never_seen_second_borrows_the_pooled_operators():
    pairs = [("abab", "xyxy"), ("baba", "yxyx"), ("bab", "yxx"), ("cba", "xyx")] * 10
    model = ss.SpectralTransducer(2).fit(pairs).model_
    a, b, unseen = (model.input_alphabet.index(symbol) for symbol in "abc")
    for output in range(2):  # "a" comes second in two pairs of four, and so does "b"
        seen = [model.operator(source, output) for source in (a, b)]
        np.testing.assert_allclose(model.operator(unseen, output), sum(seen) / 2, atol=1e-12)
    assert len(model.operators) < model.table.size


def counted(seed, n=400):
    """Draw the trigrams of pairs whose inputs are common, less common and rare."""
    rng = np.random.default_rng(seed)
    truth = random_parameters(K, SIZE, 2, seed).to_transducer()
    inputs = ss.Corpus.from_sequences(
        rng.choice(K, size=(n, 3), p=[0.7, 0.27, 0.03]).tolist(), alphabet=truth.input_alphabet
    )
    outputs = ask.sample_outputs(truth, inputs, random_state=rng)
    target = ss.Corpus.from_sequences(
        [codes.tolist() for codes in outputs], alphabet=truth.output_alphabet
    )
    return aligned_moments(ss.PairCorpus(inputs, target))


def test_what_was_seen_before_an_input_is_shrunk_towards_what_was_seen_before_all():
    moments, smoothing = counted(0), 0.5
    left = output_basis(moments).left[:, :2]
    _, b1, a2, b2, _, b3 = moments.columns()
    n = np.bincount(a2, moments.weights, minlength=K)
    assert n.min() >= 10 * smoothing  # so that no operator is mixed afterwards
    tables = np.zeros((K, SIZE, SIZE, SIZE))  # counts by x2, y2, y3, y1
    np.add.at(tables, (a2, b2, b3, b1), moments.weights)
    pooled = tables.sum(axis=(0, 2)) / n.sum()
    model = learn_transducer(moments, n_states=2, inputs="exact", smoothing=smoothing).model
    for a, b in product(range(K), range(SIZE)):
        before = tables[a].sum(axis=1)
        shrunk = (before + smoothing * pooled) / (n[a] + smoothing)
        printed = left.T @ (tables[a, b] / n[a]) @ np.linalg.pinv(left.T @ shrunk)
        np.testing.assert_allclose(model.operator(a, b), printed.T, atol=1e-10)


def test_operators_of_rare_inputs_are_mixed_with_the_pooled_ones():
    moments, smoothing = counted(1), 5.0
    seen = np.bincount(moments.columns()[2], moments.weights, minlength=K)
    assert 0 < seen[2] < 10 * smoothing < seen[1]
    plain = learn_transducer(moments, n_states=2, inputs="independent", smoothing=0).model
    mixed = learn_transducer(moments, n_states=2, inputs="independent", smoothing=smoothing).model
    trust = seen[2] / (seen[2] + smoothing)
    for b in range(SIZE):
        own = [plain.operator(a, b) for a in range(K)]
        pooled = sum(n * operator for n, operator in zip(seen, own, strict=True)) / seen.sum()
        np.testing.assert_allclose(
            mixed.operator(2, b), trust * own[2] + (1 - trust) * pooled, atol=1e-12
        )
        np.testing.assert_allclose(mixed.operator(0, b), own[0], atol=1e-12)


def test_one_decomposition_serves_all_sizes():
    truth = random_parameters(K, SIZE, 3, 5)
    moments = exact_moments(truth, uniform, K, SIZE)
    basis = output_basis(moments)
    alone = learn_transducer(moments, n_states=2).model
    assert learn_transducer(moments, n_states=2, basis=basis).model.allclose(alone)
    with pytest.raises(InvalidParameter, match="between 1 and 3"):
        learn_transducer(moments, n_states=4, basis=basis)


def test_auto_finds_the_number_of_states():
    truth = ss.ParametricTransducer(
        [0.5, 0.5],
        [[[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.0, 1.0]]],
        [[0.8, 0.1, 0.1], [0.1, 0.2, 0.7]],
        ss.Alphabet(range(2)),
        ss.Alphabet(range(3)),
    ).to_transducer()
    rng = np.random.default_rng(1)
    inputs = ss.Corpus.from_sequences(rng.integers(2, size=(6000, 3)).tolist())
    outputs = ask.sample_outputs(truth, inputs, random_state=2)
    found = ss.SpectralTransducer("auto", max_states=3).fit(inputs, [o.tolist() for o in outputs])
    assert found.n_states_ == 2
    assert set(found.info_["held_out"]) >= {1, 2}


def test_the_difficulty_is_the_formula_of_the_bound():
    truth = random_parameters(K, SIZE, 2, 4)
    moments = exact_moments(truth, uniform, K, SIZE)
    report = learnability(moments, n_states=2, model=truth, epsilon=0.5, delta=0.1)
    sigma_o = np.linalg.svd(truth.emission, compute_uv=False)[1]
    sigma_p = output_basis(moments).values[1]
    difficulty = 3.0**2 * 2 * SIZE / ((1 / 3) * sigma_o**2 * sigma_p**4)
    assert report.difficulty == pytest.approx(difficulty)
    assert report.sample_bound == pytest.approx(difficulty / 0.5**4 * np.log(K / 0.1))
    assert report.assumptions == (True, True, True, True)
    assert "assumption 4" in str(report)


def test_states_that_cannot_be_recovered_are_reported_and_not_fatal():
    pairs = [("abab", "xyxy"), ("baba", "yxyx"), ("abba", "xyyx"), ("baab", "yxxy")] * 6
    report = ss.SpectralTransducer(2).fit(pairs).report()  # outputs two apart are independent
    assert report.assumptions[1] is False
    assert report.difficulty == np.inf


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([("ab", "x")], "pair 0 has 2 and 1 symbols"),
        ([("", "")], "not empty"),
        ([("ab", "xy")], "three symbols"),
    ],
)
def test_pairs_that_cannot_be_learned_from_are_refused(pairs, message):
    with pytest.raises(InvalidData, match=message):
        ss.SpectralTransducer(1).fit(pairs)


@pytest.mark.parametrize("kind", [ss.JointHMMTransducer, ss.KHMMTransducer])
def test_the_baselines_need_three_symbols_too(kind):
    with pytest.raises(InvalidData, match=r"three symbols.*EMTransducer"):
        kind(1).fit([("ab", "xy")])


ESTIMATORS = [
    ss.SpectralTransducer(2),
    ss.JointHMMTransducer(2),
    ss.KHMMTransducer(2),
    ss.EMTransducer(2, max_iter=3, random_state=0),
]
TOY = [("abab", "xyxy"), ("baba", "yxyx"), ("abba", "xyyx"), ("baab", "yxxy")] * 10


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_estimators_keep_the_conventions_of_scikit_learn(estimator):
    names = [n for n in inspect.signature(type(estimator).__init__).parameters if n != "self"]
    assert sorted(names) == sorted(estimator.get_params())
    assert set(type(estimator)._rules) <= set(names)
    inputs, outputs = [x for x, _ in TOY], [y for _, y in TOY]
    one = clone(estimator).fit(TOY)
    two = clone(estimator).fit(inputs, outputs)
    np.testing.assert_array_equal(one.log_proba(TOY), two.log_proba(inputs, outputs))
    assert np.isfinite(cross_val_score(clone(estimator), inputs, outputs, cv=2)).all()


def test_predictions_come_as_beams_marginals_next_outputs_and_samples():
    fst = ss.SpectralTransducer(2).fit(TOY)
    assert fst.predict(["abb"]) == fst.predict(["abb"], decoding="marginal") == [["x", "y", "y"]]
    assert fst.predict_next("ab", "x")[0][0] == "y"
    assert fst.sample(["abab"] * 3, random_state=0) == [["x", "y", "x", "y"]] * 3
    best = fst.n_best(["ab"], 3)[0]
    assert best[0][0] == ["x", "y"]
    with pytest.raises(UnknownSymbol, match="'q'"):
        fst.predict(["aq"])
    with pytest.raises(InvalidParameter, match="decoding"):
        fst.predict(["ab"], decoding="magic")
