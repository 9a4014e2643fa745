"""The search within a budget chooses well and can be repeated from its recipe."""

import time

import numpy as np
import pytest

import sigmastar as ss
from automata.oracles import random_pfa
from sigmastar.automata.auto import search, steps
from sigmastar.automata.auto.candidates import Candidate, best_mixture
from sigmastar.automata.auto.finish import train_on_all
from sigmastar.automata.auto.replay import replay_recipe
from sigmastar.automata.auto.sizes import EVEN
from sigmastar.automata.inference.expected_counts import Forest
from sigmastar.automata.learn.blocks import growth
from sigmastar.automata.learn.blocks.em_family import HMMFamily, PFAFamily
from sigmastar.automata.learn.blocks.em_step import em_step, held_out_score
from sigmastar.automata.learn.blocks.growth import Track, replay_track
from sigmastar.automata.learn.blocks.mixing import mixture_log_proba, mixture_weights
from sigmastar.automata.learn.blocks.quasi_newton import QuasiNewton

TRUTH = random_pfa(7, n_states=4, symbols="abc")
TRAIN = ss.sample(TRUTH, 1500, random_state=0)
TEST = ss.sample(TRUTH, 1500, random_state=1)


@pytest.fixture(scope="module")
def found():
    for learn in search.QUICK_LEARNERS.values():  # compile what there is to compile
        learn(TRAIN[:200])
    ss.AutoWFA(0.5, random_state=0).fit(TRAIN[:200])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "QUICK", 0.6)  # all of them, on a busy machine too
        return ss.AutoWFA(20.0, random_state=0).fit(TRAIN)


def test_the_result_is_close_to_the_truth(found):
    assert found.score(TEST) > ss.log_proba(TRUTH, TEST).mean() - 0.03


def test_the_leaderboard_is_sorted_and_its_weights_are_shares(found):
    rows = found.leaderboard_
    scores = [row["held_out"] for row in rows]
    assert scores == sorted(scores, reverse=True)
    assert sum(row["weight"] for row in rows) == pytest.approx(1.0)
    names = " ".join(row["name"] for row in rows)
    assert all(word in names for word in ("spectral", "separable", "hmm", "pfa"))


def test_candidates_are_judged_by_sequences_that_none_of_them_saw(found):
    train, held = search.hold_out_part(TRAIN, found.recipe_["seed"])
    strings = [["".join(string) for string in part] for part in (train, held)]
    assert sorted(strings[0] + strings[1]) == sorted("".join(string) for string in TRAIN)
    assert len(held) == pytest.approx(0.1 * len(TRAIN), rel=0.5)
    scores = {row["name"]: row["held_out"] for row in found.leaderboard_}
    for name in ("spectral", "separable", "merged"):
        model = search.QUICK_LEARNERS[name](train).model
        expected = float(ss.log_proba(model, held).mean())
        assert scores[name] == pytest.approx(expected, rel=1e-9)
        assert abs(scores[name] - float(ss.log_proba(model, train).mean())) > 1e-3


def test_tracks_are_judged_by_the_held_out_part():
    train, held = search.hold_out_part(TRAIN, 0)
    found = search._Search(train, held, 0, time.monotonic(), 1.0, 1)
    track = found._track("hmm", 0, 16)
    track.advance(found.forest, found.held_forest, lambda: True)
    expected = held_out_score(Forest(held), HMMFamily(), track.parameters, 1)
    assert track.score == pytest.approx(expected, rel=1e-12)
    assert track.score != pytest.approx(
        held_out_score(Forest(train), HMMFamily(), track.parameters, 1), rel=1e-6
    )


def test_tracks_learn_from_one_part_and_are_judged_by_the_other(monkeypatch):
    train, held = search.hold_out_part(TRAIN, 0)
    found = search._Search(train, held, 0, time.monotonic(), 1.0, 1)
    found.tracks = [track for track in found.tracks if isinstance(track, Track)]
    given = []

    def watched(track, *forests):
        given.extend(forests[:2])
        found._stopped.set()  # one is enough

    monkeypatch.setattr(Track, "advance", watched)
    found._work(np.inf)
    assert given[0] is found.forest
    assert given[1] is found.held_forest


