"""The end of a string, as something that can follow a prefix."""

from __future__ import annotations

from enum import Enum
from typing import Final

__all__ = ["END"]


class _End(Enum):
    """The only one of its kind: a copy, by pickle too, is the same."""

    END = "END"

    def __repr__(self) -> str:
        return "END"

    __str__ = __repr__


END: Final = _End.END
