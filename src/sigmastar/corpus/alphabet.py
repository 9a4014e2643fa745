"""Alphabets: a fixed order of symbols, and the two-way map between symbols and their codes.

A symbol is anything hashable; a code is its position, an int32. Encoding runs at dictionary speed
(about 15M tokens a second); strings of characters take a table look-up by code point instead.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from itertools import repeat
from typing import Literal, TypeAlias

import numpy as np

from sigmastar.core.errors import InvalidData, InvalidParameter, UnknownSymbol
from sigmastar.core.rules import Choice, check
from sigmastar.core.types import Symbol, SymbolArray

__all__ = [
    "UNKNOWN_SYMBOL",
    "Alphabet",
    "Unknown",
    "check_unknown",
    "collect_codes",
    "counting_codes",
    "plain",
    "policy_of",
]

Unknown: TypeAlias = Literal["error", "ignore", "unk"]
UNKNOWN_SYMBOL = "<unk>"
_UNKNOWN_RULE = Choice("error", "ignore", "unk")
_MISSING = -1
_FEW_TO_COMPARE = 10_000  # symbols: to compare spellings of more takes seconds
_ABSENT_BYTE = 255  # in a table of bytes: no code is that large


def check_unknown(unknown: str) -> None:
    """Check the policy for symbols that are not in an alphabet."""
    check("unknown", unknown, _UNKNOWN_RULE)


def policy_of(unknown: Unknown | None, alphabet: Alphabet | None) -> Unknown:
    """Return the policy that is given, else the alphabet's own; "error" where there is neither."""
    if unknown is None:
        return "error" if alphabet is None else alphabet.unknown
    check_unknown(unknown)
    return unknown


