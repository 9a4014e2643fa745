"""Keep BLAS to one thread around small matrix products.

With two threads a product of 1000 × 40 by 40 × 40 can take a hundred times longer when the other
core is busy; work is shared out above the products instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import scipy.linalg.cython_blas  # noqa: F401  (loads the library that compiled kernels call)
from threadpoolctl import ThreadpoolController

__all__ = ["one_blas_thread"]


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Run the enclosed work with single-threaded BLAS."""
    with _controller().limit(limits=1, user_api="blas"):
        yield
