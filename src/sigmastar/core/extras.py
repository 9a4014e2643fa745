"""Optional dependencies: imported where they are used, or asked for by name."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sigmastar.core.errors import MissingExtra

__all__ = ["require"]


def require(module: str, extra: str, purpose: str) -> Any:
    """Import a module of an extra, or raise :class:`MissingExtra`, which says how to get it.

    Parameters
    ----------
    module : str
        What to import, such as ``matplotlib.figure``.
    extra : str
        The extra of sigmastar that installs it.
    purpose : str
        What it is needed for, to begin a sentence with.
    """
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtra(module.partition(".")[0], extra, purpose) from None
