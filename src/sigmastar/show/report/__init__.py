"""Pages about models: one HTML file that needs nothing else."""

from sigmastar.show.report.build import build_report, write_report

__all__ = ["build_report", "write_report"]
