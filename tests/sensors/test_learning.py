"""What learners of taggers do with their settings, each held against the formula it comes from."""

import numpy as np
import pytest

import sigmastar as ss
from sensors.oracles import finite_world, robot_walk
from sigmastar.corpus.frames import as_frames
from sigmastar.sensors.learn import gibbs as gibbs_learner
from sigmastar.sensors.learn.em import learn_em
from sigmastar.sensors.learn.em_starts import draw_start
from sigmastar.sensors.learn.spectral import learn_tagger

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
    """(count + prior) / (total + prior · symbols · states), drawn with the prior asked for."""
    seen = []
    sweep = gibbs_learner.sweep_states

    def watched(paths, tables, prior, uniforms):
        sweep(paths, tables, prior, uniforms)
        seen.append((prior, tables.moves.copy()))

    monkeypatch.setattr(gibbs_learner, "sweep_states", watched)
    tagger = ss.GibbsSequenceTagger(
        2, features=POINTS, prior=0.25, n_sweeps=2, n_draws=1, random_state=0
    ).fit(X, Y)
    assert [prior for prior, _ in seen] == [0.25] * 4
    counts = seen[-1][1]
    n_symbols = counts.shape[1]
    table = (counts + 0.25) / (counts.sum(axis=(1, 2)) + 0.25 * n_symbols * 2)[:, None, None]
    shaped = table.reshape(2, 10, 3, 2).transpose(2, 1, 0, 3)
    np.testing.assert_allclose(tagger.model_.operators, shaped)


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