def test_a_learner_that_fails_is_listed_with_its_reason(monkeypatch):
    def refuse(corpus):
        raise ss.errors.InvalidParameter("n_states must be fewer than there are prefixes.")

    learners = {"spectral": refuse, "separable": search.QUICK_LEARNERS["separable"]}
    monkeypatch.setattr(search, "QUICK_LEARNERS", learners)
    found = ss.AutoWFA(0.5, random_state=0).fit(TRAIN[:200])
    failed = [row for row in found.info_["leaderboard"] if "failed" in row]
    assert [row["name"] for row in failed] == ["spectral"]
    assert failed[0]["failed"] == "n_states must be fewer than there are prefixes."
    assert found.leaderboard_[-1] is failed[0]
    assert any(row["name"] == "separable" for row in found.leaderboard_)


def test_a_recipe_gives_the_same_model_again(found):
    again = ss.AutoWFA(recipe=found.recipe_).fit(TRAIN)
    assert again.model_ == found.model_
    assert again.recipe_ == found.recipe_


def test_a_track_is_made_again_from_its_steps():
    train, held = search.hold_out_part(TRAIN, 0)
    forest, part = Forest(train, n_states=search.LAYOUT), Forest(train[:200])
    start = PFAFamily().random(np.random.default_rng(4), 1, 3)
    track = Track("pfa", 3, 24, start, [["given", "one"]], part=part)
    for _ in range(3):
        track.advance(forest, Forest(held), lambda: True)
    assert [verb for verb, _ in track.steps[1:3]] == ["part", "long"]
    assert track.steps[3][0] == "split"
    again = replay_track("pfa", 3, track.steps, forest, {"one": start}, part)
    for name, array in track.parameters.items():
        assert np.array_equal(array, again[name])


def test_all_strings_wait_until_a_part_has_taught_what_it_can():
    part, held = Forest(TRAIN[:300]), Forest(TRAIN[300:400])
    track = Track("pfa", 3, 8, first=4, part=part)
    steps_left = iter([True] * 5)
    track.advance(None, held, lambda: next(steps_left, False))  # time runs out
    assert track.part is part
    track.advance(None, held, lambda: True)
    assert track.part is None
    assert track.unfinished  # all are still to come
    assert {verb for verb, _ in track.steps[1:]} == {"part"}


def test_plain_steps_of_old_recipes_are_taken():
    forest, family = Forest(TRAIN), HMMFamily()
    expected = family.random(growth._rng(3, 4), 4, 3)
    for _ in range(3):
        expected = em_step(forest, family, expected).parameters
    again = replay_track("hmm", 3, [["start", 4], ["em", 3]], forest, {})
    for name, array in expected.items():
        assert np.array_equal(array, again[name])


