"""The end of a string, as something that can follow a prefix."""

from __future__ import annotations

from typing import Final

__all__ = ["END"]


class _End:
    """The end of a string, as a continuation of a prefix."""

    _instance: _End | None = None

    def __new__(cls) -> _End:
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __repr__(self) -> str:
        return "END"

    def __reduce__(self) -> tuple[type[_End], tuple[()]]:
        return (_End, ())


END: Final = _End()
