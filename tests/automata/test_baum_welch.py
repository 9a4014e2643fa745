"""Baum–Welch climbs, agrees with hmmlearn, keeps structure, and resumes exactly."""

import signal
import subprocess
import sys
import warnings
from itertools import product

import numpy as np
import pytest

import sigmastar as ss
from automata.oracles import random_hmm, random_pfa, random_wfa
from sigmastar.automata.estimators import baum_welch as estimators
from sigmastar.automata.inference.expected_counts import Forest
from sigmastar.automata.learn import baum_welch
from sigmastar.automata.learn.baum_welch import BaumWelchSettings, learn_baum_welch
from sigmastar.automata.learn.blocks.em_family import PFAFamily
from sigmastar.automata.learn.blocks.em_step import em_step

DATA = ss.sample(random_pfa(7, n_states=4, symbols="abc"), 400, random_state=0)


@pytest.mark.parametrize("estimator", [ss.BaumWelchPFA, ss.BaumWelchHMM])
@pytest.mark.parametrize("prior", [0.0, 0.3])
def test_every_step_is_non_decreasing(estimator, prior):
    learned = estimator(5, max_iter=60, tol=0.0, prior=prior, random_state=0).fit(DATA)
    steps = np.diff(learned.info_["objective"])
    assert len(steps) > 20
    assert (steps >= -1e-12).all()
    assert steps.sum() > 0.01


def test_the_objective_is_the_mean_log_probability():
    start = random_pfa(1, n_states=3, symbols="abc")
    learned = ss.BaumWelchPFA(init=start, max_iter=1).fit(DATA)
    assert learned.info_["objective"][0] == pytest.approx(ss.log_proba(start, DATA).mean())
    assert learned.score(DATA) > learned.info_["objective"][0]


def test_the_trajectory_is_that_of_hmmlearn():
    """A chain whose last symbol sends it into a state that stops for sure is one both express."""
    from hmmlearn.hmm import CategoricalHMM

    rng = np.random.default_rng(0)
    # Two working states over {a, b}; "!" is emitted by a third, which never goes anywhere else.
    transition = np.array([[0.6, 0.3, 0.1], [0.2, 0.6, 0.2], [0.0, 0.0, 1.0]])
    emission = np.array([[0.7, 0.3, 0.0], [0.2, 0.8, 0.0], [0.0, 0.0, 1.0]])
    theirs = CategoricalHMM(3, n_iter=1, tol=-1.0, init_params="", params="ste", n_features=3)
    theirs.startprob_ = np.array([0.6, 0.4, 0.0])
    theirs.transmat_, theirs.emissionprob_ = transition, emission
    strings = [[*rng.integers(0, 2, rng.integers(1, 6)), 2] for _ in range(60)]
    flat = np.concatenate(strings).reshape(-1, 1)
    lengths = [len(s) for s in strings]
    # Ours: the third state emits "!" and moves to a fourth, whose only act is to stop.
    ours = ss.HMM(
        [0.6, 0.4, 0.0, 0.0],
        [[0.6, 0.3, 0.1, 0.0], [0.2, 0.6, 0.2, 0.0], [0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0]],
        [[0.7, 0.3, 0.0], [0.2, 0.8, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]],
        [0.0, 0.0, 0.0, 1.0],
        ss.Alphabet([0, 1, 2]),
    )
    learned = ss.BaumWelchHMM(init=ours, max_iter=8, tol=0.0).fit(strings)
    trajectory = []
    for _ in range(8):
        trajectory.append(theirs.score(flat, lengths) / len(strings))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs.fit(flat, lengths)
        theirs.transmat_[2] = [0.0, 0.0, 1.0]  # never left, so hmmlearn has nothing to estimate it
    np.testing.assert_allclose(learned.info_["objective"], trajectory, rtol=1e-9)


def test_zeros_stay_zero():
    arcs = np.random.default_rng(0).random((3, 4, 4)) * np.triu(np.ones((4, 4)))
    start = ss.PFA.normalized([1, 1, 1, 1], arcs, [1, 1, 1, 1], DATA.alphabet)
    learned = ss.BaumWelchPFA(init=start, max_iter=10, prior=0.5).fit(DATA)
    assert (np.tril(learned.model_.transitions, -1) == 0).all()


