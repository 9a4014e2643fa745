"""What models remember of words that they are asked about: bounded for a whole process.

A tagger that guesses a word remembers it, which makes the next text with that word several times
as fast. Each memory is small, but a service of a hundred models must not hold a hundred of them.
So all of them share one budget, and when it is spent, the greatest memories are given up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, Protocol, TypeVar, cast
from weakref import WeakKeyDictionary

from sigmastar.core.threads import ForkLock

__all__ = ["MOST_BYTES", "Budget", "Forgetful", "Lately", "bytes_of_word", "remembered"]

MOST_BYTES = 64 << 20
# Entries. Of Wikipedia's words 7 % are not among these; in a memory without end 5 % would not be.
_GENERATION = 1 << 14
_LARGEST = 1 << 10  # bytes of an entry: what is larger is found out each time
_ENTRY = 160  # bytes of an entry of a dictionary, with what it leads to; measured


K = TypeVar("K")
V = TypeVar("V")


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
        """Note that somebody remembers more, or less; if all is too much, the greatest forget."""
        with self._lock:
            before = self._held.get(owner, 0)
            self._held[owner] = max(before + n_bytes, 0)
            self._total += self._held[owner] - before
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


class Lately(Generic[K, V]):
    """What was found out of those that were asked about lately.

    There are two generations. What is asked about is in the young one, or comes there; when that is
    full it becomes the old one, whose place it takes. So frequent words stay, memory does not grow,
    and no time comes when everything must be found out again.

    Parameters
    ----------
    n_bytes : callable
        About how much memory an entry takes, given what is asked and what is found out.
    """

    def __init__(self, n_bytes: Callable[[K, V], int]) -> None:
        self._n_bytes = n_bytes
        self.forget()

    def __len__(self) -> int:
        return len(self._young.keys() | self._old.keys())

    def __iter__(self) -> Iterator[K]:
        return iter(self._young.keys() | self._old.keys())

    def forget(self) -> None:
        """Give up all of it."""
        self._young: dict[K, V] = {}
        self._old: dict[K, V] = {}
        self._held = [0, 0]  # bytes of both

    def find(self, keys: Sequence[K], make: Callable[[K], V]) -> list[V]:
        """Return what is known of each key; what is not is made and remembered."""
        found = list(map(self._young.get, keys))
        for place in [place for place, value in enumerate(found) if value is None]:
            found[place] = self.one(keys[place], make)
        return cast("list[V]", found)

    def one(self, key: K, make: Callable[[K], V]) -> V:
        """Return what is known of one key."""
        value = self._young.get(key)
        if value is None:
            value = self._old.get(key)
            if value is None:
                value = make(key)
            self._keep(key, value)
        return value

    def _keep(self, key: K, value: V) -> None:
        n_bytes = self._n_bytes(key, value)
        if n_bytes > _LARGEST:
            return
        if len(self._young) >= _GENERATION:
            gone, young = self._held
            self._young, self._old, self._held = {}, self._young, [young, 0]
            remembered.grow(self, -gone)
        self._young[key] = value
        self._held[1] += n_bytes
        remembered.grow(self, n_bytes)
