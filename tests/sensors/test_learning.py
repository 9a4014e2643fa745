"""What learners of taggers do with their settings, each held against the formula it comes from."""

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from scipy.linalg import fractional_matrix_power

import sigmastar as ss
from sensors.oracles import finite_world, random_features, random_tagger, robot_walk
from sigmastar.core.errors import InvalidData
from sigmastar.corpus.frames import Frames, as_frames
from sigmastar.sensors.inference.passes import carry_states, smooth_labels
from sigmastar.sensors.learn import em_starts
from sigmastar.sensors.learn import gibbs as gibbs_learner
from sigmastar.sensors.learn.em import em_step, learn_em
from sigmastar.sensors.learn.em_starts import draw_start
from sigmastar.sensors.learn.framewise import learn_framewise
from sigmastar.sensors.learn.spectral import learn_tagger, solve_gram

X, Y = robot_walk(3, n_sequences=20, length=20)
HELD = robot_walk(4, n_sequences=8, length=20)
POINTS = ss.CentroidFeatures(10, metric="euclidean", tau=0.5, random_state=0)


@pytest.mark.parametrize("ridge", [0.01, 0.5])
def test_the_ridge_is_added_to_the_gram_matrix(ridge):
    """O = (C + λ)⁻¹ Q with λ in units of the mean eigenvalue of C (eq. 30, regularised)."""
    world = finite_world(0)
    moments = world.moments()
    model = learn_tagger(
        moments, world.triple, world.model.labels, n_states=2, ridge=ridge, subspace="svd"
    ).model
    u, values, vt = np.linalg.svd(moments.pair)
    left, right = u[:, :2] / values[:2], vt[:2].T
    gram = moments.gram
    damped = gram + ridge * np.linalg.eigvalsh(gram).mean() * np.eye(len(gram))
    expected = np.einsum("kl,slij->skij", np.linalg.inv(damped), world.triple(left, right))
    signs = np.sign(model.initial / (moments.mean @ right))  # those of the SVD are free
    np.testing.assert_allclose(model.operators, expected * np.outer(signs, signs), atol=1e-10)


def test_the_ridge_reaches_the_tagger_and_is_chosen_among_taggers_that_differ():
    def learned(ridge):
        tagger = ss.SpectralSequenceTagger(4, features=POINTS, ridge=ridge, random_state=0)
        return tagger.fit(X, Y, validation=HELD)

    alone = {ridge: learned(ridge) for ridge in (1e-6, 3.0)}
    assert alone[1e-6].info_["damping"] < 1e-5 * alone[3.0].info_["damping"]
    assert not np.allclose(alone[1e-6].model_.operators, alone[3.0].model_.operators)
    table = learned([1e-6, 3.0]).info_["validation"]
    assert [row["accuracy"] for row in table] == [
        pytest.approx(tagger.score(*HELD)) for tagger in alone.values()
    ]
    assert table[0]["accuracy"] != table[1]["accuracy"]


def test_the_tables_of_gibbs_sampling_are_counts_and_the_prior(monkeypatch):
    """(count + prior) / (total + prior · symbols · states), drawn with the prior asked for.

    The first sweeps are thrown away; each draw is a block of its own, as likely as the others.
    """
    seen = []
    sweep = gibbs_learner.sweep_states

    def watched(paths, tables, prior, uniforms):
        sweep(paths, tables, prior, uniforms)
        seen.append((prior, *(table.copy() for table in tables)))

    monkeypatch.setattr(gibbs_learner, "sweep_states", watched)
    tagger = ss.GibbsSequenceTagger(
        2, features=POINTS, prior=0.25, n_sweeps=2, n_draws=2, random_state=0
    ).fit(X, Y)
    assert [prior for prior, *_ in seen] == [0.25] * 6
    model = tagger.model_
    expected = np.zeros_like(model.operators)
    begin = []
    for block, (_, counts, totals, starts) in zip((0, 2), (seen[3], seen[5]), strict=True):
        table = (counts + 0.25) / (totals + 0.25 * counts.shape[1] * 2)[:, None, None]
        shaped = table.reshape(2, 10, 3, 2).transpose(2, 1, 0, 3)
        expected[:, :, block : block + 2, block : block + 2] = shaped
        begin += [(start + 1) / (len(X) + 2) / 2 for start in starts]
    np.testing.assert_allclose(model.operators, expected)
    np.testing.assert_allclose(model.initial, begin)


