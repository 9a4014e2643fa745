"""The algebra of automata: the public path of ``sigmastar.automata.algebra``, and reduction."""

from sigmastar.automata.algebra import *  # noqa: F403
from sigmastar.automata.algebra import __all__ as _operations
from sigmastar.automata.learn.reduction import reduce as reduce

__all__ = [*_operations, "reduce"]
