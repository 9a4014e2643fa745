"""Learning from parts: counts do not depend on the cuts, sums not on who adds them."""

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.core.errors import InvalidParameter

COUNTERS = {
    "kneser-ney": ss.KneserNey(3),
    "spectral": ss.SpectralWFA(3, basis_size=20, max_length=2),
    "spectral-auto": ss.SpectralWFA(basis_size=20, max_length=2, max_states=4),
    "convex": ss.ConvexWFA(0.05, basis_size=20, max_length=2),
    "tensor": ss.TensorHMM(2, basis_size=20, max_length=2),
    "separable": ss.SeparablePFA(3, basis_size=20, max_length=2, shrinkage=10.0),
    "separable-auto": ss.SeparablePFA(basis_size=20, max_length=2, max_states=3),
}


def drawn(n, seed=0):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list("abc"), size=rng.integers(0, 9))) for _ in range(n)]


def cut(sequences, size, **options):
    pieces = [sequences[i : i + size] for i in range(0, len(sequences), size)]
    return ss.Partitions.from_sequences(pieces, **options)


@pytest.mark.parametrize("name", COUNTERS)
def test_counting_learners_do_not_see_the_cuts(name):
    sequences = drawn(300)
    learner = COUNTERS[name]
    first = learner.fit(cut(sequences, 300)).model_
    assert learner.fit(cut(sequences, 37, threads=2)).model_ == first
    if not name.endswith("auto"):
        assert learner.fit(sequences).model_ == first


def test_the_choice_of_a_size_sees_no_held_out_sequence(monkeypatch):
    from sigmastar.automata.learn import choose_spectral, heldout

    learned_from = []
    monkeypatch.setattr(
        choose_spectral.MomentPlan,
        "moments_of",
        lambda plan, data: (
            learned_from.append(len(data)) or plan.moments(plan.count(data), data.alphabet)
        ),
    )
    held = []
    original = heldout.HeldOut.__init__
    monkeypatch.setattr(
        heldout.HeldOut,
        "__init__",
        lambda self, corpus, *rest: held.append(len(corpus)) or original(self, corpus, *rest),
    )
    COUNTERS["spectral-auto"].fit(cut(drawn(300), 100))
    assert learned_from == [300 - held[0], 300]
    assert 30 < held[0] < 90


@pytest.mark.parametrize("learner", [ss.BaumWelchPFA, ss.BaumWelchHMM])
def test_em_over_parts_is_em(learner):
    sequences = drawn(200)
    settings = {"random_state": 0, "max_iter": 6, "tol": 0}
    whole = learner(3, **settings).fit(sequences)
    parts = learner(3, **settings).fit(cut(sequences, 23))
    np.testing.assert_allclose(parts.info_["objective"], whole.info_["objective"], rtol=1e-12)
    assert parts.info_["n_nodes"] > 0
    again = learner(3, **settings).fit(cut(sequences, 23, threads=1, max_memory="1kB"))
    assert again.model_ == parts.model_


def test_em_over_parts_stops_by_held_out_sequences():
    est = ss.BaumWelchPFA(3, random_state=0, max_iter=4, validation_fraction=0.3)
    est.fit(cut(drawn(200), 50))
    assert len(est.info_["held_out"]) >= 2


@pytest.mark.parametrize(
    "learner",
    [
        ss.BaumWelchPFA(2, init=ss.SpectralWFA(2), random_state=0, max_iter=2),
        ss.SeparableBaumWelch(2, restart_iter=1, random_state=0, max_iter=2),
        ss.TensorBaumWelch(2, restart_iter=1, random_state=0, max_iter=2),
    ],
)
def test_em_over_parts_takes_the_usual_starts(learner):
    objective = learner.fit(cut(drawn(100), 40)).info_["objective"]
    assert objective[1] >= objective[0]


def test_an_interrupted_run_leaves_its_last_step(tmp_path, monkeypatch):
    from sigmastar.automata.inference.partitioned_counts import PartitionedForest

    sequences = cut(drawn(200), 50)
    settings = {"random_state": 0, "max_iter": 7, "tol": 0, "checkpoint_every": 1e9}
    whole = ss.BaumWelchPFA(3, **settings).fit(sequences)
    count = PartitionedForest.expected_counts
    steps = []

    def interrupted(self, *parameters, n_jobs=None):
        steps.append(1)
        if len(steps) == 4:
            raise KeyboardInterrupt
        return count(self, *parameters, n_jobs=n_jobs)

    monkeypatch.setattr(PartitionedForest, "expected_counts", interrupted)
    est = ss.BaumWelchPFA(3, checkpoint=tmp_path / "run.sigma", **settings)
    with pytest.raises(KeyboardInterrupt):
        est.fit(sequences)
    resumed = est.fit(sequences)
    assert len(steps) == 4 + 4  # three steps were kept, four remained
    assert resumed.model_ == whole.model_
    with pytest.raises(InvalidParameter, match="other data"):
        est.fit(cut(drawn(200), 40))


def test_what_does_not_add_up_over_parts_says_so():
    parts = cut(["ab", "ba"], 1)
    with pytest.raises(InvalidParameter, match=r"in memory for GibbsPFA.*sample"):
        ss.GibbsPFA(2).fit(parts)
    with pytest.raises(InvalidParameter, match="alphabet and unknown must be those"):
        ss.KneserNey(2, unknown="unk").fit(parts)
    with pytest.raises(InvalidParameter, match="sample_weight goes with"):
        ss.BaumWelchPFA(2).fit(parts, sample_weight=[1, 1])
    with pytest.raises(InvalidParameter, match="lengths goes with"):
        ss.KneserNey(2).fit(parts, lengths=[1])


def test_the_search_sees_a_sample_and_the_winner_all(monkeypatch):
    from sigmastar.automata.auto import parts

    monkeypatch.setattr(parts, "SAMPLE", 100)
    sequences = drawn(400)
    est = ss.AutoWFA(time_budget=0.5, random_state=0).fit(cut(sequences, 90))
    assert 60 < est.info_["sampled"] < 140
    recipe = ss.AutoWFA(recipe=est.recipe_, random_state=0)
    assert recipe.fit(cut(sequences, 90, threads=1)).model_ == est.model_
    if "objective" in est.info_:
        objective = est.info_["objective"]
        assert (np.diff(objective) >= -1e-12).all()
    assert np.isfinite(est.score(sequences))
