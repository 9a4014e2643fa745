"""Branches that only large or degenerate problems take, reached on small ones."""

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sigmastar as ss
from automata.oracles import random_pfa
from sensors.oracles import robot_walk
from sigmastar.automata.estimators.registry import find_method
from sigmastar.automata.inference import tree
from sigmastar.core.errors import InvalidData
from sigmastar.core.linalg import svd
from sigmastar.core.linalg.svd import truncated_svd
from sigmastar.sensors.features.from_sklearn import to_stages
from sigmastar.sensors.learn.spectral import solve_gram
from sigmastar.transducers.learn import spectral as transducer_spectral
from sigmastar.transducers.learn.em import chain_of_pairs
from transducers.oracles import exact_moments, random_parameters


def test_a_large_matrix_has_the_leading_triplets_of_the_dense_decomposition():
    rng = np.random.default_rng(0)
    left, right = (np.linalg.qr(rng.normal(size=(220, 220)))[0] for _ in range(2))
    matrix = (left * 0.9 ** np.arange(220)) @ right.T
    u, values, v = truncated_svd(matrix, 4, solver="lanczos")
    np.testing.assert_allclose(values, 0.9 ** np.arange(4), rtol=1e-10)
    np.testing.assert_allclose(np.abs(np.sum(u * left[:, :4], axis=0)), 1.0, rtol=1e-8)
    np.testing.assert_allclose(matrix @ v, u * values, atol=1e-10)
    assert (u[np.abs(u).argmax(axis=0), np.arange(4)] > 0).all()


def test_directions_that_a_gram_matrix_lacks_are_left_out():
    rng = np.random.default_rng(1)
    factor = rng.normal(size=(6, 3))
    gram = factor @ factor.T
    gram[0], gram[:, 0] = 0.0, 0.0  # a feature that is never seen: no Cholesky factor
    right = rng.normal(size=(6, 2))
    np.testing.assert_allclose(
        solve_gram(gram, 0.0, right), np.linalg.pinv(gram, rcond=1e-12) @ right, rtol=1e-6
    )


def test_a_sparse_basis_of_outputs_spans_what_the_dense_one_does(monkeypatch):
    moments = exact_moments(random_parameters(2, 9, 2, 0), lambda *_: 1 / 8, 2, 9)
    dense = transducer_spectral.output_basis(moments, 2)
    monkeypatch.setattr(transducer_spectral, "DENSE_OUTPUTS", 0)
    monkeypatch.setattr(svd, "_SMALL", 0)
    found = transducer_spectral.output_basis(moments, 2)
    np.testing.assert_allclose(found.values, dense.values[:2], rtol=1e-9)
    np.testing.assert_allclose(found.left, dense.left[:, :2], atol=1e-8)


def test_pairs_that_use_an_operator_the_table_lacks_have_no_path():
    table = np.array([[0, 1], [-1, 2]], np.int32)  # b is never written as x
    corpus = ss.PairCorpus.from_pairs([("ab", "xy"), ("ba", "xx"), ("bab", "yxy")])
    lattices = chain_of_pairs(corpus, table)
    assert lattices.alignable.tolist() == [True, False, True]
    fine = chain_of_pairs(corpus.take([0, 2]), table)
    np.testing.assert_array_equal(lattices.arcs, fine.arcs)
    np.testing.assert_array_equal(np.diff(lattices.arc_offsets), [2, 0, 3])


def test_a_sequence_too_long_for_a_tree_is_continued_as_any_other(monkeypatch):
    model = random_pfa(3)
    sequences = ["abba" * 5, "b", "ab" * 30]
    expected = ss.next_distribution(model, sequences)
    errors = ss.metrics.word_error_rate(model, sequences)
    monkeypatch.setattr(tree, "BATCH_BYTES", 200)
    np.testing.assert_allclose(ss.next_distribution(model, sequences), expected, rtol=1e-12)
    assert ss.metrics.word_error_rate(model, sequences) == errors


def test_baum_welch_from_separable_automata_improves_on_its_starts():
    problem = ss.datasets.make_problem(
        "pfa", n_states=3, n_symbols=3, n_train=300, n_test=50, random_state=0
    )
    method = find_method("bw-sep").build(n_states=3, max_iter=30, restart_iter=4)
    learned, again = (method.fit(problem.train).model_ for _ in range(2))
    start = ss.SeparablePFA(3).fit(problem.train).model_
    assert learned == again
    assert ss.log_proba(learned, problem.train).sum() > ss.log_proba(start, problem.train).sum()


def test_a_corpus_of_one_sequence_is_its_own_held_out_part():
    model = find_method("bw-sep").build(n_states=2, restart_iter=2, validation_fraction=0.0)
    assert model.fit(["abababab"]).model_.n_symbols == 2


def test_em_keeps_the_step_that_labels_the_validation_sequences_best():
    X, y = robot_walk(0, n_sequences=16)
    tagger = ss.EMSequenceTagger(
        2,
        features=ss.CentroidFeatures(5, metric="euclidean", random_state=0),
        max_iter=12,
        tol=0.0,
        random_state=0,
    )
    tagger.fit(X[:10], y[:10], validation=(X[10:], y[10:]))
    accuracies = tagger.info_["accuracy"]
    assert tagger.info_["best_step"] == 1 + int(np.argmax(accuracies))
    assert tagger.score(X[10:], y[10:]) == pytest.approx(max(accuracies))
    assert len(set(accuracies)) > 1
    held = tagger.set_params(validation_fraction=0.25).fit(X, y)
    assert len(held.info_["accuracy"]) > 0


def test_two_classes_become_the_same_probabilities():
    X, y = robot_walk(1, n_sequences=4)
    frames, labels = np.concatenate(X), np.concatenate(y) == "still"
    fitted = LogisticRegression().fit(frames, labels)
    (stage,) = to_stages(fitted)
    np.testing.assert_allclose(stage.apply(frames), fitted.predict_proba(frames), atol=1e-12)
    for boosted in (
        GradientBoostingClassifier(n_estimators=2).fit(frames, labels),
        make_pipeline(StandardScaler(), GradientBoostingClassifier(n_estimators=2)),
    ):
        boosted.fit(frames, labels)
        given = frames
        for stage in to_stages(boosted):
            given = stage.apply(given)
        np.testing.assert_allclose(given, boosted.predict_proba(frames), atol=1e-12)


def test_features_of_centroids_have_names_and_widths():
    frames = np.concatenate(robot_walk(0, n_sequences=2)[0])
    centroids = ss.CentroidFeatures(3, metric="euclidean", random_state=0).fit(frames)
    assert list(centroids.get_feature_names_out()) == ["centroid0", "centroid1", "centroid2"]
    with pytest.raises(InvalidData, match="frames must have 2 values each, as in training; got 1"):
        centroids.transform(frames[:, :1])
    with pytest.raises(InvalidData, match="n_centroids must be at most 1"):
        ss.CentroidFeatures(3).fit(np.ones((5, 2)))
