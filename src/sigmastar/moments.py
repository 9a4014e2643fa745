"""Moments of a corpus: the public path of ``sigmastar.automata.moments``."""

from sigmastar.automata.moments import *  # noqa: F403
from sigmastar.automata.moments import __all__ as __all__
