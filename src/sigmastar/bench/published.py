"""Published figures on PAutomaC and the Penn Treebank tags.

Perplexities and word error rates (%) of Balle, Hamilton, Pineau (ICML 2014), Tables 2 to 4, and
perplexities of Glaude, Enderli, Pietquin (ASRU 2015), Table 1. Where the paper prints a power of
ten, so does this table. What stands in parentheses behind a figure, the number of states or for the
convex method the weight τ, is in the tables of sizes. Figures of the true machines are in
``pautomac_truth``.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = [
    "BAUM_WELCH_2015",
    "BEST_MOMENTS",
    "MOMENT_METHODS",
    "PAPER_METHODS",
    "PAPER_NAMES",
    "PAPER_PROBLEMS",
    "PERPLEXITY",
    "PERPLEXITY_SIZE",
    "PROBLEM_KINDS",
    "SYMBOLS_SUFFICE",
    "TAGS_METHODS",
    "TAGS_PERPLEXITY",
    "TAGS_PERPLEXITY_SIZE",
    "TAGS_WER",
    "TAGS_WER_SIZE",
    "TRUE_2015",
    "TRUE_STATES",
    "WER",
    "WER_SIZE",
]

# The columns of the papers' tables: as the registry names a method, and as the papers do.
PAPER_NAMES: Mapping[str, str] = {
    "spectral-string": "Spec-Str",
    "spectral": "Spec-Sub",
    "convex": "CO",
    "tensor": "Tensor",
    "em": "EM",
    "em-tensor": "EM-Tensor",
    "separable": "Sep",
    "bw-sep": "BW-Sep",
}
PAPER_METHODS = tuple(PAPER_NAMES)
TAGS_METHODS = PAPER_METHODS[:6]  # those of the first paper
MOMENT_METHODS = PAPER_METHODS[:4]  # of which the second paper shows the best, as MoM
PAPER_PROBLEMS = (1, 14, 33, 45, 29, 39, 43, 46, 6, 7, 27, 42)
PROBLEM_KINDS: Mapping[int, str] = dict(
    zip(PAPER_PROBLEMS, ["HMM"] * 4 + ["PA"] * 4 + ["DPA"] * 4, strict=True)
)
# The problems with at least as many symbols as states.
SYMBOLS_SUFFICE = frozenset((33, 45, 39, 46, 7, 42))


def _by_problem(*values: float) -> dict[int, float]:
    return dict(zip(PAPER_PROBLEMS, values, strict=True))


TRUE_STATES: Mapping[int, float] = _by_problem(63, 15, 13, 14, 36, 6, 67, 19, 19, 12, 19, 6)

# Method of the registry -> problem -> figure.
PERPLEXITY: Mapping[str, Mapping[int, float]] = {
    "spectral-string": _by_problem(
        1e9, 306.30, 51.14, 1e6, 1e5, 8170.69, 1e6, 44.12, 1e9, 999.83, 1e6, 1e5
    ),
    "spectral": _by_problem(
        441.07, 133.71, 49.22, 31.87, 39.32, 42.8, 115.62, 34.51, 95.12, 70.24, 238.48, 59.43
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
    "em-tensor": _by_problem(
        126.14, 133.09, 32.21, 62.24, 80.55, 11.34, 56.94, 14.26, 247.07, 1e16, 71.63, 292.90
    ),
    "separable": _by_problem(
        68.91, 125.09, 38.44, 28.73, 275.21, 18.96, 34.93, 105.62, 83.71, 66.51, 74.48, 18.13
    ),
    "bw-sep": _by_problem(
        38.68, 116.92, 32.11, 25.92, 24.71, 14.30, 36.08, 12.07, 67.09, 51.30, 59.39, 20.47
    ),
}
PERPLEXITY_SIZE: Mapping[str, Mapping[int, float]] = {
    "spectral-string": _by_problem(40, 1, 3, 70, 41, 8, 2, 2, 56, 4, 21, 12),
    "spectral": _by_problem(8, 30, 4, 19, 49, 30, 4, 26, 40, 48, 19, 31),
    "convex": _by_problem(1e-5, 1e-3, 1e-5, 1e-5, 1e-4, 1e-2, 1e-2, 1e-5, 1e-5, 1e-5, 1e-5, 1e-2),
    "tensor": _by_problem(3, 3, 3, 7, 3, 5, 3, 4, 3, 5, 4, 5),
    "em": _by_problem(30, 20, 10, 40, 40, 5, 40, 40, 40, 40, 40, 40),
    "em-tensor": _by_problem(3, 3, 3, 7, 3, 5, 3, 4, 3, 5, 4, 5),
    "bw-sep": _by_problem(5, 15, 20, 5, 30, 5, 5, 30, 40, 15, 20, 35),
}
WER: Mapping[str, Mapping[int, float]] = {
    "spectral-string": _by_problem(
        80.3, 70.0, 78.7, 80.2, 65.7, 66.2, 83.4, 90.7, 62.0, 95.7, 83.1, 67.8
    ),
    "spectral": _by_problem(71.3, 70.2, 76.7, 80.1, 47.3, 62.0, 78.0, 79.3, 50.2, 50.6, 75.5, 61.4),
    "convex": _by_problem(89.8, 85.2, 95.3, 90.1, 67.1, 83.4, 89.2, 95.7, 78.1, 66.0, 91.3, 73.9),
    "tensor": _by_problem(86.4, 89.4, 83.6, 87.9, 88.7, 93.2, 89.3, 95.5, 59.7, 81.4, 92.1, 92.5),
    "em": _by_problem(75.7, 68.6, 74.3, 78.1, 49.2, 63.3, 77.4, 77.5, 47.4, 48.1, 83.0, 58.1),
    "em-tensor": _by_problem(
        78.2, 75.5, 76.7, 70.1, 74.1, 71.3, 78.1, 80.4, 59.7, 87.2, 83.8, 75.7
    ),
}
WER_SIZE: Mapping[str, Mapping[int, float]] = {
    "spectral-string": _by_problem(72, 6, 3, 2, 70, 32, 10, 20, 20, 10, 50, 40),
    "spectral": _by_problem(31, 10, 3, 10, 41, 30, 12, 20, 68, 20, 22, 16),
    "convex": _by_problem(1e-5, 1e-5, 1e-3, 1e-5, 1e-3, 1e-5, 1e-5, 1e-5, 1e-5, 1e-3, 1e-4, 1e-4),
    "tensor": _by_problem(3, 3, 3, 3, 3, 4, 3, 4, 5, 4, 7, 5),
    "em": _by_problem(10, 20, 20, 10, 40, 30, 40, 40, 40, 40, 10, 40),
    "em-tensor": _by_problem(3, 3, 3, 3, 3, 4, 3, 4, 5, 4, 7, 5),
}

# Table 1 of the second paper: the best of the methods of moments of the first, Baum–Welch as taken
# over from there (it prints 94.40 for problem 27, the first paper 94.90), and the true machines.
BEST_MOMENTS: Mapping[int, float] = _by_problem(
    44.77, 128.53, 49.22, 31.87, 34.57, 11.24, 36.61, 25.28, 95.12, 62.74, 102.85, 23.91
)
BAUM_WELCH_2015: Mapping[int, float] = {**PERPLEXITY["em"], 1: 500.10, 27: 94.40}
TRUE_2015: Mapping[int, float] = _by_problem(
    29.90, 116.79, 31.87, 24.04, 24.03, 10.00, 32.64, 11.98, 66.98, 51.22, 42.43, 16.00
)

# Table 4: method -> word error rate (%) and perplexity on the 11 coarse tags.
TAGS_WER: Mapping[str, float] = {
    "spectral-string": 66.6,
    "spectral": 60.43,
    "convex": 84.7,
    "tensor": 85.3,
    "em": 59.8,
    "em-tensor": 62.6,
}
TAGS_WER_SIZE: Mapping[str, float] = {
    "spectral-string": 38,
    "spectral": 46,
    "convex": 1e-5,
    "tensor": 3,
    "em": 20,
    "em-tensor": 3,
}
TAGS_PERPLEXITY: Mapping[str, float] = {
    "spectral-string": 4.03e15,
    "spectral": 1.00e14,
    "convex": 4.15e9,
    "tensor": 4.99e14,
    "em": 1.33e13,
    "em-tensor": 2.43e13,
}
TAGS_PERPLEXITY_SIZE: Mapping[str, float] = {
    "spectral-string": 70,
    "spectral": 9,
    "convex": 1e-3,
    "tensor": 7,
    "em": 2,
    "em-tensor": 7,
}
