"""Chains follow the data with their priors, and the search can repeat and bound them."""

import json
import threading
import time
from itertools import pairwise

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.automata.auto import chains, search, steps, turns
from sigmastar.automata.auto.candidates import recipe_of
from sigmastar.automata.auto.chains import (
    ChainTrack,
    average_of,
    chain_from,
    finished,
    stretches,
)
from sigmastar.automata.auto.finish import sweep_over_all
from sigmastar.automata.auto.turns import hopeless, next_track
from sigmastar.automata.inference.expected_counts import Forest
from sigmastar.automata.kernels.gibbs_hmm import MoveCounts
from sigmastar.automata.learn.blocks.em_family import HMMFamily, PFAFamily
from sigmastar.automata.learn.blocks.em_step import held_out_score
from sigmastar.automata.learn.blocks.growth import Track, family_named
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
    assert chain.phases == [[0.25, 1, 0], [1.0, 1, 0]]


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


def test_stretches_cover_all_segments_and_keep_to_their_number():
    segments = chained("hmm", 70, cuts=range(10, 71, 10))[1]
    found = stretches(segments, 3)
    assert [stretch.last for stretch in found] == [20, 50, 70]
    assert [stretch.first for stretch in found] == [0, 20, 50]
    assert len(stretches(segments, 0)) == 1


@pytest.mark.parametrize("family", ["hmm", "pfa"])
@pytest.mark.parametrize("climb_seconds", [0.0, 0.2])
def test_an_average_is_made_again_from_its_recipe(climb_seconds, family):
    track = advanced(family=family, climb_seconds=climb_seconds)
    assert len(track.chain.phases) == 1 + (chains.HALVINGS if climb_seconds else 0)
    recipe = json.loads(json.dumps(track.recipe()))
    assert len(track.average) > 1
    assert chain_from(TRAIN, recipe["chain"]) == track.model()


def test_a_chain_stays_with_a_share_for_its_first_turn():
    track = advanced(turns_taken=1, share=0.25, climb_seconds=0.1)
    assert track.chain.phases[-1][0] == 0.25
    assert track.chain.phases[0][0] == 0.25 * 0.5**chains.HALVINGS
    assert track.average
    track.advance(FOREST, HELD_FOREST, lambda: True)
    assert track.chain.phases[-1][0] == 1.0
    assert track.segments[0].first == 0  # none of the phase before
    track.advance(FOREST, HELD_FOREST, lambda: True)
    assert [phase[0] for phase in track.chain.phases].count(1.0) == 1


@pytest.mark.parametrize("swept", [True, False])
def test_an_average_of_a_share_is_made_again_also_when_time_ran_out_at_the_next(swept):
    track = advanced(turns_taken=1, share=0.25)
    track.advance(FOREST, HELD_FOREST, lambda: swept)
    recipe = json.loads(json.dumps(track.recipe()))
    assert recipe["chain"]["kept_in"] == (1 if swept else 0)
    assert chain_from(TRAIN, recipe["chain"]) == track.model()


WHOLE = ss.Corpus.from_sequences([*TRAIN, *HELD], alphabet=TRAIN.alphabet)


@pytest.mark.parametrize("family", ["hmm", "pfa"])
def test_what_goes_on_over_all_strings_is_made_again(family):
    track = advanced(family=family)
    runs = [
        finished(track, WHOLE, time.monotonic() + 0.4, lambda: True, most=4, run=run)
        for run in range(2)
    ]
    model = average_of(family, [each for found, _ in runs for each in found], TRAIN.alphabet)
    recipe = json.loads(json.dumps({**track.recipe(), "all": [on_all for _, on_all in runs]}))
    again = chain_from(TRAIN, recipe["chain"], None, WHOLE, recipe["all"])
    assert again == model
    assert again != chain_from(TRAIN, recipe["chain"])
    assert not np.array_equal(runs[0][0][0]["initial"], runs[1][0][0]["initial"])


@pytest.mark.parametrize(("room", "states"), [(1000, 24), (8, 16), (0, 8)])
def test_runs_share_what_may_be_averaged(room, states):
    track = advanced()
    track.averaged = 24
    candidate = sampled_candidate(track)
    track.average = track.average[:2]
    candidate.model = track.model()  # 8 states
    sweep_over_all([candidate], WHOLE, time.monotonic() + 0.5, 2, room, threading.Event())
    assert candidate.model.n_states == states
    assert len(candidate.recipe["all"]) == 2


def test_without_time_an_average_stays_as_it_is():
    track = advanced(turns_taken=1)
    late = time.monotonic() - 1.0
    assert finished(track, TRAIN, late, lambda: True, most=4) == ([], {})
    candidate = sampled_candidate(track)
    sweep_over_all([candidate], TRAIN, late, 1, 99, threading.Event())
    assert candidate.model == track.model()
    assert "all" not in candidate.recipe


def sampled_candidate(track):
    candidate = search.Candidate("", track.model(), track.log_proba, 0.0, {}, track=track)
    candidate.weight = 1.0
    return candidate


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


def searching(workers=1):
    return search._Search(TRAIN, HELD, 0, time.monotonic(), 1.0, workers)


