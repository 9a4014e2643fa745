"""Automata as experts: operators and read-outs by leaf of the code tree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sigmastar.automata.inference.readout import Readout
from sigmastar.automata.mixture.evidence import Machines
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.subject import as_wfa
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.types import SymbolArray

__all__ = ["machines_of"]


def machines_of(models: Sequence[WFA | HMM], leaf_of: SymbolArray, ends: bool) -> Machines:
    """Lay automata out for the kernels; their alphabet is that of the leaves."""
    width = len(leaf_of)
    n_symbols = width - ends
    automata = [as_wfa(model) for model in models]
    sizes = np.array([automaton.n_states for automaton in automata], dtype=np.int64)
    operators, readouts = [np.zeros(0)], [np.zeros((0, width))]
    for automaton in automata:
        by_leaf = np.zeros((width, automaton.n_states, automaton.n_states))
        by_leaf[leaf_of[:n_symbols]] = automaton.transitions
        operators.append(by_leaf.reshape(-1))
        readout = np.zeros((automaton.n_states, width))
        readout[:, leaf_of] = Readout.of(automaton).weights[:, :width]
        readouts.append(readout)
    return Machines(
        sizes,
        (np.cumsum(sizes) - sizes).astype(np.int64),
        (np.cumsum(width * sizes * sizes) - width * sizes * sizes).astype(np.int64),
        np.concatenate([np.zeros(0), *(automaton.initial for automaton in automata)]),
        np.concatenate(operators),
        np.concatenate(readouts),
    )
