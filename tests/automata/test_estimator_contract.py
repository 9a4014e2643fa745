"""What every estimator of automata promises; a new one is added to ESTIMATORS and must pass."""

import inspect

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score

import sigmastar as ss
from automata.oracles import random_pfa

TRUTH = random_pfa(11, n_states=2, symbols="abc", stop=1.0)
CORPUS = ss.sample(TRUTH, 300, random_state=0)
STRINGS = ["".join(sequence) for sequence in CORPUS]

# A search watches the clock; from a recipe it takes the same steps every time.
RECIPE = {
    "seed": 0,
    "refit": 1,
    "components": [
        {
            "weight": 1.0,
            "name": "pfa",
            "family": "pfa",
            "seed": 0,
            "steps": [["start", 2], ["em", 4]],
        }
    ],
}

ESTIMATORS = [
    ss.AutoWFA(recipe=RECIPE),
    ss.SpectralWFA(2, basis_size=20),
    ss.SpectralWFA(basis_size=20, max_states=3),
    ss.ConvexWFA(0.01, basis_size=20),
    ss.SeparablePFA(2, basis_size=20),
    ss.TensorHMM(2, basis_size=20, statistics="substring"),
    ss.TensorHMM(2, basis_size=20, decomposition="joint-schur"),
    ss.BaumWelchPFA(2, max_iter=5, random_state=0),
    ss.BaumWelchHMM(2, max_iter=5, random_state=0),
    ss.SeparableBaumWelch(2, max_iter=5, restart_iter=2, random_state=0),
    ss.TensorBaumWelch(2, max_iter=5, restart_iter=2, random_state=0),
    ss.MergedPFA(),
    ss.KneserNey(3),
    ss.ContextMixture(3, automata="none", random_state=0),
    ss.GibbsPFA(2, n_chains=2, n_sweeps=12, burn_in=4, n_samples=2, em_iter=3, random_state=0),
]


@pytest.fixture(params=ESTIMATORS, ids=lambda e: type(e).__name__)
def estimator(request):
    return clone(request.param)


def test_fit_returns_itself_and_keeps_its_parameters(estimator):
    before = estimator.get_params()
    assert estimator.fit(CORPUS) is estimator
    assert estimator.get_params() == before


def test_the_constructor_stores_every_argument_under_its_name(estimator):
    signature = inspect.signature(type(estimator).__init__)
    names = [name for name in signature.parameters if name != "self"]
    assert sorted(names) == sorted(estimator.get_params(deep=False))


def test_every_rule_names_a_parameter(estimator):
    names = set(estimator.get_params(deep=False))
    assert set(type(estimator)._rules) <= names
    assert {"alphabet", "unknown"} <= names


def test_all_forms_of_the_same_sequences_learn_the_same(estimator):
    flat = [symbol for string in STRINGS for symbol in string]
    forms = [
        clone(estimator).fit(CORPUS),
        clone(estimator).fit(STRINGS),
        clone(estimator).fit([list(s) for s in STRINGS]),
        clone(estimator).fit([tuple(s) for s in STRINGS]),
        clone(estimator).fit(flat, lengths=[len(s) for s in STRINGS]),
    ]
    scores = [form.log_proba(STRINGS[:20]) for form in forms]
    for other in scores[1:]:
        np.testing.assert_array_equal(scores[0], other)


def test_the_same_seed_learns_the_same(estimator):
    one, two = clone(estimator).fit(CORPUS), clone(estimator).fit(CORPUS)
    assert one.model_ == two.model_


def test_scores_are_log_probabilities(estimator):
    estimator.fit(CORPUS)
    values = estimator.log_proba(sorted(set(STRINGS)))
    assert values.shape == (len(set(STRINGS)),)
    assert np.exp(values).sum() <= 1 + 1e-9
    assert estimator.score(CORPUS) == pytest.approx(estimator.log_proba(CORPUS).mean())
    assert estimator.score(CORPUS) > ss.log_proba(TRUTH, CORPUS).mean() - 1.0


