"""What readers of model files share: numbers with file and line, bounds, names of symbols."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from sigmastar.automata.models.base import StateModel
from sigmastar.automata.models.pfa import PFA
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.errors import InvalidModel, ParseError
from sigmastar.core.types import FloatArray, Symbol
from sigmastar.corpus.alphabet import Alphabet

__all__ = [
    "alphabet_of_names",
    "as_pfa",
    "check_size",
    "filled",
    "integers_if_all",
    "parse_index",
    "parse_number",
    "parse_probability",
    "pfa_or_wfa",
    "require_probabilities",
    "symbol_names",
]

# Weights are dense arrays: a file must not ask for more than 1 GiB of them, and one of a few lines
# for much less.
MAX_WEIGHTS = 1 << 27
FEW_WEIGHTS = 1 << 22
WEIGHTS_A_LINE = 1 << 16
MAX_INDEX = 1 << 20
_ROUNDING = 1e-3


def parse_index(path: str, line: int, word: str, what: str) -> int:
    """Parse the number of a state or a symbol."""
    if not (word.isascii() and word.isdigit() and len(word) < 10 and int(word) < MAX_INDEX):
        raise ParseError(path, line, f"{what}, an integer below {MAX_INDEX:,}", repr(word[:40]))
    return int(word)


def parse_number(path: str, line: int, word: str, what: str) -> float:
    """Parse a weight; infinities are left to the caller, NaN is refused."""
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if math.isnan(value) or "_" in word:
        raise ParseError(path, line, what, repr(word[:40]))
    return value


def parse_probability(path: str, line: int, word: str) -> float:
    """Parse a probability; printed ones may be a little above 1."""
    value = parse_number(path, line, word, "a probability")
    if not 0.0 <= value <= 1.0 + 1e-6:
        raise ParseError(path, line, "a probability between 0 and 1", repr(word[:40]))
    return value


def filled(shape: tuple[int, ...], entries: Mapping[tuple[int, ...], float]) -> FloatArray:
    """Return an array with the entries at their places and zeros elsewhere."""
    array = np.zeros(shape)
    for place, value in entries.items():
        array[place] = value
    return array


def check_size(path: str, line: int, n_states: int, n_symbols: int) -> None:
    """Refuse a file of so many lines whose dense weights would take too much memory."""
    allowed = min(MAX_WEIGHTS, max(FEW_WEIGHTS, WEIGHTS_A_LINE * line))
    if n_states * n_states * max(1, n_symbols) > allowed:
        raise ParseError(
            path,
            max(1, line),
            f"at most {allowed:,} weights (states² · symbols)",
            f"{n_states:,} states and {n_symbols:,} symbols",
        )


def as_pfa(
    path: str,
    initial: FloatArray,
    transitions: FloatArray,
    final: FloatArray,
    alphabet: Alphabet,
) -> PFA:
    """Build a PFA from a file.

    Weights printed with few digits are rescaled to sum to one; a number that only exists because
    states are counted from 0 becomes a state that nothing enters and that stops.
    """
    unused = (transitions.sum(axis=(0, 2)) + final + transitions.sum(axis=(0, 1)) + initial) == 0
    final = np.where(unused, 1.0, final)
    try:
        return PFA(initial, transitions, final, alphabet)
    except InvalidModel as error:
        sums = transitions.sum(axis=(0, 2)) + final
        off = max(float(np.abs(sums - 1.0).max()), abs(float(initial.sum()) - 1.0))
        if not off <= _ROUNDING:
            raise InvalidModel(f"{path}: {error}") from None
        return PFA.normalized(initial, transitions, final, alphabet)


def pfa_or_wfa(
    initial: FloatArray, transitions: FloatArray, final: FloatArray, alphabet: Alphabet
) -> WFA:
    """Build a PFA where the weights are one, a WFA otherwise."""
    try:
        return PFA(initial, transitions, final, alphabet)
    except InvalidModel:
        return WFA(initial, transitions, final, alphabet)


def require_probabilities(model: StateModel, format: str, *kinds: type[StateModel]) -> None:
    """Check that a model has probabilities and integers 0, 1, … for symbols, as a format needs."""
    if not isinstance(model, kinds):
        raise InvalidModel(
            f"the {format} format holds probabilities; got a {model.kind}. "
            "Learn a PFA: SeparablePFA or BaumWelchPFA, on the command line sigmastar learn "
            "--method separable (or em)."
        )
    if model.alphabet.symbols != tuple(range(model.n_symbols)):
        raise InvalidModel(
            f"the {format} format has no names: symbols must be the integers 0 to "
            f"{model.n_symbols - 1}; got {model.alphabet!r}. Use the AT&T format, which writes a "
            "symbol table, or recode the model."
        )


_ESCAPED = re.compile(r"\\u([0-9a-f]{6})")


def symbol_names(symbols: Sequence[Symbol]) -> list[str]:
    r"""Write symbols as words: white space and backslashes become ``\u`` and six digits."""
    names = []
    for symbol in symbols:
        text = str(symbol)
        name = "".join(f"\\u{ord(c):06x}" if c.isspace() or c == "\\" else c for c in text)
        names.append(name or "\\e")
    seen: dict[str, Symbol] = {}
    for name, symbol in zip(names, symbols, strict=True):
        if name in seen or name == "<eps>":
            other = repr(seen[name]) if name in seen else "the empty label"
            raise InvalidModel(
                f"symbols must be written differently; {symbol!r} and {other} are both {name!r}. "
                "Recode the model."
            )
        seen[name] = symbol
    return names


def alphabet_of_names(names: Iterable[str]) -> Alphabet:
    """Read symbols back from words; they are integers if all of them look like integers."""
    plain = [
        "" if name == "\\e" else _ESCAPED.sub(lambda found: _character(found[1]), name)
        for name in names
    ]
    return integers_if_all(plain)


def integers_if_all(names: list[str]) -> Alphabet:
    """Make an alphabet of names, or of integers if all names are written like integers."""
    if all(re.fullmatch(r"0|[1-9][0-9]{0,17}", name) for name in names):
        return Alphabet([int(name) for name in names])
    return Alphabet(names)


def _character(digits: str) -> str:
    point = int(digits, 16)
    return chr(point) if point <= 0x10FFFF else f"\\u{digits}"
