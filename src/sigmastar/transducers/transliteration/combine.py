"""The combination of scorers: fitted on candidates for pairs that the scorers had not seen.

The training data are cut into folds; the candidates of each are judged by models of the rest. The
weights of scorers, and of hashed features, are fitted on all of them together. Development pairs
set the balance between scorers and features. Of many pairs one fold is enough, and networks, which
take long to train, leave features nothing to say.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sigmastar.core.progress import stage
from sigmastar.core.rng import as_generator
from sigmastar.core.threads import available_threads, limited_threads, over_rows
from sigmastar.core.types import FloatArray
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.transducers.moments.lattices import Units
from sigmastar.transducers.transliteration.candidates import Candidates, unit_options
from sigmastar.transducers.transliteration.parts import Trained, train_parts
from sigmastar.transducers.transliteration.recipe import Recipe, States
from sigmastar.transducers.transliteration.reranker import (
    FoldCandidates,
    feature_scores,
    fit_scorers,
    train_features,
)
from sigmastar.transducers.transliteration.scorers import find_candidates, scorer_matrix, widths

__all__ = [
    "MOST_WEIGHED",
    "Judged",
    "balance",
    "combine",
    "judge",
    "judge_few_folds",
    "right_candidates",
]

MOST_JUDGED = 30_000  # pairs of all folds together that the combination is fitted on
ENOUGH_JUDGED = 500  # pairs that weights of scorers alone are fitted on
MOST_WEIGHED = 4000  # of many pairs, these are held out for that, or taken of development pairs
MANY_PAIRS = 20_000  # of so many, one fold has enough to fit the combination on


class Judged(NamedTuple):
    """Candidates for pairs that had not been learned from."""

    found: Candidates
    units: Units
    matrix: FloatArray  # what each scorer says of each
    right: FloatArray  # 1 for right candidates, 0 for others


def combine(
    pairs: PairCorpus, trained: Trained, recipe: Recipe, states: States, dev: PairCorpus
) -> tuple[FloatArray, FloatArray, dict[str, Any]]:
    """Return the weights of scorers and of features, and what there is to know of them."""
    n_used = 1 if len(pairs) > MANY_PAIRS else recipe.n_folds
    folds, _ = _judge_folds(pairs, recipe, states, n_used, recipe.n_folds)
    weights = _fit(folds)
    features = train_features(
        [FoldCandidates(f.found, f.units, f.matrix @ weights, f.right) for f in folds],
        n_weights=1 << (20 if len(pairs) > MANY_PAIRS else 18),
        n_epochs=recipe.n_epochs,
        rate=recipe.rate,
        rng=as_generator(recipe.random_state),
    )
    judged = judge(dev, trained, recipe)
    extra = feature_scores(judged.found, judged.units, features)
    # Two numbers only: folds are many enough for the scorers' weights, but models of a fold's rest
    # have seen what features are then judged on, so these need pairs that nothing has seen.
    both = np.column_stack([judged.matrix @ weights, extra])
    balance = fit_scorers(both, judged.found.groups, judged.right)
    tuned = {"n_tuning": len(dev), "recall": float(judged.right.sum() / max(len(dev), 1))}
    return np.append(weights * balance[0], balance[1]), features, tuned


def balance(
    judged: list[Judged],
) -> tuple[FloatArray, FloatArray, dict[str, Any]]:
    """Return the weights of scorers alone, no features, and what there is to know of them."""
    n_judged = sum(len(part.found.source) for part in judged)
    right = sum(float(part.right.sum()) for part in judged)
    tuned = {"n_tuning": n_judged, "recall": right / max(n_judged, 1)}
    return np.append(_fit(judged), 0.0), np.zeros(0), tuned


def judge_few_folds(
    pairs: PairCorpus, recipe: Recipe, states: States
) -> tuple[list[Judged], Trained]:
    """Judge a few hundred pairs by models of others; return the first of these models as well.

    For combinations without features: so many pairs are enough for a handful of weights.
    """
    n_folds = max(recipe.n_folds, len(pairs) // MOST_WEIGHED)
    wanted = -(-ENOUGH_JUDGED * n_folds // len(pairs))
    return _judge_folds(pairs, recipe, states, min(n_folds, wanted), n_folds)


def _fit(folds: list[Judged]) -> FloatArray:
    """Fit the weights of scorers on the candidates of all folds."""
    starts = np.cumsum([0] + [len(fold.found) for fold in folds])
    groups = [fold.found.groups[1:] + start for fold, start in zip(folds, starts, strict=False)]
    return fit_scorers(
        np.concatenate([fold.matrix for fold in folds]),
        np.concatenate([[0], *groups]),
        np.concatenate([fold.right for fold in folds]),
    )


def _judge_folds(
    pairs: PairCorpus, recipe: Recipe, states: States, n_used: int, n_folds: int
) -> tuple[list[Judged], Trained]:
    """Judge the pairs of some folds by models of the other folds, several folds at a time.

    Returns the models of the first fold's rest as well.
    """
    fold_of = np.arange(len(pairs)) % n_folds
    folds: dict[int, Judged] = {}
    models: dict[int, Trained] = {}
    at_once = min(available_threads(), n_used)
    with stage("folds", n_used) as progress:

        def work(first: int, last: int) -> None:
            with limited_threads(max(1, available_threads() // at_once)):
                for fold in range(first, last):
                    rest = pairs.take(np.flatnonzero(fold_of != fold))
                    own = np.flatnonzero(fold_of == fold)[: MOST_JUDGED // n_used]
                    trained = train_parts(rest, recipe, states)
                    folds[fold] = judge(pairs.take(own), trained, recipe)
                    if fold == 0:
                        models[fold] = trained
                    progress.advance()

        over_rows(work, n_used, least=1)
    return [folds[fold] for fold in range(n_used)], models[0]


def judge(pairs: PairCorpus, trained: Trained, recipe: Recipe) -> Judged:
    """Find candidates for pairs, and let every scorer judge them."""
    alignment, parts = trained.alignment, trained.parts
    n_best, beam = widths(parts, {"n_candidates": recipe.n_candidates, "beam": recipe.beam})
    found = find_candidates(
        pairs.source,
        parts,
        alignment.units,
        unit_options(alignment.units, alignment.weights, parts.get("ngram")),
        pairs.target.alphabet,
        n_best=n_best,
        beam=beam,
    )
    matrix = scorer_matrix(found, parts, alignment.units, alignment.weights)
    return Judged(found, alignment.units, matrix, right_candidates(found, pairs.target))


def right_candidates(found: Candidates, target: Corpus) -> FloatArray:
    """Mark the candidates that equal the target of their input."""
    truth = target.take(found.owner)
    right = np.zeros(len(found))
    same = np.flatnonzero(found.target.lengths == truth.lengths)
    a, b = found.target.take(same), truth.take(same)
    differs = np.concatenate([[0], np.cumsum(a.symbols != b.symbols)])
    right[same] = differs[a.offsets[1:]] == differs[a.offsets[:-1]]
    return right
