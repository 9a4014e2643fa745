"""The exceptions of sigmastar, drawn once.

    SigmastarError
    ├── InvalidParameter   an argument breaks its rule            (also ValueError)
    ├── InvalidModel       weights break the rules of their kind  (also ValueError)
    ├── InvalidData        sequences cannot be used as given      (also ValueError)
    │   ├── UnknownSymbol  a symbol is not in the alphabet
    │   └── ParseError     a text file is malformed: ``file:line: expected …, found …``
    ├── FileFormatError    a model file is truncated, hostile or of another kind (also ValueError)
    ├── TooLarge           more memory or time than allowed (also ValueError)
    ├── DataNotFound       a file, or a public data set, is not there (also OSError)
    ├── WorkersLost        a cluster has stayed without any worker (also RuntimeError)
    └── MissingExtra       an optional dependency is not installed (also ImportError)

A message names the parameter, the rule, the value and the remedy.
"""

from __future__ import annotations

import os

__all__ = [
    "CharactersWarning",
    "DataNotFound",
    "FileFormatError",
    "IgnoredSymbolsWarning",
    "InvalidData",
    "InvalidModel",
    "InvalidParameter",
    "MissingExtra",
    "ParseError",
    "PoorModelWarning",
    "SigmastarError",
    "TooLarge",
    "UnknownSymbol",
    "WorkersLost",
]


class SigmastarError(Exception):
    """Base of every exception that sigmastar raises on purpose."""


class InvalidParameter(SigmastarError, ValueError):
    """An argument breaks its rule."""


class InvalidModel(SigmastarError, ValueError):
    """Weights break the rules of their kind of model."""


class InvalidData(SigmastarError, ValueError):
    """Sequences cannot be used as given."""


class UnknownSymbol(InvalidData):
    """A symbol is not in the alphabet."""


class ParseError(InvalidData):
    """A text file is malformed.

    Parameters
    ----------
    path : str or os.PathLike
        The file as the user named it.
    line : int
        Line number, from 1.
    expected, found : str
        What the format asks for at this place, and what stands there.
    """

    def __init__(self, path: str | os.PathLike[str], line: int, expected: str, found: str) -> None:
        self.path = os.fspath(path)
        self.line = line
        self.expected = expected
        self.found = found
        super().__init__(path, line, expected, found)

    def __str__(self) -> str:
        path = "standard input" if self.path == "-" else self.path
        return f"{path}:{self.line}: expected {self.expected}, found {self.found}"


class FileFormatError(SigmastarError, ValueError):
    """A model file is truncated, hostile or of another kind."""


class TooLarge(SigmastarError, ValueError):
    """Something would need more memory or time than allowed."""


class DataNotFound(SigmastarError, OSError):
    """A file is not there, or a public data set is in none of the places looked at."""


class WorkersLost(SigmastarError, RuntimeError):
    """A cluster has stayed without any worker, or its scheduler is gone."""


class PoorModelWarning(UserWarning):
    """A model was learned that is worse than frequencies of symbols, or expects no symbol."""


class CharactersWarning(UserWarning):
    """Strings that look like words between spaces are learned character by character."""


class IgnoredSymbolsWarning(UserWarning):
    """Sequences were scored without the symbols that the model does not know."""


class MissingExtra(SigmastarError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(package, extra, purpose)

    def __str__(self) -> str:
        package, extra, purpose = self.args
        return (
            f"{purpose} needs the package {package!r}, which is not installed. "
            f"Install it with: pip install 'sigmastar[{extra}]'"
        )
