"""Which labels are taken for which: accuracy, recall, precision, the commonest errors.

scikit-learn has these figures, too; but whoever only tags with a saved model should not wait for
its import, and labels here come by the most frequent first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sigmastar.core.errors import InvalidData
from sigmastar.core.types import FloatArray, IndexArray

__all__ = ["Confusion", "accuracy", "check_overlap", "confusion"]


@dataclass(frozen=True)
class Confusion:
    """How often each label (row) was given each label (column).

    Attributes
    ----------
    labels : tuple of str
        The labels, most frequent first.
    counts : array (n_labels, n_labels)
        Rows are right labels, columns given ones.
    """

    labels: tuple[str, ...]
    counts: IndexArray

    @property
    def accuracy(self) -> float:
        """Share of right answers; NaN if there are none at all."""
        total = int(self.counts.sum())
        return float(np.trace(self.counts) / total) if total else float("nan")

    @property
    def recall(self) -> FloatArray:
        """Share of each label's occurrences that were found; NaN for a label without any."""
        return _ratio(np.diag(self.counts), self.counts.sum(axis=1))

    @property
    def precision(self) -> FloatArray:
        """Share of each label's answers that were right; NaN for a label never given."""
        return _ratio(np.diag(self.counts), self.counts.sum(axis=0))

    def errors(self, n: int) -> list[tuple[str, str, int]]:
        """Return the n commonest errors: right label, given label, and how often."""
        wrong = self.counts.copy()
        np.fill_diagonal(wrong, 0)
        worst = np.argsort(-wrong, axis=None, kind="stable")[:n]
        cells = zip(*np.unravel_index(worst, wrong.shape), strict=True)
        return [(self.labels[i], self.labels[j], int(wrong[i, j])) for i, j in cells if wrong[i, j]]

    def shares(self) -> FloatArray:
        """Return the rows as shares of their sums."""
        sums = np.maximum(self.counts.sum(axis=1, keepdims=True), 1)
        return np.asarray(self.counts / sums, dtype=np.float64)

    def top(self, n: int) -> Confusion:
        """Return the n most frequent labels, the last of them all others together as “other”.

        One of the others taken for another one is no error there: measure before, show after.
        """
        if len(self.labels) <= n:
            return self
        group = np.minimum(np.arange(len(self.labels)), n - 1)
        counts = np.zeros((n, n), dtype=np.int64)
        np.add.at(counts, (group[:, None], group[None, :]), self.counts)
        return Confusion((*self.labels[: n - 1], "other"), counts)


def check_overlap(known: Iterable[object], wanted: Iterable[object], what: str, how: str) -> None:
    """Refuse right answers of which a model can give none: every figure would be zero.

    Parameters
    ----------
    known, wanted : iterable
        What the model may answer, and what the data hold.
    what : str
        What such an answer is called, in the plural.
    how : str
        What to do about it.
    """
    answers, right = {str(name) for name in known}, {str(name) for name in wanted}
    if right and not answers & right:
        raise InvalidData(
            f"the {what} of the data ({_few(right)}) are none of the model's ({_few(answers)}). "
            f"{how}"
        )


def _few(names: Iterable[str], most: int = 5) -> str:
    ordered = sorted(names)
    return ", ".join(ordered[:most]) + (", …" if len(ordered) > most else "")


def accuracy(right: Iterable[object], given: Iterable[object]) -> float:
    """Return the share of right answers; NaN if there are none at all."""
    same = [a == b for a, b in zip(right, given, strict=True)]
    return sum(same) / len(same) if same else float("nan")


def confusion(right: Iterable[object], given: Iterable[object]) -> Confusion:
    """Count which labels were given where which were right."""
    truth, guess = [str(a) for a in right], [str(b) for b in given]
    if len(truth) != len(guess):
        raise InvalidData(
            f"right and given labels must be equally many; got {len(truth)} and {len(guess)}."
        )
    # Not scikit-learn's: that one warns of a single label, refuses none, and is slower.
    often, together = Counter(truth), Counter(zip(truth, guess, strict=True))
    labels = sorted({*truth, *guess}, key=lambda label: (-often[label], label))
    counts = np.array([[together[a, b] for b in labels] for a in labels], dtype=np.int64)
    return Confusion(tuple(labels), counts.reshape(len(labels), len(labels)))


def _ratio(above: IndexArray, below: IndexArray) -> FloatArray:
    result = np.full(len(above), np.nan)
    np.divide(above, below, out=result, where=below > 0)
    return result
