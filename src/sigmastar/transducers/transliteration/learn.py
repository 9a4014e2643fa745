"""Learn a transliterator: align, learn scorers, tune their combination.

The combined method trains a joint n-gram model over aligned units for the search, and further
scorers that judge its candidates. Their weights, and those of hashed features, are fitted on
candidates for pairs that the models had not seen: those of each of ``n_folds`` parts of the
training data, by models of the rest. Development pairs (or a tenth of the training pairs, held
out for this) set the balance between scorers and features.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from sigmastar.core.errors import InvalidData
from sigmastar.core.progress import stage
from sigmastar.core.rng import as_generator
from sigmastar.core.types import FloatArray, Learned
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.transducers.learn.spectral import InputModel
from sigmastar.transducers.moments.lattices import Units
from sigmastar.transducers.transliteration.alignment import Alignment, align_pairs
from sigmastar.transducers.transliteration.candidates import (
    Candidates,
    gather_candidates,
    mirrored,
    unit_options,
)
from sigmastar.transducers.transliteration.chunk_transducer import (
    ChunkTransducer,
    joint_chunk_transducer,
    learn_chunk_transducer,
)
from sigmastar.transducers.transliteration.joint_ngram import learn_ngram
from sigmastar.transducers.transliteration.joint_spectral import learn_joint_spectral
from sigmastar.transducers.transliteration.model import SCORERS, TransliterationModel, scorer_matrix
from sigmastar.transducers.transliteration.recipe import Recipe, States
from sigmastar.transducers.transliteration.reranker import (
    FoldCandidates,
    feature_scores,
    fit_scorers,
    train_features,
)

__all__ = ["clean_pairs", "learn_transliterator"]

HELD_OUT = 0.1  # without development pairs, this share of the training pairs stands in for them
MOST_JUDGED = 30_000  # pairs of all folds together that the combination is fitted on
NONE: FloatArray = np.zeros(0)
NO_UNITS = Units(np.zeros(0, dtype=np.int64), np.zeros((2, 2), dtype=bool), 2)


class Trained(NamedTuple):
    """Aligned pairs, and the scorers learned from them."""

    alignment: Alignment
    parts: Mapping[str, Any]


class Judged(NamedTuple):
    """Candidates for pairs that had not been learned from."""

    found: Candidates
    units: Units
    matrix: FloatArray  # what each scorer says of each
    right: FloatArray  # 1 for right candidates, 0 for others


def clean_pairs(corpus: PairCorpus) -> tuple[PairCorpus, int]:
    """Set aside pairs with an empty side; return the others and how many were set aside."""
    full = (corpus.source.lengths > 0) & (corpus.target.lengths > 0)
    if full.all():
        return corpus, 0
    return corpus.take(np.flatnonzero(full)), int((~full).sum())


def learn_transliterator(
    corpus: PairCorpus, recipe: Recipe, dev: PairCorpus | None = None
) -> Learned[TransliterationModel]:
    """Learn a transliterator from training pairs, and balance its scorers on development pairs.

    Both are coded by the same alphabets. Pairs with an empty side or without an alignment are
    counted and left out.
    """
    pairs, n_empty = clean_pairs(corpus)
    if len(pairs) == 0:
        raise InvalidData(f"no pair is left to learn from: all {n_empty} have an empty side.")
    states = recipe.states(len(corpus))
    info: dict[str, Any] = {"n_pairs": len(corpus), "n_empty": n_empty}
    if recipe.method in ("learnfst", "em"):
        learned = _conditional(pairs, recipe.method, recipe, states, recipe.inputs)
        return Learned(_model(pairs, recipe, decoder=learned.model), info | dict(learned.info))
    trained = _train(pairs, recipe, states)
    alignment = trained.alignment
    info["n_unalignable"] = int((~alignment.alignable).sum())
    info["n_units"] = len(alignment.units)
    if recipe.method == "joint-spectral":
        sides = pairs.source.alphabet, pairs.target.alphabet
        decoder = joint_chunk_transducer(trained.parts["spectral"], alignment.units, *sides)
        return Learned(_model(pairs, recipe, Trained(alignment, {}), decoder=decoder), info)
    if recipe.method == "joint-ngram":
        return Learned(_model(pairs, recipe, trained), info)
    if dev is not None:
        weights, features, tuned = _combine(pairs, trained, recipe, states, dev)
    else:
        unseen, rest = pairs.split(HELD_OUT, random_state=recipe.random_state)
        partly = _train(rest, recipe, states)
        weights, features, tuned = _combine(rest, partly, recipe, states, unseen)
    names = [name for name in SCORERS if name in trained.parts or name in SCORERS[:3]]
    info["weights"] = dict(
        zip([*names, "features"], weights[[SCORERS.index(n) for n in names] + [-1]], strict=True)
    )
    model = _model(pairs, recipe, trained, scorer_weights=weights, feature_weights=features)
    return Learned(model, info | tuned)


def _conditional(
    pairs: PairCorpus,
    method: str,
    recipe: Recipe,
    states: States,
    inputs: InputModel = "independent",
) -> Learned[ChunkTransducer]:
    return learn_chunk_transducer(
        pairs,
        recipe.units,
        learner="spectral" if method == "learnfst" else "em",
        n_states=states.transducer,
        inputs=inputs,
        align_iter=recipe.align_iter,
        max_iter=recipe.max_iter,
        random_state=recipe.random_state,
    )


def _model(
    pairs: PairCorpus,
    recipe: Recipe,
    trained: Trained | None = None,
    *,
    scorer_weights: FloatArray = NONE,
    feature_weights: FloatArray = NONE,
    decoder: ChunkTransducer | None = None,
) -> TransliterationModel:
    target = pairs.target.alphabet
    text = all(isinstance(symbol, str) and len(symbol) == 1 for symbol in target)
    return TransliterationModel(
        source_alphabet=pairs.source.alphabet,
        target_alphabet=target,
        method=recipe.method,
        parts={} if trained is None else trained.parts,
        units=NO_UNITS if trained is None else trained.alignment.units,
        unit_weights=NONE if trained is None else trained.alignment.weights,
        scorer_weights=scorer_weights,
        feature_weights=feature_weights,
        settings={"beam": recipe.beam, "n_candidates": recipe.n_candidates, "text": text},
        decoder=decoder,
    )


def _train(pairs: PairCorpus, recipe: Recipe, states: States) -> Trained:
    """Align pairs, and learn the search model and the scorers that the recipe names."""
    alignment = align_pairs(pairs, recipe.units, max_iter=recipe.align_iter)
    path, offsets, n_units = alignment.path, alignment.offsets, len(alignment.units)
    target, order = pairs.target, recipe.order
    size = len(target.alphabet)
    learners: dict[str, Callable[[], Any]] = {
        "ngram": lambda: learn_ngram(path, offsets, n_units=n_units, order=order),
        "reverse": lambda: learn_ngram(
            path[mirrored(offsets)], offsets, n_units=n_units, order=order
        ),
        "short": lambda: learn_ngram(path, offsets, n_units=n_units, order=3),
        "target": lambda: learn_ngram(target.symbols, target.offsets, n_units=size, order=order),
        "spectral": lambda: learn_joint_spectral(
            path, offsets, n_units=n_units, n_states=states.joint
        ),
        "learnfst": lambda: _conditional(pairs, "learnfst", recipe, states).model,
        "em": lambda: _conditional(pairs, "em", recipe, states).model,
    }
    wanted = {"joint-ngram": ("ngram",), "joint-spectral": ("spectral",)}
    names = wanted.get(recipe.method, ("ngram", *recipe.scorers))
    return Trained(alignment, {name: learners[name]() for name in learners if name in names})


def _judge(pairs: PairCorpus, trained: Trained, recipe: Recipe) -> Judged:
    """Find candidates for pairs, and let every scorer judge them."""
    alignment, ngram = trained.alignment, trained.parts["ngram"]
    found = gather_candidates(
        pairs.source,
        ngram,
        alignment.units,
        unit_options(alignment.units, alignment.weights, ngram),
        pairs.target.alphabet,
        n_best=recipe.n_candidates,
        beam=max(recipe.beam, recipe.n_candidates),
    )
    matrix = scorer_matrix(found, trained.parts, alignment.weights)
    return Judged(found, alignment.units, matrix, _right(found, pairs.target))


def _right(found: Candidates, target: Corpus) -> FloatArray:
    """Mark the candidates that equal the target of their input."""
    truth = target.take(found.owner)
    right = np.zeros(len(found))
    same = np.flatnonzero(found.target.lengths == truth.lengths)
    a, b = found.target.take(same), truth.take(same)
    differs = np.concatenate([[0], np.cumsum(a.symbols != b.symbols)])
    right[same] = differs[a.offsets[1:]] == differs[a.offsets[:-1]]
    return right


def _combine(
    pairs: PairCorpus, trained: Trained, recipe: Recipe, states: States, dev: PairCorpus
) -> tuple[FloatArray, FloatArray, dict[str, Any]]:
    """Fit the weights of scorers and features on candidates for pairs not learned from."""
    rng = as_generator(recipe.random_state)
    fold_of = np.arange(len(pairs)) % recipe.n_folds
    folds: list[Judged] = []
    with stage("folds", recipe.n_folds) as progress:
        for fold in range(recipe.n_folds):
            rest = pairs.take(np.flatnonzero(fold_of != fold))
            held_out = pairs.take(np.flatnonzero(fold_of == fold)[: MOST_JUDGED // recipe.n_folds])
            folds.append(_judge(held_out, _train(rest, recipe, states), recipe))
            progress.advance()
    starts = np.cumsum([0] + [len(fold.found) for fold in folds])
    groups = [fold.found.groups[1:] + start for fold, start in zip(folds, starts, strict=False)]
    weights = fit_scorers(
        np.concatenate([fold.matrix for fold in folds]),
        np.concatenate([[0], *groups]),
        np.concatenate([fold.right for fold in folds]),
    )
    features = train_features(
        [FoldCandidates(f.found, f.units, f.matrix @ weights, f.right) for f in folds],
        n_weights=1 << (20 if len(pairs) > 20_000 else 18),
        n_epochs=recipe.n_epochs,
        rate=recipe.rate,
        rng=rng,
    )
    unseen, _ = clean_pairs(dev)
    judged = _judge(unseen, trained, recipe)
    extra = feature_scores(judged.found, judged.units, features)
    # Two numbers only: folds are many enough for the scorers' weights, but models of a fold's rest
    # have seen what features are then judged on, so these need pairs that nothing has seen.
    both = np.column_stack([judged.matrix @ weights, extra])
    balance = fit_scorers(both, judged.found.groups, judged.right)
    tuned = {"n_tuning": len(unseen), "recall": float(judged.right.sum() / max(len(unseen), 1))}
    return np.append(weights * balance[0], balance[1]), features, tuned
