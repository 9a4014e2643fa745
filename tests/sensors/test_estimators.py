import inspect
from itertools import product

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sigmastar as ss
from sensors.oracles import finite_world, random_tagger, robot_walk
from sigmastar.core.errors import InvalidData, InvalidParameter, UnknownSymbol
from sigmastar.corpus.frames import Frames, as_frames
from sigmastar.sensors.features.from_sklearn import to_stages
from sigmastar.sensors.inference.passes import log_mass
from sigmastar.sensors.kernels.gibbs import Counts, Paths, sweep_states
from sigmastar.sensors.learn.em import em_step
from sigmastar.sensors.learn.em_starts import random_tagger as random_start
from sigmastar.sensors.moments import frame_moments, project_triple

X, Y = robot_walk(0)
X_NEW, Y_NEW = robot_walk(1)


def centroids(n=25):
    return ss.CentroidFeatures(n, metric="euclidean", tau=0.3, random_state=0)


ESTIMATORS = [
    ss.SpectralSequenceTagger(5, features=centroids(), random_state=0),
    ss.SpectralSequenceTagger([1, 3], features=GaussianNB(), memory=[1.0, 0.5], random_state=0),
    ss.EMSequenceTagger(3, features=centroids(), max_iter=20, random_state=0),
    ss.EMSequenceTagger(3, features=centroids(), init="spectral", max_iter=20, random_state=0),
    ss.GibbsSequenceTagger(3, features=centroids(), n_sweeps=20, n_draws=3, random_state=0),
    ss.FramewiseTagger(features=centroids(), random_state=0),
]


@pytest.fixture(params=ESTIMATORS, ids=lambda e: type(e).__name__)
def estimator(request):
    return clone(request.param)


def test_every_tagger_learns_predicts_and_keeps_its_parameters(estimator):
    before = estimator.get_params()
    assert estimator.fit(X, Y) is estimator
    assert estimator.get_params() == before
    labels, table = estimator.predict(X_NEW), estimator.predict_proba(X_NEW)
    assert [len(piece) for piece in labels] == [len(piece) for piece in X_NEW]
    np.testing.assert_allclose(np.concatenate(table).sum(axis=1), 1.0)
    right = np.concatenate(labels) == np.concatenate([np.array(y) for y in Y_NEW])
    assert estimator.score(X_NEW, Y_NEW) == pytest.approx(right.mean())
    assert estimator.score(X_NEW, Y_NEW) > 0.72


@pytest.mark.compiled
def test_the_same_seed_and_any_form_of_the_data_learn_the_same(estimator):
    flat = np.concatenate(X), np.concatenate([np.array(y) for y in Y])
    one = clone(estimator).fit(X, Y)
    two = clone(estimator).fit(*flat, lengths=[len(x) for x in X])
    three = clone(estimator).fit(np.stack(X), ss.Corpus.from_sequences(Y))
    assert one.model_ == two.model_ == three.model_


def test_the_constructor_stores_every_argument_and_every_rule_names_one(estimator):
    names = set(inspect.signature(type(estimator).__init__).parameters) - {"self"}
    assert names == set(estimator.get_params(deep=False))
    assert set(type(estimator)._rules) <= names


def test_a_saved_tagger_and_its_stream_label_as_the_estimator(estimator, tmp_path):
    estimator.fit(X, Y)
    stream = estimator.stream()
    streamed = [stream.push(frame)[0] for frame in X_NEW[0]]
    assert streamed == list(estimator.predict(X_NEW[:1], decoding="filter")[0])
    if estimator.model_.features is None:  # naive Bayes is not known as plain arrays
        assert isinstance(estimator.features, GaussianNB)
        return
    estimator.model_.save(tmp_path / "tagger.sigma")
    again = ss.tag_frames(ss.load(tmp_path / "tagger.sigma"), X_NEW)
    assert again.labels == [list(piece) for piece in estimator.predict(X_NEW)]