def test_gibbs_sampling_starts_from_the_counts_of_its_paths(monkeypatch):
    """Moves, their totals and starts, one by one from the hidden states; no sweep has been."""
    seen = []
    monkeypatch.setattr(gibbs_learner, "sweep_states", lambda *given: seen.append(given))
    values = np.random.default_rng(0).random((7, 3))
    frames = Frames(values, [0, 1, 3, 5, 7], [0, 1, 1, 0, 1, 0, 0], ss.Alphabet("ab"))
    rng = np.random.default_rng(2)
    model = gibbs_learner.learn_gibbs(
        frames, n_states=2, prior=1.0, n_sweeps=1, n_draws=1, rng=rng
    ).model
    paths, tables = seen[0][:2]
    moves, starts = np.zeros((2, 6, 2)), np.zeros(2)
    for sequence, (begin, end) in enumerate(pairwise(frames.offsets)):
        states = paths.states[begin + sequence : end + sequence + 1]
        starts[states[0]] += 1
        for t, (before, after) in zip(range(begin, end), pairwise(states), strict=True):
            moves[before, 2 * values[t].argmax() + frames.codes[t], after] += 1
    np.testing.assert_array_equal(tables.moves, moves)
    np.testing.assert_array_equal(tables.totals, moves.sum(axis=(1, 2)))
    np.testing.assert_array_equal(tables.starts, starts)
    np.testing.assert_allclose(model.typical, np.bincount(values.argmax(axis=1), minlength=3) / 7)


@pytest.mark.parametrize("held", [False, True])
def test_the_best_of_several_starts_of_em_is_kept(held):
    settings = {"features": POINTS, "max_iter": 6, "tol": 0.0, "random_state": 5}
    validation = {"validation": HELD} if held else {}
    several = ss.EMSequenceTagger(3, n_restarts=4, **settings).fit(X, Y, **validation)
    frames = several.extractor_.training_frames()
    known = as_frames(HELD[0]).labelled(HELD[1], several.labels_)
    judges = several.extractor_.of(known) if held else None
    alone = [
        learn_em(
            frames, [draw_start(frames, 3, rng, init="random")], held=judges, max_iter=6, tol=0
        )
        for rng in np.random.default_rng(5).spawn(4)
    ]
    figures = [run.info["figure"] for run in alone]
    assert min(figures) < max(figures)
    best = alone[int(np.argmax(figures))]
    assert several.info_["figure"] == max(figures)
    np.testing.assert_array_equal(several.model_.operators, best.model.operators)


def test_a_step_of_em_takes_the_shares_of_all_paths():
    """Every hidden path and every choice of a table, one by one."""
    model = random_tagger(0, n_states=2, n_features=3)
    features, codes, offsets = random_features(1, 5, 3), np.array([0, 1, 0, 0, 1]), [0, 2, 5]
    features[:, 2] = 0  # a table that nothing uses keeps what it had
    features /= features.sum(axis=1, keepdims=True)
    likelihood, after = em_step(Frames(features, offsets, codes, model.labels))(model)
    starts, uses, log_masses = np.zeros(2), np.zeros(model.operators.shape), []
    for begin, end in pairwise(offsets):
        weights = {}
        for path in product(range(2), repeat=end - begin + 1):
            for tables in product(range(3), repeat=end - begin):
                steps = [*zip(codes[begin:end], tables, path[:-1], path[1:], strict=True)]
                chosen = np.prod(features[range(begin, end), tables])
                moved = np.prod([model.operators[step] for step in steps])
                weights[path[0], *steps] = model.initial[path[0]] * chosen * moved
        mass = sum(weights.values())
        log_masses.append(np.log(mass))
        for (first, *steps), weight in weights.items():
            starts[first] += weight / mass
            for step in steps:
                uses[step] += weight / mass
    np.testing.assert_allclose(after.initial, starts / 2)
    uses[:, 2] = model.operators[:, 2]
    np.testing.assert_allclose(after.operators, uses / uses.sum(axis=(0, 3))[None, :, :, None])
    assert likelihood == pytest.approx(sum(log_masses) / 5)


