"""The discriminative transducer: searched and scored as an enumeration does, and what it learns."""

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.core.errors import InvalidModel
from sigmastar.transducers.kernels.log_linear import Course
from sigmastar.transducers.kernels.log_linear_training import train_sequences
from sigmastar.transducers.kernels.rerank import Ascending, UnitPaths
from sigmastar.transducers.kernels.unit_features import MOVING, STILL
from sigmastar.transducers.transliteration.candidates import merged, unit_options
from sigmastar.transducers.transliteration.log_linear import LogLinear, Training, learn_log_linear
from sigmastar.transducers.transliteration.vowels import find_vowels
from transducers.unit_examples import ALIGNED, PAIRS, candidates_of


def random_model(seed=0):
    rng = np.random.default_rng(seed)
    return LogLinear(rng.normal(size=1 << 10), np.array([1, 0]), np.array([1, 0, 0]))


@pytest.mark.parametrize("word", ["a", "ab", "bba", "abab"])
def test_a_wide_beam_finds_what_an_enumeration_finds(word):
    model = random_model()
    x = [PAIRS.source.alphabet.index(letter) for letter in word]
    every, paths = candidates_of(x)
    scores = model.log_proba(every, ALIGNED.units)
    best = {}
    for (_, written), score in zip(paths, scores, strict=True):
        best[written] = max(score, best.get(written, -np.inf))
    expected = sorted(best.values(), reverse=True)[:5]
    options = unit_options(ALIGNED.units, ALIGNED.weights)
    found = model.search(
        every.source, ALIGNED.units, options, PAIRS.target.alphabet, n_best=5, beam=200, gap=1e9
    )
    np.testing.assert_allclose(found.log_prob, expected)
    written = [tuple(found.target.codes(row).tolist()) for row in range(len(found))]
    np.testing.assert_allclose([best[w] for w in written], expected)


def test_a_narrow_beam_finds_nothing_better():
    model = random_model(1)
    options = unit_options(ALIGNED.units, ALIGNED.weights)
    where = (PAIRS.source, ALIGNED.units, options, PAIRS.target.alphabet)
    wide = model.search(*where, n_best=1, beam=200, gap=1e9)
    narrow = model.search(*where, n_best=1, beam=1)
    assert (narrow.log_prob <= wide.log_prob + 1e-9).all()


def test_a_step_follows_the_gradient_of_the_probability_of_the_right_output():
    """One word, all sequences in the beam: the step is that of finite differences."""
    model, word = random_model(2), 1  # ab → xy
    x = PAIRS.source.codes(word).tolist()
    every, paths = candidates_of(x)
    truth = tuple(PAIRS.target.codes(word).tolist())
    good = np.array([written == truth for _, written in paths])

    def log_prob(weights):
        scores = LogLinear(weights, model.source_vowels, model.target_vowels).log_proba(
            every, ALIGNED.units
        )
        return np.logaddexp.reduce(scores[good]) - np.logaddexp.reduce(scores)

    # The beam keeps the best of equal histories; here no two sequences share one.
    masks = np.ones((1, STILL + MOVING))
    course = Course(2, 200, 1e9, 1e-6, 0.0, masks)
    state = Ascending(0.1 * model.weights, np.zeros(len(model.weights)))
    before = state.weights.copy()
    words = UnitPaths(PAIRS.source.symbols, PAIRS.source.offsets, ALIGNED.path, ALIGNED.offsets)
    options, traits = unit_options(ALIGNED.units, ALIGNED.weights), model.traits(ALIGNED.units)
    reached = train_sequences(words, np.array([word]), options, traits, state, course)
    assert reached == pytest.approx(log_prob(before))
    moved = np.flatnonzero(state.weights != before)
    assert len(moved) > 50
    for place in moved[::17]:
        nudge = np.zeros(len(before))
        nudge[place] = 1e-5
        slope = (log_prob(before + nudge) - log_prob(before - nudge)) / 2e-5
        step = 1e-6 * slope / np.sqrt(slope**2 + 1.0)
        assert state.weights[place] - before[place] == pytest.approx(step, rel=1e-3, abs=1e-12)


def test_what_is_learned_depends_on_far_neighbours():
    # An i is written by the first vowel of the word, three symbols away.
    pairs = [(f"{v}{c}{d}i", f"{v}{c}{d}{w}") for v, w in ("ae", "uo") for c in "btk" for d in "mn"]
    learner = ss.Transliterator("discriminative").fit(pairs * 3)
    assert learner.predict(["akmi", "ukmi"]) == ["akme", "ukmo"]
    assert [output for output, _ in learner.n_best(["abni"], 2)[0]] == ["abne", "abno"]


def test_training_makes_right_outputs_likelier_and_repeats_itself():
    training = Training(n_epochs=3, n_models=2, n_weights=1 << 12)
    models = [
        learn_log_linear(PAIRS, ALIGNED, training, rng=np.random.default_rng(5)) for _ in range(2)
    ]
    np.testing.assert_array_equal(models[0].weights, models[1].weights)
    options = unit_options(ALIGNED.units, ALIGNED.weights)
    found = models[0].search(
        PAIRS.source, ALIGNED.units, options, PAIRS.target.alphabet, n_best=1, beam=8
    )
    right = [found.target[row] == PAIRS.target[row] for row in range(2, 6)]
    assert all(right)


def test_merged_candidates_are_those_of_both_each_output_once():
    every, _ = candidates_of([0, 1])
    options = unit_options(ALIGNED.units, ALIGNED.weights)
    where = (every.source, ALIGNED.units, options, PAIRS.target.alphabet)
    few = random_model(3).search(*where, n_best=2, beam=50)
    more = random_model(4).search(*where, n_best=4, beam=50)
    both = merged(few, more)
    outputs = [tuple(output) for output in both.target]
    assert sorted(outputs) == sorted({tuple(o) for c in (few, more) for o in c.target})
    for row, output in enumerate(outputs):
        known = [tuple(o) for o in few.target]
        origin = (few, known.index(output)) if output in known else None
        if origin:
            assert both.log_prob[row] == few.log_prob[origin[1]]


def test_vowels_are_told_by_where_they_stand():
    corpus = ss.Corpus.from_sequences(["banana", "salami", "tomato", "palisade", "minimal"])
    vowels = {corpus.alphabet[int(code)] for code in np.flatnonzero(find_vowels(corpus))}
    assert vowels == set("aeio")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"weights": np.zeros(12)}, "power of two many; got 12"),
        ({"weights": np.array([np.nan, 0.0])}, "weights must be finite"),
        ({"source_vowels": np.array([2, 0])}, "source_vowels must lie between 0 and 1"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(changed, message):
    arrays = {"weights": np.zeros(8), "source_vowels": [0, 1], "target_vowels": [0, 1, 1]}
    with pytest.raises(InvalidModel, match=message):
        LogLinear(**(arrays | changed))


def test_a_model_must_know_its_alphabets(tmp_path):
    learner = ss.Transliterator("discriminative", n_models=1).fit(PAIRS)
    learner.save(tmp_path / "model.sigma")
    again = ss.load(tmp_path / "model.sigma")
    assert again.apply(["abba"])[0][0][0][0] == learner.predict(["abba"])[0]
    with pytest.raises(InvalidModel, match="all symbols of its alphabets"):
        again.parts["discriminative"].check(2, 4)
