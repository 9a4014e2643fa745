"""What a model over measurements and its data refuse, in words; and a chain in another order."""

import re

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.core.errors import InvalidData, InvalidModel, InvalidParameter
from sigmastar.sensors.hmm.data import as_measurements, as_states
from sigmastar.sensors.hmm.emissions.counts import CategoricalEmission, PoissonEmission
from sigmastar.sensors.hmm.emissions.gaussian import DiagonalGaussian
from sigmastar.sensors.hmm.emissions.mixture import MixtureEmission
from sigmastar.sensors.hmm.emissions.multinomial import MultinomialEmission

EVEN = np.full((2, 2), 0.5)
RATES = PoissonEmission(np.array([[1.0], [5.0]]))


def model(**changed):
    parts = {"initial": np.array([0.5, 0.5]), "transitions": EVEN, "emission": RATES}
    return ss.MeasurementHMM(**(parts | changed))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"emission": "gaussian"}, "emission must be an Emission; got 'gaussian'"),
        ({"initial": np.zeros(0)}, "transitions must have shape (0, 0); got (2, 2)"),
        ({"initial": np.array([0.5, 0.6])}, "initial must sum to 1 (within 1e-09); one sum is off"),
        ({"transitions": EVEN * 2}, "the rows of transitions must sum to 1"),
        ({"names": ("calm",)}, "names must name 2 things; got 1"),
        ({"columns": ("x", "y")}, "columns must name 1 things; got 2"),
        ({"emits": np.array([0, 2])}, "emits must"),
    ],
)
def test_models_refuse(changed, said):
    with pytest.raises(InvalidModel, match=re.escape(said)):
        model(**changed)


def test_states_in_another_order_say_the_same():
    first = model(initial=np.array([0.25, 0.75]), names=("low", "high"))
    turned = first.ordered([1, 0])
    data = np.array([[0.0], [4.0], [7.0], [1.0]])
    assert turned.names == ("high", "low")
    assert turned.score(data) == pytest.approx(first.score(data), abs=1e-12)
    np.testing.assert_allclose(turned.predict_proba(data), first.predict_proba(data)[:, ::-1])
    with pytest.raises(InvalidModel, match="order of the states"):
        first.ordered([0, 0])
    lasting = ss.PoissonHMM(2, min_duration=2, max_iter=1, random_state=0).fit(
        np.tile(data, (5, 1))
    )
    with pytest.raises(InvalidModel, match="plain chain"):
        lasting.model_.ordered([1, 0])


def test_models_compare_by_their_numbers():
    assert model() == model()
    assert model() != model(names=("a", "b"))
    assert model() != "a model"
    assert "n_states=2" in repr(model())


@pytest.mark.parametrize(
    ("X", "options", "said"),
    [
        (np.ones((4, 1)), {"lengths": [2.0, 2.0]}, "lengths must be positive integers"),
        (np.ones((4, 1)), {"lengths": [3, 0, 1]}, "lengths must be positive integers"),
        (np.ones((4, 1)), {"lengths": [3, 3]}, "add up to the 4 frames of X; they add up to 6"),
        (7, {}, "X must be an array or a list of arrays; got 7"),
        ([], {}, "X must hold at least one sequence"),
        ([np.ones((2, 1)), np.ones((2, 3))], {}, "same number of values; got [1, 3]"),
        ([np.ones((2, 1)), np.ones((0, 1))], {}, "sequence 1 of X must hold at least one frame"),
        (np.ones((0, 2)), {}, "X must hold at least one frame"),
        ([np.ones(3)], {}, "Use x[:, None] for one number a frame"),
        ([[["warm"]]], {}, "sequence 0 of X must be numbers"),
        (np.array([[np.inf]]), {}, "it holds infinity. Use NaN"),
        ({"speed": np.ones(3)}, {"parts": ["speed", "gear"]}, "X lacks the part 'gear'"),
        ((np.ones(3),), {"parts": ["speed", "gear"]}, "X must have 2 parts"),
        ((np.ones(3), np.ones(2)), {"parts": ["a", "b"]}, "the same number of frames"),
    ],
)
def test_measurements_refuse(X, options, said):
    with pytest.raises(InvalidData, match=re.escape(said)):
        as_measurements(X, **options)


