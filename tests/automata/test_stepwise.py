"""Stepwise EM: the update as published, and where it ends."""

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.automata.inference.expected_counts import ExpectedCounts, Forest
from sigmastar.automata.learn.blocks.em_family import HMMFamily, PFAFamily
from sigmastar.core.errors import InvalidParameter

TRUTH = ss.datasets.make_pfa(n_states=2, n_symbols=3, random_state=3)


@pytest.fixture(scope="module")
def strings():
    return ss.sample(TRUTH, 1200, random_state=0)


def cut(strings, size, **options):
    pieces = [strings[i : i + size] for i in range(0, len(strings), size)]
    return ss.Partitions.from_sequences(pieces, alphabet=TRUTH.alphabet, **options)


def mean_log(model, strings):
    return float(ss.log_proba(model, strings).mean())


@pytest.mark.filterwarnings("ignore::sigmastar.core.errors.PoorModelWarning")  # a random start
@pytest.mark.parametrize("family", [PFAFamily(), HMMFamily()])
def test_updates_are_those_of_the_formula(strings, family):
    estimator = ss.BaumWelchPFA if isinstance(family, PFAFamily) else ss.BaumWelchHMM
    start = estimator(2, max_iter=0, random_state=1).fit(strings).model_
    settings = {"init": start, "max_iter": 1, "batch_parts": 2, "step_power": 0.8}
    found = estimator(2, **settings).fit(cut(strings, 300)).model_

    names = family.names
    parameters = {name: np.array(getattr(start, name)) for name in names}
    n = len(strings)
    total = [n * weights for weights in family.expand(parameters)]
    for k in range(2):
        half = ss.Corpus.from_sequences(strings[600 * k : 600 * (k + 1)], alphabet=TRUTH.alphabet)
        counts = Forest(half, n_states=2).expected_counts(*family.expand(parameters))
        rate = (k + 2) ** -0.8
        seen = (counts.initial, counts.transitions, counts.final)
        total = [
            (1 - rate) * old + rate * n / 600 * new for old, new in zip(total, seen, strict=True)
        ]
        parameters = family.maximize(ExpectedCounts(*total, 0.0, 0.0), parameters)
    for name in names:
        np.testing.assert_allclose(getattr(found, name), parameters[name], rtol=1e-9)


def test_a_few_passes_do_what_many_steps_of_batch_em_do(strings):
    parts = cut(strings, 40, threads=1)  # 30 parts
    common = {"random_state": 5, "tol": 0}
    slow = ss.BaumWelchPFA(2, max_iter=3, **common).fit(parts).model_
    long = ss.BaumWelchPFA(2, max_iter=150, **common).fit(parts).model_
    few = ss.BaumWelchPFA(2, max_iter=3, batch_parts=1, **common).fit(parts).model_
    more = ss.BaumWelchPFA(2, max_iter=40, batch_parts=3, **common).fit(parts).model_
    assert mean_log(few, strings) > mean_log(slow, strings)
    assert abs(mean_log(more, strings) - mean_log(long, strings)) < 0.01


def test_what_the_first_parts_lack_stays_possible():
    parts = ss.Partitions.from_sequences([["ab"] * 5, ["cab"] * 5], threads=1)
    learned = ss.BaumWelchPFA(2, batch_parts=1, max_iter=3, random_state=0).fit(parts)
    assert np.isfinite(learned.log_proba(["cab"])).all()


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_and_a_stop_leave_no_trace(strings, tmp_path, threads):
    settings = {"batch_parts": 2, "random_state": 0, "tol": 0}
    wanted = ss.BaumWelchPFA(2, max_iter=4, **settings).fit(cut(strings, 100, threads=1)).model_
    file = tmp_path / "run.sigma"
    kept = {"checkpoint": file, "checkpoint_every": 0}

    class Stop(Exception):
        pass

    from sigmastar.automata.learn.blocks import em_checkpoint

    offer, steps = em_checkpoint.Checkpoint.offer, []

    def stopping(self, progress, *, now=False):
        offer(self, progress, now=now)
        steps.append(progress.iteration)
        if progress.iteration == 2:
            raise Stop

    parts = cut(strings, 100, threads=threads)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(em_checkpoint.Checkpoint, "offer", stopping)
        with pytest.raises(Stop):
            ss.BaumWelchPFA(2, max_iter=4, **settings, **kept).fit(parts)
    assert ss.BaumWelchPFA(2, max_iter=4, **settings, **kept).fit(parts).model_ == wanted
    assert steps[-1] == 2


def test_batches_are_of_parts(strings):
    with pytest.raises(InvalidParameter, match=r"batch_parts must be 0.*Partitions"):
        ss.BaumWelchPFA(2, batch_parts=2).fit(strings)
    with pytest.raises(InvalidParameter, match="step_power"):
        ss.BaumWelchPFA(2, step_power=0.5).fit(strings)
