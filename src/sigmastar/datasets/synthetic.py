"""Learning problems with a known truth: strings drawn from a random machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import logsumexp

from sigmastar.automata import inference
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.pfa import PFA
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.errors import InvalidParameter
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.rules import Choice, Integer, check
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.readers.growing import join
from sigmastar.datasets.generate import make_dpfa, make_hmm, make_pfa
from sigmastar.datasets.problem import Problem

__all__ = ["make_pautomac", "make_problem", "problem_from_model"]

_KINDS: dict[str, Callable[..., HMM | PFA]] = {"hmm": make_hmm, "pfa": make_pfa, "dpfa": make_dpfa}
_MAX_DRAWS = 200  # times the wanted number of test strings before we give up


def make_problem(
    kind: str = "pfa",
    *,
    n_train: int = 20_000,
    n_test: int = 1_000,
    random_state: RandomState = None,
    name: str | None = None,
    **parameters: Any,
) -> Problem:
    """Draw a random machine, strings to learn from, and distinct test strings with the solution.

    Parameters
    ----------
    kind : {"pfa", "hmm", "dpfa"}
        Which generator draws the machine.
    n_train, n_test : int
        How many strings; those of the test set are distinct, in the order they were drawn.
    random_state : int, Generator, …
        Same seed, same problem.
    name : str, optional
        Title of the problem; says the kind and the size by default.
    **parameters
        Of :func:`make_pfa`, :func:`make_hmm` or :func:`make_dpfa`.

    Examples
    --------
    >>> problem = make_problem("dpfa", n_states=5, n_symbols=4, n_train=100, n_test=20,
    ...                        random_state=0)
    >>> problem.name, len(problem.train), len(problem.test)
    ('dpfa-5x4', 100, 20)
    """
    check("kind", kind, Choice(*_KINDS))
    machine_rng, string_rng = as_generator(random_state).spawn(2)
    try:
        model = _KINDS[kind](random_state=machine_rng, **parameters)
    except TypeError as error:
        raise InvalidParameter(f"a parameter of make_{kind} is misspelt: {error}.") from None
    title = f"{kind}-{model.n_states}x{model.n_symbols}" if name is None else name
    return problem_from_model(model, n_train, n_test, random_state=string_rng, name=title)


def make_pautomac(
    kind: str = "pfa", *, n_train: int | None = None, random_state: RandomState = None
) -> Problem:
    """Draw a problem over the ranges of PAutomaC: size, sparsity and length are drawn, too.

    Machines have 5 to 75 states and 4 to 23 symbols, of which each state has a fifth to four
    fifths. A symbol (a state, of an HMM) leads to a fiftieth to four fifths of the states, all
    orders of magnitude alike, and to one at least. Strings have 5 to 20 symbols on average.

    Parameters
    ----------
    kind : {"pfa", "hmm", "dpfa"}
        Which generator draws the machine.
    n_train : int, optional
        How many training strings; by default 20,000, or one time in four 100,000.
    random_state : int, Generator, …
        Same seed, same problem.

    Examples
    --------
    >>> problem = make_pautomac("dpfa", n_train=100, random_state=1)
    >>> 5 <= problem.model.n_states <= 75, len(problem.test)
    (True, 1000)
    """
    check("kind", kind, Choice(*_KINDS))
    size_rng, problem_rng = as_generator(random_state).spawn(2)
    sparsities: dict[str, Any] = {"symbol_sparsity": float(size_rng.uniform(0.2, 0.8))}
    share = float(np.exp(size_rng.uniform(np.log(0.02), np.log(0.8))))
    if kind != "dpfa":
        sparsities["transition_sparsity"] = 1.0 - share
    drawn = 20_000 if size_rng.random() < 0.75 else 100_000
    return make_problem(
        kind,
        n_states=int(size_rng.integers(5, 76)),
        n_symbols=int(size_rng.integers(4, 24)),
        mean_length=float(size_rng.uniform(5.0, 20.0)),
        stop_sparsity=0.3,
        n_train=drawn if n_train is None else n_train,
        random_state=problem_rng,
        **sparsities,
    )


def problem_from_model(
    model: WFA | HMM,
    n_train: int = 20_000,
    n_test: int = 1_000,
    *,
    random_state: RandomState = None,
    name: str = "model",
) -> Problem:
    """Draw training strings and distinct test strings from a machine you have.

    Parameters
    ----------
    model : WFA, PFA or HMM
        The machine.
    n_train, n_test : int
        How many training strings, and how many distinct test strings.
    random_state : int, Generator or None
        Same integer, same strings.
    name : str
        How the problem calls itself.

    Returns
    -------
    Problem
        With the probabilities of the test strings, normalised over them, as its solution.
    """
    check("n_train", n_train, Integer(1))
    check("n_test", n_test, Integer(1))
    train_rng, test_rng = as_generator(random_state).spawn(2)
    train = inference.sample(model, n_train, random_state=train_rng)
    test = _distinct_strings(model, n_test, test_rng)
    log_probability = inference.log_proba(model, test)
    solution = np.exp(log_probability - logsumexp(log_probability))
    solution /= solution.sum()
    solution.setflags(write=False)
    return Problem(train, test, solution, model, name)


def _distinct_strings(model: WFA | HMM, n: int, rng: np.random.Generator) -> Corpus:
    found = inference.sample(model, 2 * n, random_state=rng)
    drawn, before = 2 * n, 0
    while len(found := found.distinct()[0]) < n:
        # Twice the draws give at most twice the new strings: what all draws left can still give.
        hoped = 2 * (len(found) - before) * _MAX_DRAWS * n // drawn
        if drawn >= _MAX_DRAWS * n or (before and len(found) + hoped < n):
            raise InvalidParameter(
                f"n_test must not exceed the number of distinct strings the machine draws; got "
                f"{n}, and {drawn:,} draws gave {len(found)}. Lower n_test, raise mean_length or "
                "lower the sparsities."
            )
        before = len(found)
        found = join([found, inference.sample(model, drawn, random_state=rng)])
        drawn *= 2
    return found[:n]
