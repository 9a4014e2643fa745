from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import sigmastar as ss
from sensors.oracles import (
    all_weights,
    finite_world,
    marginals,
    random_features,
    random_tagger,
    weight,
)
from sigmastar.core.errors import FileFormatError, InvalidData, InvalidModel, InvalidParameter
from sigmastar.sensors.features.feature_map import FeatureMap, join_past
from sigmastar.sensors.features.kernel_map import KERNELS
from sigmastar.sensors.features.stages import Affine, Centroids, Sharpen, Softmax
from sigmastar.sensors.inference.passes import (
    filter_labels,
    log_mass,
    smooth_labels,
    to_probabilities,
)
from sigmastar.sensors.inference.search import best_labels
from sigmastar.sensors.learn.spectral import learn_tagger

OFFSETS = np.array([0, 5, 9], dtype=np.int64)


def learned(world, **options):
    labels = world.model.labels
    return learn_tagger(
        world.moments(), world.triple, labels, n_states=3, ridge=0.0, **options
    ).model


@pytest.mark.parametrize("subspace", ["svd", "cca"])
@pytest.mark.parametrize("seed", [0, 1])
def test_exact_moments_recover_the_model(seed, subspace):
    world = finite_world(seed)
    model = learned(world, subspace=subspace)
    for n_frames in (1, 2, 4):
        features = world.inputs[np.random.default_rng(n_frames).integers(0, 9, n_frames)]
        for labels, value in all_weights(world.model, features).items():
            assert weight(model, features, labels) == pytest.approx(value, abs=1e-8)


def test_indicator_features_make_a_weighted_transducer():
    world = finite_world(3, indicators=True)
    model = learned(world)
    transducer = dict(
        zip(
            [(x, y) for x in range(model.n_features) for y in range(2)],
            world.model.operators.transpose(1, 0, 2, 3).reshape(-1, 3, 3),
            strict=True,
        )
    )
    inputs, labels = np.array([4, 0, 2, 2]), np.array([0, 1, 1, 0])
    path = [transducer[pair] for pair in zip(inputs.tolist(), labels.tolist(), strict=True)]
    expected = world.model.initial @ np.linalg.multi_dot(path) @ world.model.final
    features = np.eye(world.model.n_features)[inputs]
    found = log_mass(model, features, np.array([0, 4]), labels)[0]
    assert found == pytest.approx(np.log(expected), abs=1e-8)


def test_lower_rank_is_the_leading_block():
    world = finite_world(0)
    low = learn_tagger(
        world.moments(), world.triple, world.model.labels, n_states=2, ridge=0.0
    ).model
    np.testing.assert_allclose(low.operators, learned(world).truncated(2).operators, atol=1e-10)


def test_more_states_than_the_rank_is_an_error():
    world = finite_world(0)
    with pytest.raises(InvalidParameter, match="between 1 and 3"):
        learn_tagger(world.moments(), world.triple, world.model.labels, n_states=4)


@pytest.mark.parametrize("signed", [False, True])
def test_smoothing_equals_enumeration(signed):
    model, features = random_tagger(0, signed=signed), random_features(1, 9)
    scores = smooth_labels(model, features, OFFSETS).scores
    for begin, end in pairwise(OFFSETS):
        expected = marginals(model, features[begin:end])
        found = scores[begin:end] / scores[begin:end].sum(axis=1, keepdims=True)
        np.testing.assert_allclose(found, expected / expected.sum(axis=1, keepdims=True))


def test_filtering_equals_enumeration_of_prefixes():
    model, features = random_tagger(2), random_features(3, 5)
    scores = filter_labels(model, features, np.array([0, 5])).scores
    for t in range(5):
        expected = marginals(model, features[: t + 1])[-1]
        np.testing.assert_allclose(scores[t] / scores[t].sum(), expected / expected.sum())


