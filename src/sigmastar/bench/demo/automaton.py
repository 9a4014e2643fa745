"""A machine is drawn at random, writes strings, and is learned back from them by several methods.

Each method sees the training strings only; perplexity and wrong predictions are measured on other
strings, whose true probabilities are known. Seconds are those of ``fit``, after a small fit that
compiles the kernels.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sklearn.base import clone

from sigmastar.automata.estimators.baum_welch import BaumWelchPFA
from sigmastar.automata.estimators.separable import SeparablePFA
from sigmastar.automata.estimators.spectral import SpectralWFA
from sigmastar.automata.inference import next_distribution
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.wfa import WFA
from sigmastar.bench.clock import timed
from sigmastar.bench.demo.common import Savable
from sigmastar.core.progress import stage
from sigmastar.datasets import Problem, make_problem
from sigmastar.metrics import pautomac_perplexity, word_error_rate

__all__ = ["TRUTH", "AutomatonDemo", "AutomatonRow", "NextSymbol", "demo_automaton"]

TRUTH = "the true machine"
_N_STATES = 12  # of the machines learned by likelihood; the truth has fewer


@dataclass(frozen=True, eq=False)
class AutomatonRow:
    """One method: how good it is, how long it took, its machine and learner (None for the truth).

    ``curve`` is the mean log-likelihood of a training string by step, where there are steps;
    ``singular_values`` those of the Hankel matrix, where there is one.
    """

    method: str
    n_states: int
    perplexity: float
    word_error_rate: float
    seconds: float | None
    model: WFA | HMM
    learner: Any = None
    curve: tuple[float, ...] = ()
    singular_values: tuple[float, ...] = ()


@dataclass(frozen=True)
class NextSymbol:
    """A symbol (or the end) that may follow: the probability learned, and the true one."""

    symbol: str
    learned: float
    true: float


@dataclass(frozen=True, eq=False)
class AutomatonDemo:
    """What the first part found.

    The first of ``rows`` is the true machine, ``best`` the one that comes nearest to it;
    ``following`` is what may follow ``prefix`` by that machine.
    """

    problem: Problem
    rows: tuple[AutomatonRow, ...]
    best: AutomatonRow
    prefix: tuple[str, ...]
    following: tuple[NextSymbol, ...]
    file_bytes: int

    @property
    def models(self) -> Mapping[str, Savable]:
        """What is worth saving, by name."""
        return {"automaton": self.best.learner}

    def summary(self) -> dict[str, Any]:
        """Give the figures alone."""
        return {
            "strings": len(self.problem.train),
            "rows": [
                {
                    "method": row.method,
                    "states": row.n_states,
                    "perplexity": row.perplexity,
                    "word_error_rate": row.word_error_rate,
                    "seconds": row.seconds,
                }
                for row in self.rows
            ],
            "best": self.best.method,
            "prefix": list(self.prefix),
            "following": [vars(symbol) for symbol in self.following],
            "file_bytes": self.file_bytes,
        }


def demo_automaton(seed: int = 7, n_strings: int = 5000) -> AutomatonDemo:
    """Draw a machine of 8 states over 5 symbols, and learn it from so many strings."""
    problem = make_problem(
        "pfa", n_states=8, n_symbols=5, n_train=n_strings, n_test=500, random_state=seed
    )
    rows = [_row(TRUTH, problem.model, problem, None)]
    contenders = _contenders(seed)
    with stage("Learning automata", len(contenders)) as progress:
        for name, estimator in contenders.items():
            progress.advance(0, note=name)
            clone(estimator).fit(problem.train[:50])
            seconds = timed(estimator.fit, problem.train)
            rows.append(_row(name, estimator, problem, seconds))
            progress.advance()
    best = min(rows[1:], key=lambda row: row.perplexity)
    prefix = next(s for s in problem.test if len(s) >= 3)[:3]
    names = [*map(str, problem.model.alphabet), "END"]
    actual = dict(zip(names, next_distribution(problem.model, [prefix])[0].tolist(), strict=True))
    return AutomatonDemo(
        problem,
        tuple(rows),
        best,
        tuple(map(str, prefix)),
        tuple(
            NextSymbol(str(symbol), float(p), actual[str(symbol)])
            for symbol, p in best.learner.predict_next([prefix], k=3)[0]
        ),
        _size(best.model),
    )


def _contenders(seed: int) -> dict[str, Any]:
    likelihood: dict[str, Any] = {"max_iter": 100, "validation_fraction": 0.1, "random_state": seed}
    return {
        "spectral": SpectralWFA(random_state=seed),
        "separable": SeparablePFA(random_state=seed),
        "Baum-Welch": BaumWelchPFA(_N_STATES, **likelihood),
        "spectral, then Baum-Welch": BaumWelchPFA(
            _N_STATES, init=SpectralWFA(random_state=seed), **likelihood
        ),
    }


def _row(name: str, subject: Any, problem: Problem, seconds: float | None) -> AutomatonRow:
    machine = getattr(subject, "model_", subject)
    info = getattr(subject, "info_", {})
    return AutomatonRow(
        name,
        machine.n_states,
        pautomac_perplexity(subject, problem.test, problem.solution),
        word_error_rate(subject, problem.test),
        seconds,
        machine,
        None if subject is machine else subject,
        tuple(map(float, info.get("objective", ()))),
        tuple(map(float, info.get("singular_values", ()))),
    )


def _size(model: WFA | HMM) -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "best.sigma"
        model.save(path)
        return path.stat().st_size