class Alphabet:
    """An ordered set of symbols.

    Parameters
    ----------
    symbols : iterable of hashable
        Distinct symbols; their order is their coding. A ``str`` means its characters.
    unk : hashable, optional
        The member that stands for every symbol outside the alphabet under ``unknown="unk"``.
    unknown : {"error", "ignore", "unk"}, optional
        What to do with symbols outside the alphabet where nothing else is said: refuse them, leave
        them out, or read them as ``unk``, the default where there is one. Saved with models;
        alphabets that differ in nothing else are equal.

    Examples
    --------
    >>> letters = Alphabet("abc")
    >>> letters.encode("cab")
    array([2, 0, 1], dtype=int32)
    >>> letters.decode([2, 0, 1])
    ['c', 'a', 'b']
    """

    __slots__ = ("_byte_table", "_codes", "_table", "symbols", "unk", "unknown")

    def __init__(
        self,
        symbols: Iterable[Symbol],
        *,
        unk: Symbol | None = None,
        unknown: Unknown | None = None,
    ) -> None:
        self.symbols: tuple[Symbol, ...] = tuple(symbols)
        try:
            self._codes: dict[Symbol, int] = {s: i for i, s in enumerate(self.symbols)}
        except TypeError as error:
            raise _unhashable(error) from None
        if len(self._codes) != len(self.symbols):
            seen: set[Symbol] = set()
            twice = next(s for s in self.symbols if s in seen or seen.add(s))  # type: ignore[func-returns-value]
            raise InvalidParameter(f"symbols must be distinct; got {twice!r} twice. Remove one.")
        if unk is not None and unk not in self._codes:
            raise InvalidParameter(
                f"unk must be one of the symbols; got {unk!r}. Add it, or call with_unk()."
            )
        self.unk = unk
        self.unknown: Unknown = ("error" if unk is None else "unk") if unknown is None else unknown
        check_unknown(self.unknown)
        self._table: SymbolArray | None = None
        self._byte_table: bytes | None = None

    def shown(self, most: int = 20) -> str:
        """Write the first symbols for people to read."""
        names = [str(symbol) for symbol in self.symbols[:most]]
        text = " ".join(name if len(name) <= 40 else name[:39] + "…" for name in names)
        return text if len(self.symbols) <= most else f"{text} … ({len(self.symbols):,})"

    @classmethod
    def from_symbols(cls, symbols: Iterable[Symbol]) -> Alphabet:
        """Collect the distinct symbols of a stream, sorted where they can be compared."""
        try:
            distinct = list(dict.fromkeys(symbols))
        except TypeError as error:
            raise _unhashable(error) from None
        try:
            distinct.sort()  # type: ignore[call-arg]
        except TypeError:
            pass  # symbols of several types keep the order of their first appearance
        return cls(distinct)

    def __len__(self) -> int:
        return len(self.symbols)

    def __iter__(self) -> Iterator[Symbol]:
        return iter(self.symbols)

    def __contains__(self, symbol: object) -> bool:
        return isinstance(symbol, Hashable) and symbol in self._codes

    def __getitem__(self, code: int) -> Symbol:
        return self.symbols[code]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Alphabet):
            return NotImplemented
        return self.symbols == other.symbols and self.unk == other.unk

    def __hash__(self) -> int:
        return hash((self.symbols, self.unk))

    def __repr__(self) -> str:
        shown = ", ".join(repr(s) for s in self.symbols[:8])
        more = f", … {len(self) - 8} more" if len(self) > 8 else ""
        return f"Alphabet([{shown}{more}])"

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (self.symbols, self.unk, self.unknown))

    def index(self, symbol: Symbol) -> int:
        """Return the code of a symbol."""
        try:
            return self._codes[symbol]
        except (KeyError, TypeError):
            raise self._unknown(symbol) from None

    def with_unk(self, unk: Symbol = UNKNOWN_SYMBOL) -> Alphabet:
        """Return this alphabet with a symbol for the unknown (added at the end if new)."""
        symbols = self.symbols if unk in self._codes else (*self.symbols, unk)
        return Alphabet(symbols, unk=unk)

    def with_policy(self, unknown: Unknown) -> Alphabet:
        """Return this alphabet with another policy for symbols that it does not have."""
        if unknown == self.unknown:
            return self
        check_unknown(unknown)
        other = Alphabet.__new__(Alphabet)
        for name in self.__slots__:
            setattr(other, name, getattr(self, name))
        other.unknown = unknown
        return other

    def decode(self, codes: Iterable[int]) -> list[Symbol]:
        """Turn codes back into symbols."""
        values = codes.tolist() if isinstance(codes, np.ndarray) else codes
        return list(map(self.symbols.__getitem__, values))

    def encode(self, sequence: Iterable[Symbol], *, unknown: Unknown | None = None) -> SymbolArray:
        """Turn one sequence into codes; unknown symbols follow the policy ``unknown``."""
        codes = self.raw_codes(sequence, unknown=unknown)
        return codes[codes != _MISSING] if policy_of(unknown, self) == "ignore" else codes

    def raw_codes(
        self, symbols: Iterable[Symbol], *, unknown: Unknown | None = None, count: int = -1
    ) -> SymbolArray:
        """Encode like :meth:`encode`, but leave -1 for each ignored symbol, so positions stay."""
        unknown = policy_of(unknown, self)
        missing = self._missing_code(unknown)
        if isinstance(symbols, str):
            return self._encode_text(symbols, unknown, missing)
        if isinstance(symbols, np.ndarray):
            symbols = symbols.tolist()
        if isinstance(symbols, Sequence):
            count = len(symbols)
        try:
            if unknown == "error":
                found: Iterator[int] = map(self._codes.__getitem__, symbols)
            else:
                found = map(self._codes.get, symbols, repeat(missing))  # type: ignore[arg-type]
            return np.fromiter(found, dtype=np.int32, count=count)
        except KeyError as error:
            raise self._unknown(error.args[0]) from None
        except TypeError as error:
            raise _unhashable(error) from None

    def _missing_code(self, unknown: Unknown) -> int:
        if unknown != "unk":
            return _MISSING
        if self.unk is None:
            raise InvalidParameter(
                'unknown="unk" needs an alphabet with a symbol for the unknown; this one has none. '
                'Use alphabet.with_unk(), or unknown="ignore".'
            )
        return self._codes[self.unk]

    def _encode_text(self, text: str, unknown: Unknown, missing: int) -> SymbolArray:
        """Encode characters through a table indexed by code point."""
        if text.isascii() and len(self) < _ABSENT_BYTE:
            return self._encode_ascii(text, unknown, missing)
        if self._table is None:
            points = [(ord(s), i) for s, i in self._codes.items() if type(s) is str and len(s) == 1]
            self._table = np.full(max((p for p, _ in points), default=0) + 2, _MISSING, np.int32)
            for point, code in points:
                self._table[point] = code
        points_of_text = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        # The table's last entry is always "missing": larger code points are sent there.
        codes: SymbolArray = self._table[np.minimum(points_of_text, len(self._table) - 1)]
        if unknown != "ignore":
            absent = codes == _MISSING
            if absent.any():
                if unknown == "error":
                    raise self._unknown(text[int(np.argmax(absent))], of_text=True)
                codes[absent] = missing
        return codes

    def _encode_ascii(self, text: str, unknown: Unknown, missing: int) -> SymbolArray:
        """Encode characters of one byte each by a table of bytes."""
        if self._byte_table is None:
            table = bytearray([_ABSENT_BYTE]) * 256
            for symbol, code in self._codes.items():
                if type(symbol) is str and len(symbol) == 1 and symbol.isascii():
                    table[ord(symbol)] = code
            self._byte_table = bytes(table)
        coded = text.encode("ascii").translate(self._byte_table)
        codes: SymbolArray = np.frombuffer(coded, dtype=np.uint8).astype(np.int32)
        absent = coded.find(_ABSENT_BYTE)
        if absent >= 0:
            if unknown == "error":
                raise self._unknown(text[absent], of_text=True)
            codes[codes == _ABSENT_BYTE] = missing
        return codes

    def _unknown(self, symbol: object, *, of_text: bool = False) -> UnknownSymbol:
        if of_text and any(isinstance(known, str) and len(known) > 1 for known in self.symbols):
            return UnknownSymbol(
                f"symbol {symbol!r} is not in the alphabet of {len(self)} symbols: strings are "
                "read character by character. Cut them into symbols, as by text.split()."
            )
        twin = self._twin(symbol)
        if twin is not None:
            return UnknownSymbol(
                f"symbol {symbol!r} ({type(symbol).__name__}) is not in the alphabet, but {twin!r} "
                f"({type(twin).__name__}) is. Turn the symbols into {type(twin).__name__}."
            )
        return UnknownSymbol(
            f"symbol {symbol!r} is not in the alphabet of {len(self)} symbols. "
            f"{self._neighbour(symbol)}Use "
            'unknown="ignore" to drop such symbols or unknown="unk" to map them to one symbol.'
        )

    def _neighbour(self, symbol: object) -> str:
        """Ask about a symbol that is spelled nearly alike."""
        if not isinstance(symbol, str) or not 2 < len(symbol) < 100 or len(self) > _FEW_TO_COMPARE:
            return ""
        names = [known for known in self.symbols if isinstance(known, str)]
        found = get_close_matches(symbol, names, 1, 0.7)
        return f"Did you mean {found[0]!r}? " if found else ""

    def _twin(self, symbol: object) -> Symbol | None:
        """Return the symbol that is written alike and was probably meant: '5' for 5."""
        if isinstance(symbol, (int, float)):
            alike: list[Symbol] = [str(symbol)]
        elif isinstance(symbol, str) and symbol.isascii() and symbol.isdigit() and len(symbol) < 19:
            alike = [int(symbol)]
        elif isinstance(symbol, bytes):
            alike = [symbol.decode("utf-8", "replace")]
        else:
            return None
        return next((twin for twin in alike if twin in self._codes), None)


