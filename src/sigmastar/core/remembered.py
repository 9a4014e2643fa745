"""What models remember of words that they are asked about: bounded for a whole process.

A tagger that guesses a word remembers it, which makes the next text with that word several times
as fast. Each memory is small, but a service of a hundred models must not hold a hundred of them.
So all of them share one budget, and when it is spent, the greatest memories are given up.
"""

from __future__ import annotations

from typing import Protocol
from weakref import WeakKeyDictionary

from sigmastar.core.threads import ForkLock

__all__ = ["MOST_BYTES", "Budget", "Forgetful", "bytes_of_word", "remembered"]
__all__ += ["LONGEST_REMEMBERED", "MOST_REMEMBERED"]

MOST_BYTES = 64 << 20
MOST_REMEMBERED = 1 << 18  # words, of one who remembers
LONGEST_REMEMBERED = 100  # characters of a word
_ENTRY = 160  # bytes of an entry of a dictionary, with what it leads to; measured


class Forgetful(Protocol):
    """Remembers what it could find out again."""

    def forget(self) -> None:
        """Give it up: at any time, from any thread, without waiting for a lock."""
        ...


def bytes_of_word(word: str) -> int:
    """Return about how much memory a remembered word takes."""
    return _ENTRY + len(word) * (1 if word.isascii() else 4)


class Budget:
    """How many bytes all who remember something may take together.

    Parameters
    ----------
    most : int
        Bytes.
    """

    def __init__(self, most: int = MOST_BYTES) -> None:
        self.most = most
        self._lock = ForkLock()
        self._held: WeakKeyDictionary[Forgetful, int] = WeakKeyDictionary()
        self._total = 0  # at least what is held: those who are gone are taken off when it is full

    def grow(self, owner: Forgetful, n_bytes: int) -> None:
        """Note that somebody remembers more; if that is too much, the greatest forget."""
        with self._lock:
            self._held[owner] = self._held.get(owner, 0) + n_bytes
            self._total += n_bytes
            if self._total <= self.most:
                return
            held = dict(self._held)
            self._total = sum(held.values())
            for other in sorted(held, key=lambda one: -held[one]):
                if self._total <= self.most:
                    break
                self._total -= self._held.pop(other)
                other.forget()

    def drop(self, owner: Forgetful) -> None:
        """Note that somebody has forgotten everything."""
        with self._lock:
            self._total -= self._held.pop(owner, 0)

    @property
    def held(self) -> int:
        """How many bytes are remembered now."""
        with self._lock:
            return sum(self._held.values())


remembered = Budget()