@pytest.mark.parametrize("frame", [[1.5, -0.5], [0.5, 0.4]], ids=["negative", "no sum of one"])
def test_em_refuses_features_that_are_no_probabilities(frame):
    frames = Frames([[0.5, 0.5], frame], [0, 2], [0, 1], ss.Alphabet("ab"))
    with pytest.raises(InvalidData, match="features that are probabilities"):
        em_step(frames)


def test_em_keeps_the_step_that_labels_the_held_out_frames_best():
    tagger = ss.EMSequenceTagger(6, features=POINTS, max_iter=25, tol=0.0, random_state=1)
    tagger.fit(X[:6], Y[:6], validation=HELD)
    frames = tagger.extractor_.training_frames()
    best = tagger.info_["best_step"]
    assert 0 < best < 25
    assert tagger.info_["accuracy"][best - 1] == max(tagger.info_["accuracy"])
    start = draw_start(frames, 6, np.random.default_rng(1).spawn(1)[0], init="random")
    again = learn_em(frames, [start], max_iter=best, tol=0.0)
    np.testing.assert_allclose(tagger.model_.operators, again.model.operators, atol=1e-12)


def test_random_starts_give_labels_as_often_as_they_go_with_a_feature():
    """Up to a factor from a half to three halves, before all are made to sum to one."""
    values = np.array([[0.9, 0.1], [0.8, 0.2], [0.0, 1.0], [0.0, 1.0]])
    frames = Frames(values, [0, 4], [0, 0, 1, 1], ss.Alphabet("ab"))
    start = em_starts.random_tagger(frames, 50, np.random.default_rng(0))
    together = np.array([[1.701, 0.301], [0.001, 2.001]])  # of label and feature, none at zero
    ratio = start.operators.sum(axis=3) / together[:, :, None]
    spread = ratio / ratio[::-1]
    assert 2.5 < spread.max() < 3
    np.testing.assert_allclose(start.operators.sum(axis=(0, 3)), 1.0)


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_starts_are_of_the_kind_asked_for_whatever_the_rank_of_the_features():
    frames = Frames(np.ones((6, 1)), [0, 6], [0, 1, 0, 0, 1, 0], ss.Alphabet("ab"))
    drawn = draw_start(frames, 3, np.random.default_rng(0), init="random")
    again = em_starts.random_tagger(frames, 3, np.random.default_rng(0))
    np.testing.assert_array_equal(drawn.operators, again.operators)
    spectral = draw_start(frames, 3, np.random.default_rng(0), init="spectral")
    # All states before a frame are alike: one group, in which labels are as frequent as seen.
    np.testing.assert_allclose(spectral.operators[:, 0, 0].sum(axis=1), [4 / 6, 2 / 6], atol=1e-3)


def test_spectral_starts_count_moves_between_groups_of_states(monkeypatch):
    """The last frame of all leads to where it stands; nothing is ruled out."""
    hidden, seen = np.array([0, 1, 2, 2, 1, 0]), []

    class Grouped:
        def __init__(self, *_, **__):
            pass

        def fit_predict(self, points):
            seen.append(points)
            return hidden

    monkeypatch.setattr(em_starts, "KMeans", Grouped)
    model, values = random_tagger(2, n_states=2, n_features=3), random_features(3, 6, 3)
    codes = np.array([0, 1, 1, 0, 0, 1])
    frames = Frames(values, [0, 3, 6], codes, model.labels)
    start = em_starts.project_tagger(frames, model, 3, 0)
    past = carry_states(model, values, frames.offsets, look_ahead=False)[0]
    np.testing.assert_allclose(seen[0].std(axis=0), 1.0)
    np.testing.assert_allclose(seen[0] * past.std(axis=0), past)
    counts = np.full((2, 3, 3, 3), 1e-3 / 3)
    for t in range(6):
        counts[codes[t], :, hidden[t], hidden[min(t + 1, 5)]] += values[t]
    np.testing.assert_allclose(
        start.operators, counts / counts.sum(axis=(0, 3))[None, :, :, None], rtol=1e-12
    )
    np.testing.assert_allclose(start.initial, np.array([1.001, 1e-3, 1.001]) / 2.003)


