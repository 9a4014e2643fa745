"""What the figures of all benches are drawn with."""

from __future__ import annotations

from typing import Any

from sigmastar.core.extras import require

__all__ = ["require_matplotlib"]


def require_matplotlib() -> Any:
    """Return matplotlib's figure class, or say how to install it.

    Not pyplot, whose choice of a backend would reach into the caller's session.
    """
    return require("matplotlib.figure", "plot", "drawing figures").Figure