def test_predictions_and_samples(estimator):
    estimator.fit(CORPUS)
    best = estimator.predict_next(["ab", ""], k=4)
    assert [len(row) for row in best] == [4, 4]
    assert sum(p for _, p in best[0]) == pytest.approx(1.0)
    assert {symbol for symbol, _ in best[0]} == {"a", "b", "c", ss.END}
    drawn = estimator.sample(5, random_state=0)
    assert len(drawn) == 5
    assert drawn == estimator.sample(5, random_state=0)


def test_the_model_is_saved_and_loaded_bit_for_bit(estimator, tmp_path):
    estimator.fit(CORPUS).model_.save(tmp_path / "m.sigma")
    assert ss.load(tmp_path / "m.sigma") == estimator.model_


def test_unfitted_estimators_say_so(estimator):
    for use in (estimator.log_proba, estimator.score, estimator.predict_next):
        with pytest.raises(NotFittedError):
            use(["ab"])
    with pytest.raises(NotFittedError):
        estimator.sample(1)


def test_bad_data_is_refused(estimator):
    with pytest.raises(ss.errors.InvalidData, match="at least one sequence"):
        estimator.fit([])
    with pytest.raises(ss.errors.InvalidData, match="got the single string 'abc'"):
        estimator.fit("abc")
    with pytest.raises(ss.errors.InvalidParameter, match="unknown must be 'error'"):
        clone(estimator).set_params(unknown="skip").fit(CORPUS)


def test_unknown_symbols_follow_the_policy(estimator):
    with pytest.raises(ss.errors.UnknownSymbol, match="'z'"):
        clone(estimator).fit(CORPUS).log_proba(["az"])
    ignoring = clone(estimator).set_params(unknown="ignore").fit(CORPUS)
    with pytest.warns(
        ss.errors.IgnoredSymbolsWarning, match="1 symbols .* left out of 1 sequences"
    ):
        left = ignoring.log_proba(["azb"])
    np.testing.assert_array_equal(left, ignoring.log_proba(["ab"]))
    lumping = clone(estimator).set_params(unknown="unk").fit(CORPUS)
    assert lumping.alphabet_.unk == "<unk>"
    # A new symbol costs about as much as its learned share says.
    new, old = lumping.log_proba(["az", "a"])
    assert np.isfinite(new)
    assert new < old + np.log(0.5)


def test_models_answer_as_their_estimators_do(estimator, tmp_path):
    estimator.set_params(unknown="unk").fit(CORPUS).save(tmp_path / "m.sigma")
    loaded = ss.load(tmp_path / "m.sigma")
    asked = ["azb", "", "ba"]
    questions = ("log_proba", "log_prefix_proba", "next_distribution", "next_likelihoods", "score")
    for name in questions:
        expected = getattr(estimator, name)(asked)
        np.testing.assert_array_equal(getattr(loaded, name)(asked), expected)
        if name != "score":
            np.testing.assert_array_equal(getattr(ss, name)(estimator, asked), expected)
            np.testing.assert_array_equal(getattr(ss, name)(loaded, asked), expected)
    assert loaded.predict_next(asked, 2) == estimator.predict_next(asked, 2)
    assert loaded.sample(3, random_state=1) == estimator.sample(3, random_state=1)
    assert list(ss.sample(estimator, 3, random_state=1)) == loaded.sample(3, random_state=1)
    with pytest.raises(ss.errors.UnknownSymbol):
        loaded.log_proba(["az"], unknown="error")


def test_cross_validation_over_lists_of_sequences(estimator):
    estimator.set_params(alphabet=CORPUS.alphabet)
    scores = cross_val_score(estimator, STRINGS, cv=3)
    assert np.isfinite(scores).all()
    np.testing.assert_allclose(scores, cross_val_score(estimator, CORPUS, cv=3))


def test_grid_search(estimator):
    if "n_states" not in estimator.get_params():
        grid = {"unknown": ["error", "ignore"]}
    else:
        grid = {"n_states": [1, 2]}
    search = GridSearchCV(estimator.set_params(alphabet=CORPUS.alphabet), grid, cv=2)
    search.fit(STRINGS)
    assert hasattr(search.best_estimator_, "model_")
