"""Networks over units: their gradient, what they judge, and what a file may hold."""

from itertools import pairwise

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.core.errors import InvalidModel, SigmastarError
from sigmastar.transducers.kernels.adam import Averages, step_of_adam
from sigmastar.transducers.kernels.gradients import Batch, Kept, gradient
from sigmastar.transducers.moments.lattices import Units
from sigmastar.transducers.transliteration.alignment import align_pairs
from sigmastar.transducers.transliteration.network import (
    REACHES,
    Shape,
    cut,
    n_parameters,
    starting_weights,
)
from sigmastar.transducers.transliteration.neural import Neural, unit_cases, unit_order
from sigmastar.transducers.transliteration.neural_training import (
    Course,
    _Pupil,
    _remember,
    learn_neural,
)
from sigmastar.transducers.transliteration.recipe import Recipe
from transducers.unit_examples import ALIGNED, PAIRS, candidates_of

UNITS = ALIGNED.units
SHAPE = Shape(2, len(UNITS), embedding=3, channels=4, hidden=5, past=2)
ONE = SHAPE._replace(n_units=1)


def random_networks(n=2, seed=0):
    rng = np.random.default_rng(seed)
    return Neural(rng.normal(size=(n, n_parameters(SHAPE))), SHAPE)


def by_hand(w, word, path, *, backwards, seen=None):
    """Return log P of a sequence of units, case by case and without any sorting.

    ``seen`` is the word with some of its symbols hidden.
    """
    inputs = [[c for c in row if c >= 0] for row in UNITS.inputs.tolist()]
    if backwards:
        word, path, inputs = word[::-1], path[::-1], [row[::-1] for row in inputs]
    code = w.symbols[word if seen is None else seen] @ w.widen + w.widen_shift
    for level, reach in enumerate((1, 2, 4)):
        zero = np.zeros((reach, code.shape[1]))
        padded = np.concatenate([zero, code, zero])
        near = np.concatenate([padded[: len(word)], code, padded[2 * reach :]], axis=1)
        code = code + np.maximum(near @ w.layers[level] + w.layer_shifts[level], 0)
    total, at, begun = 0.0, 0, [len(UNITS)] * SHAPE.past + list(path)
    ranked = sorted(range(len(UNITS)), key=lambda unit: inputs[unit][0])
    for number, unit in enumerate(path):
        past = w.units[begun[number : number + SHAPE.past]].ravel()
        sums = code[at] @ w.from_code + w.symbols[word[at]] @ w.from_symbol + past @ w.from_past
        hidden = np.maximum(sums + w.first_shift, 0)
        allowed = [place for place, u in enumerate(ranked) if inputs[u][0] == word[at]]
        values = w.choice[allowed] @ hidden + w.choice_shift[allowed]
        total += values[allowed.index(ranked.index(unit))] - np.log(np.exp(values).sum())
        at += len(inputs[unit])
    return total