def test_many_strings_are_first_trained_on_in_part(monkeypatch):
    assert steps.first_part(TRAIN, 0) is None
    n_points = TRAIN.n_symbols + len(TRAIN)
    monkeypatch.setattr(steps, "PART_POINTS", n_points // 10)
    part = steps.first_part(TRAIN, 0)
    assert len(part) == len(TRAIN) // 10
    strings = ["".join(string) for string in part]
    assert strings != ["".join(string) for string in TRAIN[: len(part)]]  # drawn at random
    assert set(strings) <= {"".join(string) for string in TRAIN}
    assert strings == ["".join(string) for string in steps.first_part(TRAIN, 0)]


def test_steps_must_gain_so_many_nats_over_all_strings(monkeypatch):
    """Twice as many strings are trained on for as long where twice as much must be gained."""
    once, twice = Forest(TRAIN), Forest(TRAIN.take(np.repeat(np.arange(len(TRAIN)), 2)))
    start = HMMFamily().random(np.random.default_rng(5), 6, 3)

    def count(forest, nats):
        monkeypatch.setattr(growth, "COARSE", nats)
        track = Track("hmm", 0, 6, start, [["given", "one"]])
        track.advance(forest, once, lambda: True)
        return track.steps[-1][1]

    assert count(once, 1.0) == count(twice, 2.0)
    assert 9 < count(once, 1.0) < count(twice, 1.0)


def many(monkeypatch):
    """Let the strings be too many to train on all at once; search them."""
    monkeypatch.setattr(steps, "PART_POINTS", (TRAIN.n_symbols + len(TRAIN)) // 4)
    train, held = search.hold_out_part(TRAIN, 0)
    return search._Search(train, held, 0, time.monotonic(), 9.0, 2)


def test_of_many_strings_only_the_best_quick_model_is_trained_further(monkeypatch):
    found = many(monkeypatch)
    random = len(found.tracks)
    found.learn_quickly()
    began = [track.steps[0][1] for track in found.tracks[:-random]]
    scores = {c.name: c.score for c in found.candidates}
    expected, best = [], -np.inf
    for name, score in scores.items():  # in the order that they were learned in
        if score > best:
            expected, best = [name, *expected], score
    assert began == expected
    assert len(began) < len(scores)


def test_of_many_strings_what_still_gains_is_trained_and_not_sampled(monkeypatch):
    found = many(monkeypatch)
    gains, settled = scored(9, -5.0), scored(4, -5.05)
    gains.part, settled.unfinished = found.part, False
    found.tracks = [gains, settled]
    monkeypatch.setattr(found, "grow", lambda deadline, anew: None)
    found.sample(np.inf)
    assert [type(track).__name__ for track in found.tracks] == ["Track", "Track", "ChainTrack"]
    assert found.tracks[1] is gains
    assert gains.part is None  # what is left of the time is for all strings
    assert found.tracks[2].start is settled.parameters


def test_of_many_strings_the_last_steps_are_long_and_the_recipe_repeats_them(monkeypatch):
    monkeypatch.setattr(steps, "PART_POINTS", (TRAIN.n_symbols + len(TRAIN)) // 4)
    plain = []
    monkeypatch.setattr(steps, "em_step", lambda *given, **more: plain.append(given))
    found = ss.AutoWFA(3.0, random_state=0).fit(TRAIN)
    assert found.recipe_["refit_fast"]
    assert ss.AutoWFA(recipe=found.recipe_).fit(TRAIN).model_ == found.model_
    assert not plain


def test_last_steps_are_plain_or_long():
    forest, family = Forest(TRAIN), HMMFamily()
    start = family.random(np.random.default_rng(4), 4, 3)
    plain, fast = (steps.refitting("hmm", start, forest, fast) for fast in (False, True))
    expected, run = start, QuasiNewton(forest, family)
    other = start
    for _ in range(5):
        expected = em_step(forest, family, expected).parameters
        other = run.step(other).parameters
        for name, array in next(plain).items():
            assert np.array_equal(array, expected[name])
        for name, array in next(fast).items():
            assert np.array_equal(array, other[name])
    assert not np.array_equal(expected["stop"], other["stop"])


def scored(size, score):
    parameters = PFAFamily().random(np.random.default_rng(size), size, 3)
    return Track("pfa", 0, 99, parameters, [["start", size]], score=score)


def test_the_best_are_sampled_and_of_equals_the_smaller(monkeypatch):
    train, held = search.hold_out_part(TRAIN, 0)
    found = search._Search(train, held, 0, time.monotonic(), 1.0, 2)
    best, even, second, last = (
        scored(9, -5.0),
        scored(4, -5.0 - 0.9 * EVEN),
        scored(3, -5.0 - 1.1 * EVEN),
        scored(2, -6.0),
    )
    found.tracks = [last, second, even, best]
    monkeypatch.setattr(found, "grow", lambda deadline, anew: None)
    found.sample(np.inf)
    sampled = found.tracks[-2:]
    assert [track.n_states for track in sampled] == [4, 9]
    assert [track.start is own.parameters for track, own in zip(sampled, (even, best), strict=True)]
    assert sampled[0].origin["steps"] == [["start", 4]]
    assert {last, second, even, best} <= set(found.tracks)


def test_beside_a_climb_that_is_far_ahead_others_begin(monkeypatch):
    train, held = search.hold_out_part(TRAIN, 0)
    found = search._Search(train, held, 0, time.monotonic(), 9.0, 2)
    leader = found._climb("pfa", 5)
    leader.score = -5.0
    monkeypatch.setattr(found, "grow", lambda deadline, anew: None)
    for behind, kinds in ((0.9, "sampled"), (1.1, "climb")):
        second = scored(4, -5.0 - behind * search.CHAIN_BEHIND)
        found.tracks = [second, leader]
        found.sample(np.inf)
        one, other = found.tracks[-2:]
        assert one is leader
        assert (other.start is None) == (kinds == "climb")
        assert other.n_states == (5 if kinds == "climb" else 4)
        assert (other.seed == leader.seed) == (kinds != "climb")


def test_a_broken_recipe_is_refused():
    with pytest.raises(ss.errors.InvalidParameter, match="recipe must be one that AutoWFA wrote"):
        ss.AutoWFA(recipe={"seed": 1}).fit(TRAIN)


@pytest.mark.parametrize("family", [PFAFamily(), HMMFamily()])
def test_splitting_without_noise_changes_no_probability(monkeypatch, family):
    from sigmastar.automata.learn.blocks import em_family

    monkeypatch.setattr(em_family, "_noise", lambda rng, shape: np.ones(shape))
    parameters = family.random(np.random.default_rng(0), 3, 3)
    larger = family.split(parameters, np.array([0, 1, 2, 1, 1]), np.random.default_rng(0))
    small = family.model(parameters, TRAIN.alphabet)
    large = family.model(larger, TRAIN.alphabet)
    assert large.n_states == 5
    np.testing.assert_allclose(
        ss.log_proba(large, TRAIN[:50]), ss.log_proba(small, TRAIN[:50]), rtol=1e-10
    )


def test_mixture_weights_find_the_optimum():
    rng = np.random.default_rng(0)
    logs = np.log(rng.dirichlet(np.ones(50), size=2))
    weights, score = mixture_weights(logs, n_iter=2000)
    grid = np.linspace(0, 1, 1001)
    values = [np.log(g * np.exp(logs[0]) + (1 - g) * np.exp(logs[1])).mean() for g in grid]
    assert score == pytest.approx(max(values), abs=1e-5)
    assert weights[0] == pytest.approx(grid[int(np.argmax(values))], abs=0.01)


def test_useless_components_are_left_out():
    good, bad = np.full(100, -1.0), np.full(100, -5.0)
    weights, score = mixture_weights(np.stack([good, bad]))
    assert weights.tolist() == [1.0, 0.0]
    assert score == pytest.approx(-1.0)


def candidates_of(*tables):
    return [Candidate(str(i), TRUTH, np.array(table), 0.0) for i, table in enumerate(tables)]


def halves(gain):
    """Log-probabilities of 1,000 strings under two models: each is better on one half."""
    first = np.full(1000, -5.0)
    second = first.copy()
    first[:500] += gain
    second[500:] += gain
    return first, second - 1e-6


def test_a_component_must_pay_for_its_weight():
    for gain, together in ((0.05, 1), (0.5, 2)):  # 0.3 nats of all strings, and 30
        first, second = halves(gain)
        _, score = mixture_weights(np.stack([first, second]))
        assert score > first.mean()
        picked = best_mixture(candidates_of(second, first), 99)
        assert [c.name for c in picked] == ["1", "0"][:together]
        assert sum(c.weight for c in picked) == pytest.approx(1.0)


def test_a_mixture_takes_in_first_what_gains_most():
    first, second = halves(0.5)
    third = first - 0.01
    third[:10] += 0.9  # better than the second one alone, and worth less in a mixture
    picked = best_mixture(candidates_of(third, second - 0.005, first), 2 * TRUTH.n_states)
    assert [c.name for c in picked] == ["2", "1"]  # no room for a third


@pytest.mark.parametrize(("ahead", "leader"), [(1.9, "fair"), (2.1, "grown")])
def test_what_held_out_strings_formed_must_be_ahead_by_more_than_chance(ahead, leader):
    fair = np.full(1000, -5.0)
    noise = np.tile([0.05, -0.05], 500)
    error = 0.05 * np.sqrt(1000)
    grown = fair + noise + ahead * error / 1000
    candidates = [
        Candidate("grown", TRUTH, grown, 0.0, parameters={"initial": np.ones(1)}),
        Candidate("fair", TRUTH, fair, 0.0),
    ]
    assert best_mixture(candidates, TRUTH.n_states)[0].name == leader
    candidates[0].parameters = {}  # nothing was looked at by either
    assert best_mixture(candidates, TRUTH.n_states)[0].name == "grown"


@pytest.mark.parametrize(("better", "together"), [(1, 1), (2, 2)])
def test_a_component_must_gain_more_than_chance(better, together):
    first = np.full(100, -50.0)
    second = first - 0.5
    second[:better] += 20.5  # one string may be a fluke, however much is gained with it
    assert 100 * (mixture_weights(np.stack([first, second]))[1] + 50.0) > 10
    assert len(best_mixture(candidates_of(first, second), 99)) == together


def test_log_probabilities_of_a_mixture_are_those_of_its_weights():
    first, second = halves(0.5)
    second[3] = -np.inf
    weights, score = mixture_weights(np.stack([first, second]))
    logs = mixture_log_proba(np.stack([first, second]))
    assert logs.mean() == pytest.approx(score)
    expected = np.log(weights @ np.exp([first[:9], second[:9]]))
    np.testing.assert_allclose(logs[:9], expected, rtol=1e-12)


def deterministic():
    """Learn a structure from nine tenths, then count over all: the model, and that of the part."""
    truth = ss.datasets.make_dpfa(n_states=3, n_symbols=3, random_state=4)
    corpus = ss.sample(truth, 600, random_state=0)
    train, _ = steps.hold_out_part(corpus, 5)
    merged = steps.quick_merged(train).model
    return corpus, merged, steps.counted_on_all(merged, Forest(corpus, n_states=steps.LAYOUT))


def test_arcs_of_a_deterministic_automaton_are_counted_over_all_strings():
    corpus, merged, again = deterministic()
    arcs, ends = np.zeros(merged.transitions.shape), np.zeros(merged.n_states)
    for string in corpus:
        state = 0
        for symbol in corpus.alphabet.encode(string):
            following = int(merged.transitions[symbol, state].argmax())
            arcs[symbol, state, following] += 1
            state = following
        ends[state] += 1
    visits = arcs.sum(axis=(0, 2)) + ends
    expected = 0.9 * arcs / visits[:, None] + 0.1 * merged.transitions
    np.testing.assert_allclose(again.transitions, expected, rtol=1e-9)
    np.testing.assert_allclose(again.final, 0.9 * ends / visits + 0.1 * merged.final, rtol=1e-9)


def test_what_was_counted_over_all_is_made_again():
    corpus, merged, again = deterministic()
    for counted, expected in ((True, again), (False, merged)):
        component = {"starter": "merged", "name": "", "weight": 1.0, "counted": counted}
        recipe = {"seed": 5, "refit": 0, "components": [component]}
        assert replay_recipe(corpus, recipe, n_jobs=1).model == expected


def test_deterministic_components_are_counted_over_all():
    corpus, merged, again = deterministic()
    candidate = Candidate("merged", merged, np.zeros(1), 0.0, {"starter": "merged"})
    train_on_all([candidate], corpus, time.monotonic() + 9.0, 6, 1, False, lambda note: None)
    assert candidate.model == again
    assert candidate.recipe == {"starter": "merged", "counted": True}


def test_what_is_too_large_is_not_mixed():
    first, second = halves(0.5)
    (best,) = best_mixture(candidates_of(first, second), 2 * TRUTH.n_states - 1)
    assert (best.name, best.weight) == ("0", 1.0)


def test_long_sequences_are_told_apart():
    # Probabilities of long sequences are far below the least float, and none is impossible.
    worse, better = np.full(20, -2000.0), np.full(20, -1900.0)
    weights, score = mixture_weights(np.stack([worse, better]))
    assert weights.tolist() == [0.0, 1.0]
    assert score == pytest.approx(-1900.0)
    assert Candidate("", TRUTH, worse, 0.0).score < Candidate("", TRUTH, better, 0.0).score


def test_impossible_sequences_have_one_price_below_that_of_likely_ones():
    parameters = {
        "initial": np.ones(1),
        "transitions": np.array([[[0.5]], [[0.0]], [[0.0]]]),
        "final": np.array([0.5]),
    }
    model = PFAFamily().model(parameters, TRAIN.alphabet)
    strings = ss.Corpus.from_sequences(["a" * 70, "b"], alphabet=TRAIN.alphabet)
    logs = ss.log_proba(model, strings)
    score = Candidate("", model, logs, 0.0).score
    assert held_out_score(Forest(strings), PFAFamily(), parameters, 1) == pytest.approx(score)
    assert score < logs[0]
