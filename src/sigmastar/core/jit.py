"""The one way a kernel is compiled: when it is first needed, without the interpreter lock.

Compiling takes seconds and the compiler itself a third of one to import, so a :class:`Kernel` puts
both off until it is called; :mod:`sigmastar.core.compiled` does the rest. A caller who knows that
there is only a little to do asks ``kernel.sized(steps)``, and the kernel runs as it is written.

With ``NUMBA_DISABLE_JIT=1`` all kernels run as they are written, to be stepped through and to have
their lines counted. With ``SIGMASTAR_CHECKED_KERNELS=1`` every index is checked, which costs speed
and shows any array that a kernel would leave.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, update_wrapper
from types import FunctionType
from typing import Any, Generic, ParamSpec, TypeVar, cast

import numpy as np

from sigmastar.core.threads import ForkLock

__all__ = ["CHECKED", "Kernel", "kernel", "without_patience"]

P = ParamSpec("P")
R = TypeVar("R")


def _is_set(variable: str) -> bool:
    return os.environ.get(variable, "0") not in ("", "0")


CHECKED = _is_set("SIGMASTAR_CHECKED_KERNELS")
# Steps that each kernel does as plain Python at most, before it is worth being compiled or loaded:
# a tenth of a second or so, where compiling takes half a second to two.
PATIENCE = 300_000


class Kernel(Generic[P, R]):
    """A function over arrays that is compiled when it is first called.

    Compiled kernels may call it too.
    """

    def __init__(self, function: Callable[P, R]) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self._compiled: Callable[P, R] | None = None
        self._lock = ForkLock()
        self._done = 0  # steps that ran as plain Python

    def __call__(self, *arguments: P.args, **keywords: P.kwargs) -> R:
        """Run it compiled."""
        return (self._compiled or self.compiled)(*arguments, **keywords)

    def sized(self, steps: int) -> Callable[P, R]:
        """Return what to call for about so many steps: plain Python for a few, else this kernel.

        Both give the same bits, so this is for kernels that neither call BLAS nor functions of
        NumPy whose last digit differs from the C library's (``np.exp``; ``math.exp`` is fine).
        """
        if self._compiled is not None or CHECKED or self._done + steps > PATIENCE:
            return self
        self._done += steps
        return self.plain

    @cached_property
    def plain(self) -> Callable[P, R]:
        """The function as it is written, and the kernels that it calls as well."""
        return _quiet(self._twin)

    @cached_property
    def _twin(self) -> Callable[P, R]:
        function = cast(FunctionType, self.py_func)
        names = {
            name: value._twin
            for name in function.__code__.co_names
            if isinstance(value := function.__globals__.get(name), Kernel)
        }
        scope = {**function.__globals__, **names}
        twin = FunctionType(
            function.__code__, scope, None, function.__defaults__, function.__closure__
        )
        return cast("Callable[P, R]", twin)

    @property
    def compiled(self) -> Callable[P, R]:
        """Numba's dispatcher, or the plain function where nothing is to be compiled."""
        with self._lock:
            if self._compiled is None:
                if _is_set("NUMBA_DISABLE_JIT"):
                    self._compiled = _quiet(self.py_func)
                else:
                    from sigmastar.core.compiled import dispatcher

                    self._compiled = dispatcher(self.py_func)
            return self._compiled

    @property
    def _numba_type_(self) -> Any:
        """What Numba takes this for, where a kernel calls it."""
        return self.compiled._numba_type_  # type: ignore[attr-defined]

    def __reduce__(self) -> str:
        return self.py_func.__qualname__  # kernels are names of modules: found there


@contextmanager
def without_patience() -> Iterator[None]:
    """Compile what is called within the block, on any thread, however little it has to do."""
    global PATIENCE
    before, PATIENCE = PATIENCE, -1
    try:
        yield
    finally:
        PATIENCE = before


def _quiet(function: Callable[P, R]) -> Callable[P, R]:
    """Let integers wrap around and floats overflow in silence, as compiled ones do."""
    return np.errstate(all="ignore")(function)


def kernel(function: Callable[P, R]) -> Kernel[P, R]:
    """Make a kernel; it runs on one thread, and :mod:`sigmastar.core.threads` runs several."""
    return Kernel(function)