def test_frames_alone_are_labelled_by_ridge_regression():
    """The least squares of features and labels with λ rows more, λ in mean eigenvalues."""
    features, codes = random_features(0, 30, 4) * 0.2, np.arange(30) % 3
    frames = Frames(features, [0, 30], codes, ss.Alphabet("abc"))
    model = learn_framewise(frames, partition=False, ridge=0.5).model
    damping = 0.5 * np.linalg.eigvalsh(features.T @ features / 30).mean()
    rows = np.vstack([features / np.sqrt(30), np.sqrt(damping) * np.eye(4)])
    wanted = np.vstack([np.eye(3)[codes] / np.sqrt(30), np.zeros((4, 3))])
    expected = np.linalg.lstsq(rows, wanted, rcond=None)[0]
    np.testing.assert_allclose(model.operators[:, :, 0, 0], expected.T)
    np.testing.assert_allclose(model.typical, features.mean(axis=0))


@pytest.mark.parametrize(("unit", "damping"), [(1e-4, 0.0), (1e-4, 1e-21), (1e4, 0.0)])
def test_directions_that_a_gram_matrix_lacks_are_left_out(unit, damping):
    """Though rounding may leave a little of them, and so Cholesky's method something to divide."""
    rows = np.random.default_rng(0).normal(size=(3, 5)) * unit
    gram, right = rows.T @ rows, np.random.default_rng(1).normal(size=(5, 2))
    expected = np.linalg.pinv(gram, rcond=1e-9, hermitian=True) @ right
    np.testing.assert_allclose(solve_gram(gram, damping, right), expected, rtol=1e-6)


@pytest.mark.parametrize("length", [20, 1200], ids=["of many", "of one"])
def test_the_share_of_negative_scores_is_that_of_the_leading_sequences(length):
    many = robot_walk(5, n_sequences=1200 // length, length=length)
    tagger = ss.SpectralSequenceTagger(6, features=POINTS, ridge=0.0, random_state=0).fit(*many)
    own = tagger.extractor_.training_frames()
    seen = max(1000 // length, 1)
    scores = smooth_labels(tagger.model_, own.values[: seen * length], own.offsets[: seen + 1])
    assert 0 < tagger.info_["negative_scores"] == np.mean(scores.scores < 0)


@pytest.mark.parametrize("start", ["stationary", "first"])
def test_sequences_begin_in_the_stream_or_as_training_sequences_do(start):
    """H1ᵀ B⁺ (eq. 29), with the mean of all frames or of the first ones for H1."""
    world = finite_world(0)
    moments = replace(world.moments(), first_sum=np.arange(5.0))
    model = learn_tagger(moments, world.triple, world.model.labels, n_states=2, start=start).model
    begin = moments.mean if start == "stationary" else np.arange(5.0)
    expected = begin @ np.linalg.svd(moments.pair)[2][:2].T
    np.testing.assert_allclose(np.abs(model.initial), np.abs(expected))


def test_canonical_directions_are_those_of_whitened_moments():
    """The singular values of (C + λ)^(-1/2) H2 (C + λ)^(-1/2)."""
    world = finite_world(0)
    moments = world.moments()
    found = learn_tagger(
        moments, world.triple, world.model.labels, n_states=3, ridge=0.2, subspace="cca"
    )
    gram = moments.gram + 0.2 * np.linalg.eigvalsh(moments.gram).mean() * np.eye(5)
    whiten = fractional_matrix_power(gram, -0.5)
    expected = np.linalg.svd(whiten @ moments.pair @ whiten, compute_uv=False)[:3]
    np.testing.assert_allclose(found.info["singular_values"], expected)