def test_one_chain_compiles_while_the_other_worker_trains():
    found = searching(workers=2)
    one, other, *_ = found.tracks
    found._busy = {id(one)}
    assert found._next_track(anew=False) is other  # there is nothing else to do
    trained = found._track("pfa", 0, 2)
    found.tracks.append(trained)
    assert found._next_track() is trained
    found._busy |= {id(trained)}
    begun = found._next_track()  # from random parameters
    assert isinstance(begun, Track)
    assert found.tracks[-1] is begun
    found._busy |= {id(begun)}
    one.step_seconds = 0.1  # as soon as it has tried
    assert found._next_track() is other


def test_where_no_chain_can_sweep_tracks_begin_at_random():
    found = searching()
    for chain in found.tracks:
        chain.settled, chain.size_scores = True, {chain.n_states: -np.inf}
    begun = [found._next_track() for _ in range(2)]
    assert begun[0] is begun[1]  # its first turn has not been
    assert isinstance(begun[0], Track)
    begun[0].size_scores, begun[0].score, begun[0].settled = {5: -3.0}, -3.0, True
    other = found._next_track()
    assert (other.name, isinstance(other, Track)) == (begun[0].name, True)
    assert other.seed != begun[0].seed


def test_where_strings_are_many_chains_begin_with_a_part(monkeypatch):
    n_points = TRAIN.n_symbols + len(TRAIN)
    monkeypatch.setattr(steps, "PART_POINTS", n_points // 4)
    found = searching()
    shares = {track.share for track in found.tracks if isinstance(track, ChainTrack)}
    assert shares == {len(TRAIN) // 4 / len(TRAIN)}
    assert found._track("pfa", 0).share == len(TRAIN) // 4 / len(TRAIN)


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


@pytest.mark.parametrize("family", ["hmm", "pfa"])
def test_where_a_climb_has_come_to_is_trained_on_and_the_search_repeats_that(family):
    train, held = search.hold_out_part(TRAIN, 0)
    found = search._Search(train, held, 0, time.monotonic(), 3.0, 1)
    climb = found._climb(family, 4)
    found.tracks = [climb]
    watched = climb.advance

    def advance(*given):
        watched(*given)
        found._stopped.set()  # one turn is enough

    climb.advance = advance
    found._work(np.inf)
    follower, _ = found.tracks
    reached = climb.chain.parameters
    for name, array in follower.parameters.items():
        assert np.array_equal(array, reached[name])
    follower.advance(found.forest, found.held_forest, lambda: True)
    ends = family_named(family), follower.parameters, 1
    begins = family_named(family), reached, 1
    assert held_out_score(found.forest, *ends) > held_out_score(found.forest, *begins)
    component = {"weight": 1.0, "name": "", **recipe_of(follower)}
    recipe = {"seed": 0, "held_out": 0.1, "refit": 0, "components": [component]}
    again = ss.AutoWFA(recipe=json.loads(json.dumps(recipe))).fit(TRAIN)
    assert again.model_ == family_named(family).model(follower.parameters, TRAIN.alphabet)


def test_a_climb_is_trained_on_from_once():
    track = advanced(turns_taken=1, climb_seconds=0.1)
    assert track.climbed[1]["phases"] == track.chain.phases
    track.climbed = None
    track.advance(FOREST, HELD_FOREST, lambda: True)
    assert track.climbed is None
    assert advanced(turns_taken=1).climbed is None  # no climb


def test_chains_of_a_search_sweep_over_the_part_to_train_on():
    found = searching()
    for track in found.tracks:
        if isinstance(track, ChainTrack):
            assert track.corpus is TRAIN
            assert track.held is HELD


@pytest.mark.parametrize(("workers", "chains_going_on", "runs"), [(1, 1, 1), (3, 1, 3), (2, 2, 1)])
def test_chains_that_were_chosen_go_on_over_all_strings(workers, chains_going_on, runs):
    tracks = [advanced(turns_taken=1) for _ in range(chains_going_on)]
    candidates = [sampled_candidate(track) for track in tracks]
    sweep_over_all(candidates, WHOLE, time.monotonic() + 0.5, workers, 99, threading.Event())
    for candidate, track in zip(candidates, tracks, strict=True):
        on_all = candidate.recipe["all"]
        assert [one["run"] for one in on_all] == list(range(runs))
        again = chain_from(TRAIN, track.recipe()["chain"], None, WHOLE, on_all)
        assert candidate.model == again


def test_memory_bounds_the_averages_of_chains(monkeypatch):
    monkeypatch.setattr(search, "most_states", lambda n_symbols, copies: 7)
    found = searching()
    track = found._chain("hmm", 3)
    for _ in range(2):
        track.advance(FOREST, HELD_FOREST, lambda: True)
    assert len(track.segments) > 4
    assert track.model().n_states == 6
    assert found.most_sampled <= found.largest


def test_chains_that_were_not_chosen_do_not_go_on(monkeypatch):
    found = searching()
    seen = []
    monkeypatch.setattr(found, "time_to_refit", lambda: time.monotonic() + 1.0)
    monkeypatch.setattr(found, "_next_track", lambda anew: seen.append(open_tracks(found.tracks)))
    found.grow_on()
    assert seen
    assert all(isinstance(track, Track) for tracks in seen for track in tracks)
    assert any(isinstance(track, ChainTrack) for track in found.tracks)


def open_tracks(tracks):
    return [track for track in tracks if not track.settled]
