"""The one way a kernel is compiled: cached on disk, without the interpreter lock.

No ``fastmath``: infinities and NaN carry meaning in our scores.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

__all__ = ["kernel", "parallel_kernel"]

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a sequential kernel."""
    return cast(F, numba.njit(cache=True, nogil=True, error_model="numpy")(function))


def parallel_kernel(function: F) -> F:
    """Compile a kernel whose ``numba.prange`` loops run on several threads."""
    return cast(F, numba.njit(cache=True, nogil=True, parallel=True, error_model="numpy")(function))
