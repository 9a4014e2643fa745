"""Models in other processes, forked off after use, spawned or of a pool, and pickled."""

import multiprocessing
import pickle
import sys

import pytest

import sigmastar as ss
from fresh import in_fresh_process, mapped
from questions import WAYS, answers, model_files, same, unpickled_answers


@pytest.fixture(scope="module")
def models():
    """One model of every kind, used already, and its answers."""
    chosen = {kind: ss.load(paths[0]) for kind, paths in model_files().items()}
    assert chosen.keys() == WAYS.keys()
    return {kind: (model, answers(model)) for kind, model in chosen.items()}


def check(models, given):
    for (kind, (_, expected)), pickled in zip(models.items(), given, strict=True):
        found = pickle.loads(pickled)
        assert found, kind
        for (call, one), (_, other) in zip(expected, found, strict=True):
            assert same(one, other), (kind, call)


def test_a_pickled_model_answers_the_same(models):
    check(models, [unpickled_answers(pickle.dumps(model)) for model, _ in models.values()])


@pytest.mark.compiled
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_answer_the_same(models, method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} here")
    given = [pickle.dumps(model) for model, _ in models.values()]
    check(models, in_fresh_process(mapped, method, unpickled_answers, given))


@pytest.mark.compiled
def test_workers_of_joblib_answer_the_same(models):
    joblib = pytest.importorskip("joblib")
    given = [pickle.dumps(model) for model, _ in models.values()]
    run = joblib.Parallel(n_jobs=2, backend="loky", timeout=300)
    code = joblib.delayed(_asked)
    check(models, run(code(sys.path, one) for one in given))


def _asked(path, pickled):
    """Find the modules of the tests in a process that knows nothing of them."""
    sys.path[:] = path
    from questions import unpickled_answers

    return unpickled_answers(pickled)
