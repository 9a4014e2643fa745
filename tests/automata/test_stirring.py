"""Tracks are stirred when that pays, the search repeats it, and sizes are tried about the best."""

import json
import time
from itertools import pairwise

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.automata.auto import search
from sigmastar.automata.auto.candidates import recipe_of
from sigmastar.automata.auto.chains import ChainTrack
from sigmastar.automata.auto.sizes import ALIKE, EVEN, LADDER, beside, best_of, climbing_share
from sigmastar.automata.auto.stirring import IN_VAIN, JOINED, StirredTrack
from sigmastar.automata.inference.expected_counts import Forest
from sigmastar.automata.learn.blocks.em_family import PFAFamily
from sigmastar.automata.learn.blocks.em_step import held_out_score
from sigmastar.automata.learn.blocks.growth import family_named

TRUTH = ss.datasets.make_pfa(4, 3, random_state=1)
WHOLE = ss.sample(TRUTH, 900, random_state=0)
TRAIN, HELD = search.hold_out_part(WHOLE, 0)
FOREST, HELD_FOREST = Forest(TRAIN, n_states=64), Forest(HELD, n_states=64)


def stirred(turns, family="pfa", **options):
    options = {"first": 8, "slice_seconds": 0.2, "corpus": TRAIN, **options}
    track = StirredTrack(family, 0, 99, **options)
    for _ in range(turns):
        track.advance(FOREST, HELD_FOREST, lambda: True)
    return track


def verbs(track):
    return [verb for verb, _ in track.steps]


@pytest.mark.parametrize("family", ["hmm", "pfa"])
def test_the_search_repeats_what_was_stirred(family, monkeypatch):
    monkeypatch.setattr(StirredTrack, "_pays", lambda track, before: True)
    track = stirred(3, family)
    assert verbs(track).count("stirred") == 2
    component = {"weight": 1.0, "name": "", **recipe_of(track)}
    recipe = {"seed": 0, "held_out": 0.1, "refit": 0, "components": [component]}
    again = ss.AutoWFA(recipe=json.loads(json.dumps(recipe))).fit(WHOLE)
    assert again.model_ == family_named(family).model(track.parameters, TRAIN.alphabet)


def test_stirring_begins_with_the_second_turn_and_needs_strings():
    assert "stirred" not in verbs(stirred(1))
    assert "stirred" not in verbs(stirred(3, corpus=None))


def test_where_strings_are_so_many_that_drawing_states_takes_long_nothing_is_stirred():
    for seconds, part, share, is_stirred in (
        (0.05, None, 1.0, True),  # of 0.12 that there are
        (0.07, None, 1.0, False),
        (0.07, FOREST, 0.5, True),
        (0.2, FOREST, 0.5, False),
    ):
        track = stirred(1, share=share)
        found = []
        track._stir = lambda corpus, running, found=found: found.append(corpus)
        track.part, track._whole_seconds = part, seconds
        track.advance(FOREST, HELD_FOREST, lambda: False)
        assert bool(found) == is_stirred


def test_a_step_over_a_part_tells_how_long_one_over_all_takes():
    track = stirred(1, part=FOREST, share=0.25)
    assert track._whole_seconds == pytest.approx(4.0 * track.step_seconds)


def test_a_turn_that_does_not_pay_is_taken_back(monkeypatch):
    track = stirred(1)
    before = track.parameters, list(track.steps), track.score

    def spoil(self, corpus, running):
        self.parameters = PFAFamily().random(np.random.default_rng(0), 2, 3)
        self.steps.append(["stirred", {}])

    monkeypatch.setattr(StirredTrack, "_stir", spoil)
    for _ in range(IN_VAIN):
        track.advance(FOREST, HELD_FOREST, lambda: True)
        assert track.parameters is before[0]
        assert (track.steps, track.score) == before[1:]
    monkeypatch.setattr(StirredTrack, "_stir", None)  # not called any more
    track.advance(FOREST, HELD_FOREST, lambda: True)


def test_scores_never_fall_and_are_those_of_the_parameters():
    track, scores = stirred(1), []
    for _ in range(4):
        track.advance(FOREST, HELD_FOREST, lambda: True)
        scores.append(track.score)
    assert scores == sorted(scores)
    family = PFAFamily()
    assert track.score == held_out_score(HELD_FOREST, family, track.parameters, 1)
    assert track.size_scores[track.n_states] == track.score


