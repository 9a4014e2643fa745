"""What Baum–Welch must know of a family of models: its parameters, and how counts become new ones.

Both families share one E-step. An HMM is expanded to its PFA for it, and its own expected counts
are sums of the PFA's: an emission is used whenever any of the symbol's arcs leaves the state, a
transition whenever any symbol takes it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import ClassVar, TypeAlias

import numpy as np

from sigmastar.automata.inference.expected_counts import ExpectedCounts
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.pfa import PFA
from sigmastar.core.errors import InvalidParameter
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.corpus.alphabet import Alphabet

__all__ = ["Family", "HMMFamily", "PFAFamily", "Parameters", "log_prior"]

Parameters: TypeAlias = Mapping[str, FloatArray]


class Family(ABC):
    """A family of models that Baum–Welch can train.

    ``prior`` is a pseudo-count for every non-zero parameter; parameters that are ``frozen`` stay.
    """

    names: ClassVar[tuple[str, ...]]

    def __init__(self, prior: float = 0.0, frozen: Iterable[str] = ()) -> None:
        self.prior = prior
        self.frozen = frozenset(frozen)
        for name in frozen:
            if name not in self.names:
                known = ", ".join(self.names)
                raise InvalidParameter(f"frozen must name some of {known}; got {name!r}.")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.prior!r}, {sorted(self.frozen)!r})"

    @abstractmethod
    def expand(self, parameters: Parameters) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the initial, transition and final weights of the equivalent automaton."""

    @abstractmethod
    def maximize(self, counts: ExpectedCounts, parameters: Parameters) -> Parameters:
        """Return the parameters that are likeliest given expected counts."""

    @abstractmethod
    def choices(self, counts: ExpectedCounts) -> Parameters:
        """Return for each parameter how often what it shares its sum with was chosen among."""

    @abstractmethod
    def normalized(self, parameters: Parameters) -> Parameters:
        """Scale non-negative weights so that each state's sum to one."""

    @abstractmethod
    def model(self, parameters: Parameters, alphabet: Alphabet) -> PFA | HMM:
        """Build the model."""

    @abstractmethod
    def random(self, rng: np.random.Generator, n_states: int, n_symbols: int) -> Parameters:
        """Draw parameters to start from."""

    @abstractmethod
    def split(
        self, parameters: Parameters, copies: IndexArray, rng: np.random.Generator
    ) -> Parameters:
        """Give each state the copies named (its number, once or more), slightly disturbed."""


def log_prior(family: Family, parameters: Parameters) -> float:
    """Return the logarithm of the Dirichlet prior, up to a constant: prior · Σ log(parameter).

    A negative pseudo-count has no bounded density behind it and counts as none.
    """
    if family.prior <= 0:
        return 0.0
    logs = sum(float(np.log(array[array > 0]).sum()) for array in parameters.values())
    return family.prior * logs


def _with_prior(counts: FloatArray, parameters: FloatArray, prior: float) -> FloatArray:
    """Add a pseudo-count to every parameter that is not zero by structure.

    A negative one takes away instead, down to zero: rarely used parameters vanish for good.
    """
    if not prior:
        return counts
    return np.maximum(counts + prior * (parameters > 0), 0.0)


def _distribution(counts: FloatArray, old: FloatArray) -> FloatArray:
    """Normalise the last axis; where nothing was counted keep what there was."""
    total = counts.sum(axis=-1, keepdims=True)
    return np.where(total > 0, counts / np.where(total > 0, total, 1.0), old)


