"""Frames in parts: the same model as in memory, the same bits for any number of workers."""

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.sensors.hmm.data import as_measurements
from sigmastar.sensors.hmm.emissions import Categorical, Gaussian
from sigmastar.sensors.hmm.emissions.base import ColumnFacts
from sigmastar.sensors.hmm.inference.smooth import expect
from sigmastar.sensors.hmm.learn.batches import Batches


def pieces(rng, n=5, holes=True):
    found = []
    for length in rng.integers(20, 60, n):
        piece = rng.normal(size=(length, 2)) + 4.0 * (np.arange(length)[:, None] // 10 % 2)
        if holes:
            piece[3, 1] = np.nan
        found.append(piece)
    return found


def start():
    return ss.GaussianHMM.from_parameters(
        [0.5, 0.5],
        [[0.8, 0.2], [0.3, 0.7]],
        [[0.0, 1.0], [3.0, 4.0]],
        np.ones((2, 2)),
        covariance="diag",
    ).model_


def in_files(folder, sequences):
    for number, part in enumerate((sequences[:2], sequences[2:4], sequences[4:])):
        rows = [
            f"{run},{','.join('' if np.isnan(v) else repr(float(v)) for v in row)}"
            for run, piece in enumerate(part)
            for row in piece
        ]
        (folder / f"run-{number}.csv").write_text("\n".join(["run,x,y", *rows]) + "\n")
    return str(folder / "run-*.csv")


def test_what_em_adds_up_over_parts_is_what_it_adds_up_over_all():
    sequences = pieces(np.random.default_rng(0))
    parts = ss.FramePartitions.from_arrays([sequences[:1], sequences[1:4], sequences[4:]])
    whole, cut = expect(start(), as_measurements(sequences)), Batches(parts, 2).expect(start())
    np.testing.assert_allclose(cut.log_likelihood, whole.log_likelihood, rtol=1e-13)
    np.testing.assert_allclose(cut.moves, whole.moves, rtol=1e-12)
    np.testing.assert_allclose(cut.starts, whole.starts, rtol=1e-12)
    for name, value in whole.statistics.items():
        np.testing.assert_allclose(cut.statistics[name], value, rtol=1e-12)


def test_files_learn_the_model_of_arrays_with_any_number_of_workers(tmp_path):
    sequences = pieces(np.random.default_rng(1))
    pattern = in_files(tmp_path, sequences)
    hmm = ss.GaussianHMM(2, covariance="diag", max_iter=3, random_state=0)
    found = [
        hmm.fit(ss.FramePartitions.from_files(pattern, sequence="run", **options)).model_
        for options in ({"threads": 1}, {"threads": 3}, {"threads": 2, "max_memory": 1})
    ]
    assert found[0] == found[1] == found[2]
    bic = hmm.info_["bic"]
    whole = hmm.fit(sequences).model_
    np.testing.assert_allclose(found[0].emission.means, whole.emission.means, rtol=1e-9)
    np.testing.assert_allclose(found[0].transitions, whole.transitions, rtol=1e-9)
    np.testing.assert_allclose(bic, hmm.info_["bic"], rtol=1e-9)


def test_the_number_of_states_is_chosen_over_parts_held_out():
    sequences = pieces(np.random.default_rng(2), 6, holes=False)
    parts = ss.FramePartitions.from_arrays([[piece] for piece in sequences])
    hmm = ss.GaussianHMM("auto", covariance="diag", max_states=3, criterion="held-out", max_iter=5)
    hmm.set_params(random_state=0).fit(parts)
    assert hmm.model_.n_states >= 2
    assert [row["states"] for row in hmm.info_["validation"]] == [1, 2, 3]


def test_a_run_over_parts_goes_on_from_its_checkpoint(tmp_path):
    sequences = pieces(np.random.default_rng(3))
    parts = ss.FramePartitions.from_arrays([sequences[:2], sequences[2:]])
    settings = {"covariance": "diag", "random_state": 0, "tol": -1.0, "init": "kmeans"}
    once = ss.GaussianHMM(2, max_iter=4, **settings).fit(parts).model_
    file = {"checkpoint": tmp_path / "run.sigma", "checkpoint_every": 0.0}
    ss.GaussianHMM(2, max_iter=2, **settings, **file).fit(parts)
    assert ss.GaussianHMM(2, max_iter=4, **settings, **file).fit(parts).model_ == once
    with pytest.raises(InvalidParameter, match="checkpoint"):
        ss.GaussianHMM(2, max_iter=4, **settings, **file).fit(parts.take([0]))


@pytest.mark.parametrize("cut", [0, 7, 30])
def test_facts_of_columns_do_not_depend_on_the_parts(cut):
    values = pieces(np.random.default_rng(4), 1)[0] + 100.0
    whole = ColumnFacts.of(values)
    both = ColumnFacts.of(values[:cut]).plus(ColumnFacts.of(values[cut:]))
    for one, other in zip(both, whole, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    floors = Gaussian("diag", variance_floor=0.1).informed(both).floors
    np.testing.assert_allclose(floors, 0.1 * np.nanvar(values, axis=0), rtol=1e-12)


def test_codes_of_later_parts_count():
    parts = ss.FramePartitions.from_arrays([np.zeros((20, 1)), np.full((20, 1), 3.0)])
    hmm = ss.CategoricalHMM(2, max_iter=2, random_state=0).fit(parts)
    assert hmm.emissionprob_.shape == (2, 4)
    assert Categorical(2).check_values(np.ones((1, 1))) is None


def test_parts_that_cannot_be_are_refused(tmp_path):
    hmm = ss.PoissonHMM(2, random_state=0, max_iter=1)
    good = np.ones((30, 1))
    with pytest.raises(InvalidData, match="whole numbers"):
        hmm.fit(ss.FramePartitions.from_arrays([good, good - 0.5]))
    with pytest.raises(InvalidData, match="same number of values"):
        hmm.fit(ss.FramePartitions.from_arrays([good, np.ones((3, 2))]))
    with pytest.raises(InvalidData, match="at least one frame"):
        hmm.fit(ss.FramePartitions.from_arrays([good, np.ones((0, 1))]))
    with pytest.raises(InvalidParameter, match="parts know their own"):
        hmm.fit(ss.FramePartitions.from_arrays([good]), sample_weight=[1.0])
    with pytest.raises(InvalidData, match="at least one part"):
        ss.FramePartitions.from_arrays([])
    with pytest.raises(ss.errors.DataNotFound):
        ss.FramePartitions.from_files(str(tmp_path / "*.csv"))