def test_stirring_makes_one_of_states_that_do_the_same_but_not_after_it_was_in_vain():
    track = stirred(1, first=20)
    track._stir(TRAIN, lambda: True)
    assert 15 <= track.n_states < 20
    assert [phase[2] for phase in track.steps[-1][1]["phases"]] == [0, JOINED]
    joined, track._in_vain = track.n_states, 1
    track._stir(TRAIN, lambda: True)
    assert track.n_states == joined
    assert [phase[2] for phase in track.steps[-1][1]["phases"]] == [0, 0]


def test_when_it_is_late_tracks_are_not_stirred():
    found = search._Search(TRAIN, HELD, 0, time.monotonic(), 9.0, 1)
    track = stirred(1)
    found.tracks = [track]
    found.grow = lambda deadline, anew: None
    found.sample(np.inf)
    track.advance(FOREST, HELD_FOREST, lambda: True)
    assert track.calm
    assert "stirred" not in verbs(track)


def test_a_track_that_trains_on_a_part_is_stirred_with_a_part():
    track = stirred(1, part=FOREST, share=0.25)
    track.part = FOREST
    track._stir(TRAIN, lambda: True)
    assert {phase[0] for phase in track.steps[-1][1]["phases"]} == {0.25}
    track.part = None
    track._stir(TRAIN, lambda: True)
    assert {phase[0] for phase in track.steps[-1][1]["phases"]} == {1.0}


def climb(size, score, family="pfa"):
    scores = {size: score} if score > -np.inf else {}
    return ChainTrack(family, size, 0, TRAIN, HELD, 1.0, score=score, size_scores=scores)


def test_of_tracks_that_are_even_the_smallest_is_best():
    tracks = [climb(20, -5.0), climb(9, -5.0 - 0.9 * EVEN), climb(4, -5.0 - 1.1 * EVEN)]
    assert best_of(tracks) is tracks[1]


def test_climbs_go_on_about_the_best_with_what_was_tried_least():
    tracks = [climb(64, -9.0), climb(24, -5.0), climb(40, -4.0, "hmm"), climb(16, -8.0, "hmm")]
    sizes = []
    for _ in range(6):
        family, size, number = beside(tracks)
        assert family == "hmm"
        sizes.append(size)
        assert number == sum(track.family == "hmm" for track in tracks)
        tracks.append(climb(size, -9.0, "hmm"))
    assert sizes[:4] == [28, 56, 34, 48]  # 40 itself had its turn before
    assert sizes[4] in (28, 40, 56)
    assert all(max(a, b) > ALIKE * min(a, b) for a, b in pairwise(sizes[:4]))


def test_a_track_that_is_being_stirred_is_still_the_best():
    tracks = [climb(64, -9.0), climb(40, -4.0, "hmm")]
    stirred_now = stirred(1)
    stirred_now.size_scores, stirred_now.score = {10: -3.0}, -np.inf
    assert beside([*tracks, stirred_now])[:2] == ("pfa", 7)


def test_large_climbs_have_more_time_and_all_leave_time_for_others():
    shares = [climbing_share(size) for _, size in LADDER]
    assert sum(shares) < 0.5
    assert climbing_share(64) > climbing_share(16) > 0
    assert climbing_share(10_000) < 0.1


def test_climbs_of_the_ladder_come_first_and_later_ones_between_turns_of_tracks():
    found = search._Search(TRAIN, HELD, 0, time.monotonic(), 100.0, 1)
    for name, size in LADDER:
        chain = found._next_track()
        assert (chain.family, chain.n_states) == (name, size)
        chain.score, chain.size_scores, chain.average = -5.0, {size: -5.0}, [None]
    track = found._track("pfa", 0, 5)
    track.score, track.size_scores = -4.0, {5: -4.0}
    found.tracks = [track, *found.tracks]
    kinds = []
    for _ in range(2 * search.TURNS + 2):
        following = found._next_track()
        kinds.append(following.name)
        following.size_scores = following.size_scores or {9: -5.0}
    turns = ["pfa"] * search.TURNS
    assert kinds == [*turns, "chain", *turns, "chain"]
