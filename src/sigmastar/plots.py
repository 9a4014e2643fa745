"""Plots of models by matplotlib: the public path of ``sigmastar.show.plots``."""

from sigmastar.show.plots import *  # noqa: F403
from sigmastar.show.plots import __all__ as __all__