@pytest.mark.parametrize("features", [GaussianNB(), StandardScaler()])
def test_features_that_no_file_can_hold_are_not_dropped_in_silence(features, tmp_path):
    tagger = ss.SpectralSequenceTagger(2, features=features, random_state=0).fit(X, Y)
    path = tmp_path / "tagger.sigma"
    for saved in (tagger, tagger.model_):
        with pytest.raises(InvalidParameter, match=rf"features must be .* got {features!r}"):
            saved.save(path)
        assert not path.exists()
    tagger.model_.with_features(None).save(path)  # on purpose: it takes features
    bare = ss.load(path)
    found = ss.tag_frames(bare, [tagger.extractor_(x, np.array([0, len(x)])) for x in X_NEW])
    assert found.labels == [list(piece) for piece in tagger.predict(X_NEW)]
    with pytest.raises(InvalidData, match=r"the 3 features that this tagger takes.*got 2 values"):
        ss.tag_frames(bare, X_NEW)
    with pytest.raises(InvalidData, match="3 finite numbers, the features that this tagger takes"):
        ss.TagStream(bare).push(X_NEW[0][0])


def test_sequences_help():
    alone = ss.FramewiseTagger(features=GaussianNB()).fit(X, Y).score(X_NEW, Y_NEW)
    together = ESTIMATORS[1].fit(X, Y)
    assert together.score(X_NEW, Y_NEW) > alone + 0.02
    assert together.score(X_NEW, Y_NEW, decoding="filter") > alone


def test_sizes_that_the_frames_have_no_moments_for_are_left_out():
    rng = np.random.default_rng(3)
    frames = [rng.standard_normal((20, 2)) for _ in range(12)]  # two columns: two correlations
    labels = [[("left", "right")[int(frame[0] > 0)] for frame in rows] for rows in frames]
    held = (frames[8:], labels[8:])
    features = ss.CentroidFeatures(24, random_state=0)
    tagger = ss.SpectralSequenceTagger([1, 2, 24], features=features, random_state=0)
    tagger.fit(frames[:8], labels[:8], validation=held)
    assert {row["n_states"] for row in tagger.info_["validation"]} == {1, 2}
    with pytest.raises(InvalidParameter, match="n_states must be between 1 and 2"):
        tagger.set_params(n_states=[20, 24]).fit(frames[:8], labels[:8], validation=held)


def test_the_best_of_several_values_is_chosen_by_validation():
    tagger = ss.SpectralSequenceTagger(
        [1, 4, 8], features=centroids(), tau="auto", ridge=[1e-6, 1e-3], random_state=0
    )
    tagger.fit(X, Y, validation=(X_NEW, Y_NEW))
    table = tagger.info_["validation"]
    assert len(table) == 3 * 4 * 2
    best = max(row["accuracy"] for row in table)
    assert tagger.score(X_NEW, Y_NEW) == pytest.approx(best)
    assert tagger.model_.n_states == tagger.info_["chosen"]["n_states"]


def test_unlabelled_sequences_bring_the_moments_closer_to_the_truth():
    features = centroids(8)
    few = slice(0, 4)
    whole = features.fit(np.concatenate(X))
    frames = [whole.transform(x) for x in X]
    cut = np.cumsum([0, *map(len, frames)])
    truth = frame_moments(Frames(np.concatenate(frames), cut)).pair
    part = frame_moments(as_frames(frames[few]))
    more = frame_moments(as_frames(frames[4:]))
    assert np.abs(part.pair - truth).max() > 1e-4
    np.testing.assert_allclose((part + more).pair, truth, atol=1e-12)
    tagger = ss.SpectralSequenceTagger(3, features=features, random_state=0)
    plain = clone(tagger).fit(X[few], Y[few])
    helped = clone(tagger).fit(X[few], Y[few], unlabelled=X[4:])
    assert helped.info_["n_frames"] == plain.info_["n_frames"] + sum(len(x) for x in X[4:])


