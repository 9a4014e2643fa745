"""Chains follow the data with their priors, and the search can repeat and bound them."""

import json
import time
from itertools import pairwise

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.automata.auto import chains, search, turns
from sigmastar.automata.auto.chains import (
    ChainTrack,
    average_of,
    chain_from,
    finished,
    stretches,
)
from sigmastar.automata.auto.turns import hopeless, next_track
from sigmastar.automata.inference.expected_counts import Forest
from sigmastar.automata.kernels.gibbs_hmm import MoveCounts
from sigmastar.automata.learn.blocks.em_family import HMMFamily, PFAFamily
from sigmastar.automata.learn.blocks.growth import Track
from sigmastar.automata.learn.chain import PRIORS, STRIDE, Chain, added, likeliest_priors
from sigmastar.automata.learn.gibbs_hmm import log_joint_of_moves

PARAMETERS = HMMFamily().random(np.random.default_rng(0), 3, 3)
TRUTH = HMMFamily().model(PARAMETERS, ss.Alphabet("abc"))
TRAIN = ss.sample(TRUTH, 600, random_state=0)
HELD = ss.sample(TRUTH, 200, random_state=1)
FOREST, HELD_FOREST = Forest(TRAIN), Forest(HELD)


def advanced(turns_taken=2, family="hmm", **options):
    track = ChainTrack(family, 4, 5, TRAIN, HELD, slice_seconds=0.2, **options)
    for _ in range(turns_taken):
        track.advance(FOREST, HELD_FOREST, lambda: True)
    return track


def arrivals(drawn):
    return np.vstack([drawn.moves, drawn.starts])


def chained(name, count, cuts=(), **options):
    """Sweep over all strings; return the chain, and the segments between cuts."""
    chain = Chain(name, TRAIN, 4, 0, **options)
    chain.begin(1.0)
    segments = []
    for done in range(1, count + 1):
        chain.sweep()
        if done in cuts:
            segments.append(chain.cut())
    return chain, segments


def counts(moves):
    return MoveCounts.zero(3, 3)._replace(
        moves=np.array(moves, dtype=float), starts=np.array([9.0, 1.0, 0.0])
    )


def test_priors_are_those_that_make_the_states_likeliest():
    drawn = counts([[8, 1, 1], [0, 9, 1], [5, 5, 0]])._replace(
        uses=np.array([[9.0, 1, 4], [1, 9, 3], [0, 0, 3]]), ends=np.ones(3)
    )
    scores = {(a, b): log_joint_of_moves(drawn, a, b) for a in PRIORS for b in PRIORS}
    assert likeliest_priors(drawn, arrivals(drawn)) == pytest.approx(max(scores, key=scores.get))


def test_a_machine_of_few_arcs_is_told_from_one_of_many():
    drawn = counts(90 * np.eye(3)), counts(np.full((3, 3), 30))
    few, many = (likeliest_priors(each, arrivals(each))[1] for each in drawn)
    assert 20 * few < many


@pytest.mark.parametrize("name", ["hmm", "pfa"])
def test_a_chain_sweeps_over_the_share_that_it_is_told(name):
    chain = Chain(name, TRAIN, 4, 0)
    for share in (0.25, 1.0):
        chain.begin(share)
        chain.sweep()
        assert chain._counts.starts.sum() == share * len(TRAIN)
    assert chain.phases == [[0.25, 1], [1.0, 1]]


def test_sweeps_and_what_is_expected_use_the_priors_of_the_chain():
    used = []
    chain = Chain("hmm", TRAIN[:20], 4, 0)
    chain.begin(1.0)
    chain.priors = 0.7, 0.4
    chain._sampler = chain._sampler._replace(
        sweep=lambda *given: used.append(given[4:6]), expected=lambda *given: used.append(given[1:])
    )
    chain.sweep()
    assert chain.parameters is None
    assert used == [(0.7, 0.4)] * 2


def test_a_share_of_ordered_strings_has_all_kinds():
    ordered = ss.Corpus.from_sequences(["a"] * 100 + ["b"] * 100)
    chain = Chain("hmm", ordered, 2, 0)
    chain.begin(0.2)
    assert (chain._counts.uses.sum(axis=1) > 5).all()


@pytest.mark.parametrize("name", ["hmm", "pfa"])
def test_a_chain_comes_close_to_the_truth(name):
    _, segments = chained(name, 260, cuts=(100, 260))
    model = average_of(name, [segments[1].parameters], TRAIN.alphabet)
    assert ss.log_proba(model, HELD).mean() > ss.log_proba(TRUTH, HELD).mean() - 0.05