def _unhashable(error: TypeError) -> InvalidData:
    return InvalidData(f"symbols must be hashable: {error}. Use tuples, not lists.")


def _rebuild(
    symbols: tuple[Symbol, ...], unk: Symbol | None, unknown: Unknown | None = None
) -> Alphabet:
    return Alphabet(symbols, unk=unk, unknown=unknown)


def counting_codes() -> defaultdict[Symbol, int]:
    """Give a dictionary of codes in which a new symbol gets the next number."""
    codes: defaultdict[Symbol, int] = defaultdict()
    codes.default_factory = codes.__len__
    return codes


def collect_codes(
    symbols: Iterable[Symbol], count: int, *, unk: bool
) -> tuple[SymbolArray, Alphabet]:
    """Encode a run of symbols and collect their sorted alphabet in one pass over them."""
    found = counting_codes()
    try:
        codes = np.fromiter(map(found.__getitem__, symbols), dtype=np.int32, count=count)
    except TypeError as error:
        raise _unhashable(error) from None
    alphabet = Alphabet.from_symbols(found)
    if unk:
        alphabet = alphabet.with_unk()
    return alphabet.raw_codes(tuple(found))[codes], alphabet


def plain(sequence: Iterable[Symbol]) -> Iterable[Symbol]:
    """Give Python values for NumPy arrays, so that symbols print as users wrote them."""
    if isinstance(sequence, np.ndarray):
        values: list[Symbol] = sequence.tolist()
        return values
    return sequence