@pytest.mark.parametrize(
    ("estimator", "start", "name"),
    [
        (ss.BaumWelchPFA, random_pfa(2, symbols="abc"), "initial"),
        (ss.BaumWelchPFA, random_pfa(2, symbols="abc"), "transitions"),
        (ss.BaumWelchPFA, random_pfa(2, symbols="abc"), "final"),
        (ss.BaumWelchHMM, random_hmm(2, symbols="abc"), "initial"),
        (ss.BaumWelchHMM, random_hmm(2, symbols="abc"), "transition"),
        (ss.BaumWelchHMM, random_hmm(2, symbols="abc"), "emission"),
        (ss.BaumWelchHMM, random_hmm(2, symbols="abc"), "stop"),
    ],
)
def test_frozen_parameters_stay_and_the_rest_still_climbs(estimator, start, name):
    learned = estimator(init=start, max_iter=10, tol=0.0, frozen=(name,)).fit(DATA)
    np.testing.assert_allclose(getattr(learned.model_, name), getattr(start, name), rtol=1e-12)
    steps = np.diff(learned.info_["objective"])
    assert (steps >= -1e-12).all()
    assert steps.sum() > 1e-4


def test_weights_count_as_repetitions():
    weights = np.arange(len(DATA)) % 3
    repeated = DATA.take(np.repeat(np.arange(len(DATA)), weights))
    start = random_pfa(3, symbols="abc")
    one = ss.BaumWelchPFA(init=start, max_iter=5, tol=0.0).fit(DATA, sample_weight=weights)
    two = ss.BaumWelchPFA(init=start, max_iter=5, tol=0.0).fit(repeated)
    assert one.model_.allclose(two.model_, rtol=1e-9)


def test_early_stopping_returns_the_best_on_held_out_data():
    few = DATA[:60]
    learned = ss.BaumWelchPFA(
        12, max_iter=200, tol=0.0, validation_fraction=0.3, patience=4, random_state=0
    ).fit(few)
    held_out = learned.info_["held_out"]
    assert learned.info_["n_iter"] < 200
    assert learned.info_["best_iteration"] == int(np.argmax(held_out))
    assert held_out[-1] < max(held_out)