def test_projected_triples_equal_the_whole_tensor():
    rng = np.random.default_rng(0)
    features, labels = rng.random((9, 3)), rng.integers(0, 2, 9)
    offsets = np.array([0, 4, 5, 9])
    whole = np.zeros((2, 3, 3, 3))
    for t in (1, 2, 6, 7):
        whole[labels[t]] += np.einsum("i,l,j->lij", features[t - 1], features[t], features[t + 1])
    left, right = rng.random((3, 2)), rng.random((3, 2))
    found = project_triple(Frames(features, offsets, labels, ss.Alphabet("ab")), left, right)
    np.testing.assert_allclose(found, np.einsum("slij,ia,jb->slab", whole / 4, left, right))


def test_moments_of_samples_approach_the_model():
    world = finite_world(0)
    rng = np.random.default_rng(0)
    moves = np.einsum("xk,skij->xsij", world.inputs, world.model.operators)
    state, inputs, labels = world.model.initial, [], []
    for _ in range(20000):
        joint = np.einsum("i,xsij->xs", state, moves) * world.shares[:, None]
        drawn = rng.choice(joint.size, p=joint.ravel() / joint.sum())
        x, s = np.unravel_index(drawn, joint.shape)
        state = state @ moves[x, s]
        state = state / state.sum()
        inputs.append(x)
        labels.append(s)
    found = frame_moments(as_frames([world.inputs[inputs]]))
    np.testing.assert_allclose(found.pair, world.moments().pair, atol=0.004)


def test_no_em_step_lowers_the_likelihood():
    truth = random_tagger(0, n_states=3, labels="abc")
    rng = np.random.default_rng(0)
    features = rng.dirichlet(np.full(4, 0.4), 300)
    frames = Frames(features, np.arange(0, 301, 20), rng.integers(0, 3, 300), truth.labels)
    step, model, likelihoods = em_step(frames), random_start(frames, 3, rng), []
    for _ in range(40):
        likelihood, model = step(model)
        likelihoods.append(likelihood)
    gains = np.diff(likelihoods)
    assert (gains >= -1e-12).all()
    assert gains[0] > 1e-4


def test_em_reports_the_likelihood_of_the_labels():
    tagger = ss.EMSequenceTagger(2, features=centroids(8), max_iter=1, random_state=0).fit(X, Y)
    frames = np.concatenate([tagger.extractor_(x, np.array([0, len(x)])) for x in X])
    codes = np.concatenate([tagger.labels_.encode(y) for y in Y]).astype(np.int64)
    offsets = np.cumsum([0, *map(len, X)])
    likelihood, _ = em_step(Frames(frames, offsets, codes, tagger.labels_))(tagger.model_)
    expected = log_mass(tagger.model_, frames, offsets, codes).sum() / len(codes)
    assert likelihood == pytest.approx(expected)


def collapsed_weight(states, symbols, n_symbols, prior):
    """Give P[states, symbols] with the tables of a symmetric Dirichlet prior summed out."""
    counts = np.zeros((2, n_symbols, 2))
    value = 1.0
    for before, symbol, after in zip(states, symbols, states[1:], strict=False):
        room = counts[before].sum() + prior * n_symbols * 2
        value *= (counts[before, symbol, after] + prior) / room
        counts[before, symbol, after] += 1
    return value


def test_gibbs_sweeps_draw_from_the_posterior():
    symbols, prior = np.array([0, 0, 1, 0]), 0.3
    every = list(product([0, 1], repeat=5))
    exact = np.array([collapsed_weight(path, symbols, 2, prior) for path in every])
    states, rng = np.zeros(5, np.int64), np.random.default_rng(0)
    counts, starts = np.zeros((2, 2, 2), np.int64), np.array([1, 0])
    np.add.at(counts, (0, symbols, 0), 1)
    seen = np.zeros(len(every))
    tables = Counts(moves=counts, totals=counts.sum(axis=(1, 2)), starts=starts)
    paths = Paths(symbols=symbols, offsets=np.array([0, 4]), states=states)
    for _ in range(20000):
        sweep_states(paths, tables, prior, rng.random(5))
        seen[int("".join(map(str, states)), 2)] += 1
    np.testing.assert_allclose(seen / seen.sum(), exact / exact.sum(), atol=0.012)


