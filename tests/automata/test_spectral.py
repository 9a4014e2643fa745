"""Spectral learning: exact moments give the model back, counts add up, sizes are chosen fairly."""

import numpy as np
import pytest

import sigmastar as ss
from automata.oracles import all_strings, random_pfa
from sigmastar.automata.inference import string_weights
from sigmastar.automata.learn.heldout import HeldOut
from sigmastar.automata.learn.spectral import learn_spectral, spectral_factors, spectral_path
from sigmastar.automata.moments import hankel
from sigmastar.core.linalg.svd import truncated_svd

STRINGS = all_strings("ab", 6)
TRUTH = random_pfa(2, n_states=3, symbols="ab")
CORPUS = ss.sample(TRUTH, 2000, random_state=0)


def exact(statistics):
    return ss.moments.exact_moments(TRUTH, ss.moments.all_basis(2, 3), statistics)


@pytest.mark.parametrize("boundaries", ["counted", "converted"])
@pytest.mark.parametrize("statistics", ["string", "prefix", "substring"])
def test_exact_moments_recover_the_model(statistics, boundaries):
    learned = learn_spectral(exact(statistics), n_states=3, boundaries=boundaries)
    expected = string_weights(TRUTH, STRINGS)
    np.testing.assert_allclose(string_weights(learned.model, STRINGS), expected, atol=1e-10)


@pytest.mark.parametrize("solver", ["dense", "randomized", "lanczos"])
def test_every_solver_finds_the_same_model(solver):
    rng = np.random.default_rng(0)
    plan = ss.moments.MomentPlan(basis_size=20, max_length=3)
    moments = plan.moments(plan.count(CORPUS), CORPUS.alphabet)
    models = [
        learn_spectral(moments, n_states=3, solver=name, random_state=rng).model
        for name in ("dense", solver)
    ]
    assert models[0].allclose(models[1], rtol=1e-5, atol=1e-7)


def test_a_sparse_block_is_decomposed_as_it_is(monkeypatch):
    plan = ss.moments.MomentPlan("string", basis_size=60, max_length=6)
    dense = plan.moments(plan.count(CORPUS), CORPUS.alphabet)
    monkeypatch.setattr(hankel, "_DENSE_ENTRIES", 0)
    monkeypatch.setattr(hankel, "_SPARSE_SHARE", 1.0)
    moments = plan.moments(plan.count(CORPUS), CORPUS.alphabet)
    assert not isinstance(moments.block, np.ndarray)
    models = [
        learn_spectral(m, n_states=3, solver=solver).model
        for m, solver in ((dense, "dense"), (moments, "lanczos"))
    ]
    assert models[0].allclose(models[1], rtol=1e-6, atol=1e-9)


def test_signs_of_the_decomposition_are_fixed():
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(12, 9))
    one = truncated_svd(matrix, 4, solver="dense", rng=rng)
    other = truncated_svd(matrix, 4, solver="lanczos", rng=rng)
    np.testing.assert_allclose(one.left, other.left, atol=1e-8)
    np.testing.assert_allclose(one.right, other.right, atol=1e-8)


def test_a_path_equals_models_learned_one_by_one():
    est = ss.SpectralWFA(basis_size=20)
    models = est.path(CORPUS, [1, 2, 3])
    for n_states, model in zip([1, 2, 3], models, strict=True):
        alone = ss.SpectralWFA(n_states, basis_size=20).fit(CORPUS).model_
        assert model.allclose(alone, rtol=1e-8, atol=1e-10)


def test_partial_fit_on_any_cut_equals_fit_bit_for_bit():
    whole = ss.SpectralWFA(3, basis_size=30).fit(CORPUS)
    parts = ss.SpectralWFA(3, basis_size=30, alphabet=CORPUS.alphabet)
    for first, last in [(1500, 2000), (0, 10), (10, 1500)]:
        parts.partial_fit(CORPUS[first:last])
    assert parts.model_ == whole.model_


def test_normalisation_is_the_documented_scaling():
    plan = ss.moments.MomentPlan(basis_size=15)
    moments = plan.moments(plan.count(CORPUS), CORPUS.alphabet)
    rows, columns = moments.variance_scales()
    np.testing.assert_allclose(rows, np.sqrt(len(CORPUS) / (moments.row_counts + 5)))
    scaled = moments.block * rows[:, None] * columns
    factors = spectral_factors(moments, max_states=15)
    values = np.linalg.svd(scaled, compute_uv=False)
    np.testing.assert_allclose(factors.singular_values, values[: factors.rank], atol=1e-10)


def test_auto_learns_close_to_the_truth_and_reports_what_it_tried():
    est = ss.SpectralWFA(basis_size=30, max_states=8).fit(CORPUS)
    test = ss.sample(TRUTH, 2000, random_state=1)
    gap = np.mean(ss.log_proba(TRUTH, test)) - est.score(test)
    assert 0 <= gap + 0.02 < 0.05
    assert {"exponent", "n_states", "score"} == set(est.info_["path"][0])
    best = max(est.info_["path"], key=lambda trial: trial["score"])
    assert est.info_["n_states"] == best["n_states"] == est.model_.n_states


