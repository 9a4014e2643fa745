"""How far predicted strings are from the right ones, as in the NEWS transliteration tasks.

For a reference r and a hypothesis h, with ED the Levenshtein distance and LCS the length of the
longest common subsequence:

- normalized edit distance: the mean over pairs of ED(r, h) / |r|. Balle, Quattoni and Carreras
  (2011) print it times 100. It may exceed 1.
- character error rate: Σ ED(r, h) / Σ |r|, long references weighing more.
- F-score of a pair: the harmonic mean of LCS/|h| and LCS/|r|, that is 2 LCS / (|r| + |h|);
  the mean over pairs is "Mean F-score" or "fuzziness in Top-1" of NEWS (Li et al., 2009).
- word accuracy: the share of pairs with h = r ("ACC" of NEWS).

An empty reference counts as one symbol long where it divides (an empty hypothesis then costs
nothing, any other its length); two empty strings have F-score 1.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from sigmastar.core.errors import InvalidData
from sigmastar.core.types import IndexArray, Symbol
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.corpus import Corpus, as_corpus
from sigmastar.metrics.edit_kernels import common_lengths, edit_distances

__all__ = [
    "character_error_rate",
    "edit_distance",
    "lcs_length",
    "mean_f_score",
    "normalized_edit_distance",
    "word_accuracy",
]

Strings = Corpus | Iterable[Iterable[Symbol]]


def edit_distance(a: Iterable[Symbol], b: Iterable[Symbol]) -> int:
    """Return the fewest insertions, deletions and substitutions that turn ``a`` into ``b``.

    Examples
    --------
    >>> edit_distance("kitten", "sitting")
    3
    """
    return int(_distances(*_coded_alike([_listed(a)], [_listed(b)]))[0])


def lcs_length(a: Iterable[Symbol], b: Iterable[Symbol]) -> int:
    """Return the length of the longest common subsequence of two sequences.

    Examples
    --------
    >>> lcs_length("abcdgh", "aedfhr")
    3
    """
    return int(_common(*_coded_alike([_listed(a)], [_listed(b)]))[0])


def normalized_edit_distance(references: Strings, hypotheses: Strings) -> float:
    """Return the mean of ED(r, h) / |r| over pairs (0 is perfect; may exceed 1).

    Parameters
    ----------
    references, hypotheses : Corpus or iterable of sequences
        Hypothesis ``i`` is what was predicted for reference ``i``.

    Examples
    --------
    >>> normalized_edit_distance(["анна", "макс"], ["ана", "макс"])
    0.125
    """
    right, guess = _pairs(references, hypotheses)
    return float(np.mean(_distances(right, guess) / np.maximum(right.lengths, 1)))


def character_error_rate(references: Strings, hypotheses: Strings) -> float:
    """Return Σ ED(r, h) / Σ |r|: the edits needed for each symbol of the references.

    Parameters
    ----------
    references, hypotheses : sequences of strings
        The right ones and the guessed ones, in the same order; strings of any symbols.
    """
    right, guess = _pairs(references, hypotheses)
    return float(_distances(right, guess).sum() / max(int(right.lengths.sum()), 1))


def mean_f_score(references: Strings, hypotheses: Strings) -> float:
    """Return the mean over pairs of 2 LCS / (|r| + |h|) (1 is perfect).

    Parameters
    ----------
    references, hypotheses : sequences of strings
        The right ones and the guessed ones, in the same order; strings of any symbols.
    """
    right, guess = _pairs(references, hypotheses)
    both = right.lengths + guess.lengths
    scores = np.where(both > 0, 2 * _common(right, guess) / np.maximum(both, 1), 1.0)
    return float(scores.mean())


def word_accuracy(references: Strings, hypotheses: Strings) -> float:
    """Return the share of hypotheses that equal their reference.

    Parameters
    ----------
    references, hypotheses : sequences of strings
        The right ones and the guessed ones, in the same order; strings of any symbols.
    """
    right, guess = _pairs(references, hypotheses)
    return float(np.mean(_distances(right, guess) == 0))


def _pairs(references: Strings, hypotheses: Strings) -> tuple[Corpus, Corpus]:
    right, guess = _coded_alike(references, hypotheses)
    if len(right) != len(guess):
        raise InvalidData(
            "references and hypotheses must be equally many; "
            f"got {len(right)} and {len(guess)}. Give an empty hypothesis where there is none."
        )
    if len(right) == 0:
        raise InvalidData("references must hold at least one sequence; they are empty.")
    return right, guess


def _listed(sequence: Iterable[Symbol]) -> Iterable[Symbol]:
    return sequence if isinstance(sequence, str) else list(sequence)


def _coded_alike(first: Strings, second: Strings) -> tuple[Corpus, Corpus]:
    """Encode two collections so that equal symbols have equal codes."""
    a, b = as_corpus(first), as_corpus(second)
    if a.alphabet.symbols == b.alphabet.symbols:
        return a, b
    together = Alphabet(dict.fromkeys((*a.alphabet.symbols, *b.alphabet.symbols)))
    return a.recode(together), b.recode(together)


def _distances(a: Corpus, b: Corpus) -> IndexArray:
    out = np.empty(len(a), dtype=np.int64)
    edit_distances(a.symbols, a.offsets, b.symbols, b.offsets, out)
    return out


def _common(a: Corpus, b: Corpus) -> IndexArray:
    out = np.empty(len(a), dtype=np.int64)
    common_lengths(a.symbols, a.offsets, b.symbols, b.offsets, out)
    return out