@pytest.mark.parametrize(("name", "family"), [("hmm", HMMFamily()), ("pfa", PFAFamily())])
def test_a_chain_begins_where_it_is_told(name, family):
    """Before it has swept, it expects what it was given, as far as strings show."""
    given, _ = chained(name, 200)
    chain = Chain(name, TRAIN, 4, 1, start=given.parameters)
    chain.begin(1.0)
    logs = [
        ss.log_proba(family.model(each.parameters, TRAIN.alphabet), HELD).mean()
        for each in (given, chain)
    ]
    assert logs[1] == pytest.approx(logs[0], abs=0.03)
    assert chain.priors != pytest.approx((0.02, 0.1))  # they follow the states at once


@pytest.mark.parametrize("name", ["hmm", "pfa"])
def test_a_segment_has_the_mean_of_what_was_counted(name):
    chain = Chain(name, TRAIN, 4, 0)
    chain.begin(1.0)
    total, times = 0.0, 0
    for done in range(1, 4 * STRIDE + 1):
        chain.sweep()
        if done % STRIDE == 0:
            total, times = total + chain._counts.uses, times + 1
    segment = chain.cut()
    assert (segment.first, segment.last, segment.times) == (0, 4 * STRIDE, times)
    assert np.array_equal(segment.counts.uses, total)
    mean = type(segment.counts)(*(array / times for array in segment.counts))
    expected = chain._sampler.expected(mean, *chain.priors)
    for key, array in segment.parameters.items():
        assert np.array_equal(array, expected[key])


def test_segments_that_are_added_are_as_if_never_cut():
    whole = chained("pfa", 60, cuts=(60,))[1][0]
    pieces = chained("pfa", 60, cuts=(12, 40, 60))[1]
    together = added(pieces)
    assert together[:4] == whole[:4]
    for one, other in zip(together.counts, whole.counts, strict=True):
        assert np.array_equal(one, other)


def test_stretches_cover_all_segments_and_keep_to_their_size(monkeypatch):
    monkeypatch.setattr(chains, "AVERAGED", 12)
    segments = chained("hmm", 70, cuts=range(10, 71, 10))[1]
    found = stretches(segments, 4)
    assert [stretch.last for stretch in found] == [20, 50, 70]
    assert [stretch.first for stretch in found] == [0, 20, 50]
    assert len(stretches(segments, 100)) == 1


@pytest.mark.parametrize("family", ["hmm", "pfa"])
@pytest.mark.parametrize("climb_seconds", [0.0, 0.2])
def test_an_average_is_made_again_from_its_recipe(climb_seconds, family):
    track = advanced(family=family, climb_seconds=climb_seconds)
    assert len(track.chain.phases) == 1 + (chains.HALVINGS if climb_seconds else 0)
    recipe = json.loads(json.dumps(track.recipe()))
    assert len(track.average) > 1
    assert chain_from(TRAIN, recipe["chain"]) == track.model()


@pytest.mark.parametrize("family", ["hmm", "pfa"])
def test_what_goes_on_over_all_strings_is_made_again(family):
    whole = ss.Corpus.from_sequences([*TRAIN, *HELD], alphabet=TRAIN.alphabet)
    track = advanced(family=family)
    until = time.monotonic() + 0.4
    model, on_all = finished(track, whole, until, lambda: True)
    recipe = json.loads(json.dumps({**track.recipe(), "all": on_all}))
    again = chain_from(TRAIN, recipe["chain"], None, whole, recipe["all"])
    assert again == model
    assert again != chain_from(TRAIN, recipe["chain"])


def test_without_time_an_average_stays_as_it_is():
    track = advanced(turns_taken=1)
    model, on_all = finished(track, TRAIN, time.monotonic() - 1.0, lambda: True)
    assert model == track.model()
    assert on_all == {}
    recipe = track.recipe()
    assert chain_from(TRAIN, recipe["chain"], None, TRAIN, on_all) == model


def test_an_average_scores_as_the_mixture_does():
    track = advanced()
    np.testing.assert_allclose(track.log_proba, ss.log_proba(track.model(), HELD), rtol=1e-9)
    assert track.score == pytest.approx(track.log_proba.mean())


