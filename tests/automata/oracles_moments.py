"""Counts and Hankel blocks by plain enumeration, and models with known residuals."""

from __future__ import annotations

import numpy as np

import sigmastar as ss


def plain_count(strings: list[tuple[int, ...]], wanted: tuple[int, ...], statistic: str) -> int:
    """Count an n-gram by looking at every place of every string."""
    n = len(wanted)
    if statistic == "string":
        return sum(s == wanted for s in strings)
    if statistic == "prefix":
        return sum(s[:n] == wanted for s in strings)
    if statistic == "suffix":
        return sum(s[len(s) - n :] == wanted for s in strings if len(s) >= n)
    return sum(s[i : i + n] == wanted for s in strings for i in range(len(s) - n + 1))


def plain_block(strings, basis, statistic, middle=()):
    """Tabulate f(u · middle · v) for all prefixes and suffixes."""
    return np.array(
        [
            [plain_count(strings, (*u, *middle, *v), statistic) for v in basis.suffixes]
            for u in basis.prefixes
        ]
    ) / len(strings)


def some_strings(seed: int, n: int = 40, n_symbols: int = 3, longest: int = 9):
    rng = np.random.default_rng(seed)
    return [tuple(rng.integers(0, n_symbols, rng.integers(0, longest)).tolist()) for _ in range(n)]


def corpus_of(strings, n_symbols: int = 3) -> ss.Corpus:
    return ss.Corpus.from_sequences(strings, alphabet=ss.Alphabet(range(n_symbols)))


def residual_pfa() -> ss.PFA:
    """Give a deterministic (so residual) automaton of three states that are all far apart."""
    arcs = np.zeros((2, 3, 3))
    arcs[0, 0, 1], arcs[1, 0, 2] = 0.5, 0.4
    arcs[0, 1, 1], arcs[1, 1, 0] = 0.1, 0.6
    arcs[0, 2, 0], arcs[1, 2, 2] = 0.2, 0.3
    return ss.PFA([1.0, 0.0, 0.0], arcs, [0.1, 0.3, 0.5], ss.Alphabet("ab"))


def separated_hmm(n_states: int = 3, symbols: str = "abcde", seed: int = 0) -> ss.HMM:
    rng = np.random.default_rng(seed)
    stop = rng.uniform(0.1, 0.5, n_states)
    emission = rng.dirichlet(np.full(len(symbols), 0.5), n_states) * (1 - stop)[:, None]
    transition = rng.dirichlet(np.ones(n_states), n_states)
    initial = rng.dirichlet(np.ones(n_states))
    return ss.HMM(initial, transition, emission, stop, ss.Alphabet(symbols))