def test_measurements_take_tables_and_frames_that_are_read_already():
    class Table:
        def to_numpy(self):
            return np.array([[1.0, 2.0], [3.0, 4.0]])

    of_list = as_measurements([Table(), Table()])
    again = as_measurements(of_list)
    np.testing.assert_array_equal(again.values, of_list.values)
    np.testing.assert_array_equal(again.offsets, [0, 2, 4])


@pytest.mark.parametrize(
    ("y", "said"),
    [
        ([0, None], "a state or None for each of the 3 frames; got 2"),
        ([0, "go", None], "y must hold state numbers or None"),
        ([0, 1, 2], "below n_states=2; got 2. Number them from 0"),
    ],
)
def test_partial_labels_refuse(y, said):
    with pytest.raises(InvalidData, match=re.escape(said)):
        as_states(y, np.array([0, 3]), 2)


def test_partial_labels_come_by_sequence_or_by_frame():
    offsets = np.array([0, 2, 3])
    for y in ([[0, None], [1]], [0, float("nan"), 1], np.array([0, -1, 1])):
        np.testing.assert_array_equal(as_states(y, offsets, 2), [0, -1, 1])


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: CategoricalEmission(EVEN * 1.5, np.array([0, 2])), "must sum to 1"),
        (lambda: MultinomialEmission(EVEN * 1.5), "must sum to 1"),
        (lambda: MultinomialEmission(EVEN, 0), "trials must be an integer from 1"),
        (lambda: MultinomialEmission.rebuilt({}, {}), "lacks the array table"),
        (
            lambda: MixtureEmission(EVEN, DiagonalGaussian(np.zeros((3, 1)), np.ones((3, 1)))),
            "needs 4 components; got 3",
        ),
        (
            lambda: MixtureEmission(
                EVEN * 1.5, DiagonalGaussian(np.zeros((4, 1)), np.ones((4, 1)))
            ),
            "must sum to 1",
        ),
        (
            lambda: MixtureEmission.rebuilt({}, {"component": {"emission": "poisson"}}),
            "cannot be made of 'poisson'",
        ),
    ],
)
def test_emissions_refuse(make, said):
    with pytest.raises(InvalidModel, match=said):
        make()


@pytest.mark.parametrize(
    ("estimator", "said"),
    [
        (ss.PoissonHMM(2, min_duration=0), "min_duration must be frames of at least 1"),
        (ss.PoissonHMM(2, min_duration=[2, 2, 2]), "one number for each of 2 states; got 3"),
        (ss.PoissonHMM(2, min_duration=2, structure="tied"), "min_duration must be 1 with"),
        (ss.PoissonHMM(2, fixed_transitions=EVEN, structure="tied"), "None with structure='tied'"),
        (ss.PoissonHMM(2, fixed_initial=["a", "b"]), "fixed_initial must be numbers"),
        (ss.PoissonHMM(2, fixed_initial=[0.5]), "fixed_initial must have shape"),
        (ss.PoissonHMM(2, fixed_initial=[2.0, np.nan]), "must lie between 0 and 1"),
    ],
)
def test_chains_refuse(estimator, said):
    with pytest.raises(InvalidParameter, match=re.escape(said)):
        estimator.fit(np.arange(12.0)[:, None] % 5)


def test_codes_beyond_their_number_are_refused():
    with pytest.raises(InvalidData, match="codes must be below n_categories=2; the largest is 3"):
        ss.CategoricalHMM(2, n_categories=2).fit(np.arange(8.0)[:, None] % 4)


@pytest.mark.parametrize(
    ("estimator", "data", "name"),
    [
        (ss.PoissonHMM, np.arange(24.0)[:, None] % 7, "rates"),
        (ss.CategoricalHMM, np.arange(24.0)[:, None] % 3, "tables"),
        (ss.MultinomialHMM, np.arange(48.0).reshape(24, 2) % 5, "table"),
    ],
)
def test_what_is_frozen_stays_as_it_started(estimator, data, name):
    def learned(max_iter, frozen):
        made = estimator(2, max_iter=max_iter, frozen=frozen, random_state=0)
        return getattr(made.fit(data).model_.emission, name)

    np.testing.assert_array_equal(learned(5, (name,)), learned(1, (name,)))
    assert not np.array_equal(learned(5, ()), learned(5, (name,)))
