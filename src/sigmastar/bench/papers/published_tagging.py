"""The figures of *Finite State Transducers Approximating Hidden Markov Models* (Kempe 1997)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

__all__ = ["FIGURE_2", "LANGUAGES", "MACHINES", "Language", "Machine"]


class Machine(NamedTuple):
    """A row of Table 1: accuracy in per cent, speed, size, seconds to build."""

    accuracy: float
    words_per_second: int
    n_states: int | None = None
    n_arcs: int | None = None
    seconds: float | None = None


class Language(NamedTuple):
    """A column of Table 2: accuracies in per cent by machine, and what was trained and tested."""

    accuracy: Mapping[str, float]
    training_words: int
    test_words: int
    n_tags: int
    n_classes: int


MINUTE, HOUR = 60, 3600
# Table 1: English, 19,944 words for training, 19,934 for testing, 74 tags, 297 classes.
MACHINES: Mapping[str, Machine] = {
    "HMM": Machine(96.77, 4_590),
    "n0": Machine(83.53, 20_582, 1, 297, 16),
    "n1": Machine(94.19, 17_244, 71, 21_087, 17),
    "s+n1 20K F1": Machine(94.74, 13_575, 927, 203_853, 3 * MINUTE),
    "s+n1 50K F1": Machine(94.92, 12_760, 2_675, 564_887, 10 * MINUTE),
    "s+n1 100K F1": Machine(95.05, 12_038, 4_709, 976_785, 23 * MINUTE),
    "s+n1 100K F2": Machine(94.76, 14_178, 476, 107_728, 2 * MINUTE),
    "s+n1 100K F4": Machine(94.60, 14_178, 211, 52_624, 76),
    "s+n1 100K F8": Machine(94.49, 13_870, 154, 41_598, 62),
    "s+n1 1M F2": Machine(95.67, 11_393, 2_049, 418_536, 7 * MINUTE),
    "s+n1 1M F4": Machine(95.36, 11_193, 799, 167_952, 4 * MINUTE),
    "s+n1 1M F8": Machine(95.09, 13_575, 432, 96_712, 3 * MINUTE),
    "s+n1 ≤2": Machine(95.06, 8_180, 9_796, 1_311_962, 39 * MINUTE),
    "s+n1 ≤3": Machine(95.95, 4_870, 92_463, 13_681_113, 47 * HOUR),
}
_TABLE_2 = (
    "HMM",
    "n0",
    "n1",
    "s+n1 20K F1",
    "s+n1 50K F1",
    "s+n1 100K F1",
    "s+n1 100K F2",
    "s+n1 100K F4",
    "s+n1 100K F8",
    "s+n1 ≤2",
)


def _column(*accuracies: float) -> dict[str, float]:
    return dict(zip(_TABLE_2, accuracies, strict=True))


# Table 2.
LANGUAGES: Mapping[str, Language] = {
    "English": Language(
        _column(96.77, 83.53, 94.19, 94.74, 94.92, 95.05, 94.76, 94.60, 94.49, 95.06),
        *(19_944, 19_934, 74, 297),
    ),
    "Dutch": Language(
        _column(94.76, 81.99, 91.58, 92.17, 92.24, 92.36, 92.17, 92.02, 91.84, 92.25),
        *(26_386, 10_468, 47, 230),
    ),
    "French": Language(
        _column(98.65, 91.13, 98.18, 98.35, 98.37, 98.37, 98.34, 98.30, 98.32, 98.37),
        *(22_622, 6_368, 45, 287),
    ),
    "German": Language(
        _column(97.62, 82.97, 94.49, 95.23, 95.57, 95.81, 95.51, 95.29, 95.02, 95.92),
        *(91_060, 39_560, 66, 389),
    ),
    "Portuguese": Language(
        _column(97.12, 91.03, 96.19, 96.33, 96.49, 96.56, 96.42, 96.27, 96.23, 96.50),
        *(20_956, 15_536, 67, 303),
    ),
    "Spanish": Language(
        _column(97.60, 93.65, 96.46, 96.71, 96.76, 96.87, 96.74, 96.64, 96.54, 96.90),
        *(16_221, 15_443, 55, 254),
    ),
}
# Figure 2: words, classes and tags of a sentence. The stop has no form of its own in the figure.
FIGURE_2: tuple[tuple[str, str, str], ...] = (
    ("The", "[AT]", "AT"),
    ("share", "[NN,VB]", "NN"),
    ("of", "[IN]", "IN"),
    ("tripled", "[VBD,VBN]", "VBD"),
    ("within", "[IN,RB]", "IN"),
    ("that", "[CS,DT,WPS]", "DT"),
    ("span", "[NN,VB,VBD]", "VBD"),
    ("of", "[IN]", "IN"),
    ("time", "[NN,VB]", "NN"),
    (".", "[SENT]", "SENT"),
)