@pytest.mark.parametrize(
    "features",
    [
        make_pipeline(StandardScaler(), LogisticRegression()),
        RandomForestClassifier(5, random_state=0),
        GradientBoostingClassifier(n_estimators=4, random_state=0),
        make_pipeline(centroids(), StandardScaler(), LogisticRegression()),
    ],
    ids=lambda f: type(f).__name__,
)
@pytest.mark.parametrize("few", [False, True])
def test_known_classifiers_become_plain_arrays(features, few):
    frames, labels = np.concatenate(X), np.concatenate([np.array(y) for y in Y])
    if few:  # of two classes, some classifiers keep one row
        frames, labels = frames[labels != "left"], labels[labels != "left"]
    fitted = clone(features).fit(frames, labels)
    found = frames
    for stage in to_stages(fitted):
        found = stage.apply(found)
    np.testing.assert_allclose(found, fitted.predict_proba(frames), atol=1e-9)


def test_training_features_of_a_classifier_are_out_of_fold():
    rng = np.random.default_rng(0)
    noise = [rng.normal(size=(20, 2)) for _ in range(12)]
    labels = [rng.integers(0, 2, 20) for _ in range(12)]
    tagger = ss.SpectralSequenceTagger(1, features=RandomForestClassifier(10, random_state=0))
    tagger.set_params(random_state=0).fit(noise, labels)
    guessed = tagger.extractor_.own.argmax(axis=1) == np.concatenate(labels)
    assert 0.35 < guessed.mean() < 0.65


def test_any_transformer_will_do():
    tagger = ss.SpectralSequenceTagger(3, features=StandardScaler(), random_state=0).fit(X, Y)
    assert tagger.model_.features is None
    assert tagger.score(X_NEW, Y_NEW) > 0.6


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"n_states": 0}, InvalidParameter, "n_states must be"),
        ({"n_states": 99}, InvalidParameter, "between 1 and 25"),
        ({"tau": -1.0}, InvalidParameter, "tau must be"),
        ({"memory": [0.5, 2.0]}, InvalidParameter, "memory must be"),
        ({"features": 3}, InvalidParameter, "features must be"),
        ({"features": GaussianNB(), "tau": "auto"}, InvalidParameter, "CentroidFeatures"),
        ({"decoding": "viterbi"}, InvalidParameter, "decoding must be"),
    ],
)
def test_bad_parameters_are_named(change, error, words):
    tagger = ss.SpectralSequenceTagger(5, features=centroids()).set_params(**change)
    with pytest.raises(error, match=words):
        tagger.fit(X, Y)


@pytest.mark.parametrize(
    ("frames", "labels", "words"),
    [
        ([], [], "at least one sequence"),
        ([[[1.0, np.nan]] * 3], [["a"] * 3], "finite"),
        ([np.ones((3, 2))], [["a"] * 2], "one label for each"),
        ([np.ones((3, 2)), np.ones((3, 3))], [["a"] * 3] * 2, "same number of values"),
        (np.ones((3, 2)), ["a"] * 3, "flat array"),
        ([np.ones((3, 2))], None, "got None"),
    ],
)
def test_bad_data_are_named(frames, labels, words):
    with pytest.raises(InvalidData, match=words):
        ss.SpectralSequenceTagger(1).fit(frames, labels)


def test_new_labels_and_widths_are_errors():
    tagger = ss.SpectralSequenceTagger(2, features=centroids()).fit(X, Y)
    with pytest.raises(InvalidData, match="2 values each"):
        tagger.predict([np.ones((3, 5))])
    with pytest.raises(UnknownSymbol):
        tagger.set_params(n_states=[1, 2]).fit(X, Y, validation=(X_NEW, [["up"] * 30] * 40))
