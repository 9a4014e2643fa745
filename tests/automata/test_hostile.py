"""Automata, n-grams and checkpoints under attack: huge weights, hostile arrays, full disks."""

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.automata.learn.blocks import em_checkpoint
from sigmastar.core.errors import (
    FileFormatError,
    InvalidData,
    InvalidModel,
    InvalidParameter,
    TooLarge,
)
from sigmastar.core.model_files import Stored, read_stored, write_stored

STRINGS = ["ab", "aab", "b", "abab"] * 10


def test_weights_near_the_largest_number_have_an_infinite_mass(tmp_path):
    huge = np.full((2, 3, 3), 1.7e308)
    model = ss.WFA(np.ones(3), huge, np.ones(3), ss.Alphabet("ab"))
    assert model.spectral_radius == np.inf
    assert model.total_mass() == np.inf
    with pytest.raises(InvalidModel, match="overflow"):
        ss.write_report(model, tmp_path / "page.html")


def change(path, **changes):
    stored = read_stored(path)
    arrays = {k: v for k, v in changes.items() if k in stored.arrays}
    meta = {k: v for k, v in changes.items() if k not in stored.arrays}
    write_stored(path, Stored(stored.kind, stored.arrays | arrays, stored.meta | meta))


@pytest.mark.parametrize("name", ["starts", "order_starts"])
def test_offsets_of_n_grams_that_wrap_around_are_refused(tmp_path, name):
    path = tmp_path / "k.sigma"
    ss.KneserNey(3).fit(STRINGS).save(path)
    whole = read_stored(path).arrays[name]
    change(path, **{name: np.array([0, 2**63 - 1, -2, *whole[3:]], np.int64)})
    with pytest.raises(FileFormatError, match=f"{name} must"):
        ss.load(path)


def test_n_grams_that_give_away_more_than_all_are_refused(tmp_path):
    path = tmp_path / "k.sigma"
    ss.KneserNey(3).fit(STRINGS).save(path)
    change(path, shares=read_stored(path).arrays["shares"] * 1e300)
    with pytest.raises(FileFormatError, match="add up to at most 1"):
        ss.load(path)


def test_a_sequence_that_never_ends_is_given_up(monkeypatch):
    monkeypatch.setattr("sigmastar.ngrams.model._LONGEST", 50)
    model = ss.KneserNey(1).fit(["a" * 5000]).model_
    with pytest.raises(TooLarge, match="has not ended after 50"):
        [model.draw(np.random.default_rng(seed)) for seed in range(50)]


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"history": 0}, "history"),
        ({"seed": "a"}, "seed"),
        ({"iteration": -4}, "iteration"),
        ({"parameters.initial": np.ones(7)}, "parameters"),
        ({"parameters.final": np.full(2, np.nan)}, "parameters"),
        ({"parameters.final": np.full(2, 1e308)}, "parameters"),
        ({"best_score": {}}, "best_score"),
    ],
)
def test_a_hostile_checkpoint_is_refused(tmp_path, changes, word):
    path = tmp_path / "c.sigma"
    learner = ss.BaumWelchPFA(2, max_iter=3, random_state=0, checkpoint=path)
    learner.fit(STRINGS)
    change(path, **changes)
    with pytest.raises((FileFormatError, InvalidParameter), match=word):
        learner.fit(STRINGS)


def test_a_checkpoint_that_cannot_be_written_does_not_cost_the_model(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    expected = ss.BaumWelchPFA(2, max_iter=5, random_state=0).fit(STRINGS).model_
    monkeypatch.setattr(em_checkpoint, "write_stored", full)
    learner = ss.BaumWelchPFA(2, max_iter=5, random_state=0, checkpoint=tmp_path / "c.sigma")
    with pytest.warns(UserWarning, match="could not be written .* goes on"):
        found = learner.fit(STRINGS).model_
    assert np.array_equal(found.transitions, expected.transitions)


def test_symbols_that_are_no_text_are_not_exported(tmp_path):
    model = ss.PFA([1.0], [[[0.3]], [[0.3]]], [0.4], ss.Alphabet(["a", "\ud800"]))
    with pytest.raises(InvalidParameter, match="must be Unicode text"):
        ss.write_model(model, tmp_path / "m.att")


@pytest.mark.parametrize("cut", [1, 30, 100])
def test_damaged_archives_of_frames_are_refused_in_words(tmp_path, cut):
    path = tmp_path / "f.npz"
    np.savez_compressed(path, frames=np.ones((5, 2)))
    path.write_bytes(path.read_bytes()[:-cut])
    with pytest.raises(InvalidData, match=r"not a readable \.npz"):
        ss.read_frames(path)


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "f.npz"
    np.savez_compressed(path, frames=np.zeros((100_000, 10)))
    monkeypatch.setenv("SIGMASTAR_MAX_MEMORY", "1MB")
    with pytest.raises(TooLarge, match="unpacking it"):
        ss.read_frames(path)