class PFAFamily(Family):
    """Probabilistic automata."""

    names: ClassVar[tuple[str, ...]] = ("initial", "transitions", "final")

    def expand(self, parameters: Parameters) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the parameters as they are."""
        return parameters["initial"], parameters["transitions"], parameters["final"]

    def maximize(self, counts: ExpectedCounts, parameters: Parameters) -> Parameters:
        """Normalise the counts state by state."""
        old_arcs, old_stop = parameters["transitions"], parameters["final"]
        start = _distribution(
            _with_prior(counts.initial, parameters["initial"], self.prior), parameters["initial"]
        )
        arcs = _with_prior(counts.transitions, old_arcs, self.prior)
        stop = _with_prior(counts.final, old_stop, self.prior)
        if "transitions" in self.frozen:
            arcs, stop = old_arcs, old_stop  # they share one sum: nothing is left to learn
        elif "final" in self.frozen:
            leaving = arcs.sum(axis=(0, 2))
            factor = _share_out(1 - old_stop, leaving)
            arcs = np.where((leaving > 0)[:, None], arcs * factor[:, None], old_arcs)
            stop = old_stop
        else:
            leaving = arcs.sum(axis=(0, 2)) + stop
            used = leaving > 0
            divisor = np.where(used, leaving, 1.0)
            arcs = np.where(used[:, None], arcs / divisor[:, None], old_arcs)
            stop = np.where(used, stop / divisor, old_stop)
        initial = parameters["initial"] if "initial" in self.frozen else start
        return {"initial": initial, "transitions": arcs, "final": stop}

    def choices(self, counts: ExpectedCounts) -> Parameters:
        """Return how often strings begin, and how often something leaves or stops at each state."""
        outcomes = counts.transitions.sum(axis=(0, 2)) + counts.final
        return {
            "initial": np.full_like(counts.initial, counts.initial.sum()),
            "transitions": np.broadcast_to(outcomes[:, None], counts.transitions.shape),
            "final": outcomes,
        }

    def normalized(self, parameters: Parameters) -> Parameters:
        """Divide by what leaves or stops at each state."""
        arcs, stop = parameters["transitions"], parameters["final"]
        total = arcs.sum(axis=(0, 2)) + stop
        start = parameters["initial"]
        return {
            "initial": start / start.sum(),
            "transitions": arcs / total[:, None],
            "final": stop / total,
        }

    def model(self, parameters: Parameters, alphabet: Alphabet) -> PFA:
        """Build the PFA."""
        return PFA.normalized(*self.expand(parameters), alphabet)

    def random(self, rng: np.random.Generator, n_states: int, n_symbols: int) -> Parameters:
        """Draw each state's outcomes from a flat Dirichlet distribution."""
        outcomes = rng.dirichlet(np.ones(n_symbols * n_states + 1), size=n_states)
        arcs = outcomes[:, :-1].reshape(n_states, n_symbols, n_states).transpose(1, 0, 2)
        # A stop as likely as any symbol, so that strings of ordinary length are possible at once.
        stop = np.full(n_states, 1.0 / (n_symbols + 1))
        arcs = np.ascontiguousarray(arcs / arcs.sum(axis=(0, 2))[:, None] * (1 - stop)[:, None])
        return {"initial": rng.dirichlet(np.ones(n_states)), "transitions": arcs, "final": stop}

    def split(
        self, parameters: Parameters, copies: IndexArray, rng: np.random.Generator
    ) -> Parameters:
        """Let copies share what arrived at their state, and leave as it left."""
        share = 1.0 / np.bincount(copies)[copies]
        stop = parameters["final"][copies]
        arcs = parameters["transitions"][:, copies][:, :, copies] * share
        arcs = arcs * _noise(rng, arcs.shape)
        arcs *= _share_out(1 - stop, arcs.sum(axis=(0, 2)))[:, None]
        start = parameters["initial"][copies] * share * _noise(rng, share.shape)
        return {"initial": start / start.sum(), "transitions": arcs, "final": stop}


