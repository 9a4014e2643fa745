"""Progress that is told to whoever listens, and randomness from whatever names it."""

import json.decoder
import pickle

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.core.errors import InvalidParameter, MissingExtra
from sigmastar.core.extras import require
from sigmastar.core.progress import listening, stage
from sigmastar.core.rng import as_generator


class Diary:
    """Writes down what it hears."""

    def __init__(self):
        self.heard = []

    def start(self, stage):
        self.heard.append(("start", stage.title, stage.total))

    def update(self, stage):
        self.heard.append(("update", stage.done, stage.note))

    def finish(self, stage):
        self.heard.append(("finish", stage.done, stage.note))


def test_a_reporter_hears_a_stage_from_beginning_to_end():
    diary = Diary()
    with listening(diary), stage("work", 3) as work:
        work.advance(note="one")
        work.advance(2)
    assert diary.heard == [
        ("start", "work", 3),
        ("update", 1, "one"),
        ("update", 3, "one"),
        ("finish", 3, "one"),
    ]


def work_that_fails():
    with stage("work", 2):
        raise RuntimeError("broken")


def test_a_stage_that_fails_is_finished_and_nobody_listens_afterwards():
    diary = Diary()
    with pytest.raises(RuntimeError, match="broken"), listening(diary):
        work_that_fails()
    assert [event[0] for event in diary.heard] == ["start", "finish"]
    with stage("later", 1) as later:
        later.advance()
    assert len(diary.heard) == 2


def test_learning_tells_its_progress():
    diary = Diary()
    with listening(diary):
        ss.BaumWelchPFA(2, max_iter=3, tol=0.0, random_state=0).fit(["ab", "b"] * 5)
    assert {event[0] for event in diary.heard} == {"start", "update", "finish"}


@pytest.mark.parametrize(
    "name",
    [3, np.int64(3), np.random.SeedSequence(3), np.random.RandomState],
    ids=["int", "integer", "sequence", "legacy"],
)
def test_the_same_name_gives_the_same_draws(name):
    one, two = (as_generator(name(3) if isinstance(name, type) else name) for _ in range(2))
    assert one.integers(0, 1 << 40) == two.integers(0, 1 << 40)


def test_a_generator_is_used_as_it_is():
    rng = np.random.default_rng(0)
    assert as_generator(rng) is rng


@pytest.mark.parametrize("bad", [-1, True, "7", 1.5])
def test_what_names_no_randomness_is_refused(bad):
    with pytest.raises(InvalidParameter, match="random_state must be"):
        as_generator(bad)


def test_the_end_is_one_thing_wherever_it_travels():
    assert pickle.loads(pickle.dumps(ss.END)) is ss.END


def test_an_extra_is_imported_or_its_installation_explained():
    assert require("json.decoder", "plot", "testing") is json.decoder
    with pytest.raises(
        MissingExtra, match=r"drawing needs the package 'nodraw'.*sigmastar\[plot\]"
    ):
        require("nodraw.figure", "plot", "drawing")
