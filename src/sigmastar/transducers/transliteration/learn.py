"""Learn a transliterator: choose forms, align, learn scorers, tune their combination.

``forms`` says what counts as a symbol, ``parts`` learns every model over aligned units, ``combine``
fits their combination on pairs that they had not seen.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sigmastar.core.errors import InvalidData
from sigmastar.core.threads import over_rows
from sigmastar.core.types import FloatArray, Learned
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.transducers.moments.lattices import Units
from sigmastar.transducers.transliteration.alignment import align_pairs
from sigmastar.transducers.transliteration.candidates import gather_candidates, unit_options
from sigmastar.transducers.transliteration.chunk_transducer import joint_chunk_transducer
from sigmastar.transducers.transliteration.combine import (
    MOST_WEIGHED,
    Judged,
    balance,
    combine,
    judge,
    judge_few_folds,
    right_candidates,
)
from sigmastar.transducers.transliteration.forms import choose_forms, in_forms
from sigmastar.transducers.transliteration.joint_ngram import learn_ngram
from sigmastar.transducers.transliteration.model import TransliterationModel
from sigmastar.transducers.transliteration.parts import Trained, train_conditional, train_parts
from sigmastar.transducers.transliteration.recipe import Recipe
from sigmastar.transducers.transliteration.scorers import SCORERS

__all__ = ["clean_pairs", "forms_for", "learn_transliterator", "settings_of"]

HELD_OUT = 0.1  # without development pairs, this share of the training pairs stands in for them
FEWEST_COMPARED, MOST_COMPARED = 30, 6000  # pairs by which forms are compared
FORM_FOLDS = 3
NONE: FloatArray = np.zeros(0)
NO_UNITS = Units(np.zeros(0, dtype=np.int64), np.zeros((2, 2), dtype=bool), 2)


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
    given, n_empty = clean_pairs(corpus)
    if len(given) == 0:
        raise InvalidData(f"no pair is left to learn from: all {n_empty} have an empty side.")
    states = recipe.states(len(corpus))
    info: dict[str, Any] = {"n_pairs": len(corpus), "n_empty": n_empty}
    forms, tried = forms_for(given, recipe)
    info |= {"source_form": forms[0], "target_form": forms[1], "forms_tried": tried}
    pairs = in_forms(given, forms)
    settings = settings_of(recipe, forms, given.target.alphabet)

    def model(trained: Trained | None = None, **parts: Any) -> TransliterationModel:
        weights = {"scorer_weights": NONE, "feature_weights": NONE}
        return TransliterationModel(
            source_alphabet=pairs.source.alphabet,
            target_alphabet=pairs.target.alphabet,
            method=recipe.method,
            parts={} if trained is None else trained.parts,
            units=NO_UNITS if trained is None else trained.alignment.units,
            unit_weights=NONE if trained is None else trained.alignment.weights,
            settings=settings,
            **(weights | parts),
        )

    if recipe.method in ("learnfst", "em"):
        learned = train_conditional(pairs, recipe.method, recipe, states, recipe.inputs)
        return Learned(model(decoder=learned.model), info | dict(learned.info))
    sizes = {"n_models": recipe.n_models, "n_networks": recipe.n_networks}
    judged: list[Judged] = []
    earlier = None
    if recipe.method == "combined" and not states.features and dev is None:
        judged, earlier = judge_few_folds(pairs, recipe, states)
    trained = train_parts(pairs, recipe, states, **sizes, earlier=earlier)
    alignment = trained.alignment
    info["n_unalignable"] = int((~alignment.alignable).sum())
    info["n_units"] = len(alignment.units)
    if recipe.method == "joint-spectral":
        sides = pairs.source.alphabet, pairs.target.alphabet
        decoder = joint_chunk_transducer(trained.parts["spectral"], alignment.units, *sides)
        return Learned(model(Trained(alignment, {}), decoder=decoder), info)
    if recipe.method != "combined":
        return Learned(model(trained), info)
    unseen = None if dev is None else clean_pairs(in_forms(dev, forms, like=pairs))[0]
    if not states.features:
        if unseen is not None:
            step = -(-len(unseen) // MOST_WEIGHED) or 1
            judged = [judge(unseen.take(np.arange(0, len(unseen), step)), trained, recipe)]
        weights, features, tuned = balance(judged)
    elif unseen is not None:
        weights, features, tuned = combine(pairs, trained, recipe, states, unseen)
    else:
        unseen, rest = pairs.split(HELD_OUT, random_state=recipe.random_state)
        partly = train_parts(rest, recipe, states)
        weights, features, tuned = combine(rest, partly, recipe, states, unseen)
    names = [name for name in SCORERS if name in trained.parts or name in SCORERS[:3]]
    info["weights"] = dict(
        zip([*names, "features"], weights[[SCORERS.index(n) for n in names] + [-1]], strict=True)
    )
    combined = model(trained, scorer_weights=weights, feature_weights=features)
    return Learned(combined, info | tuned)


def settings_of(recipe: Recipe, forms: tuple[str, str], outputs: Alphabet) -> dict[str, Any]:
    """Return what a model must remember of how it was learned."""
    return {
        "beam": recipe.beam,
        "n_candidates": recipe.n_candidates,
        "alignments": recipe.alignments,
        "text": all(isinstance(s, str) and len(s) == 1 for s in outputs),
        "source_form": forms[0],
        "target_form": forms[1],
    }


def forms_for(pairs: PairCorpus, recipe: Recipe) -> tuple[tuple[str, str], dict[str, float]]:
    """Choose what counts as a symbol by the words that joint n-gram models get right."""
    asked = recipe.source_form, recipe.target_form
    if len(pairs) < FEWEST_COMPARED:
        source, target = ("given" if form == "auto" else form for form in asked)
        asked = source, target
    step = -(-len(pairs) // MOST_COMPARED)
    sample = pairs if step == 1 else pairs.take(np.arange(0, len(pairs), step))
    fold_of = np.arange(len(sample)) % FORM_FOLDS

    def accuracy(written: PairCorpus) -> float:
        right = np.zeros(FORM_FOLDS)

        def judge_folds(first: int, last: int) -> None:
            for fold in range(first, last):
                rest = written.take(np.flatnonzero(fold_of != fold))
                own = written.take(np.flatnonzero(fold_of == fold))
                right[fold] = _n_right(rest, own, recipe)

        try:
            over_rows(judge_folds, FORM_FOLDS, least=1)
        except InvalidData:  # in this form outputs are too long for the units
            return 0.0
        return float(right.sum()) / len(written)

    return choose_forms(sample, accuracy, asked)


def _n_right(pairs: PairCorpus, others: PairCorpus, recipe: Recipe) -> float:
    """Return how many of other pairs a joint n-gram model of some gets right."""
    alignment = align_pairs(pairs, recipe.units, max_iter=recipe.align_iter)
    units = alignment.units
    ngram = learn_ngram(alignment.path, alignment.offsets, n_units=len(units), order=recipe.order)
    options = unit_options(units, alignment.weights, ngram)
    alphabet = others.target.alphabet
    found = gather_candidates(others.source, ngram, units, options, alphabet, n_best=1, beam=10)
    return float(right_candidates(found, others.target).sum())
