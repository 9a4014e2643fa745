"""The four stories of ``sigmastar demo``: what is computed; printing and drawing is for others."""

from sigmastar.bench.demo.page import write_demo_report
from sigmastar.bench.demo.run import PARTS, DemoResults, demo_text, run_demo

__all__ = ["PARTS", "DemoResults", "demo_text", "run_demo", "write_demo_report"]