def test_sequences_held_out_are_not_learned_from(monkeypatch):
    parts = {}

    def watched(train, *given, validation, **options):
        parts.update(train=list(train), validation=list(validation))
        return learn_baum_welch(train, *given, validation=validation, **options)

    monkeypatch.setattr(estimators, "learn_baum_welch", watched)
    distinct = sorted({"".join(string) for string in DATA})
    learner = ss.BaumWelchPFA(2, max_iter=1, validation_fraction=0.3, random_state=0)
    learner.fit(distinct)
    assert len(parts["validation"]) == -(-3 * len(distinct) // 10)
    assert sorted("".join(s) for s in parts["train"] + parts["validation"]) == distinct


def test_restarts_keep_the_best_start():
    tries = ss.BaumWelchPFA(4, max_iter=6, restart_iter=6, tol=0.0, n_restarts=4, random_state=1)
    assert len(tries.fit(DATA).info_["objective"]) == 6
    # The same starts one by one, each as far as the short runs go.
    settings = BaumWelchSettings(max_iter=6, restart_iter=6, tol=0.0, n_restarts=4)
    learned = learn_baum_welch(DATA, PFAFamily(), 4, settings=settings, random_state=1)
    seed = int(np.random.default_rng(1).integers(2**63))
    singles = []
    for child in np.random.SeedSequence(seed).spawn(4):
        start = PFAFamily().random(np.random.default_rng(child), 4, len(DATA.alphabet))
        single = learn_baum_welch(DATA, PFAFamily(), 4, start=start, settings=settings)
        singles.append(single.info["objective"][-1])
    assert learned.info["objective"][-1] == pytest.approx(max(singles), abs=1e-12)
    assert max(singles) > np.median(singles) + 1e-3


@pytest.mark.parametrize("beta", [1.0, 0.5])
def test_a_step_counts_paths_by_their_weight_to_a_power(beta):
    """All paths of three strings, one by one."""
    model = random_pfa(3, n_states=2, symbols="ab")
    strings = [(0, 1), (1,), (1, 0, 0)]
    start, arcs, stop = np.zeros(2), np.zeros((2, 2, 2)), np.zeros(2)
    for string in strings:
        paths = {}
        for path in product(range(2), repeat=len(string) + 1):
            steps = zip(string, path[:-1], path[1:], strict=True)
            weight = model.initial[path[0]] * model.final[path[-1]]
            paths[path] = (weight * np.prod([model.transitions[step] for step in steps])) ** beta
        for path, weight in paths.items():
            share = weight / sum(paths.values())
            start[path[0]] += share
            stop[path[-1]] += share
            for step in zip(string, path[:-1], path[1:], strict=True):
                arcs[step] += share
    corpus = ss.Corpus.from_sequences(
        [["ab"[symbol] for symbol in string] for string in strings], alphabet=model.alphabet
    )
    parameters = {name: getattr(model, name) for name in PFAFamily.names}
    step = em_step(Forest(corpus), PFAFamily(), parameters, beta=beta)
    leaving = arcs.sum(axis=(0, 2)) + stop
    np.testing.assert_allclose(step.parameters["initial"], start / 3, atol=1e-12)
    np.testing.assert_allclose(step.parameters["final"], stop / leaving, atol=1e-12)
    expected = arcs / leaving[None, :, None]
    np.testing.assert_allclose(step.parameters["transitions"], expected, atol=1e-12)


def test_a_prior_adds_its_count_to_every_parameter():
    """One state: two of a, one of b, two ends, and half a one more of each."""
    start = ss.PFA([1.0], [[[0.3]], [[0.3]]], [0.4], ss.Alphabet("ab"))
    est = ss.BaumWelchPFA(1, init=start, prior=0.5, max_iter=1, tol=0.0).fit(["a", "ab"])
    shares = [*est.model_.transitions[:, 0, 0], est.model_.final[0]]
    np.testing.assert_allclose(shares, np.array([2.5, 1.5, 2.5]) / 6.5, atol=1e-12)
    prior = 0.5 * (2 * np.log(0.3) + np.log(0.4))  # of the start, whose own weight is one
    expected = (ss.log_proba(start, ["a", "ab"]).sum() + prior) / 2
    assert est.info_["objective"][0] == pytest.approx(expected)
    assert 0 <= est.info_["seconds"] < 600


def test_annealing_raises_the_power_from_one_half_to_one(monkeypatch):
    powers = []

    def watched(*arguments, beta, **more):
        powers.append(beta)
        return em_step(*arguments, beta=beta, **more)

    monkeypatch.setattr(baum_welch, "em_step", watched)
    ss.BaumWelchPFA(2, annealing=4, max_iter=6, tol=0.0, random_state=0).fit(DATA[:20])
    assert powers == [0.5, 0.625, 0.75, 0.875, 1.0, 1.0]


def test_annealing_ends_in_a_proper_climb():
    learned = ss.BaumWelchPFA(4, annealing=10, max_iter=40, tol=0.0, random_state=0).fit(DATA)
    steps = np.diff(learned.info_["objective"][10:])
    assert (steps >= -1e-12).all()


def test_warm_start_goes_on():
    est = ss.BaumWelchPFA(4, max_iter=5, tol=0.0, random_state=0, warm_start=True).fit(DATA)
    first = est.info_["objective"][-1]
    assert est.fit(DATA).info_["objective"][0] >= first


def test_a_wfa_with_negative_weights_can_start():
    est = ss.BaumWelchPFA(3, init=random_wfa(0, symbols="abc"), max_iter=5, random_state=0)
    learned = est.fit(DATA)
    assert isinstance(learned.model_, ss.PFA)
    assert learned.model_.n_states == 3


def test_bad_arguments_are_refused():
    with pytest.raises(
        ss.errors.InvalidParameter, match="n_states must be 'auto', or an integer of at least 1"
    ):
        ss.BaumWelchPFA(0).fit(DATA)
    with pytest.raises(ss.errors.InvalidParameter, match="frozen must name some of initial"):
        ss.BaumWelchPFA(frozen=("stop",)).fit(DATA)
    with pytest.raises(ss.errors.InvalidParameter, match="init must be an HMM"):
        ss.BaumWelchHMM(init=random_pfa(0, symbols="abc")).fit(DATA)
    with pytest.raises(ss.errors.InvalidParameter, match="alphabet of the training sequences"):
        ss.BaumWelchPFA(init=random_pfa(0)).fit(DATA)
    with pytest.raises(ss.errors.InvalidParameter, match="one weight for each of 400"):
        ss.BaumWelchPFA().fit(DATA, sample_weight=[1.0])
    impossible = ss.PFA([1.0], [[[0.5]], [[0.0]], [[0.0]]], [0.5], DATA.alphabet)
    with pytest.raises(ss.errors.InvalidData, match="probability zero to sequences of weight"):
        ss.BaumWelchPFA(init=impossible).fit(DATA)


RUN = """
import os, signal, sys, sigmastar as ss
from sigmastar.core.checkpoints import CheckpointFile

write, left = CheckpointFile.write, int(sys.argv[4])
def write_and_die(self, *given, **options):
    global left
    write(self, *given, **options)
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
CheckpointFile.write = write_and_die
data = ss.sample(ss.load(sys.argv[1]), 1500, random_state=0)
est = ss.BaumWelchPFA(8, max_iter=120, tol=0.0, n_restarts=2, restart_iter=5, random_state=3,
                      validation_fraction=0.2, patience=200, n_jobs=1,
                      checkpoint=sys.argv[2], checkpoint_every=0.0)
est.fit(data).model_.save(sys.argv[3])
"""


@pytest.mark.compiled
@pytest.mark.parametrize("writes", [1, 30])
def test_a_killed_run_resumes_bit_for_bit(tmp_path, writes):
    random_pfa(7, n_states=4, symbols="abc").save(tmp_path / "truth.sigma")

    def run(checkpoint, result, writes=0):
        files = [str(tmp_path / name) for name in ("truth.sigma", checkpoint, result)]
        command = [sys.executable, "-c", RUN, *files, str(writes)]
        return subprocess.run(command, check=False).returncode

    assert run("whole.ckpt", "whole.sigma") == 0
    assert run("cut.ckpt", "cut.sigma", writes) == -signal.SIGKILL
    assert (tmp_path / "cut.ckpt").exists()
    assert not (tmp_path / "cut.sigma").exists()
    assert run("cut.ckpt", "cut.sigma") == 0
    assert ss.load(tmp_path / "cut.sigma") == ss.load(tmp_path / "whole.sigma")


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    path = tmp_path / "run.ckpt"
    ss.BaumWelchPFA(2, max_iter=2, checkpoint=path, random_state=0).fit(DATA)
    with pytest.raises(ss.errors.InvalidParameter, match="belongs to a run with other data"):
        ss.BaumWelchPFA(2, max_iter=2, checkpoint=path, random_state=0).fit(DATA[:100])
    with pytest.raises(ss.errors.InvalidParameter, match="needs an integer random_state"):
        ss.BaumWelchPFA(2, max_iter=2, checkpoint=path).fit(DATA)


def test_a_checkpoint_of_other_weights_is_refused(tmp_path):
    settings = {"max_iter": 2, "random_state": 0, "checkpoint": tmp_path / "run.sigma"}
    ones, twos = np.ones(len(DATA)), np.full(len(DATA), 2.0)
    ss.BaumWelchPFA(2, **settings).fit(DATA, sample_weight=ones)
    ss.BaumWelchPFA(2, **settings).fit(DATA, sample_weight=ones)
    with pytest.raises(ss.errors.SigmastarError, match="checkpoint"):
        ss.BaumWelchPFA(2, **settings).fit(DATA, sample_weight=twos)


def test_a_checkpoint_of_another_seed_is_refused(tmp_path):
    path = tmp_path / "run.ckpt"
    first = ss.BaumWelchPFA(2, max_iter=2, checkpoint=path, random_state=0).fit(DATA)
    with pytest.raises(ss.errors.InvalidParameter, match="other data, settings or random_state"):
        ss.BaumWelchPFA(2, max_iter=2, checkpoint=path, random_state=1).fit(DATA)
    again = ss.BaumWelchPFA(2, max_iter=2, checkpoint=path, random_state=0).fit(DATA)
    assert again.model_ == first.model_


def test_a_checkpoint_without_a_seed_goes_on_from_its_own(tmp_path):
    def learn(random_state):
        return learn_baum_welch(
            DATA, PFAFamily(), 2, random_state=random_state, checkpoint=tmp_path / "run.ckpt"
        )

    assert learn(None).model == learn(None).model
    with pytest.raises(ss.errors.InvalidParameter, match="other data, settings or random_state"):
        learn(np.random.default_rng(0))
