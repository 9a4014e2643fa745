"""The one way a kernel is compiled: cached on disk, without the interpreter lock.

No ``fastmath``: infinities and NaN carry meaning in our scores. With ``NUMBA_DISABLE_JIT=1``
kernels run as they are written, to be stepped through and to have their lines counted. With
``SIGMASTAR_CHECKED_KERNELS=1`` every index is checked, which costs speed and shows any array that
a kernel would leave. What is compiled is kept beside the source, else in the user's cache, else
not at all: a cache that cannot be read or written never stands in the way, and compiled code is
believed only while every file that it was made from is the same.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import types
from numba.core.caching import FunctionCache

from sigmastar.core.compiling import watch_compiling

__all__ = ["CHECKED", "kernel"]

F = TypeVar("F", bound=Callable[..., Any])

CHECKED = os.environ.get("SIGMASTAR_CHECKED_KERNELS", "0") not in ("", "0")
if CHECKED:
    # Numba's cache does not tell checked code from unchecked: they must not share a directory. It
    # is one of the user's own: compiled code is believed.
    numba.config.CACHE_DIR = os.path.expanduser("~/.cache/sigmastar/checked")


class _ForgivingCache(FunctionCache):  # type: ignore[misc]
    """A cache whose damage costs a compilation, not a result.

    Numba takes compiled code for valid while the file of the kernel itself is unchanged; but what
    the kernel calls, and the records it is given, are compiled into it from other files too.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        package = function.__module__.partition(".")[0]
        sources = sorted(_sources(function.__module__, package))
        stamp = hashlib.sha256(b"".join(_digest(file) for file in sources)).digest()
        self._cache_file._source_stamp = (self._cache_file._source_stamp, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return compiled code, or None where the file is unreadable."""
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


def _plain(argument: Any) -> Any:
    """Return the type that a kernel is compiled for if another one hands it this argument.

    To Numba a constant is a type of its own, and so is a number of 32 bits out of an array: the
    same code would be compiled for each of them.
    """
    argument = types.unliteral(argument)  # type: ignore[attr-defined]
    return types.int64 if argument is types.int32 else argument


def kernel(function: F) -> F:
    """Compile a kernel; it runs on one thread, and :mod:`sigmastar.core.threads` runs several."""
    if numba.config.DISABLE_JIT:
        # Compiled integers wrap around and compiled floats overflow in silence; hashes rely on it.
        return np.errstate(all="ignore")(function)
    watch_compiling()
    compiled = numba.njit(nogil=True, error_model="numpy", boundscheck=CHECKED)(function)
    call_template = compiled.get_call_template
    compiled.get_call_template = lambda args, kws: call_template(
        [_plain(arg) for arg in args], {name: _plain(arg) for name, arg in kws.items()}
    )
    try:
        compiled._cache = _ForgivingCache(function)
    except RuntimeError:  # no directory to write to
        pass
    return cast(F, compiled)
