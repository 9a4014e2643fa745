"""The true machines of PAutomaC, measured by our own inference and metrics.

The string probabilities of the machine, normalised over the test set, must equal the solution
file, and its perplexity and word error rate must equal the *True* columns of Tables 2 and 3 of
Balle, Hamilton and Pineau, *Methods of Moments for Learning Stochastic Languages* (ICML 2014).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import logsumexp

from sigmastar.automata import inference
from sigmastar.core.errors import DataNotFound
from sigmastar.core.progress import stage
from sigmastar.datasets import Problem, cache_directory, load_pautomac
from sigmastar.metrics import perplexity_of_probabilities, word_error_rate

__all__ = ["PUBLISHED", "Truth", "find_problems", "measure", "measure_all"]

# Problem: (perplexity, word error rate in %) of the true machine, as printed in Tables 3 and 2.
# The least perplexity that the solution file of problem 6 allows is 66.985, that of problem 14
# 116.792: there the printed 66.96 and 116.80 are off in their last digits.
PUBLISHED = {
    1: (29.90, 68.8),
    14: (116.80, 68.4),
    33: (31.87, 74.1),
    45: (24.04, 78.1),
    29: (24.03, 47.2),
    39: (10.00, 59.3),
    43: (32.64, 77.1),
    46: (11.98, 77.3),
    6: (66.96, 46.9),
    7: (51.22, 48.3),
    27: (42.43, 73.0),
    42: (16.00, 56.6),
}


@dataclass(frozen=True)
class Truth:
    """What was measured on one problem.

    Parameters
    ----------
    number : int
        Of the problem.
    n_states, n_symbols : int
        Size of the true machine.
    perplexity, word_error_rate : float
        Measured on the test set; the rate in per cent.
    deviation : float
        Largest relative difference of a normalised string probability from the solution file.
    """

    number: int
    n_states: int
    n_symbols: int
    perplexity: float
    word_error_rate: float
    deviation: float

    @property
    def published(self) -> tuple[float, float] | None:
        """Perplexity and word error rate in the paper, if it has this problem."""
        return PUBLISHED.get(self.number)


def measure(problem: Problem, number: int) -> Truth:
    """Compare the true machine of a problem with its solution."""
    log_probability = inference.log_proba(problem.model, problem.test)
    probability = np.exp(log_probability - logsumexp(log_probability))
    return Truth(
        number,
        problem.model.n_states,
        problem.model.n_symbols,
        perplexity_of_probabilities(log_probability, problem.solution),
        100.0 * word_error_rate(problem.model, problem.test),
        float(np.abs(probability / problem.solution - 1.0).max()),
    )


def measure_all(numbers: Iterable[int], data_home: Path | None = None) -> list[Truth]:
    """Measure several problems, in the given order."""
    wanted = list(numbers)
    results = []
    with stage("measure true machines", len(wanted)) as progress:
        for number in wanted:
            results.append(measure(load_pautomac(number, data_home=data_home), number))
            progress.advance(note=f"problem {number}")
    return results


def find_problems(data_home: Path | None = None) -> list[int]:
    """Return the numbers of the problems whose machine is on the disk already, in order."""
    directory = data_home or Path(os.environ.get("SIGMASTAR_DATA") or cache_directory())
    names = [path.name for place in (directory, directory / "pautomac") for path in _files(place)]
    found = [re.match(r"(\d+)\.pautomac_model\.txt", name) for name in names]
    numbers = sorted({int(match[1]) for match in found if match})
    if not numbers:
        raise DataNotFound(
            f"{directory} holds no PAutomaC problems. Give the directory that has files such as "
            "6.pautomac_model.txt.gz, or pautomac/6.pautomac_model.txt.gz."
        )
    return numbers


def _files(directory: Path) -> list[Path]:
    return list(directory.iterdir()) if directory.is_dir() else []
