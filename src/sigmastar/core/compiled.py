"""How a kernel is compiled: little by little less than Numba would, and kept on disk.

Measured on the kernels of this package, a third of the time to compile them went into three things
that nobody needs:

- Wrappers. Numba makes a function callable from Python and from C each time; a kernel that is only
  called by kernels needs neither (and unpacking a record of twenty arrays is no small program).
- Signatures. A literal zero, a 32-bit and a 64-bit integer made three versions of what is called.
- Garbage. The compiler makes a great many objects that live; looking through them finds nothing.

So a kernel has two dispatchers, one for Python and one for other kernels, and only the former's
code is kept on disk: it holds all it calls. What is compiled is kept beside the source, else in the
user's cache, else not at all: a cache that cannot be read or written never stands in the way, and
compiled code is believed only while every file that it was made from is the same.

No ``fastmath``: infinities and NaN carry meaning in our scores.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any, cast

import numba
from numba.core import types
from numba.core.caching import FunctionCache
from numba.core.registry import CPUDispatcher

from sigmastar.core.ahead import await_kernel
from sigmastar.core.compiling import watch_compiling
from sigmastar.core.jit import CHECKED

__all__ = ["dispatcher"]

if CHECKED:
    # Numba's cache does not tell checked code from unchecked: they must not share a directory. It
    # is one of the user's own: compiled code is believed.
    numba.config.CACHE_DIR = os.path.expanduser("~/.cache/sigmastar/checked")

_OPTIONS = {
    "nopython": True,
    "nogil": True,
    "error_model": "numpy",
    "boundscheck": CHECKED,
    "no_cfunc_wrapper": True,
}


def dispatcher(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return what compiles a function for the types that it is called with."""
    if numba.config.DISABLE_JIT:  # by Numba's own file of settings
        return function
    watch_compiling()
    compiled = _FromPython(function)
    try:
        compiled._cache = _ForgivingCache(function)
    except RuntimeError:  # no directory to write to
        pass
    return cast("Callable[..., Any]", compiled)


class _FromPython(CPUDispatcher):  # type: ignore[misc]
    """What Python calls; a kernel that calls it is given code without wrappers."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function, targetoptions=_OPTIONS)
        # Nobody but the compiler ever sees this one: calling it from Python would be fatal.
        self._inner = CPUDispatcher(function, targetoptions=_OPTIONS | {"no_cpython_wrapper": True})

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Compile for a call by a kernel; its types are made as plain as they can be."""
        plain = {name: _plain(argument) for name, argument in kws.items()}
        return self._inner.get_call_template(tuple(map(_plain, args)), plain)

    def get_overload(self, sig: Any) -> Any:
        """Return what a kernel calls."""
        return self._inner.get_overload(sig)


def _plain(argument: Any) -> Any:
    """Return the type that a kernel is compiled for if another one hands it this argument.

    To Numba a constant is a type of its own, and so is a number of 32 bits out of an array: the
    same code would be compiled for each of them.
    """
    argument = types.unliteral(argument)  # type: ignore[attr-defined]
    return types.int64 if argument in types.signed_domain else argument  # type: ignore[attr-defined]


class _ForgivingCache(FunctionCache):  # type: ignore[misc]
    """A cache whose damage costs a compilation, not a result.

    Numba takes compiled code for valid while the file of the kernel itself is unchanged; but what
    the kernel calls, and the records it is given, are compiled into it from other files too.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._function = function
        package = function.__module__.partition(".")[0]
        sources = sorted({__file__, *_sources(function.__module__, package)})
        stamp = hashlib.sha256(b"".join(_digest(file) for file in sources)).digest()
        self._cache_file._source_stamp = (self._cache_file._source_stamp, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return compiled code, or None where there is none, or the file is unreadable."""
        found, began = self._kept(sig, target_context), time.monotonic()
        while found is None and await_kernel(self._function, began):
            found = self._kept(sig, target_context)
        return found

    def _kept(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a damaged pickle raises anything
            self._start_anew()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code if that can be done."""
        try:
            super().save_overload(sig, data)
        except Exception:  # a full disk, a directory that went away, a damaged index
            self._start_anew()

    def _start_anew(self) -> None:
        try:
            self.flush()
        except OSError:
            self.disable()


_SOURCES: dict[str, set[str]] = {}  # by module


def _sources(name: str, package: str) -> set[str]:
    """Return the file of a module, and of all in its package that it has names from."""
    if name in _SOURCES:
        return _SOURCES[name]
    module = sys.modules[name]
    found = _SOURCES[name] = {str(getattr(module, "__file__", ""))}
    for value in list(vars(module).values()):
        origin = value.__name__ if isinstance(value, ModuleType) else _origin(value)
        if origin in sys.modules and origin.partition(".")[0] == package:
            found |= _sources(origin, package)
    return found


def _origin(value: object) -> str:
    module = getattr(value, "__module__", None)
    return module if isinstance(module, str) else ""


@cache
def _digest(file: str) -> bytes:
    try:
        with open(file, "rb") as content:
            return hashlib.sha256(content.read()).digest()
    except OSError:  # code from elsewhere than files
        return b""
