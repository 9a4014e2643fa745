"""The one way a kernel is compiled: cached on disk, without the interpreter lock.

No ``fastmath``: infinities and NaN carry meaning in our scores. With ``NUMBA_DISABLE_JIT=1``
kernels run as they are written, to be stepped through and to have their lines counted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np

__all__ = ["kernel", "parallel_kernel"]

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a sequential kernel."""
    return _compiled(function)


def parallel_kernel(function: F) -> F:
    """Compile a kernel whose ``numba.prange`` loops run on several threads.

    Such a kernel must not write through the fields of a record itself: the analysis for parallel
    loops does not see that the field is an array of somebody else's, and drops the assignment.
    Leave the body of the loop to a sequential kernel, which also is the quicker to compile.
    """
    return _compiled(function, parallel=True)


def _compiled(function: F, **options: bool) -> F:
    if numba.config.DISABLE_JIT:
        # Compiled integers wrap around and compiled floats overflow in silence; hashes rely on it.
        return np.errstate(all="ignore")(function)
    compiler = numba.njit(cache=True, nogil=True, error_model="numpy", **options)
    return cast(F, compiler(function))
