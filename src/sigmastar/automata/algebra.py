"""The algebra of weighted automata: sums, mixtures, bases, and the three functions of a language.

With A = Σ_σ A_σ, an automaton of string weights f(x) = αᵀ A_x β gives

- the prefix function Σ_v f(x v), by β ← (I − A)⁻¹ β,
- the substring function Σ_{u,v} f(u x v), by that and αᵀ ← αᵀ (I − A)⁻¹,

and multiplying by I − A leads back. Both sums exist only where the spectral radius of A (over the
states that matter) is below 1.

Every function takes WFA, PFA and HMM and returns a new model; alphabets that differ are united.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.pfa import PFA
from sigmastar.automata.models.size import check_weights
from sigmastar.automata.models.subject import as_wfa
from sigmastar.automata.models.wfa import WFA, reachable_states, useful_states
from sigmastar.core.errors import InvalidModel, InvalidParameter
from sigmastar.core.facts import Floats, proved
from sigmastar.core.rules import Choice, Instance, Real, check
from sigmastar.core.types import BoolArray, FloatArray
from sigmastar.corpus.alphabet import Alphabet

__all__ = [
    "Function",
    "add",
    "change_basis",
    "convert",
    "damped",
    "mixture",
    "scaled",
    "to_wfa",
    "trim",
]

Function: TypeAlias = Literal["string", "prefix", "substring"]
_FUNCTION = Choice("string", "prefix", "substring")


def to_wfa(model: WFA | HMM) -> WFA:
    """Return any model as a plain WFA with the same values."""
    automaton = _automaton(model)
    if type(automaton) is WFA:
        return automaton
    return WFA(automaton.initial, automaton.transitions, automaton.final, automaton.alphabet)


def convert(model: WFA | HMM, given: Function, wanted: Function) -> WFA:
    """Return the automaton of another function of the same language.

    Parameters
    ----------
    model : WFA, PFA or HMM
        Computes the function ``given``.
    given, wanted : {"string", "prefix", "substring"}
        String weights f(x); their sum over all strings that begin with x; their sum over all
        strings weighted by how often x occurs in them.

    Returns
    -------
    WFA

    Raises
    ------
    InvalidModel
        If a sum is wanted that does not exist, since the spectral radius is 1 or more.

    Examples
    --------
    >>> geometric = WFA([1.0], [[[0.5]]], [0.5], Alphabet("a"))
    >>> convert(geometric, "string", "prefix").final
    array([1.])
    """
    check("given", given, _FUNCTION)
    check("wanted", wanted, _FUNCTION)
    wfa = to_wfa(model)
    if given == wanted:
        return wfa
    difference = np.eye(wfa.n_states) - wfa.transition_sum
    initial, final = wfa.initial, wfa.final
    # First back to string weights, which always works, then to the function wanted.
    if given != "string":
        final = difference @ final
    if given == "substring":
        initial = initial @ difference
    string = WFA(initial, wfa.transitions, final, wfa.alphabet)
    if wanted == "string":
        return string
    string = trim(string)
    radius = string.spectral_radius
    if radius >= 1.0:
        raise InvalidModel(
            f"the spectral radius must be below 1 for {wanted} sums to exist; it is {radius:.6g}. "
            "Use damped(model) first, or learn with fewer states."
        )
    difference = np.eye(string.n_states) - string.transition_sum
    final = _solve(difference, string.final)
    initial = string.initial
    if wanted == "substring":
        initial = _solve(difference.T, initial)
    return WFA(initial, string.transitions, final, string.alphabet)


def scaled(model: WFA | HMM, factor: float) -> WFA:
    """Return the automaton of factor · f."""
    check("factor", factor, Real())
    wfa = to_wfa(model)
    return WFA(wfa.initial * float(factor), wfa.transitions, wfa.final, wfa.alphabet)


def add(first: WFA | HMM, second: WFA | HMM) -> WFA:
    """Return the automaton of f + g, with the states of both."""
    parts = [to_wfa(first), to_wfa(second)]
    return WFA(*_stack(parts, [1.0, 1.0]))


def mixture(models: Sequence[WFA | HMM], weights: ArrayLike) -> WFA:
    """Return the mixture Σ_i weights_i f_i, with the states of all.

    Parameters
    ----------
    models : sequence of WFA, PFA or HMM
        At least one.
    weights : array
        One for each model, not negative, summing to 1.

    Returns
    -------
    PFA or WFA
        A PFA if every model is a PFA or an HMM.
    """
    parts = [_automaton(model) for model in models]
    shares = np.asarray(weights, dtype=np.float64)
    if not parts or shares.shape != (len(parts),):
        raise InvalidParameter(
            f"weights must be one number for each of the (at least one) models; got "
            f"{len(parts)} models and weights of shape {shares.shape}."
        )
    if not ((shares >= 0).all() and abs(float(shares.sum()) - 1.0) <= 1e-9):
        raise InvalidParameter(
            f"weights must not be negative and sum to 1; got {shares.tolist()}. "
            "Divide them by their sum."
        )
    kind = PFA if all(isinstance(part, PFA) for part in parts) else WFA
    return kind(*_stack(parts, shares.tolist()))


def change_basis(model: WFA | HMM, matrix: ArrayLike) -> WFA:
    """Return the same function in another basis: αᵀM, M⁻¹A_σM, M⁻¹β.

    Parameters
    ----------
    model : WFA, PFA or HMM
        The model.
    matrix : array (n_states, n_states)
        An invertible matrix M.
    """
    wfa = to_wfa(model)
    n = wfa.n_states
    basis = proved({"matrix": Floats(n, n)}, {"matrix": matrix})["matrix"]
    try:
        operators = _solve(basis, wfa.transitions @ basis)
        final = _solve(basis, wfa.final)
    except np.linalg.LinAlgError:
        raise InvalidParameter(
            f"matrix must be invertible; its rank is {np.linalg.matrix_rank(basis)} of {n}."
        ) from None
    return WFA(wfa.initial @ basis, operators, final, wfa.alphabet)


def trim(model: WFA | HMM) -> WFA:
    """Drop the states that take part in no string.

    Of a PFA (or an HMM, which becomes one) those states are dropped that cannot be reached: the
    result is a PFA. Of a WFA those too from which no final weight can be reached. A model that is
    zero everywhere keeps one state.
    """
    automaton = _automaton(model)
    if isinstance(automaton, PFA):
        return _restricted(automaton, reachable_states(automaton))
    useful = useful_states(automaton)
    if not useful.any():
        zero = np.zeros((automaton.n_symbols, 1, 1))
        return WFA(np.zeros(1), zero, np.zeros(1), automaton.alphabet)
    return _restricted(automaton, useful)


def damped(model: WFA | HMM, max_radius: float = 0.999) -> WFA:
    """Return a model of finite mass: f(x) c^|x| with the largest c ≤ 1 that bounds the radius.

    Parameters
    ----------
    model : WFA, PFA or HMM
        The model; returned as it is if its spectral radius is small enough.
    max_radius : float
        The spectral radius wanted at most, above 0 and below 1.
    """
    check("max_radius", max_radius, Real(0, 1, open_low=True, open_high=True))
    automaton = _automaton(model)
    radius = automaton.spectral_radius
    if radius <= max_radius:
        return automaton
    return WFA(
        automaton.initial,
        automaton.transitions * (max_radius / radius),
        automaton.final,
        automaton.alphabet,
    )


def _solve(matrix: FloatArray, right: FloatArray) -> FloatArray:
    solution: FloatArray = np.linalg.solve(matrix, right).astype(np.float64, copy=False)
    return solution


def _automaton(model: WFA | HMM) -> WFA:
    check("model", model, Instance(WFA, HMM, words="a WFA, a PFA or an HMM"))
    return as_wfa(model)


def _restricted(model: WFA, keep: BoolArray) -> WFA:
    if keep.all():
        return model
    rows = np.flatnonzero(keep)
    operators = model.transitions[:, rows[:, None], rows]
    return type(model)(model.initial[keep], operators, model.final[keep], model.alphabet)


def _stack(
    parts: Sequence[WFA], weights: Iterable[float]
) -> tuple[FloatArray, FloatArray, FloatArray, Alphabet]:
    """Put automata side by side, over the union of their alphabets."""
    symbols = dict.fromkeys(symbol for part in parts for symbol in part.alphabet)
    unk = next((part.alphabet.unk for part in parts if part.alphabet.unk is not None), None)
    alphabet = Alphabet(symbols, unk=unk)
    n_states = sum(part.n_states for part in parts)
    check_weights(n_states, len(alphabet), "An automaton", copies=2)
    transitions = np.zeros((len(alphabet), n_states, n_states))
    at = 0
    for part in parts:
        end = at + part.n_states
        codes = alphabet.raw_codes(part.alphabet.symbols)
        transitions[codes, at:end, at:end] = part.transitions
        at = end
    initial = np.concatenate([w * p.initial for w, p in zip(weights, parts, strict=True)])
    final = np.concatenate([part.final for part in parts])
    return initial, transitions, final, alphabet