def test_auto_never_learns_from_what_it_scores_on(monkeypatch):
    counted, scored, held = [], [], []
    count, score, keep = ss.moments.MomentPlan.count, HeldOut.score, HeldOut.__init__

    def spy_count(plan, corpus):
        counted.append(corpus)
        return count(plan, corpus)

    def spy_score(heldout, model):
        scored.append(heldout.n_sequences)
        return score(heldout, model)

    def spy_keep(heldout, corpus, *more):
        held.extend(corpus)
        keep(heldout, corpus, *more)

    monkeypatch.setattr(ss.moments.MomentPlan, "count", spy_count)
    monkeypatch.setattr(HeldOut, "score", spy_score)
    monkeypatch.setattr(HeldOut, "__init__", spy_keep)
    ss.SpectralWFA(max_states=3, validation_fraction=0.25).fit(CORPUS)
    assert set(scored) == {500}
    assert [len(corpus) for corpus in counted] == [1500, 2000]  # the rest, then everything
    assert sorted([*held, *counted[0]]) == sorted(CORPUS)


def test_info_tells_how_far_from_a_distribution_the_model_is():
    info = ss.SpectralWFA(3, basis_size=30).fit(CORPUS).info_
    assert info["spectral_radius"] < 1
    assert info["total_mass"] == pytest.approx(1.0, abs=0.05)
    assert 0 <= info["negative_mass"] < 0.01


def test_negative_values_never_crash_a_score():
    est = ss.SpectralWFA(12, basis_size=60).fit(CORPUS[:60])
    long = ["ab" * 200, "", "b" * 300]
    scores = est.log_proba([*STRINGS, *long])
    assert np.isfinite(scores).all()
    assert (scores <= 0).all()


def test_ranks_and_parameters_out_of_bounds_are_refused():
    with pytest.raises(ss.errors.InvalidParameter, match="n_states must be between 1 and"):
        ss.SpectralWFA(50, basis_size=5).fit(CORPUS)
    with pytest.raises(ss.errors.InvalidParameter, match="statistics must be 'substring'"):
        ss.SpectralWFA(statistics="words").fit(CORPUS)
    with pytest.raises(ss.errors.InvalidParameter, match="must not be all zero"):
        ss.SpectralWFA(1, basis=(["bbbb"], ["aaaa"]), statistics="string").fit(["ab", "b"])
    with pytest.raises(ss.errors.InvalidData, match="at least 2 sequences"):
        ss.SpectralWFA().fit(["ab"])


@pytest.mark.parametrize("kind", [ss.SpectralWFA, ss.ConvexWFA, ss.SeparablePFA, ss.TensorHMM])
def test_poor_data_are_learned_from_or_refused_in_words(kind):
    assert kind().fit(["a", "aa", "", "aaa"] * 10).score(["a"]) == pytest.approx(-1.39, abs=0.02)
    assert kind().fit(["abc"] * 50).score(["abc"]) > -3
    with pytest.raises(ss.errors.InvalidData, match="at least one symbol"):
        kind().fit([[], [], []])


def test_large_alphabets_shorten_the_basis():
    rng = np.random.default_rng(0)
    words = [rng.integers(0, 5000, 8).tolist() for _ in range(50)]
    est = ss.SpectralWFA(2, alphabet=ss.Alphabet(range(5000))).fit(words)
    assert est.model_.n_symbols == 5000
    assert np.isfinite(est.log_proba(words)).all()


def test_compressing_a_model_through_its_exact_moments():
    twice = ss.PFA.normalized(
        np.tile(TRUTH.initial, 2),
        np.tile(TRUTH.transitions, (1, 2, 2)),
        2 * np.tile(TRUTH.final, 2),
        TRUTH.alphabet,
    )
    moments = ss.moments.exact_moments(twice, ss.moments.all_basis(2, 3), "prefix")
    factors = spectral_factors(moments, max_states=6)
    assert factors.rank == 3
    small = spectral_path(factors, [3])[0].model
    np.testing.assert_allclose(
        string_weights(small, STRINGS), string_weights(twice, STRINGS), atol=1e-9
    )


def test_partial_fit_keeps_a_symbol_for_the_unknown_as_fit_does():
    corpus = ss.Corpus.from_sequences(["ab", "abab", "ab"] * 10)
    whole = ss.SpectralWFA(2, unknown="unk").fit(corpus)
    parts = ss.SpectralWFA(2, unknown="unk").partial_fit(corpus[:7]).partial_fit(corpus[7:])
    assert parts.model_ == whole.model_
    assert np.isfinite(parts.log_proba(["xab"])).all()