@pytest.mark.parametrize("word", ["a", "abab", "bbaab"])
def test_candidates_are_judged_as_one_by_one(word):
    codes = [PAIRS.source.alphabet.index(letter) for letter in word]
    found, paths = candidates_of(codes)
    model = random_networks(3)
    expected = np.zeros(len(paths))
    for number, row in enumerate(model.parameters):
        w = cut(row.astype(np.float64), SHAPE)
        for place, (path, _) in enumerate(paths):
            expected[place] += by_hand(w, codes, path, backwards=number % 2 == 1) / 3
    np.testing.assert_allclose(model.log_proba(found, UNITS), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("word", ["a", "bab", "abba"])
def test_a_wide_beam_finds_what_an_enumeration_finds(word):
    aligned = align_pairs(PAIRS, ((1, 0), (1, 1), (1, 2)))
    units, shape = aligned.units, SHAPE._replace(n_units=len(aligned.units))
    rng = np.random.default_rng(1)
    model = Neural(rng.normal(size=(2, n_parameters(shape))), shape)
    every, paths = candidates_of([PAIRS.source.alphabet.index(c) for c in word], aligned)
    where = (every.source, units, PAIRS.target.alphabet)
    (forward, backward), _ = model.search(*where, n_best=4, beam=len(paths), gap=100.0)
    for direction, found in enumerate((forward, backward)):
        # Both directions of one network: the other one is replaced by a copy that says nothing.
        silent = model.parameters.copy()
        silent[1 - direction] = 0
        own = Neural(silent, shape).log_proba(every, units)
        nothing = Neural(np.zeros_like(silent), shape).log_proba(every, units)
        scores = 2 * own - nothing
        best = np.argsort(-scores)[:4]
        np.testing.assert_allclose(found.log_prob, scores[best], rtol=1e-4, atol=1e-4)
        assert [tuple(found.path[a:b]) for a, b in pairwise(found.offsets)] == [
            paths[place][0] for place in best
        ]


def searched(source, seed=1):
    """Return networks over units of one symbol each, their units, and what they find in words."""
    aligned = align_pairs(PAIRS, ((1, 0), (1, 1), (1, 2)))
    shape = SHAPE._replace(n_units=len(aligned.units))
    rng = np.random.default_rng(seed)
    model = Neural(rng.normal(size=(2, n_parameters(shape))), shape)
    where = (source, aligned.units, PAIRS.target.alphabet)
    return model, aligned.units, *model.search(*where, n_best=3, beam=3)


def test_choices_that_the_search_made_are_judged_as_if_asked_anew():
    model, units, every, readings = searched(PAIRS.source)
    for found in every:  # by both networks, one of which did not ask for all of it
        judged = model.log_proba(found, units, readings)
        np.testing.assert_allclose(judged, model.log_proba(found, units), rtol=1e-5)


def test_many_words_are_read_searched_and_judged_as_one_by_one():
    rng = np.random.default_rng(0)
    rows = rng.integers(
        len(PAIRS), size=600
    )  # more than are read, or go from place to place, at once
    model, units, many, readings = searched(PAIRS.source.take(rows))
    judged = [model.log_proba(found, units, readings) for found in many]
    for row in (0, 63, 64, 255, 256, 599):
        _, _, alone, _ = searched(PAIRS.source.take(rows[row : row + 1]))
        for direction in range(2):
            own = np.flatnonzero(many[direction].owner == row)
            assert [list(many[direction].target[c]) for c in own] == [
                list(output) for output in alone[direction].target
            ]
            np.testing.assert_allclose(
                judged[direction][own], model.log_proba(alone[direction], units), rtol=1e-4
            )


def test_units_of_several_symbols_are_judged_but_not_searched():
    source = PAIRS.source
    assert random_networks().search(source, UNITS, PAIRS.target.alphabet, n_best=2, beam=2)[0] == []


def batch_of(pairs, hidden):
    """Return aligned pairs as training sees them, some symbols hidden."""
    order = unit_order(UNITS, 2, backwards=False)
    within, past = unit_cases(ALIGNED.path, ALIGNED.offsets, order, SHAPE.past)
    owner = np.repeat(np.arange(len(pairs)), np.diff(ALIGNED.offsets))
    symbols = pairs.source.symbols
    return Batch(
        symbols=symbols,
        seen=np.where(hidden, 2, symbols).astype(np.int32),
        offsets=pairs.source.offsets,
        reaches=np.array(REACHES),
        at=pairs.source.offsets[owner] + within,
        past=past,
        wanted=order.place[ALIGNED.path],
        bounds=order.bounds,
    )


def nothing_dropped():
    layers, empty = len(REACHES), np.zeros((0, SHAPE.channels), bool)
    return Kept(np.zeros((layers, *empty.shape), bool), empty, np.zeros((0, 5), bool), 1.0)


def test_the_surprise_is_that_of_the_wanted_units_and_its_gradient_that_of_differences():
    flat = starting_weights(SHAPE, np.random.default_rng(0)).astype(np.float64)
    batch = batch_of(PAIRS, np.arange(PAIRS.source.n_symbols) % 4 == 1)

    def surprise(values):
        total, bounds = 0.0, PAIRS.source.offsets
        for row, (start, end) in enumerate(pairwise(ALIGNED.offsets)):
            word, seen = (side[bounds[row] : bounds[row + 1]] for side in (batch[0], batch[1]))
            path = ALIGNED.path[start:end].tolist()
            total -= by_hand(cut(values, SHAPE), word, path, backwards=False, seen=seen)
        return total / len(ALIGNED.path)

    slope = np.zeros_like(flat)
    told = gradient(cut(flat, SHAPE), batch, nothing_dropped(), cut(slope, SHAPE))
    assert told == pytest.approx(surprise(flat), rel=1e-6)
    step = 1e-6
    for place in range(0, len(flat), 3):
        moved = [flat.copy(), flat.copy()]
        moved[0][place] += step
        moved[1][place] -= step
        rise = (surprise(moved[0]) - surprise(moved[1])) / (2 * step)
        assert slope[place] == pytest.approx(rise, rel=1e-3, abs=1e-7)


def test_the_gradient_with_numbers_dropped_is_that_of_differences():
    flat = starting_weights(SHAPE, np.random.default_rng(0)).astype(np.float64)
    batch = batch_of(PAIRS, np.zeros(PAIRS.source.n_symbols, bool))
    n, rng = PAIRS.source.n_symbols, np.random.default_rng(1)
    sizes = (len(REACHES), n, SHAPE.channels), (n, SHAPE.channels), (len(batch.at), SHAPE.hidden)
    kept = Kept(*(rng.random(size) < 0.7 for size in sizes), 1 / 0.7)
    slope = np.zeros_like(flat)
    gradient(cut(flat, SHAPE), batch, kept, cut(slope, SHAPE))
    step = 1e-6
    for place in range(0, len(flat), 3):
        up, down = flat.copy(), flat.copy()
        up[place] += step
        down[place] -= step
        rise = np.subtract(
            *(
                gradient(cut(v, SHAPE), batch, kept, cut(np.zeros_like(flat), SHAPE))
                for v in (up, down)
            )
        )
        assert slope[place] == pytest.approx(rise / (2 * step), rel=1e-3, abs=1e-7)


def test_dropped_numbers_do_not_matter():
    batch = batch_of(PAIRS, np.zeros(PAIRS.source.n_symbols, bool))
    n, every = PAIRS.source.n_symbols, np.ones((len(batch.at), SHAPE.hidden), bool)
    added = np.ones((len(REACHES), n, SHAPE.channels), bool)
    code = np.ones((n, SHAPE.channels), bool)
    surprises = []
    for scale, first in ((1.0, 0.0), (1.0, 9.0), (2.0, 0.0)):
        w = cut(starting_weights(SHAPE, np.random.default_rng(0)).astype(np.float64), SHAPE)
        slope = cut(np.zeros(n_parameters(SHAPE)), SHAPE)
        w.from_code[0] += first
        code[:, 0] = False
        surprises.append(gradient(w, batch, Kept(added, code, every, scale), slope))
    assert surprises[0] == surprises[1] != surprises[2]


def test_adam_goes_by_its_formula():
    rng = np.random.default_rng(0)
    flat, mean, square = (np.zeros(7, np.float32) for _ in range(3))
    averages = Averages(mean.copy(), square.copy(), np.zeros(1, np.int64))
    there = flat.astype(np.float64)
    for step in range(1, 5):
        slope = (step * rng.normal(size=7)).astype(np.float32)
        step_of_adam(flat, slope, averages, 0.1)
        short = slope * min(1.0, 5 / np.linalg.norm(slope))  # kingma2015, algorithm 1
        mean = 0.9 * mean + 0.1 * short
        square = 0.999 * square + 0.001 * short**2
        there -= 0.1 * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
        np.testing.assert_allclose(flat, there, rtol=1e-4, atol=1e-6)


def test_networks_learn_what_letters_far_away_decide(tmp_path):
    rng = np.random.default_rng(0)
    words = list(dict.fromkeys("".join(rng.choice(list("abcd"), size=7)) for _ in range(260)))
    # The last letter is silent, and says how all others sound.
    pairs = [(word, word[:6].upper() if word[6] in "bd" else word[:6]) for word in words]
    names = ss.Transliterator(scorers=("neural",), n_networks=2, n_folds=2, order=3)
    names.set_params(source_form="given", target_form="given", n_epochs=1).fit(pairs[:200])
    assert names.score(pairs[200:]) > 0.9
    names.save(tmp_path / "names.sigma")
    said = ss.load(tmp_path / "names.sigma").apply(words[200:], 1)[0]
    assert [found[0][0] for found in said] == names.predict(words[200:])


def test_training_repeats_itself():
    course = Course(n_models=2, n_epochs=2, batch=3)
    first, again, other = (
        learn_neural(PAIRS, ALIGNED, course, rng=np.random.default_rng(seed)).parameters
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 0.1


@pytest.mark.parametrize("n_pairs", [300, 3600, 50_000, 105_000, 10**6])
def test_networks_go_through_a_bounded_number_of_words_but_once_through_all(n_pairs):
    recipe = Recipe()
    assert "neural" in recipe.judges(n_pairs)
    rounds = recipe.course(n_pairs, 2).n_epochs
    assert rounds == 1 or rounds * n_pairs < 800_000


def test_networks_of_many_pairs_have_nothing_dropped_and_draw_nothing_for_it():
    few, many = (Recipe().course(n_pairs, 2) for n_pairs in (50_000, 105_000))
    assert few.dropout > many.dropout == 0
    assert few.hidden > many.hidden
    drawn, own = np.random.default_rng(1), np.random.default_rng(1)
    pupil = _Pupil(np.zeros(n_parameters(SHAPE), np.float32), SHAPE, many, drawn)
    assert [len(part) for part in pupil._kept(9, 4)[1:3]] == [0, 0]
    assert drawn.integers(1 << 40) == own.integers(1 << 40)


def test_networks_that_go_on_keep_what_they_know_of_units():
    few = ALIGNED.units.take(np.arange(0, len(UNITS), 2))
    shape = SHAPE._replace(n_units=len(few))
    before = Neural(np.random.default_rng(0).normal(size=(2, n_parameters(shape))), shape)
    for number in range(2):
        after = cut(np.zeros(n_parameters(SHAPE), np.float32), SHAPE)
        _remember(after, number, before, few, UNITS)
        learned = cut(before.parameters[number], shape)
        old, new = (unit_order(u, 2, backwards=number == 1) for u in (few, UNITS))
        for unit, key in enumerate(UNITS.keys.tolist()):
            place = new.place[unit]
            if key in few.keys:
                same = few.keys.tolist().index(key)
                np.testing.assert_array_equal(after.units[unit], learned.units[same])
                np.testing.assert_array_equal(after.choice[place], learned.choice[old.place[same]])
            else:
                assert not after.choice[place].any()
                assert after.choice_shift[place] < 0
        np.testing.assert_array_equal(after.units[-2:], learned.units[-2:])
        np.testing.assert_array_equal(after.layers, learned.layers)


def test_networks_go_on_from_what_they_had_learned():
    course = Course(n_models=2, n_epochs=40, batch=3)
    first = learn_neural(PAIRS, ALIGNED, course, rng=np.random.default_rng(0))
    hardly = Course(n_models=3, n_epochs=1, batch=len(PAIRS), rate=1e-6)
    rng = np.random.default_rng(1)
    after = learn_neural(PAIRS, ALIGNED, hardly, rng=rng, earlier=(first, UNITS)).parameters
    np.testing.assert_allclose(after[:2], first.parameters, atol=1e-4)
    assert np.abs(after[2] - first.parameters[0]).max() > 0.1  # a third one begins anew


def test_answers_do_not_depend_on_the_number_of_threads(monkeypatch):
    model, source = random_networks(), PAIRS.source.take(np.arange(len(PAIRS)).repeat(40))
    read = []
    for threads in (1, 3):
        monkeypatch.setenv("SIGMASTAR_THREADS", str(threads))
        read.append([words.rows for words in model.read(source)])
    np.testing.assert_array_equal(read[0], read[1])


def test_networks_survive_a_file():
    model = random_networks()
    again = Neural.from_stored(model.to_stored())
    np.testing.assert_array_equal(again.parameters, model.parameters)
    assert again.shape == model.shape


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (np.zeros((0, n_parameters(SHAPE))), "must have"),
        (np.zeros((1, n_parameters(SHAPE) - 1)), "must have"),
        (np.full((1, n_parameters(SHAPE)), np.nan), "finite"),
        (np.full((1, n_parameters(SHAPE)), 1e4), "at most"),
    ],
)
def test_networks_that_do_not_fit_are_refused(parameters, message):
    with pytest.raises(InvalidModel, match=message):
        Neural(parameters, SHAPE)


