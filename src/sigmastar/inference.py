"""What a model says about strings: the public path of ``sigmastar.automata.inference``."""

from sigmastar.automata.inference import *  # noqa: F403
from sigmastar.automata.inference import __all__ as __all__
