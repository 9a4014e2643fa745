"""Pages about models: the public path of ``sigmastar.show.report``."""

from sigmastar.show.report import *  # noqa: F403
from sigmastar.show.report import __all__ as __all__
