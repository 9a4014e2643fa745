"""The aligned form of a pair corpus: one sequence of units for each pair.

Units are found by EM over all alignments, from weights that favour outputs shared out evenly: from
equal ones, Japanese か:k ã, ん:ɴ becomes か:k ã ɴ, ん:–, and every syllable before an ん needs a
unit of its own. Each pair then takes its best alignment. For large corpora EM runs on a sample; the
units it leaves with a noticeable expected count make the inventory, and pairs that they cannot
spell are set aside and counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sigmastar.core.errors import InvalidData
from sigmastar.core.types import BoolArray, FloatArray, IndexArray, SymbolArray
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.transducers.learn.unit_em import align_best, learn_unit_weights
from sigmastar.transducers.moments.lattices import Units, allowed_sizes, build_lattices, find_units

__all__ = ["SAMPLE", "Alignment", "align_pairs", "find_inventory"]

SAMPLE = 20_000
EVEN = 0.5  # how much less likely longer outputs are when EM begins
LEAST = 1e-3  # units expected less often than this in the whole sample are dropped


@dataclass(frozen=True, eq=False)
class Alignment:
    """Pairs cut into units."""

    units: Units
    weights: FloatArray  # the probability of each unit
    path: SymbolArray  # the units of each pair's best alignment
    offsets: IndexArray  # where each begins; a pair that cannot be aligned has none
    alignable: BoolArray


def align_pairs(
    corpus: PairCorpus, sizes: tuple[tuple[int, int], ...], *, max_iter: int = 12
) -> Alignment:
    """Cut pairs, whose sides are not empty, into units of the allowed sizes."""
    step = -(-len(corpus) // SAMPLE)
    sample = corpus if step == 1 else corpus.take(np.arange(0, len(corpus), step))
    units, weights = find_inventory(sample, sizes, max_iter=max_iter)
    lattices = build_lattices(corpus, units)
    weights = learn_unit_weights(lattices, len(units), max_iter=2, tol=0, weights=weights).model
    path, offsets = align_best(lattices, weights)
    used = np.unique(path).astype(np.int64)
    recoded = np.full(len(units), -1, dtype=np.int32)
    recoded[used] = np.arange(len(used), dtype=np.int32)
    share = weights[used] / weights[used].sum()
    return Alignment(units.take(used), share, recoded[path], offsets, np.diff(offsets) > 0)


def find_inventory(
    sample: PairCorpus, sizes: tuple[tuple[int, int], ...], *, max_iter: int
) -> tuple[Units, FloatArray]:
    """Find the units that pairs are cut into, and how probable each is, by EM on a sample."""
    units = find_units(sample, allowed_sizes(sizes))
    lattices = build_lattices(sample, units)
    if not lattices.alignable.any():
        raise InvalidData(
            f"no pair can be aligned into units of the sizes {sizes!r}: outputs are too long "
            "or too short for their inputs. Allow larger units."
        )
    n_outputs = (units.outputs >= 0).sum(axis=1)
    even = np.exp(-EVEN * n_outputs**2.0)  # convex: two units of two outputs beat a three and a one
    learned = learn_unit_weights(lattices, len(units), max_iter=max_iter, weights=even)
    kept = np.flatnonzero(learned.info["expected"] > LEAST)
    return units.take(kept), learned.model[kept]
