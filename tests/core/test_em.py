"""The loop of EM: what it stops at, what it keeps, what it tells."""

import numpy as np

from sigmastar.core.em import Ascent, ascend


def half_way(model):
    """Step to the middle between a number and one; the objective is the number."""
    return model, (model + 1.0) / 2.0


def test_it_stops_when_a_step_gains_less_than_the_tolerance():
    ascent = ascend(Ascent(0.0), half_way, max_iter=100, tol=0.1)
    assert np.diff(ascent.history)[-1] < 0.1 <= np.diff(ascent.history)[-2]
    assert ascent.model == 1.0 - 0.5**ascent.iteration


def test_it_takes_no_more_than_the_steps_allowed():
    assert ascend(Ascent(0.0), half_way, max_iter=3, tol=0.0).iteration == 3


def test_steps_that_settle_do_not_end_it():
    settled = ascend(Ascent(0.0), half_way, max_iter=100, tol=0.6, settling=5)
    assert settled.iteration == 7


def test_the_model_that_the_judge_likes_best_is_kept():
    ascent = ascend(
        Ascent(0.0), half_way, max_iter=20, tol=0.0, judge=lambda m: -abs(m - 0.75), patience=3
    )
    assert ascent.best == 0.75
    assert ascent.best_iteration == 2
    assert ascent.iteration == 2 + 3 + 1


def test_the_judge_hears_the_first_and_the_last_model():
    ascent = ascend(Ascent(0.0), half_way, max_iter=2, tol=0.0, judge=lambda m: m)
    assert ascent.held_out == [0.0, 0.5, 0.75]
    assert ascent.best == 0.75


def test_a_step_that_gains_too_little_is_not_judged():
    ascent = ascend(Ascent(0.0), half_way, max_iter=50, tol=0.3, judge=lambda m: m)
    assert ascent.history == [0.0, 0.5, 0.75]
    assert ascent.held_out == [0.0, 0.5, 0.75]
    assert ascent.model == 0.875


def test_there_is_a_best_model_even_if_no_step_is_taken():
    ascent = Ascent(1.0, iteration=2, history=[1.0, 1.0])
    assert ascend(ascent, half_way, max_iter=9, tol=0.1, judge=lambda m: m).best == 1.0


def test_going_on_equals_never_having_stopped():
    whole = ascend(Ascent(0.0), half_way, max_iter=8, tol=0.0, judge=lambda m: m)
    parts = ascend(Ascent(0.0), half_way, max_iter=5, tol=0.0, judge=lambda m: m)
    assert ascend(parts, half_way, max_iter=8, tol=0.0, judge=lambda m: m) == whole


def test_a_clock_may_stop_it_and_a_checkpoint_hears_of_every_step():
    heard = []
    ascend(
        Ascent(0.0),
        half_way,
        max_iter=50,
        tol=0.0,
        running=lambda: len(heard) < 4,
        after=lambda a: heard.append(a.iteration),
    )
    assert heard == [1, 2, 3, 4]
