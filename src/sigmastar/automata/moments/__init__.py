"""Moments of a corpus: exact counts of n-grams, bases of strings, the Hankel blocks they fill."""

from sigmastar.automata.moments.basis import Basis, all_basis, frequent_basis, given_basis
from sigmastar.automata.moments.distributed import collect_alphabet, count_bag
from sigmastar.automata.moments.exact import exact_moments
from sigmastar.automata.moments.hankel import HankelMoments, hankel_moments
from sigmastar.automata.moments.pairs import PairMoments, exact_pairs, pair_moments
from sigmastar.automata.moments.plan import MomentPlan
from sigmastar.ngrams.counts import NgramCounts, count_ngrams

__all__ = [
    "Basis",
    "HankelMoments",
    "MomentPlan",
    "NgramCounts",
    "PairMoments",
    "all_basis",
    "collect_alphabet",
    "count_bag",
    "count_ngrams",
    "exact_moments",
    "exact_pairs",
    "frequent_basis",
    "given_basis",
    "hankel_moments",
    "pair_moments",
]
