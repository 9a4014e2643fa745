"""Learn a transliterator: align, learn scorers, tune their combination.

The combined method trains a joint n-gram model over aligned units for the search, and further
scorers that judge its candidates. Their weights, and those of hashed features, are fitted on
candidates for pairs that the models had not seen: those of each of ``n_folds`` parts of the
training data, by models of the rest. Development pairs (or a tenth of the training pairs, held
out for this) set the balance between scorers and features.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sigmastar.core.errors import InvalidData
from sigmastar.core.progress import stage
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.types import FloatArray, Learned
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.transducers.moments.lattices import Units
from sigmastar.transducers.transliteration.alignment import Alignment, align_pairs
from sigmastar.transducers.transliteration.candidates import (
    Candidates,
    gather_candidates,
    unit_options,
)
from sigmastar.transducers.transliteration.chunk_transducer import (
    joint_chunk_transducer,
    learn_chunk_transducer,
)
from sigmastar.transducers.transliteration.joint_ngram import learn_ngram
from sigmastar.transducers.transliteration.joint_spectral import learn_joint_spectral
from sigmastar.transducers.transliteration.model import SCORERS, TransliterationModel, scorer_matrix
from sigmastar.transducers.transliteration.reranker import (
    feature_scores,
    fit_scorers,
    train_features,
)

__all__ = ["Recipe", "clean_pairs", "learn_transliterator"]

HELD_OUT = 0.1  # without development pairs, this share of the training pairs stands in for them
MOST_JUDGED = 30_000  # pairs of all folds together that the combination is fitted on
NO_UNITS = Units(np.zeros(0, dtype=np.int64), np.zeros((2, 2), dtype=bool), 2)


@dataclass(frozen=True)
class Recipe:
    """What to learn, and how: the parameters of :class:`sigmastar.Transliterator`."""

    method: str = "combined"
    units: tuple[tuple[int, int], ...] = ((1, 0), (1, 1), (1, 2), (1, 3))
    order: int = 6
    n_states: int = 3
    scorers: tuple[str, ...] = ("reverse", "short", "target", "spectral")
    n_folds: int = 5
    beam: int = 20
    n_candidates: int = 10
    inputs: str = "independent"
    align_iter: int = 12
    max_iter: int = 20
    n_epochs: int = 4
    rate: float = 0.02
    text: bool = True
    random_state: RandomState = 0
    spectral: Mapping[str, int] = field(default_factory=lambda: {"n_states": 40, "n_basis": 3000})


def clean_pairs(corpus: PairCorpus) -> tuple[PairCorpus, int]:
    """Set aside pairs with an empty side; return the others and how many were set aside."""
    full = (corpus.source.lengths > 0) & (corpus.target.lengths > 0)
    if full.all():
        return corpus, 0
    return corpus.take(np.flatnonzero(full)), int((~full).sum())


def learn_transliterator(
    corpus: PairCorpus, recipe: Recipe, dev: PairCorpus | None = None
) -> Learned[TransliterationModel]:
    """Learn a transliterator.

    Parameters
    ----------
    corpus : PairCorpus
        Training pairs; those with an empty side or without an alignment are counted and left out.
    recipe : Recipe
        What to learn.
    dev : PairCorpus, optional
        Development pairs, coded by the same alphabets, to balance the scorers.
    """
    pairs, n_empty = clean_pairs(corpus)
    if len(pairs) == 0:
        raise InvalidData(f"no pair is left to learn from: all {n_empty} have an empty side.")
    info: dict[str, Any] = {"n_pairs": len(corpus), "n_empty": n_empty}
    if recipe.method in ("learnfst", "em"):
        return _single(pairs, recipe, info)
    alignment = align_pairs(pairs, recipe.units, max_iter=recipe.align_iter)
    info["n_unalignable"] = int((~alignment.alignable).sum())
    info["n_units"] = len(alignment.units)
    if recipe.method == "joint-spectral":
        spectral = learn_joint_spectral(
            alignment.path, alignment.offsets, n_units=len(alignment.units), **recipe.spectral
        )
        alphabets = (pairs.source.alphabet, pairs.target.alphabet)
        decoder = joint_chunk_transducer(spectral, alignment.units, *alphabets)
        return Learned(_model(pairs, recipe, {}, alignment, decoder=decoder), info)
    parts = _scorers(pairs, alignment, recipe)
    if recipe.method == "joint-ngram":
        return Learned(_model(pairs, recipe, parts, alignment), info)
    if dev is not None:
        weights, features, tuned = _combine(pairs, alignment, parts, recipe, dev)
    else:
        unseen, rest = pairs.split(HELD_OUT, random_state=recipe.random_state)
        aligned = align_pairs(rest, recipe.units, max_iter=recipe.align_iter)
        models = _scorers(rest, aligned, recipe)
        weights, features, tuned = _combine(rest, aligned, models, recipe, unseen)
    names = [name for name in SCORERS if name in parts or name in SCORERS[:3]]
    info["weights"] = dict(
        zip([*names, "features"], weights[[SCORERS.index(n) for n in names] + [-1]], strict=True)
    )
    info |= tuned
    return Learned(_model(pairs, recipe, parts, alignment, weights, features), info)


def _single(
    pairs: PairCorpus, recipe: Recipe, info: dict[str, Any]
) -> Learned[TransliterationModel]:
    learned = learn_chunk_transducer(
        pairs,
        recipe.units,
        learner="spectral" if recipe.method == "learnfst" else "em",
        n_states=recipe.n_states,
        inputs=recipe.inputs,  # type: ignore[arg-type]
        align_iter=recipe.align_iter,
        max_iter=recipe.max_iter,
        random_state=recipe.random_state,
    )
    model = _model(pairs, recipe, {}, None, decoder=learned.model)
    return Learned(model, info | dict(learned.info))


def _model(
    pairs: PairCorpus,
    recipe: Recipe,
    parts: Mapping[str, Any],
    alignment: Alignment | None,
    weights: FloatArray | None = None,
    features: FloatArray | None = None,
    decoder: Any = None,
) -> TransliterationModel:
    none = np.zeros(0)
    return TransliterationModel(
        pairs.source.alphabet,
        pairs.target.alphabet,
        recipe.method,
        parts,
        NO_UNITS if alignment is None else alignment.units,
        none if alignment is None else alignment.weights,
        none if weights is None else weights,
        none if features is None else features,
        {"beam": recipe.beam, "n_candidates": recipe.n_candidates, "text": recipe.text},
        decoder,
    )


def _scorers(pairs: PairCorpus, alignment: Alignment, recipe: Recipe) -> dict[str, Any]:
    """Learn the search model and the scorers that the recipe names."""
    path, offsets, n_units = alignment.path, alignment.offsets, len(alignment.units)
    parts: dict[str, Any] = {
        "ngram": learn_ngram(path, offsets, n_units=n_units, order=recipe.order)
    }
    if recipe.method == "joint-ngram":
        return parts
    if "reverse" in recipe.scorers:
        lengths = np.diff(offsets)
        mirror = np.repeat(offsets[:-1] + offsets[1:] - 1, lengths) - np.arange(len(path))
        parts["reverse"] = learn_ngram(path[mirror], offsets, n_units=n_units, order=recipe.order)
    if "short" in recipe.scorers:
        parts["short"] = learn_ngram(path, offsets, n_units=n_units, order=3)
    if "target" in recipe.scorers:
        target = pairs.target
        size = len(target.alphabet)
        parts["target"] = learn_ngram(
            target.symbols, target.offsets, n_units=size, order=recipe.order
        )
    if "spectral" in recipe.scorers:
        parts["spectral"] = learn_joint_spectral(path, offsets, n_units=n_units, **recipe.spectral)
    for name, learner in (("learnfst", "spectral"), ("em", "em")):
        if name in recipe.scorers:
            parts[name] = learn_chunk_transducer(
                pairs,
                recipe.units,
                learner=learner,  # type: ignore[arg-type]
                n_states=recipe.n_states,
                align_iter=recipe.align_iter,
                max_iter=recipe.max_iter,
                random_state=recipe.random_state,
            ).model
    return parts


def _find(pairs: PairCorpus, alignment: Alignment, parts: Any, recipe: Recipe) -> Candidates:
    return gather_candidates(
        pairs.source,
        parts["ngram"],
        alignment.units,
        unit_options(alignment.units, alignment.weights, parts["ngram"]),
        pairs.target.alphabet,
        n_best=recipe.n_candidates,
        beam=max(recipe.beam, recipe.n_candidates),
    )


def _right(found: Candidates, target: Any) -> FloatArray:
    """Mark the candidates that equal the target of their input."""
    lengths = found.target.lengths
    truth = target.take(found.owner)
    right = np.zeros(len(found))
    same = np.flatnonzero(lengths == truth.lengths)
    a, b = found.target.take(same), truth.take(same)
    differs = np.concatenate([[0], np.cumsum(a.symbols != b.symbols)])
    right[same] = differs[a.offsets[1:]] == differs[a.offsets[:-1]]
    return right


def _combine(
    pairs: PairCorpus,
    alignment: Alignment,
    parts: Mapping[str, Any],
    recipe: Recipe,
    dev: PairCorpus,
) -> tuple[FloatArray, FloatArray, dict[str, Any]]:
    """Fit the weights of scorers and features on candidates for pairs not learned from."""
    rng = as_generator(recipe.random_state)
    fold_of = np.arange(len(pairs)) % recipe.n_folds
    folds: list[tuple[Candidates, Units, FloatArray, FloatArray]] = []
    matrices = []
    with stage("folds", recipe.n_folds) as progress:
        for fold in range(recipe.n_folds):
            rest = pairs.take(np.flatnonzero(fold_of != fold))
            held_out = pairs.take(np.flatnonzero(fold_of == fold)[: MOST_JUDGED // recipe.n_folds])
            aligned = align_pairs(rest, recipe.units, max_iter=recipe.align_iter)
            models = _scorers(rest, aligned, recipe)
            found = _find(held_out, aligned, models, recipe)
            matrices.append(scorer_matrix(found, models, aligned.weights))
            folds.append((found, aligned.units, np.zeros(0), _right(found, held_out.target)))
            progress.advance()
    starts = np.cumsum([0] + [len(found) for found, _, _, _ in folds])
    groups = np.concatenate(
        [[0]]
        + [found.groups[1:] + start for (found, *_), start in zip(folds, starts, strict=False)]
    )
    right = np.concatenate([part[3] for part in folds])
    matrix = np.concatenate(matrices)
    weights = fit_scorers(matrix, groups, right)
    base = [m @ weights for m in matrices]
    scored = [(f, u, b, r) for (f, u, _, r), b in zip(folds, base, strict=True)]
    size = 1 << (20 if len(pairs) > 20_000 else 18)
    settings = {"n_weights": size, "n_epochs": recipe.n_epochs, "rate": recipe.rate}
    features = train_features(scored, rng=rng, **settings)  # type: ignore[arg-type]
    unseen, _ = clean_pairs(dev)
    found = _find(unseen, alignment, parts, recipe)
    own = scorer_matrix(found, parts, alignment.weights) @ weights
    extra = feature_scores(found, alignment.units, features)
    good = _right(found, unseen.target)
    # Two numbers only: folds are many enough for the scorers' weights, but models of a fold's rest
    # have seen what features are then judged on, so these need pairs that nothing has seen.
    balance = fit_scorers(np.column_stack([own, extra]), found.groups, good)
    tuned = {"n_tuning": len(unseen), "recall": float(good.sum() / max(len(unseen), 1))}
    return np.append(weights * balance[0], balance[1]), features, tuned
