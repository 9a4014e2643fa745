"""Between automata with initial vectors and machines with one start state and epsilon arcs.

Going out, a vector of several initial weights becomes a new start state with epsilon arcs. Coming
in, epsilon arcs are removed exactly: with E their matrix and C = (I − E)⁻¹ the sum over all runs
of them, f(x) = α C A_x1 C … A_xt C β, so A_σ ← C A_σ and β ← C β.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from sigmastar.automata.formats.common import pfa_or_wfa
from sigmastar.automata.models.base import StateModel
from sigmastar.automata.models.subject import as_wfa
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.errors import InvalidModel
from sigmastar.core.types import FloatArray
from sigmastar.corpus.alphabet import Alphabet

__all__ = ["EPSILON", "Machine", "MachineArc", "from_machine", "to_machine"]

EPSILON = -1


class MachineArc(NamedTuple):
    """One arc; ``symbol`` is a code or EPSILON, ``weight`` in real (not log) space."""

    source: int
    target: int
    symbol: int
    weight: float


class Machine(NamedTuple):
    """Arcs and final weights of states 0 … n − 1; state 0 is the start."""

    n_states: int
    arcs: Iterable[MachineArc]
    final: Mapping[int, float]


def to_machine(model: StateModel) -> Machine:
    """Give a model with weights that are not negative as a machine with one start state."""
    wfa = as_wfa(model)
    least = min(wfa.initial.min(), wfa.final.min(), wfa.transitions.min(initial=0.0))
    if least < 0:
        raise InvalidModel(
            f"weights must not be negative to be written as -log; the smallest is {least:.3g}. "
            "Learn a model without negative weights: SeparablePFA or BaumWelchPFA, on the command "
            "line sigmastar learn --method separable (or em)."
        )
    starts = np.flatnonzero(wfa.initial)
    arcs: list[MachineArc] = []
    if len(starts) == 1 and wfa.initial[starts[0]] == 1.0:
        # The start moves to the front; the states before it make room.
        start = int(starts[0])
        place = {start: 0} | {i: i + 1 for i in range(start)}  # the others stay
        n_states = wfa.n_states
    else:
        place = {i: i + 1 for i in range(wfa.n_states)}
        n_states = wfa.n_states + 1
        arcs = [MachineArc(0, place[int(i)], EPSILON, float(wfa.initial[i])) for i in starts]
    found = [
        MachineArc(place.get(i, i), place.get(j, j), s, float(wfa.transitions[s, i, j]))
        for s, i, j in np.argwhere(wfa.transitions).tolist()
    ]
    arcs += sorted(found)
    final = {place.get(i, i): float(wfa.final[i]) for i in np.flatnonzero(wfa.final).tolist()}
    return Machine(n_states, arcs, final)


def from_machine(machine: Machine, alphabet: Alphabet) -> WFA:
    """Build the automaton of a machine: a PFA where its weights are probabilities, else a WFA."""
    with np.errstate(all="ignore"):  # what overflows is refused by the model's own check
        return _build(machine, alphabet)


def _build(machine: Machine, alphabet: Alphabet) -> WFA:
    n = machine.n_states
    transitions = np.zeros((len(alphabet), n, n))
    epsilon = np.zeros((n, n))
    final = np.zeros(n)
    for source, target, symbol, weight in machine.arcs:
        if symbol == EPSILON:
            epsilon[source, target] += weight
        else:
            transitions[symbol, source, target] += weight
    for state, weight in machine.final.items():
        final[state] = weight
    initial = np.eye(n)[0]
    enters = epsilon[:, 0].any() or transitions[:, :, 0].any()
    if n > 1 and epsilon[0].any() and not (enters or transitions[:, 0].any() or final[0]):
        # A start that only leads on by epsilon is a vector of initial weights.
        initial = epsilon[0, 1:]
        epsilon, transitions, final = epsilon[1:, 1:], transitions[:, 1:, 1:], final[1:]
    if epsilon.any():
        transitions, final = _close(epsilon, transitions, final)
    return pfa_or_wfa(initial, transitions, final, alphabet)


def _close(
    epsilon: FloatArray, transitions: FloatArray, final: FloatArray
) -> tuple[FloatArray, FloatArray]:
    try:
        radius = float(np.abs(np.linalg.eigvals(epsilon)).max())
        closure = np.linalg.inv(np.eye(len(epsilon)) - epsilon)
    except np.linalg.LinAlgError:
        radius = float("inf")
    if radius >= 1.0:
        raise InvalidModel(
            "epsilon arcs must have a closure: the spectral radius of their matrix must be below "
            f"1; it is {radius:.6g}. Lower the weights of the epsilon cycles."
        )
    closure = np.maximum(closure, 0.0)  # weights are exp(-w): rounding alone gives less than 0
    # Rows without epsilon arcs keep their weights bit for bit.
    plain = ~epsilon.any(axis=1)
    closure[plain] = np.eye(len(epsilon))[plain]
    return np.einsum("ij,sjk->sik", closure, transitions), closure @ final
