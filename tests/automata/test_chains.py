"""Chains of HMMs follow the data with their priors, and the search can repeat and bound them."""

import json
import time

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.automata.auto import chains, search, turns
from sigmastar.automata.auto.chains import ChainTrack, average_of, chain_from
from sigmastar.automata.auto.turns import hopeless, next_track
from sigmastar.automata.inference.expected_counts import Forest
from sigmastar.automata.kernels.gibbs_hmm import MoveCounts
from sigmastar.automata.learn.blocks.em_family import HMMFamily
from sigmastar.automata.learn.blocks.growth import Track
from sigmastar.automata.learn.gibbs_hmm import log_joint_of_moves
from sigmastar.automata.learn.hmm_chain import PRIORS, HMMChain, likeliest_priors, replay_chain

PARAMETERS = HMMFamily().random(np.random.default_rng(0), 3, 3)
TRUTH = HMMFamily().model(PARAMETERS, ss.Alphabet("abc"))
TRAIN = ss.sample(TRUTH, 600, random_state=0)
HELD = ss.sample(TRUTH, 200, random_state=1)
FOREST, HELD_FOREST = Forest(TRAIN), Forest(HELD)


def advanced(turns_taken=2, **options):
    track = ChainTrack(4, 5, TRAIN, HELD, slice_seconds=0.2, **options)
    for _ in range(turns_taken):
        track.advance(FOREST, HELD_FOREST, lambda: True)
    return track


def counts(moves):
    return MoveCounts.zero(3, 3)._replace(
        moves=np.array(moves, dtype=float), starts=np.array([9.0, 1.0, 0.0])
    )


def test_priors_are_those_that_make_the_states_likeliest():
    drawn = counts([[8, 1, 1], [0, 9, 1], [5, 5, 0]])._replace(
        uses=np.array([[9.0, 1, 4], [1, 9, 3], [0, 0, 3]]), ends=np.ones(3)
    )
    scores = {(a, b): log_joint_of_moves(drawn, a, b) for a in PRIORS for b in PRIORS}
    assert likeliest_priors(drawn) == pytest.approx(max(scores, key=scores.get))


def test_a_machine_of_few_arcs_is_told_from_one_of_many():
    few = likeliest_priors(counts(90 * np.eye(3)))[1]
    many = likeliest_priors(counts(np.full((3, 3), 30)))[1]
    assert few < chains.SHARP < many


def test_a_chain_sweeps_over_the_share_that_it_is_told():
    chain = HMMChain(TRAIN, 4, 0)
    for share in (0.25, 1.0):
        chain.begin(share)
        chain.sweep()
        assert chain._counts.starts.sum() == share * len(TRAIN)
    assert chain.phases == [[0.25, 1], [1.0, 1]]


def test_a_share_of_ordered_strings_has_all_kinds():
    ordered = ss.Corpus.from_sequences(["a"] * 100 + ["b"] * 100)
    chain = HMMChain(ordered, 2, 0)
    chain.begin(0.2)
    assert (chain._counts.uses.sum(axis=1) > 5).all()


def test_a_chain_comes_close_to_the_truth():
    found = replay_chain(TRAIN, 4, 0, [[0.1, 60], [1.0, 200]], [100, 150, 200])
    model = average_of(found, TRAIN.alphabet)
    assert ss.log_proba(model, HELD).mean() > ss.log_proba(TRUTH, HELD).mean() - 0.03


@pytest.mark.parametrize("climb_seconds", [0.0, 0.2])
def test_an_average_is_made_again_from_its_recipe(climb_seconds):
    track = advanced(climb_seconds=climb_seconds)
    samples, _ = track.average()
    assert len(track.chain.phases) == 1 + (chains.HALVINGS if climb_seconds else 0)
    model = average_of([sample.parameters for sample in samples], TRAIN.alphabet)
    recipe = json.loads(json.dumps(track.recipe(samples)))
    assert len(samples) > 1
    assert chain_from(TRAIN, recipe) == model


def test_an_average_scores_as_the_mixture_does():
    track = advanced()
    samples, scores = track.average()
    model = average_of([sample.parameters for sample in samples], TRAIN.alphabet)
    np.testing.assert_allclose(scores, ss.log_proba(model, HELD), rtol=1e-9)
    assert track.score == pytest.approx(scores.mean())


def test_averages_keep_to_their_size_and_to_the_later_half(monkeypatch):
    monkeypatch.setattr(chains, "AVERAGED", 8)
    track = advanced(turns_taken=3)
    samples, _ = track.average()
    assert len(samples) == 2
    assert samples[0].sweep >= track.samples[len(track.samples) // 2].sweep


def test_samples_do_not_pile_up():
    track = advanced(turns_taken=1)
    for _ in range(100):
        track._keep(track.chain)
    assert len(track.samples) <= 2 * chains.MOST_SAMPLES


def test_a_chain_whose_sweeps_take_too_long_does_not_begin(monkeypatch):
    monkeypatch.setattr(chains, "LEAST_SWEEPS", 10**9)
    track = advanced(turns_taken=1)
    assert track.settled
    assert track.chain is None


def test_a_chain_stops_when_told_to():
    advanced(turns_taken=1)  # compiles
    track = ChainTrack(4, 5, TRAIN, HELD, slice_seconds=30.0, climb_seconds=30.0)
    began = time.monotonic()
    track.advance(FOREST, HELD_FOREST, lambda: False)
    assert time.monotonic() - began < 5.0


def tracks_with(pfa, chain):
    grown = Track("pfa", 0, 99, PARAMETERS, score=pfa, size_scores={3: pfa})
    sampled = ChainTrack(3, 0, TRAIN, HELD, 1.0, score=chain, size_scores={3: chain})
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


def test_a_search_lets_one_chain_climb_where_arcs_are_few():
    found = searching()
    flat = next(t for t in found.tracks if isinstance(t, ChainTrack))
    flat.chain = HMMChain(TRAIN, 4, 0)
    for priors, climbing in (((0.1, 1.0), 0), ((0.1, 0.01), 1), ((0.1, 0.01), 1)):
        flat.chain.priors = priors
        found._climb_if_sharp(flat)
        assert sum(t.name == "chain" and t.climb_seconds > 0 for t in found.tracks) == climbing


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
    np.testing.assert_allclose(candidate.log_proba, ss.log_proba(candidate.model, HELD), rtol=1e-9)


def test_memory_bounds_the_averages_of_chains(monkeypatch):
    found = searching()
    monkeypatch.setattr(found, "tracks", [advanced(), *found.tracks])
    found.largest = 3
    found._gather()
    assert found.candidates == []