class HMMFamily(Family):
    """Hidden Markov models."""

    names: ClassVar[tuple[str, ...]] = ("initial", "transition", "emission", "stop")

    def expand(self, parameters: Parameters) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the equivalent automaton: A_σ = diag(emission(·, σ)) transition."""
        arcs = parameters["emission"].T[:, :, None] * parameters["transition"][None, :, :]
        return parameters["initial"], np.ascontiguousarray(arcs), parameters["stop"]

    def maximize(self, counts: ExpectedCounts, parameters: Parameters) -> Parameters:
        """Sum the arcs' counts into those of emissions and transitions, and normalise."""
        new: dict[str, FloatArray] = {}
        start = _with_prior(counts.initial, parameters["initial"], self.prior)
        new["initial"] = _distribution(start, parameters["initial"])
        move = _with_prior(counts.transitions.sum(axis=0), parameters["transition"], self.prior)
        new["transition"] = _distribution(move, parameters["transition"])
        old = np.column_stack([parameters["emission"], parameters["stop"]])
        leaving = np.column_stack([counts.transitions.sum(axis=2).T, counts.final])
        leaving = _with_prior(leaving, old, self.prior)
        for name, columns in (("stop", slice(-1, None)), ("emission", slice(0, -1))):
            if name in self.frozen:  # its share of the sum stays, the rest divides what is left
                other = slice(0, -1) if name == "stop" else slice(-1, None)
                share = old[:, columns].sum(axis=1, keepdims=True)
                rest = _distribution(leaving[:, other], old[:, other])
                leaving[:, columns] = old[:, columns]
                leaving[:, other] = rest * (1 - share)
        fresh = _distribution(leaving, old)
        new["emission"] = np.ascontiguousarray(fresh[:, :-1])
        new["stop"] = np.ascontiguousarray(fresh[:, -1])
        return {name: parameters[name] if name in self.frozen else new[name] for name in self.names}

    def choices(self, counts: ExpectedCounts) -> Parameters:
        """Return how often strings begin, states are left, and something happens in them."""
        n_symbols, n, _ = counts.transitions.shape
        moved = counts.transitions.sum(axis=(0, 2))
        outcomes = moved + counts.final
        return {
            "initial": np.full(n, counts.initial.sum()),
            "transition": np.broadcast_to(moved[:, None], (n, n)),
            "emission": np.broadcast_to(outcomes[:, None], (n, n_symbols)),
            "stop": outcomes,
        }

    def normalized(self, parameters: Parameters) -> Parameters:
        """Divide every distribution by its sum."""
        start, move, emit, stop = (parameters[name] for name in self.names)
        outcomes = emit.sum(axis=1) + stop
        return {
            "initial": start / start.sum(),
            "transition": move / move.sum(axis=1, keepdims=True),
            "emission": emit / outcomes[:, None],
            "stop": stop / outcomes,
        }

    def model(self, parameters: Parameters, alphabet: Alphabet) -> HMM:
        """Build the HMM."""
        start, move, emit, stop = (parameters[name] for name in self.names)
        return HMM.normalized(start, move, emit, stop, alphabet)

    def random(self, rng: np.random.Generator, n_states: int, n_symbols: int) -> Parameters:
        """Draw every distribution from a flat Dirichlet distribution."""
        stop = np.full(n_states, 1.0 / (n_symbols + 1))
        emission = rng.dirichlet(np.ones(n_symbols), size=n_states) * (1 - stop)[:, None]
        return {
            "initial": rng.dirichlet(np.ones(n_states)),
            "transition": rng.dirichlet(np.ones(n_states), size=n_states),
            "emission": emission,
            "stop": stop,
        }

    def split(
        self, parameters: Parameters, copies: IndexArray, rng: np.random.Generator
    ) -> Parameters:
        """Let copies share what arrived at their state, and leave and emit as it did."""
        share = 1.0 / np.bincount(copies)[copies]
        move = parameters["transition"][copies][:, copies] * share
        move = move * _noise(rng, move.shape)
        stop = parameters["stop"][copies]
        emit = parameters["emission"][copies]
        emit = emit * _noise(rng, emit.shape)
        emit *= _share_out(1 - stop, emit.sum(axis=1))[:, None]
        start = parameters["initial"][copies] * share * _noise(rng, share.shape)
        return {
            "initial": start / start.sum(),
            "transition": move / move.sum(axis=1, keepdims=True),
            "emission": emit,
            "stop": stop,
        }


def _share_out(wanted: FloatArray, present: FloatArray) -> FloatArray:
    """Return the factors that bring sums to what is wanted (zero where there is nothing)."""
    return np.where(present > 0, wanted / np.where(present > 0, present, 1.0), 0.0)


def _noise(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    """Draw factors around one, large enough for copies to go different ways."""
    return np.exp(0.3 * rng.normal(size=shape))
