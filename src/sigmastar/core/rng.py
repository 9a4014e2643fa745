"""Randomness: the seed enters once, generators are passed down."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from sigmastar.core.errors import InvalidParameter

__all__ = ["RandomState", "as_generator"]

RandomState: TypeAlias = (
    int | np.integer | np.random.Generator | np.random.RandomState | np.random.SeedSequence | None
)


def as_generator(random_state: RandomState) -> np.random.Generator:
    """Turn what scikit-learn calls ``random_state`` into a NumPy generator."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**32, size=4, dtype=np.uint64))
    if random_state is None or isinstance(random_state, np.random.SeedSequence):
        return np.random.default_rng(random_state)
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        if random_state < 0:
            raise InvalidParameter(
                f"random_state must be a non-negative integer; got {random_state}. "
                "Use any integer from 0 up."
            )
        return np.random.default_rng(int(random_state))
    raise InvalidParameter(
        "random_state must be None, an integer, a NumPy Generator, RandomState or SeedSequence; "
        f"got {random_state!r}."
    )
