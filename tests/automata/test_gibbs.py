"""Gibbs sampling draws from the posterior that an enumeration gives."""

import gc
import signal
import threading
import time
from itertools import product

import numpy as np
import pytest

import sigmastar as ss
from automata.oracles import random_pfa
from patience import until
from sigmastar.automata.kernels.gibbs import StateCounts, count_states, draw_states, sweep
from sigmastar.automata.learn.blocks.growth import Track
from sigmastar.automata.learn.gibbs import _Chain, log_joint, potential_scale_reduction

ALPHABET = ss.Alphabet("ab")
CORPUS = ss.Corpus.from_sequences(["ab", "b"], alphabet=ALPHABET)
A, B = 0.7, 0.4


def counts_of(states, n=2, k=2):
    counts = StateCounts.zero(n, k)
    count_states(CORPUS.symbols, CORPUS.offsets, np.array(states, dtype=np.int32), counts)
    return counts


def test_the_joint_probability_is_a_product_of_predictive_probabilities():
    """The chain rule, one choice at a time, with counts that grow as it goes."""
    states = (0, 1, 1, 1, 0)
    starts, ends, totals = np.zeros(2), np.zeros(2), np.zeros(2)
    uses, arcs = np.zeros((2, 2)), np.zeros((2, 2, 2))
    total = 0.0
    for string, path in (((0, 1), states[:3]), ((1,), states[3:])):
        total += np.log((starts[path[0]] + B) / (starts.sum() + 2 * B))
        starts[path[0]] += 1
        for x, p, q in zip(string, path[:-1], path[1:], strict=True):
            total += np.log((uses[p, x] + A) / (totals[p] + 3 * A))
            total += np.log((arcs[p, x, q] + B) / (uses[p, x] + 2 * B))
            uses[p, x] += 1
            arcs[p, x, q] += 1
            totals[p] += 1
        total += np.log((ends[path[-1]] + A) / (totals[path[-1]] + 3 * A))
        ends[path[-1]] += 1
        totals[path[-1]] += 1
    assert log_joint(counts_of(states), A, B) == pytest.approx(total, rel=1e-12)


@pytest.mark.compiled
def test_sweeps_visit_state_sequences_as_often_as_their_posterior_says():
    everything = list(product(range(2), repeat=5))
    weights = np.exp([log_joint(counts_of(states), A, B) for states in everything])
    weights /= weights.sum()
    rng = np.random.default_rng(0)
    states = np.zeros(5, dtype=np.int32)
    counts = counts_of(states)
    visits = dict.fromkeys(everything, 0)
    draws = 60_000
    for _ in range(draws):
        sweep(CORPUS.symbols, CORPUS.offsets, states, counts, A, B, rng)
        visits[tuple(states.tolist())] += 1
    observed = np.array(list(visits.values())) / draws
    # Successive sweeps are correlated: allow six times the error of independent draws.
    assert (np.abs(observed - weights) < 6 * np.sqrt(weights / draws)).all()
    for mine, fresh in zip(counts, counts_of(states), strict=True):
        np.testing.assert_array_equal(mine, fresh)


def test_states_are_drawn_from_the_posterior_of_an_automaton():
    model = random_pfa(3)
    corpus = ss.Corpus.from_sequences(["abba"] * 20_000, alphabet=model.alphabet)
    states = np.zeros(corpus.n_symbols + len(corpus), dtype=np.int32)
    rng = np.random.default_rng(0)
    draw_states(
        corpus.symbols, corpus.offsets, model.initial, model.transitions, model.final, states, rng
    )
    expected = ss.posterior(model, ["abba"])[0]
    drawn = np.stack([(states.reshape(-1, 5) == s).mean(axis=0) for s in range(3)], axis=1)
    np.testing.assert_allclose(drawn, expected, atol=0.02)


@pytest.mark.compiled
def test_averaging_does_not_overfit_where_likelihood_does():
    truth = random_pfa(7, n_states=3, symbols="abc")
    train, test = ss.sample(truth, 150, random_state=0), ss.sample(truth, 2000, random_state=1)
    likeliest = ss.BaumWelchPFA(8, max_iter=300, tol=0.0, random_state=0).fit(train)
    est = ss.GibbsPFA(8, n_sweeps=60, burn_in=30, state_prior=0.3, random_state=0).fit(train)
    assert est.model_.n_states == 8 * est.info_["n_samples"]
    assert est.score(test) > likeliest.score(test) + 0.05
    assert est.score(test) > ss.log_proba(truth, test).mean() - 0.15
    assert len(est.info_["log_joint"]) == 2
    assert est.info_["r_hat"] > 0.9


