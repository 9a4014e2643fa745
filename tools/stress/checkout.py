"""Imported first: this checkout is what is tried, and the models of the fuzzer are at hand."""

import sys
import warnings
from pathlib import Path

TOOLS = Path(__file__).parents[1]
sys.path[:0] = [str(TOOLS / "fuzz"), str(TOOLS.parent / "src")]
warnings.simplefilter("ignore")  # small data: learners have things to say