@pytest.mark.parametrize("size", ["embedding", "channels", "hidden", "past"])
def test_networks_without_numbers_in_a_layer_are_refused(size):
    shape = SHAPE._replace(**{size: 0})
    with pytest.raises(SigmastarError, match=f"{size} must be"):
        Neural(np.zeros((1, n_parameters(shape))), shape)


def test_the_largest_parameters_still_give_numbers():
    found, _ = candidates_of([0, 1, 0])
    scores = Neural(np.full((2, n_parameters(SHAPE)), 1e3), SHAPE).log_proba(found, UNITS)
    assert np.isfinite(scores).all()


def test_networks_of_another_model_are_refused():
    with pytest.raises(InvalidModel, match="must know all input symbols and units"):
        random_networks().check(3, UNITS)


@pytest.mark.parametrize("inputs", [[0, 0], [0, 1]])
def test_units_that_read_nothing_or_with_gaps_are_refused(inputs):
    odd = Units(np.array([9 * inputs[0] + 3 * inputs[1] + 1]), np.ones((3, 2), bool), 3)
    networks = Neural(np.zeros((1, n_parameters(ONE))), ONE)
    networks.check(2, Units(np.array([9 + 1]), odd.allowed, 3))
    with pytest.raises(InvalidModel, match="units that read one symbol or more, without gaps"):
        networks.check(2, odd)
