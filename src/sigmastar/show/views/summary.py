"""A model in numbers: size, mass, entropy, likely strings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from sigmastar.automata.inference import likeliest_strings, log_proba, sample
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.pfa import PFA
from sigmastar.automata.models.subject import as_wfa
from sigmastar.automata.models.wfa import WFA, useful_states

__all__ = ["ends_soon", "shown_string", "summarize"]

_ENTROPY_SAMPLES = 4000
_LONGEST_TAIL = 0.999  # radius of models some of whose strings are tens of thousands long


def summarize(machine: WFA | HMM, strings: int = 10) -> dict[str, Any]:
    """Collect what there is to say about an automaton.

    Parameters
    ----------
    machine : WFA, PFA or HMM
        The model.
    strings : int
        How many of its likeliest strings to find.
    """
    automaton = as_wfa(machine)
    mass = automaton.total_mass()
    summary: dict[str, Any] = {
        "kind": machine.kind,
        "states": machine.n_states,
        "symbols": machine.n_symbols,
        "alphabet": machine.alphabet.shown(),
        "arcs": int((automaton.transitions != 0).sum()),
        "negative_weights": int((automaton.transitions < 0).sum()),
        "spectral_radius": automaton.spectral_radius,
        "total_mass": mass,
    }
    if isinstance(automaton, PFA) and abs(mass - 1) < 1e-6:
        summary["mean_length"] = _mean_length(automaton)
    if isinstance(automaton, PFA) and ends_soon(automaton):
        drawn = sample(automaton, _ENTROPY_SAMPLES, random_state=0)
        bits = -log_proba(automaton, drawn) / np.log(2)
        summary["entropy_bits_per_string"] = float(bits.mean())
        summary["entropy_standard_error"] = float(bits.std() / np.sqrt(len(bits)))
    found = likeliest_strings(automaton, strings) if strings > 0 else []
    summary["likeliest_strings"] = [{"string": shown_string(s), "p": p} for s, p in found]
    return summary


def ends_soon(machine: WFA | HMM) -> bool:
    """Tell whether strings of a model can be drawn whole: they end, and after bearable lengths.

    Of a WFA, which predicts rather than draws, it is known only that its mass is finite. Of a PFA
    with rare loops that hardly ever end, some string would be far longer than the mean: the
    spectral radius says how long.
    """
    automaton = as_wfa(machine)
    if automaton.spectral_radius >= _LONGEST_TAIL:
        return False
    return not isinstance(automaton, PFA) or abs(automaton.total_mass() - 1) < 1e-6


def shown_string(string: Iterable[object], most: int | None = None) -> str:
    """Write a sequence for people: characters run together, longer symbols are spaced."""
    names = [str(symbol) for symbol in string]
    cut = names if most is None else names[:most]
    joiner = "" if all(len(name) == 1 for name in names) else " "
    return joiner.join(cut) + (" …" if len(cut) < len(names) else "")


def _mean_length(automaton: PFA) -> float:
    """Return the expected length: each step from any state adds one, Σ_k initialᵀ A^k A 1."""
    useful = useful_states(automaton)
    moves = automaton.transition_sum[np.ix_(useful, useful)]
    steps = np.linalg.solve(np.eye(len(moves)) - moves, 1.0 - automaton.final[useful])
    return float(automaton.initial[useful] @ steps)