def test_streaming_equals_filtering():
    model, features = random_tagger(4, signed=True), random_features(5, 30)
    offsets = np.array([0, 30])
    table = to_probabilities(model, filter_labels(model, features, offsets).scores, features)
    stream = ss.TagStream(model)
    np.testing.assert_allclose([stream.push_proba(row) for row in features], table)
    stream.reset()
    np.testing.assert_allclose(stream.push_proba(features[0]), table[0])


def test_a_long_sequence_is_read_in_blocks(monkeypatch):
    model, features = random_tagger(6), random_features(7, 200)
    offsets = np.array([0, 150, 170, 200])
    whole = smooth_labels(model, features, offsets).scores
    monkeypatch.setattr("sigmastar.sensors.inference.passes._BLOCK", 9 * 16)
    np.testing.assert_allclose(smooth_labels(model, features, offsets).scores, whole)


def test_log_mass_equals_the_product_and_its_sum():
    model, features = random_tagger(8), random_features(9, 6)
    labels, offsets = np.array([0, 1, 1, 0, 0, 1]), np.array([0, 6])
    both = log_mass(model, features, offsets, labels)
    assert both[0] == pytest.approx(np.log(weight(model, features, labels)))
    total = sum(all_weights(model, features).values())
    assert log_mass(model, features, offsets, None)[0] == pytest.approx(np.log(total))


@pytest.mark.parametrize("signed", [False, True])
def test_search_finds_and_proves_the_best_labelling(signed):
    offsets = np.array([0, 7])
    for seed in range(12):
        model = random_tagger(seed, labels="ab", signed=signed)
        features = random_features(seed + 100, 7)
        values = all_weights(model, features)
        found = best_labels(model, features, offsets)
        assert found.proven.all()
        assert tuple(found.labels) == max(values, key=values.get)


@pytest.mark.parametrize("signed", [False, True])
def test_search_sees_few_of_all_prefixes_and_says_when_it_gave_up(signed):
    length = 18 if signed else 40
    model, features = random_tagger(12, signed=signed), random_features(13, length)
    offsets = np.array([0, length])
    found = best_labels(model, features, offsets, max_nodes=10**6)
    assert found.proven[0]
    assert found.n_nodes[0] < (2**18 / 10 if signed else 10**5)
    cut = best_labels(model, features, offsets, max_nodes=10)
    assert not cut.proven[0]
    assert cut.n_nodes[0] == 11


def test_hopeless_searches_prove_nothing():
    model, features = random_tagger(5), random_features(6, 4)
    offsets = np.array([0, 4])
    huge = replace(model, final=np.full(3, 1e200))  # its square is no number
    assert not best_labels(huge, features, offsets).proven[0]
    none = replace(model, final=np.zeros(3))
    assert not best_labels(none, features, offsets).proven[0]
    with pytest.raises(InvalidParameter, match="max_nodes must be"):
        ss.tag_frames(model, [features], decoding="exact", max_nodes=0)


@given(st.integers(0, 10**6), st.floats(0.0, 1.0))
@settings(max_examples=20, deadline=None)
def test_probabilities_are_probabilities_whatever_the_signs(seed, memory):
    model = random_tagger(seed % 97, signed=True).shrunk(memory)
    features = random_features(seed, 9) - 0.3
    scores = smooth_labels(model, features, OFFSETS).scores
    table = to_probabilities(model, scores, features)
    assert (table >= 0).all()
    np.testing.assert_allclose(table.sum(axis=1), 1.0)


def test_a_frame_without_positive_score_is_judged_alone():
    model = random_tagger(14)
    features = random_features(15, 1)
    alone = smooth_labels(model, features, np.array([0, 1])).scores
    found = to_probabilities(model, np.array([[-1.0, -2.0]]), features)
    np.testing.assert_allclose(found, alone / alone.sum())


def test_no_memory_is_frame_by_frame():
    model = random_tagger(16).shrunk(0.0)
    features = random_features(17, 9)
    together = smooth_labels(model, features, OFFSETS).scores
    alone = smooth_labels(model, features, np.arange(10)).scores
    np.testing.assert_allclose(
        together / together.sum(axis=1, keepdims=True), alone / alone.sum(axis=1, keepdims=True)
    )


