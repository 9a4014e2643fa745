"""Baum–Welch: sizes by information criteria, learners of one's own, pictures of what came out."""

from importlib.metadata import EntryPoint

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.automata.estimators import registry
from sigmastar.automata.learn.em_sizes import criteria_of

STRINGS = ["ab", "abab", "ababab", "ab"] * 15


class Uniform:
    """A learner that knows nothing of scikit-learn."""

    def fit(self, corpus):
        n = len(corpus.alphabet)
        arcs = np.full((n, 2, 2), 0.25 / n)
        self.model_ = ss.PFA([0.5, 0.5], arcs, [0.5, 0.5], corpus.alphabet)


def test_criteria_are_those_of_the_books():
    model = ss.PFA([1.0], [[[0.25]], [[0.25]]], [0.5], ss.Alphabet("ab"))
    corpus = ss.Corpus.from_sequences(["ab", "a"])
    found = criteria_of(model, corpus)  # five events; two of three outcomes are free
    likelihood = np.log([0.25**2 * 0.5, 0.25 * 0.5]).sum()
    assert found.n_parameters == 2
    assert found.bic == pytest.approx(2 * np.log(5) - 2 * likelihood)
    assert found.aic == pytest.approx(4 - 2 * likelihood)


@pytest.mark.parametrize("criterion", ["bic", "aic"])
def test_the_size_with_the_least_criterion_is_kept(criterion):
    options = {"criterion": criterion, "max_states": 4, "max_iter": 30, "random_state": 0}
    learned = ss.BaumWelchPFA("auto", **options).fit(STRINGS)
    best = min(learned.info_["path"], key=lambda row: row[criterion])
    assert learned.model_.n_states == best["n_states"] > 1
    assert learned.info_[criterion] == pytest.approx(best[criterion])


def test_auto_refuses_what_has_its_own_size():
    with pytest.raises(ss.errors.InvalidParameter, match=r"init does not go with n_states='auto'"):
        ss.BaumWelchPFA("auto", init=ss.PFA([1.0], [[[0.5]]], [0.5], ss.Alphabet("a"))).fit(["a"])


def test_any_learner_is_a_start():
    learned = ss.BaumWelchPFA(2, init=Uniform(), max_iter=0).fit(STRINGS)
    np.testing.assert_allclose(learned.model_.final, [0.5, 0.5])


def test_learners_of_other_packages_are_found_by_entry_point(monkeypatch):
    mine = EntryPoint("uniform", f"{__name__}:Uniform", registry.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [mine])
    monkeypatch.setattr(EntryPoint, "load", lambda self: Uniform)
    assert registry.offered_by_others() == ["uniform"]
    learner = registry.find_method("uniform").build(random_state=0, unknown="error")
    learner.fit(ss.Corpus.from_sequences(STRINGS))
    assert learner.model_.n_states == 2
    with pytest.raises(ss.errors.InvalidParameter, match="n_states must be left out"):
        registry.find_method("uniform").build(n_states=3)
    with pytest.raises(ss.errors.InvalidParameter, match=r"one of spectral.* uniform; got 'other'"):
        registry.find_method("other")


def test_a_notebook_shows_the_state_graph():
    model = ss.BaumWelchPFA(2, max_iter=2, random_state=0).fit(STRINGS).model_
    assert model._repr_svg_().startswith("<svg")
    large = ss.WFA(np.ones(41), np.zeros((1, 41, 41)), np.ones(41), ss.Alphabet("a"))
    assert large._repr_svg_() is None
