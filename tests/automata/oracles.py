"""Slow and obvious versions of what the package computes, and small models to compare on."""

from __future__ import annotations

from itertools import product

import numpy as np

import sigmastar as ss


def random_pfa(seed: int, n_states: int = 3, symbols: str = "ab", stop: float = 0.5) -> ss.PFA:
    rng = np.random.default_rng(seed)
    arcs = rng.random((len(symbols), n_states, n_states))
    arcs[arcs < 0.2] = 0.0
    final = stop * (0.1 + rng.random(n_states)) * n_states
    return ss.PFA.normalized(rng.random(n_states), arcs, final, ss.Alphabet(symbols))


def random_hmm(seed: int, n_states: int = 3, symbols: str = "ab") -> ss.HMM:
    rng = np.random.default_rng(seed)
    return ss.HMM.normalized(
        rng.random(n_states),
        rng.random((n_states, n_states)),
        rng.random((n_states, len(symbols))),
        rng.random(n_states) + 0.1,
        ss.Alphabet(symbols),
    )


def random_wfa(seed: int, n_states: int = 3, symbols: str = "ab") -> ss.WFA:
    """Give a WFA with negative weights and spectral radius below one."""
    rng = np.random.default_rng(seed)
    arcs = rng.normal(size=(len(symbols), n_states, n_states))
    arcs *= 0.8 / np.abs(np.linalg.eigvals(arcs.sum(axis=0))).max()
    return ss.WFA(rng.normal(size=n_states), arcs, rng.normal(size=n_states), ss.Alphabet(symbols))


def all_strings(symbols: str, max_length: int) -> list[str]:
    return ["".join(s) for n in range(max_length + 1) for s in product(symbols, repeat=n)]


def value(model: ss.WFA, string: str) -> float:
    """Multiply out initialᵀ A_x final."""
    vector = model.initial
    for symbol in string:
        vector = vector @ model.transitions[model.alphabet.index(symbol)]
    return float(vector @ model.final)


def paths(model: ss.PFA, string: str, final: np.ndarray) -> dict[tuple[int, ...], float]:
    """Give the weight of every path of states behind a string."""
    codes = model.alphabet.encode(string)
    weights = {}
    for states in product(range(model.n_states), repeat=len(string) + 1):
        weight = model.initial[states[0]] * final[states[-1]]
        for position, code in enumerate(codes):
            weight *= model.transitions[code, states[position], states[position + 1]]
        weights[states] = float(weight)
    return weights