def test_change_of_basis_leaves_labels_unchanged():
    model, features = random_tagger(18), random_features(19, 9)
    turn = np.random.default_rng(0).normal(size=(3, 3))
    back = np.linalg.inv(turn)
    other = ss.ContinuousTagger(
        model.initial @ turn,
        back @ model.operators @ turn,
        back @ model.final,
        model.labels,
        model.typical,
    )
    np.testing.assert_allclose(
        smooth_labels(other, features, OFFSETS).scores,
        smooth_labels(model, features, OFFSETS).scores,
    )


def feature_map():
    rng = np.random.default_rng(0)
    stages = (
        Affine(rng.normal(size=4), rng.uniform(1, 2, 4)),
        Centroids(rng.normal(size=(5, 4)), "correlation", 0.3),
        Softmax(rng.normal(size=(4, 5)), rng.normal(size=4)),
        Sharpen(2.0, 4),
    )
    return FeatureMap(2, stages)


def test_a_saved_tagger_comes_back_bit_for_bit(tmp_path):
    model = random_tagger(20).with_features(feature_map())
    model.save(tmp_path / "tagger.sigma")
    again = ss.load(tmp_path / "tagger.sigma")
    assert again == model
    frames = [np.random.default_rng(1).normal(size=(6, 2))]
    one, two = ss.tag_frames(model, frames), ss.tag_frames(again, frames)
    np.testing.assert_array_equal(one.probabilities[0], two.probabilities[0])


def test_a_stream_with_a_window_equals_filtering():
    model = random_tagger(21).with_features(feature_map())
    frames = np.random.default_rng(2).normal(size=(8, 2))
    table = ss.tag_frames(model, [frames], decoding="filter").probabilities[0]
    stream = ss.TagStream(model)
    np.testing.assert_allclose([stream.push_proba(frame) for frame in frames], table)
    with pytest.raises(InvalidData, match="2 finite numbers"):
        stream.push([1.0])


def test_the_past_is_joined_within_sequences_only():
    frames = np.arange(4.0)[:, None]
    joined = join_past(frames, np.array([0, 2, 4]), 3)
    np.testing.assert_array_equal(joined, [[0, 0, 0], [0, 0, 1], [2, 2, 2], [2, 2, 3]])


@pytest.mark.parametrize(
    ("metric", "expected"),
    [("euclidean", 8.0), ("cosine", 1 - 11 / np.sqrt(5 * 25)), ("correlation", 0.0)],
)
def test_distances_are_those_of_the_paper(metric, expected):
    from sigmastar.sensors.features.stages import distances

    found = distances(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]), metric)
    assert found[0, 0] == pytest.approx(expected)


def test_sharpening_raises_to_a_power():
    found = Sharpen(2.0, 2).apply(np.array([[0.6, 0.4]]))
    np.testing.assert_allclose(found, [[0.36 / 0.52, 0.16 / 0.52]])


def test_a_hostile_feature_map_is_refused(tmp_path):
    from sigmastar.core.model_files import write_stored

    stored = random_tagger(22).with_features(feature_map()).to_stored()
    stored.meta["features"]["stages"][0]["kind"] = "pickle"
    write_stored(tmp_path / "bad.sigma", stored)
    with pytest.raises(FileFormatError, match="malformed"):
        ss.load(tmp_path / "bad.sigma")


def test_shapes_are_checked():
    model = random_tagger(23)
    with pytest.raises(InvalidModel, match="operators must have shape"):
        ss.ContinuousTagger(
            model.initial, model.operators[:1], model.final, model.labels, model.typical
        )


