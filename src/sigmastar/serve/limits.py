"""What one request may ask for, and who may ask: refused with a status and one sentence."""

from __future__ import annotations

import hmac
from dataclasses import dataclass

__all__ = ["Limits", "Refused", "is_allowed"]


@dataclass(frozen=True)
class Limits:
    """Bounds on requests.

    Parameters
    ----------
    body : int
        Bytes of a request, or of one line of a stream.
    batch : int
        Inputs of a request.
    length : int
        Symbols, words, characters or frames of an input.
    seconds : float
        How long a request may take.
    workers : int
        How many requests are worked on at a time.
    waiting : int
        How many more may wait; those beyond are told to come again.
    """

    body: int = 8 << 20
    batch: int = 1000
    length: int = 100_000
    seconds: float = 30.0
    workers: int = 2
    waiting: int = 256


class Refused(Exception):
    """A request that is not answered; ``status`` is that of HTTP."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def is_allowed(header: str | None, token: str | None) -> bool:
    """Tell whether an Authorization header carries the token, in a time that tells nothing."""
    if token is None:
        return True
    scheme, _, given = (header or "").partition(" ")
    return scheme.lower() == "bearer" and hmac.compare_digest(
        given.strip().encode("utf-8", "replace"), token.encode()
    )
