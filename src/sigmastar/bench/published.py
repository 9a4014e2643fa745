"""Published figures on PAutomaC and the Penn Treebank tags.

Perplexities and word error rates (%) of Balle, Hamilton, Pineau (ICML 2014), Tables 2 to 4, and
perplexities of Glaude, Enderli, Pietquin (ASRU 2015), Table 1. Where the paper prints a power of
ten, so does this table.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["PAPER_METHODS", "PAPER_PROBLEMS", "PERPLEXITY", "TAGS_WER", "WER"]

# The methods of moments whose figures the papers print, as the registry names them.
PAPER_METHODS = ("spectral", "spectral-string", "convex", "tensor", "separable")
PAPER_PROBLEMS = (1, 14, 33, 45, 29, 39, 43, 46, 6, 7, 27, 42)


def _by_problem(*values: float) -> dict[int, float]:
    return dict(zip(PAPER_PROBLEMS, values, strict=True))


# Method of the registry -> problem -> figure.
PERPLEXITY: Mapping[str, Mapping[int, float]] = {
    "spectral-string": _by_problem(
        1e9, 306.30, 51.14, 1e6, 1e5, 8170.69, 1e6, 44.12, 1e9, 999.83, 1e6, 1e5
    ),
    "spectral": _by_problem(
        441.07, 133.71, 49.22, 31.87, 39.32, 42.8, 115.62, 34.51, 95.12, 70.24, 238.48, 59.43
    ),
    "bw-sep": _by_problem(
        38.68, 116.92, 32.11, 25.92, 24.71, 14.30, 36.08, 12.07, 67.09, 51.30, 59.39, 20.47
    ),
    "convex": _by_problem(
        44.77, 128.53, 57.05, 36.6, 34.57, 11.24, 36.61, 25.28, 104.68, 62.74, 102.85, 23.91
    ),
    "tensor": _by_problem(
        66.8, 253.44, 60.04, 40.47, 1e14, 22.42, 36.90, 32.1, 691.28, 664.53, 212.22, 39.00
    ),
    "em": _by_problem(
        500.1, 116.84, 32.14, 107.75, 25.09, 10.43, 461.23, 12.02, 67.32, 51.27, 94.90, 168.52
    ),
    "separable": _by_problem(
        68.91, 125.09, 38.44, 28.73, 275.21, 18.96, 34.93, 105.62, 83.71, 66.51, 74.48, 18.13
    ),
}
WER: Mapping[str, Mapping[int, float]] = {
    "spectral-string": _by_problem(
        80.3, 70.0, 78.7, 80.2, 65.7, 66.2, 83.4, 90.7, 62.0, 95.7, 83.1, 67.8
    ),
    "spectral": _by_problem(71.3, 70.2, 76.7, 80.1, 47.3, 62.0, 78.0, 79.3, 50.2, 50.6, 75.5, 61.4),
    "convex": _by_problem(89.8, 85.2, 95.3, 90.1, 67.1, 83.4, 89.2, 95.7, 78.1, 66.0, 91.3, 73.9),
    "tensor": _by_problem(86.4, 89.4, 83.6, 87.9, 88.7, 93.2, 89.3, 95.5, 59.7, 81.4, 92.1, 92.5),
    "em": _by_problem(75.7, 68.6, 74.3, 78.1, 49.2, 63.3, 77.4, 77.5, 47.4, 48.1, 83.0, 58.1),
}
# Table 4: method -> word error rate (%) on the 11 coarse tags.
TAGS_WER: Mapping[str, float] = {
    "spectral-string": 66.6,
    "spectral": 60.43,
    "convex": 84.7,
    "tensor": 85.3,
    "em": 59.8,
}