def test_threads_change_nothing():
    train = ss.sample(random_pfa(7), 200, random_state=0)
    one, two = (
        ss.GibbsPFA(3, n_sweeps=10, burn_in=2, n_jobs=jobs, random_state=5).fit(train)
        for jobs in (1, 2)
    )
    assert one.model_ == two.model_


def test_scale_reduction_tells_agreeing_chains_from_others():
    rng = np.random.default_rng(0)
    together = [list(rng.normal(size=200)) for _ in range(3)]
    apart = [[x + 5 * i for x in chain] for i, chain in enumerate(together)]
    assert potential_scale_reduction(together) < 1.05
    assert potential_scale_reduction(apart) > 2


def test_too_few_sweeps_are_refused():
    with pytest.raises(ss.errors.InvalidParameter, match="n_sweeps must exceed burn_in"):
        ss.GibbsPFA(2, n_sweeps=10, burn_in=8, n_samples=4).fit(["ab"])


@pytest.mark.parametrize(
    ("learner", "worker", "work"),
    [
        (ss.GibbsPFA(4, n_sweeps=10**7, burn_in=1, n_jobs=2, random_state=0), _Chain, "sweep"),
        (ss.AutoWFA(600.0, n_jobs=2, random_state=0), Track, "advance"),
    ],
)
def test_an_interrupt_does_not_wait_for_what_threads_had_to_do(
    monkeypatch, ctrl_c, learner, worker, work
):
    original, pressed = getattr(worker, work), []

    def pressing(*given):
        if not pressed and threading.current_thread() is not threading.main_thread():
            pressed.append(time.monotonic())
            ctrl_c()
        return original(*given)

    monkeypatch.setattr(worker, work, pressing)
    few = ss.sample(random_pfa(7, n_states=4, symbols="abc"), 100, random_state=0)
    before = set(threading.enumerate())
    with pytest.raises(KeyboardInterrupt):
        learner.fit(few)
    until(lambda: set(threading.enumerate()) <= before)  # one that was being started is not joined
    assert time.monotonic() - pressed[0] < 300  # otherwise it lasts ten minutes


@pytest.fixture
def ctrl_c():
    """Give what presses Ctrl-C; it is heard whatever the shell says, and by no callback."""
    main = threading.main_thread().ident
    # Whoever was started in the background of a shell ignores Ctrl-C, and callbacks of the
    # collector (hypothesis has one) swallow what is raised in them.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.disable()
    yield lambda: signal.pthread_kill(main, signal.SIGINT)
    gc.enable()
    signal.signal(signal.SIGINT, before)


def test_sweeps_and_their_trace_use_the_priors_that_are_set(monkeypatch):
    from sigmastar.automata.learn import gibbs

    used = []
    monkeypatch.setattr(gibbs, "sweep", lambda *given: used.append(("sweep", *given[4:6])))
    monkeypatch.setattr(gibbs, "log_joint", lambda _, a, b: used.append(("trace", a, b)) or 0.0)
    settings = gibbs.GibbsSettings(
        n_chains=1, n_sweeps=1, burn_in=0, n_samples=1, outcome_prior=A, state_prior=B
    )
    gibbs.learn_gibbs(CORPUS, 2, settings=settings, random_state=0)
    assert used == [("sweep", A, B), ("trace", A, B)]


def test_a_sample_has_the_parameters_expected_of_its_counts(monkeypatch):
    """(count + prior) / (all counts + all priors): outcomes with ``a``, states with ``b``."""
    from sigmastar.automata.learn import gibbs

    drawn = []
    monkeypatch.setattr(gibbs, "sweep", lambda *given: drawn.append(given[3]))
    settings = gibbs.GibbsSettings(
        n_chains=1, n_sweeps=1, burn_in=0, n_samples=1, outcome_prior=A, state_prior=B
    )
    model = gibbs.learn_gibbs(CORPUS, 2, settings=settings, random_state=0).model
    (counts,) = drawn
    for p, x, q in product(range(2), repeat=3):
        outcome = (counts.uses[x, p] + A) / (counts.totals[p] + 3 * A)
        following = (counts.arcs[p, x, q] + B) / (counts.uses[x, p] + 2 * B)
        assert model.transitions[x, p, q] == pytest.approx(outcome * following)
    np.testing.assert_allclose(model.final, (counts.ends + A) / (counts.totals + 3 * A))
    np.testing.assert_allclose(model.initial, (counts.starts + B) / (2 + 2 * B))
