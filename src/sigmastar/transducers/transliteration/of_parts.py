"""Learn a joint n-gram transliterator from pairs in parts.

Forms and the inventory of units are found on a sample, every pair of which is drawn by its number.
Then the parts are gone through three times: twice for EM over all alignments (expected uses of the
units, floats, added along the tree of parts), once for the n-grams of the best alignments (counts,
which add up exactly). What travels is as large as the inventory, or as the n-grams.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.core.reduction import Reduction
from sigmastar.core.types import FloatArray, Learned, Symbol
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.joined_pairs import PairCoding
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.corpus.partitions import Partitions
from sigmastar.transducers.kernels.lattice import Lattices
from sigmastar.transducers.kernels.lattice_em import expected_uses
from sigmastar.transducers.learn.unit_em import align_best
from sigmastar.transducers.moments.lattices import Units, build_lattices, weighted_units
from sigmastar.transducers.transliteration.alignment import SAMPLE, find_inventory
from sigmastar.transducers.transliteration.forms import in_forms
from sigmastar.transducers.transliteration.joint_ngram import smooth_ngrams
from sigmastar.transducers.transliteration.learn import clean_pairs, forms_for, settings_of
from sigmastar.transducers.transliteration.model import TransliterationModel
from sigmastar.transducers.transliteration.ngram_trie import (
    NgramTrie,
    count_ngrams_of_units,
    merge_tries,
    with_units,
)
from sigmastar.transducers.transliteration.recipe import Recipe

__all__ = ["learn_transliterator_of_parts"]

_ROUNDS = 2  # of EM over all parts, after those on the sample
_SEED = 0  # the sample is the same whatever else is drawn


def learn_transliterator_of_parts(
    data: Partitions, recipe: Recipe
) -> Learned[TransliterationModel]:
    """Learn from parts of joined pairs.

    ``info`` is that of pairs in memory, with ``sampled``, and ``log_likelihood`` of a pair before
    each round over all of them.
    """
    if recipe.method != "joint-ngram":
        raise InvalidParameter(
            f'method must be "joint-ngram" to learn from Partitions; got {recipe.method!r}. '
            "Others need pairs in memory: give them a sample."
        )
    coding = PairCoding.of(data.alphabet)
    rows = data[:] if len(data) <= SAMPLE else data.split(SAMPLE / len(data), _SEED)[0][:]
    sample, _ = clean_pairs(coding.pairs(rows))
    if len(sample) == 0:
        raise InvalidData("no pair is left to learn from: all have an empty side.")
    forms, tried = forms_for(sample, recipe)
    sides = coding.source, coding.target
    if forms != ("given", "given"):
        sides = data.reduce(_Alphabets(coding, forms))
    writing = _Writing(coding, forms, *sides)
    units, weights = find_inventory(writing.pairs(rows), recipe.units, max_iter=recipe.align_iter)
    history = []
    for _ in range(_ROUNDS):
        used = data.reduce(_CountUses(writing, units, weights))
        history.append(used.log_likelihood / max(used.n_aligned, 1))
        weights = used.uses / used.uses.sum()
    counted = data.reduce(_CountPaths(writing, units, weights, recipe.order))
    kept = counted.trie.times[1 : len(units) + 1] > 0
    info = {
        "n_pairs": len(data),
        "n_empty": counted.n_empty,
        "n_unalignable": counted.n_unalignable,
        "n_units": int(kept.sum()),
        "source_form": forms[0],
        "target_form": forms[1],
        "forms_tried": tried,
        "sampled": len(sample),
        "log_likelihood": history,
    }
    none: FloatArray = np.zeros(0)
    model = TransliterationModel(
        source_alphabet=sides[0],
        target_alphabet=sides[1],
        method=recipe.method,
        parts={"ngram": smooth_ngrams(with_units(counted.trie, kept))},
        units=units.take(np.flatnonzero(kept)),
        unit_weights=weights[kept] / weights[kept].sum(),
        settings=settings_of(recipe, forms, coding.target),
        scorer_weights=none,
        feature_weights=none,
    )
    return Learned(model, info)


class _Writing(NamedTuple):
    """How joined sequences become pairs to align: cut, in their forms, coded alike everywhere."""

    coding: PairCoding
    forms: tuple[str, str]
    source: Alphabet
    target: Alphabet

    def pairs(self, part: Corpus) -> PairCorpus:
        """Give the pairs of a part without empty sides."""
        written = in_forms(clean_pairs(self.coding.pairs(part))[0], self.forms)
        return PairCorpus(written.source.recode(self.source), written.target.recode(self.target))


_Symbols = tuple[tuple[Symbol, ...], tuple[Symbol, ...]]


@dataclass(frozen=True, eq=False)
class _Alphabets(Reduction[Corpus, _Symbols, tuple[Alphabet, Alphabet]]):
    """The symbols of both sides in their forms."""

    coding: PairCoding
    forms: tuple[str, str]
    title = "Collecting the alphabets"

    def summarize(self, part: Corpus) -> _Symbols:
        pairs = in_forms(clean_pairs(self.coding.pairs(part))[0], self.forms)
        return pairs.source.alphabet.symbols, pairs.target.alphabet.symbols

    def merge(self, one: _Symbols, other: _Symbols) -> _Symbols:
        return (
            tuple(dict.fromkeys((*one[0], *other[0]))),
            tuple(dict.fromkeys((*one[1], *other[1]))),
        )

    def finish(self, total: _Symbols) -> tuple[Alphabet, Alphabet]:
        return Alphabet.from_symbols(total[0]), Alphabet.from_symbols(total[1])


class _Uses(NamedTuple):
    """Expected uses of the units, and how likely the pairs were that could be aligned."""

    uses: FloatArray
    log_likelihood: float
    n_aligned: int


@dataclass(frozen=True, eq=False)
class _CountUses(Reduction[Corpus, _Uses, _Uses]):
    """The E-step over alignments."""

    writing: _Writing
    units: Units
    weights: FloatArray
    title = "Aligning"

    def summarize(self, part: Corpus) -> _Uses:
        lattices = _lattices(self.writing, part, self.units)
        totals = np.empty(lattices.n_pairs)
        found: Any = expected_uses(lattices, weighted_units(self.weights), totals)
        reached = totals[totals > -np.inf]
        uses = found.operators[:, 0, 0] * self.weights
        return _Uses(uses, float(reached.sum()), len(reached))

    def merge(self, one: _Uses, other: _Uses) -> _Uses:
        return _Uses(
            one.uses + other.uses,
            one.log_likelihood + other.log_likelihood,
            one.n_aligned + other.n_aligned,
        )

    def finish(self, total: _Uses) -> _Uses:
        return total


class _Paths(NamedTuple):
    """The n-grams of the best alignments, and how many pairs had none."""

    trie: NgramTrie
    n_empty: int
    n_unalignable: int


@dataclass(frozen=True, eq=False)
class _CountPaths(Reduction[Corpus, _Paths, _Paths]):
    """Counts over the best alignment of each pair."""

    writing: _Writing
    units: Units
    weights: FloatArray
    order: int
    title = "Counting units"

    def summarize(self, part: Corpus) -> _Paths:
        lattices = _lattices(self.writing, part, self.units)
        path, offsets = align_best(lattices, self.weights)
        trie = count_ngrams_of_units(path, offsets, n_units=len(self.units), order=self.order)
        lost = int((np.diff(offsets) == 0).sum())
        return _Paths(trie, len(part) - lattices.n_pairs, lost)

    def merge(self, one: _Paths, other: _Paths) -> _Paths:
        return _Paths(
            merge_tries(one.trie, other.trie),
            one.n_empty + other.n_empty,
            one.n_unalignable + other.n_unalignable,
        )

    def finish(self, total: _Paths) -> _Paths:
        return total


def _lattices(writing: _Writing, part: Corpus, units: Units) -> Lattices:
    return build_lattices(writing.pairs(part), units)
