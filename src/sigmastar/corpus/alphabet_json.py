"""Alphabets in the metadata of model files: strings, numbers, None, bytes, tuples of these."""

from __future__ import annotations

from typing import Any

import numpy as np

from sigmastar.core.errors import FileFormatError, InvalidParameter
from sigmastar.core.types import Symbol
from sigmastar.corpus.alphabet import Alphabet

__all__ = ["alphabet_from_json", "alphabet_to_json"]


def alphabet_to_json(alphabet: Alphabet) -> dict[str, Any]:
    """Describe an alphabet in JSON: strings, numbers, None, bytes, and tuples of these."""
    return {
        "symbols": [_symbol_to_json(symbol) for symbol in alphabet.symbols],
        "unk": None if alphabet.unk is None else alphabet.index(alphabet.unk),
        "unknown": alphabet.unknown,
    }


def alphabet_from_json(value: Any) -> Alphabet:
    """Rebuild an alphabet from its JSON."""
    try:
        symbols = [_symbol_from_json(symbol) for symbol in value["symbols"]]
        unk = value["unk"]
        if unk is not None and not (type(unk) is int and 0 <= unk < len(symbols)):
            raise ValueError("unk")
        policy = value.get("unknown")  # files of 0.1.0 have none
        if policy is not None and policy not in ("error", "ignore", "unk"):
            raise ValueError("unknown")
        return Alphabet(symbols, unk=None if unk is None else symbols[unk], unknown=policy)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise FileFormatError(f"the alphabet of the model file is malformed ({error}).") from None


def _symbol_to_json(symbol: Symbol) -> Any:
    if symbol is None or isinstance(symbol, (str, bool, int)):
        return symbol
    if isinstance(symbol, float) and symbol == symbol and abs(symbol) != float("inf"):
        return symbol
    if isinstance(symbol, np.generic):
        return _symbol_to_json(symbol.item())
    if isinstance(symbol, bytes):
        return {"bytes": symbol.hex()}
    if isinstance(symbol, tuple):
        return {"tuple": [_symbol_to_json(part) for part in symbol]}
    raise InvalidParameter(
        f"symbols must be strings, numbers, None, bytes or tuples of these to be saved; "
        f"got {symbol!r} of type {type(symbol).__name__}. Recode the corpus with str symbols."
    )


def _symbol_from_json(value: Any) -> Symbol:
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, dict) and len(value) == 1:
        if isinstance(value.get("bytes"), str):
            return bytes.fromhex(value["bytes"])
        if isinstance(value.get("tuple"), list):
            return tuple(_symbol_from_json(part) for part in value["tuple"])
    raise ValueError(f"a symbol is {str(value)[:40]!r}")
