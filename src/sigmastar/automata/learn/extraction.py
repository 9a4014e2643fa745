"""An automaton out of a black box that gives numbers for strings: a network, a service, a model.

If f has rank n, there are n prefixes P and n suffixes S whose block H(u, v) = f(uv) is regular, and
the state of a string u is x(u) = H(u, S) H(P, S)⁻¹: then

    x(uσ) = x(u) A_σ with A_σ = H(Pσ, S) H(P, S)⁻¹,  f(u) = x(u) H(P, λ).

P and S grow from the empty string: of the rows of P and P·Σ the one that is farthest from the span
of those chosen is taken next (each scaled to length one, so that rare prefixes count as much), then
likewise columns of S and Σ·S, until no row and no column is left that is not in the span. Random
strings on which the automaton errs are taken apart into new candidates. For a function of low rank
this ends with the function itself; otherwise at ``max_states``.

Source: Beimel et al. (2000) for the closed block; the choice by residuals is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy import linalg

from sigmastar.automata.learn.reduction import trained_pfa
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.core.progress import stage
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.rules import Choice, Instance, Integer, Real, check
from sigmastar.core.types import FloatArray, IndexArray, Learned, Symbol
from sigmastar.corpus.alphabet import Alphabet

__all__ = ["extract"]

Code: TypeAlias = tuple[int, ...]
BlackBox: TypeAlias = Callable[[list[list[Symbol]]], Any]
_ROUNDS = 6


def extract(
    function: BlackBox,
    alphabet: Alphabet | Iterable[Symbol],
    *,
    gives: Literal["strings", "next"] = "strings",
    max_states: int = 50,
    tol: float = 1e-9,
    n_checks: int = 200,
    kind: Literal["wfa", "pfa"] = "wfa",
    n_strings: int = 20_000,
    random_state: RandomState = 0,
) -> Learned[WFA]:
    """Find an automaton that computes what a function of strings does.

    Parameters
    ----------
    function : callable
        Takes a list of strings, each a list of symbols, and returns numbers: one for each string
        (``gives="strings"``), or for each string a row of the probabilities of every symbol that
        may come next, in the order of the alphabet, and of the end (``gives="next"``).
    alphabet : Alphabet or symbols
        The symbols.
    gives : {"strings", "next"}
        What the numbers are.
    max_states : int
        States at most. A function of higher rank, as of most networks, is approximated.
    tol : float
        Rows and columns this near to the span of others, relative to their length, count as in it.
    n_checks : int
        Random strings on which the automaton is compared with the function, a time.
    kind : {"wfa", "pfa"}
        A WFA as found, or a PFA trained on strings drawn from it.
    n_strings : int
        How many strings the PFA is trained on.
    random_state : int, Generator, …
        For strings to compare and to train on.

    Returns
    -------
    Learned[WFA]
        ``info`` has ``n_queries`` (strings asked about), ``error`` (the largest on the strings
        compared), ``prefixes`` and ``suffixes`` of the block.

    Examples
    --------
    >>> import sigmastar as ss
    >>> def service(strings):
    ...     return [0.5 * 0.25 ** len(string) for string in strings]
    >>> found = ss.extract(service, "ab")
    >>> found.model.n_states, found.info["error"] < 1e-12
    (1, True)
    """
    symbols = alphabet if isinstance(alphabet, Alphabet) else Alphabet(alphabet)
    check("gives", gives, Choice("strings", "next"))
    check("max_states", max_states, Integer(1))
    check("tol", tol, Real(0, 1, open_high=True))
    check("n_checks", n_checks, Integer(1))
    check("kind", kind, Choice("wfa", "pfa"))
    if not callable(function):
        check("function", function, Instance(type(extract), words="a callable"))
    if not len(symbols):
        raise InvalidParameter("alphabet must have at least one symbol; it is empty.")
    rng = as_generator(random_state)
    box = _Box(function, symbols, gives)
    block = _Block(box, max_states, tol)
    with stage("Extracting", max_states) as progress:
        for _ in range(_ROUNDS):
            block.grow(lambda n: progress.advance(max(n - progress.done, 0), f"{n} states"))
            model = block.automaton()
            strings = _random_strings(rng, n_checks, len(symbols), block.reach)
            errors = np.abs(box.values(strings) - _weights(model, strings))
            worst = int(errors.argmax())
            if errors[worst] <= tol * max(box.largest, 1e-300) or block.full:
                break
            block.take_apart(strings[worst])
    info: dict[str, Any] = {
        "n_states": model.n_states,
        "n_queries": box.n_queries,
        "error": float(errors.max()),
        "prefixes": [symbols.decode(np.array(u, dtype=np.int32)) for u in block.prefixes],
        "suffixes": [symbols.decode(np.array(v, dtype=np.int32)) for v in block.suffixes],
    }
    if kind == "pfa":
        return Learned(trained_pfa(model, model, model.n_states, n_strings, rng), info)
    return Learned(model, info)


class _Box:
    """The function, asked in lists and never twice about the same string."""

    def __init__(self, function: BlackBox, alphabet: Alphabet, gives: str) -> None:
        self.function, self.alphabet, self.gives = function, alphabet, gives
        self._known: dict[Code, Any] = {}

    @property
    def n_queries(self) -> int:
        """How many strings were asked about."""
        return len(self._known)

    @property
    def largest(self) -> float:
        """The largest number met so far."""
        return max(float(np.max(np.abs(value))) for value in self._known.values())

    def values(self, strings: Sequence[Code]) -> FloatArray:
        """Return f of each string."""
        if self.gives == "strings":
            self._ask(strings)
            return np.array([self._known[string] for string in strings])
        self._ask([string[:length] for string in strings for length in range(len(string) + 1)])
        return np.array([self._product(string) for string in strings])

    def _product(self, string: Code) -> float:
        steps = [self._known[string[:place]][code] for place, code in enumerate(string)]
        return float(np.prod(steps) * self._known[string][-1])

    def _ask(self, strings: Sequence[Code]) -> None:
        new = [string for string in dict.fromkeys(strings) if string not in self._known]
        if not new:
            return
        decode = self.alphabet.decode
        words = [decode(np.array(string, dtype=np.int32)) for string in new]
        answers = np.asarray(self.function(words), dtype=np.float64)
        wanted: tuple[int, ...] = (len(new),)
        if self.gives == "next":
            wanted = (len(new), len(self.alphabet) + 1)
        if answers.shape != wanted or not np.isfinite(answers).all():
            raise InvalidData(
                f"function must return finite numbers of shape {wanted} for {len(new)} strings; "
                f"got shape {answers.shape}. See gives=, and return one row or number a string."
            )
        self._known.update(zip(new, answers, strict=True))


class _Block:
    """Prefixes and suffixes that make a regular block, and candidates for more."""

    def __init__(self, box: _Box, max_states: int, tol: float) -> None:
        self.box, self.max_states, self.tol = box, max_states, tol
        self.prefixes: list[Code] = [()]
        self.suffixes: list[Code] = [()]
        self._more: list[Code] = []  # strings whose prefixes and suffixes are candidates, too

    @property
    def full(self) -> bool:
        """Whether there are as many states as there may be."""
        return len(self.prefixes) >= self.max_states

    @property
    def reach(self) -> int:
        """Twice the length of the longest string of the block."""
        longest = max(map(len, self.prefixes)) + max(map(len, self.suffixes))
        return max(2 * longest, 8)

    def take_apart(self, string: Code) -> None:
        """Let the prefixes and suffixes of a string be candidates."""
        self._more.append(string)

    def hankel(self, prefixes: Sequence[Code], suffixes: Sequence[Code]) -> FloatArray:
        """Return f(uv) for all prefixes and suffixes."""
        strings = [u + v for u in prefixes for v in suffixes]
        return self.box.values(strings).reshape(len(prefixes), len(suffixes))

    def grow(self, tell: Callable[[int], None]) -> None:
        """Choose rows and columns until all candidates are in the span of those chosen."""
        n_symbols = len(self.box.alphabet)
        letters = [(code,) for code in range(n_symbols)]
        while True:
            known = self.suffixes + [a + v for v in self.suffixes for a in letters]
            known += [string[place:] for string in self._more for place in range(len(string))]
            columns = list(dict.fromkeys(known))
            known = self.prefixes + [u + a for u in self.prefixes for a in letters]
            known += [string[:place] for string in self._more for place in range(len(string) + 1)]
            rows = list(dict.fromkeys(known))
            table = self.hankel(rows, columns)
            if not table.any():
                raise InvalidData(
                    "function must not be zero on all short strings; it is. Give another alphabet."
                )
            chosen = _farthest(table, self.max_states, self.tol)
            before = len(self.prefixes)
            picked = _farthest(table[chosen].T, len(chosen), 0.0)
            self.prefixes = [rows[i] for i in chosen[: len(picked)]]  # a square block
            self.suffixes = [columns[i] for i in picked]
            tell(len(self.prefixes))
            if len(self.prefixes) <= before or self.full:
                return

    def automaton(self) -> WFA:
        """Solve for the automaton of the block."""
        letters = [(code,) for code in range(len(self.box.alphabet))]
        block = self.hankel(self.prefixes, self.suffixes)
        factors = linalg.lu_factor(block.T)

        def states(rows: FloatArray) -> FloatArray:
            return np.asarray(linalg.lu_solve(factors, rows.T).T)

        moved = [self.hankel([u + a for u in self.prefixes], self.suffixes) for a in letters]
        return WFA(
            states(self.hankel([()], self.suffixes))[0],
            np.stack([states(rows) for rows in moved]),
            self.hankel(self.prefixes, [()])[:, 0],
            self.box.alphabet,
        )


def _farthest(table: FloatArray, most: int, tol: float) -> IndexArray:
    """Choose rows one after the other, each the farthest from the span of those before.

    Rows are scaled to length one. The first is that of the largest row, where there is no span.
    """
    sizes = np.linalg.norm(table, axis=1)
    rest = table / np.where(sizes > 0, sizes, 1.0)[:, None]
    chosen: list[int] = []
    for _ in range(min(most, *table.shape)):
        left = np.linalg.norm(rest, axis=1)
        index = int(left.argmax()) if chosen else int(sizes.argmax())
        if left[index] <= max(tol, 1e-14):
            break
        chosen.append(index)
        direction = rest[index] / left[index]
        for _ in range(2):  # once more against rounding
            rest -= np.outer(rest @ direction, direction)
    return np.array(chosen, dtype=np.int64)


def _weights(model: WFA, strings: Sequence[Code]) -> FloatArray:
    values = np.empty(len(strings))
    for place, string in enumerate(strings):
        vector = model.initial
        for code in string:
            vector = vector @ model.transitions[code]
        values[place] = vector @ model.final
    return values


def _random_strings(rng: np.random.Generator, n: int, n_symbols: int, longest: int) -> list[Code]:
    lengths = rng.integers(0, longest + 1, size=n)
    return [tuple(rng.integers(n_symbols, size=length).tolist()) for length in lengths]
