"""Automata as Graphviz draws them: ``dot -Tsvg model.dot -o model.svg``.

States are circles, a double one can end a string; arcs between two states are one line, with their
strongest symbols. Only what can be seen is written: weights below a share of the largest are left
out, and a comment says how many.
"""

from __future__ import annotations

import numpy as np

from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.subject import as_wfa
from sigmastar.automata.models.wfa import WFA

__all__ = ["dot_text"]

_SHARE = 0.01  # of the largest weight, below which an arc is left out
_SYMBOLS = 3  # written on an arc


def dot_text(model: WFA | HMM) -> str:
    """Return a model in the language of Graphviz."""
    automaton = as_wfa(model)
    arcs = automaton.transitions
    least = _SHARE * float(np.abs(arcs).max(initial=0.0))
    shown = np.abs(arcs) >= max(least, np.finfo(np.float64).tiny)
    left_out = int((arcs != 0).sum() - shown.sum())
    lines = [
        "digraph automaton {",
        f"  // {automaton.n_states} states; {left_out} weaker arcs are left out",
        "  rankdir=LR; node [shape=circle, fontname=sans]; edge [fontname=sans, fontsize=10];",
    ]
    for state, (start, stop) in enumerate(zip(automaton.initial, automaton.final, strict=True)):
        shape = ', shape=doublecircle, xlabel="' + f'{stop:.3g}"' if abs(stop) > _SHARE else ""
        lines.append(f'  {state} [label="{state}"{shape}];')
        if abs(start) > _SHARE:
            lines.append(
                f'  start{state} [shape=point]; start{state} -> {state} [label="{start:.3g}"];'
            )
    for source, target in zip(*np.nonzero(shown.any(axis=0)), strict=True):
        weights = np.where(shown[:, source, target], arcs[:, source, target], 0.0)
        strongest = np.argsort(-np.abs(weights), kind="stable")[:_SYMBOLS]
        words = [
            f"{automaton.alphabet.symbols[code]} {weights[code]:.3g}"
            for code in strongest
            if weights[code]
        ]
        more = int((weights != 0).sum()) - len(words)
        text = "\\n".join(map(_escaped, [*words, *([f"{more} more"] if more else [])]))
        width = 0.5 + 2.5 * min(float(np.abs(weights).sum()), 1.0)
        lines.append(f'  {source} -> {target} [label="{text}", penwidth={width:.2f}];')
    return "\n".join([*lines, "}", ""])


def _escaped(text: str) -> str:
    plain = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text[:60])
    return plain.replace("\\", "\\\\").replace('"', '\\"')