def test_averages_are_of_the_later_half():
    track = advanced(turns_taken=3)
    assert track.average[0].first == track.segments[len(track.segments) // 2].first
    assert track.average[-1].last == track.segments[-1].last


def test_segments_do_not_pile_up():
    chain = Chain("hmm", TRAIN[:50], 4, 0)
    chain.begin(1.0)
    segments = []
    until = time.monotonic() + 2.0
    spacing = chains.swept(chain, segments, 1e-9, until, lambda: chain.phases[-1][1] < 600)
    assert 2 <= len(segments) < 2 * chains.MOST_STRETCHES
    assert spacing > 1e-9
    assert segments[0].first == 0
    assert all(one.last == two.first for one, two in pairwise(segments))


def test_a_chain_whose_sweeps_take_too_long_does_not_begin(monkeypatch):
    monkeypatch.setattr(chains, "LEAST_SWEEPS", 10**9)
    track = advanced(turns_taken=1)
    assert track.settled
    assert track.chain is None


def test_a_chain_stops_when_told_to():
    advanced(turns_taken=1)  # compiles
    track = ChainTrack("hmm", 4, 5, TRAIN, HELD, slice_seconds=30.0, climb_seconds=30.0)
    began = time.monotonic()
    track.advance(FOREST, HELD_FOREST, lambda: False)
    assert time.monotonic() - began < 5.0


def tracks_with(pfa, chain):
    grown = Track("pfa", 0, 99, PARAMETERS, score=pfa, size_scores={3: pfa})
    sampled = ChainTrack("hmm", 3, 0, TRAIN, HELD, 1.0, score=chain, size_scores={3: chain})
    return [grown, sampled]


def test_what_falls_behind_a_chain_is_given_up_and_a_chain_that_does_too():
    for pfa, chain, given_up in ((-5.05, -5.0, [True, False]), (-5.0, -5.2, [False, True])):
        tracks = tracks_with(pfa, chain)
        assert [hopeless(track, tracks) for track in tracks] == given_up
    assert not any(hopeless(track, tracks) for track in tracks_with(-5.0, -5.05)[1:])


def test_families_that_are_close_take_turns_by_the_time_they_had():
    tracks = tracks_with(-5.0, -5.01)
    tracks[0].seconds, tracks[1].seconds = 2.0, 1.0
    assert next_track(tracks, set(), 9.0) is tracks[1]
    assert next_track(tracks, {id(tracks[1])}, 9.0) is tracks[0]
    tracks[1].settled = True
    assert next_track(tracks, {id(tracks[0])}, 9.0) is None
    tracks[1].settled, tracks[1].seconds = False, 3.0
    assert next_track(tracks, set(), 9.0) is tracks[0]
    assert turns.BEHIND < turns.CHAIN_BEHIND


def searching():
    return search._Search(TRAIN, HELD, 0, time.monotonic(), 1.0, 1)


def test_the_best_chains_are_candidates_and_the_search_repeats_them(monkeypatch):
    found = searching()
    monkeypatch.setattr(found, "tracks", [advanced(), *found.tracks])
    found._gather()
    (candidate,) = found.candidates
    recipe = {
        "seed": 0,
        "held_out": 0.1,
        "refit": 0,
        "components": [{"weight": 1.0, "name": candidate.name, **candidate.recipe}],
    }
    train, _ = search.hold_out_part(TRAIN, 0)
    again = ss.AutoWFA(recipe=recipe).fit(TRAIN)
    assert again.model_ == chain_from(train, candidate.recipe["chain"])
    assert candidate.track is found.tracks[0]
    np.testing.assert_allclose(candidate.log_proba, ss.log_proba(candidate.model, HELD), rtol=1e-9)


def test_chains_of_a_search_sweep_over_the_part_to_train_on():
    found = searching()
    for track in found.tracks:
        if isinstance(track, ChainTrack):
            assert track.corpus is TRAIN
            assert track.held is HELD


def test_the_search_lets_a_chain_go_on_over_all_strings():
    found = searching()
    whole = ss.Corpus.from_sequences([*TRAIN, *HELD], alphabet=TRAIN.alphabet)
    track = advanced(turns_taken=1)
    candidate = search.Candidate("", track.model(), track.log_proba, 0.0, {}, track=track)
    candidate.weight = 1.0
    found._sweep_over_all([candidate], whole, time.monotonic() + 0.4)
    again = chain_from(TRAIN, track.recipe()["chain"], None, whole, candidate.recipe["all"])
    assert candidate.model == again


def test_memory_bounds_the_averages_of_chains(monkeypatch):
    found = searching()
    monkeypatch.setattr(found, "tracks", [advanced(), *found.tracks])
    found.largest = 3
    found._gather()
    assert found.candidates == []
