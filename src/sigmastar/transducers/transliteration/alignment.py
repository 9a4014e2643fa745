"""The aligned form of a pair corpus: one sequence of units for each pair.

Units are found by EM over all alignments, from uniform weights; each pair then takes its best
alignment. For large corpora EM runs on a sample; the units it leaves with a noticeable expected
count make the inventory, and pairs that they cannot spell are set aside and counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sigmastar.core.errors import InvalidData
from sigmastar.core.types import BoolArray, FloatArray, IndexArray, SymbolArray
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.transducers.kernels.lattice import Lattices
from sigmastar.transducers.learn.unit_em import align_best, learn_unit_weights
from sigmastar.transducers.moments.lattices import (
    Units,
    allowed_sizes,
    build_lattices,
    find_units,
)

__all__ = ["Alignment", "align_pairs"]

SAMPLE = 20_000
LEAST = 1e-3  # units expected less often than this in the whole sample are dropped


@dataclass(frozen=True, eq=False)
class Alignment:
    """Pairs cut into units.

    Parameters
    ----------
    units : Units
        The inventory.
    weights : array
        The probability of each unit.
    path, offsets : array
        The units of each pair's best alignment (none for a pair that has no alignment).
    alignable : array of bool
        Which pairs have one.
    lattices : Lattices
        All alignments into the inventory.
    """

    units: Units
    weights: FloatArray
    path: SymbolArray
    offsets: IndexArray
    alignable: BoolArray
    lattices: Lattices


def align_pairs(
    corpus: PairCorpus,
    sizes: tuple[tuple[int, int], ...],
    *,
    max_iter: int = 12,
) -> Alignment:
    """Cut pairs into units of the allowed sizes.

    Parameters
    ----------
    corpus : PairCorpus
        Pairs, both sides not empty.
    sizes : tuple of (inputs, outputs)
        The allowed sizes of a unit.
    max_iter : int
        Rounds of EM.
    """
    allowed = allowed_sizes(sizes)
    step = -(-len(corpus) // SAMPLE)
    sample = corpus if step == 1 else corpus.take(np.arange(0, len(corpus), step))
    units = find_units(sample, allowed)
    lattices = build_lattices(sample, units)
    if not lattices.alignable.any():
        raise InvalidData(
            f"no pair can be aligned into units of the sizes {sizes!r}: outputs are too long "
            "or too short for their inputs. Allow larger units."
        )
    learned = learn_unit_weights(lattices, len(units), max_iter=max_iter)
    kept = np.flatnonzero(learned.info["expected"] > LEAST)
    units, weights = units.take(kept), learned.model[kept]
    lattices = build_lattices(corpus, units)
    weights = learn_unit_weights(lattices, len(units), max_iter=2, weights=weights).model
    path, offsets = align_best(lattices, weights)
    used = np.unique(path).astype(np.int64)
    recoded = np.full(len(units), -1, dtype=np.int32)
    recoded[used] = np.arange(len(used), dtype=np.int32)
    final_units = units.take(used)
    if len(used) < len(units):
        lattices = build_lattices(corpus, final_units)
    share = weights[used] / weights[used].sum()
    return Alignment(final_units, share, recoded[path], offsets, np.diff(offsets) > 0, lattices)