@pytest.mark.parametrize(
    ("readings", "expected"),
    [
        ("clip", lambda x: np.minimum(x, 2.0)),
        ("reciprocal", lambda x: 1.0 / np.maximum(x, 2.0)),
        ("log", lambda x: np.log(np.maximum(x, 2.0))),
        ("standard", lambda x: (x - x.mean(axis=0)) / x.std(axis=0)),
    ],
)
def test_readings_are_changed_before_distances_and_kept_in_the_file(readings, expected, tmp_path):
    rng = np.random.default_rng(0)
    X = [rng.uniform(0.5, 5.0, (30, 3)) for _ in range(4)]
    y = [(x[:, 0] > 2).tolist() for x in X]
    points = ss.CentroidFeatures(6, tau=0.3, readings=readings, limit=2.0, random_state=0)
    tagger = ss.SpectralSequenceTagger(2, features=points, tau=[0.2, 0.4]).fit(X, y)
    fitted = tagger.extractor_.fitted
    plain = Centroids(fitted.centroids_, "correlation", fitted.tau)
    flat = np.concatenate(X)
    np.testing.assert_allclose(fitted.transform(flat), plain.apply(expected(flat)), rtol=1e-12)
    tagger.save(tmp_path / "m.sigma")
    loaded = ss.load(tmp_path / "m.sigma")
    assert loaded == tagger.model_
    found = ss.tag_frames(loaded, X).labels
    assert [list(p) for p in found] == [p.tolist() for p in tagger.predict(X)]


def test_logarithms_need_numbers_above_zero():
    with pytest.raises(InvalidData, match="needs numbers above 0, or a limit above 0"):
        ss.CentroidFeatures(1, readings="log").fit([[-1.0, -2.0], [-3.0, 0.0]])


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_frame_a_landmark_is_kernel_k_means(kernel):
    rng = np.random.default_rng(0)
    frames = rng.normal(rng.integers(0, 3, (60, 1)) * 2.0, 0.5, (60, 3))
    points = ss.CentroidFeatures(
        4, metric="euclidean", tau=0.5, kernel=kernel, gamma=0.3, n_landmarks=60, random_state=0
    ).fit(frames)
    gaps = frames[:, None] - frames
    table = {
        "rbf": np.exp(-0.3 * (gaps**2).sum(axis=2)),
        "laplacian": np.exp(-0.3 * np.abs(gaps).sum(axis=2)),
        "quadratic": (1 + 0.3 * frames @ frames.T) ** 2,
    }[kernel]
    members = clone(points).set_params(tau=0.0).fit_transform(frames)
    # ‖φ(x) - mean of φ over a cluster‖² by kernels alone, up to k(x, x), which cancels.
    shares = members / members.sum(axis=0)
    distance = (shares * (table @ shares)).sum(axis=0) - 2.0 * table @ shares
    similar = np.exp(-(distance - distance.min(axis=1, keepdims=True)) / 0.5)
    expected = similar / similar.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(points.transform(frames), expected, atol=1e-6)
    assert (distance.argmin(axis=1) == members.argmax(axis=1)).all()


def test_kernel_features_are_kept_in_the_file(tmp_path):
    rng = np.random.default_rng(1)
    X = [rng.normal(size=(30, 3)) for _ in range(4)]
    y = [(x[:, 0] > 0).tolist() for x in X]
    points = ss.CentroidFeatures(
        6, metric="euclidean", readings="standard", kernel="laplacian", random_state=0
    )
    tagger = ss.SpectralSequenceTagger(2, features=points, tau="auto").fit(X, y)
    assert tagger.extractor_.fitted.n_features_in_ == 3
    tagger.save(tmp_path / "m.sigma")
    loaded = ss.load(tmp_path / "m.sigma")
    assert loaded == tagger.model_
    found = ss.tag_frames(loaded, X).labels
    assert [list(p) for p in found] == [p.tolist() for p in tagger.predict(X)]
    with pytest.raises(InvalidParameter, match="euclidean or cosine with a kernel"):
        ss.CentroidFeatures(2, kernel="rbf").fit(X[0])
