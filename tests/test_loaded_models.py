"""What was loaded answers as what was learned, by the same names."""

import numpy as np

import sigmastar as ss

PAIRS = [("ab", "AB"), ("ba", "BA"), ("aab", "AAB")] * 6


def loaded(estimator, folder):
    estimator.save(folder / "m.sigma")
    return ss.load(folder / "m.sigma")


def test_transducers(tmp_path):
    learner = ss.EMTransducer(1, max_iter=3, random_state=0).fit(PAIRS)
    model = loaded(learner, tmp_path)
    assert model.predict(["ab", "b"]) == learner.predict(["ab", "b"]) == [["A", "B"], ["B"]]
    assert model.n_best(["ab"], 2) == learner.n_best(["ab"], 2)
    np.testing.assert_array_equal(model.log_proba(PAIRS), learner.log_proba(PAIRS))
    assert model.score(PAIRS) == learner.score(PAIRS)
    assert model.sample(["ab"], random_state=0) == learner.sample(["ab"], random_state=0)


def test_transliterators(tmp_path):
    learner = ss.Transliterator("joint-ngram", order=2).fit(PAIRS)
    model = loaded(learner, tmp_path)
    assert model.predict(["ab"]) == learner.predict(["ab"]) == ["AB"]
    assert model.score(PAIRS) == learner.score(PAIRS) == 1.0


def test_taggers_of_measurements(tmp_path):
    operators = [[[[1.0]], [[0.0]]], [[[0.0]], [[1.0]]]]
    labels = ss.Alphabet(["off", "on"])
    lamp = ss.ContinuousTagger([1.0], operators, [1.0], labels, [0.5, 0.5])
    frames = [np.array([[0.9, 0.1], [0.2, 0.8]])]
    assert lamp.predict(frames) == [["off", "on"]]
    assert lamp.score(frames, [["off", "off"]]) == 0.5
