"""Make a model again from the recipe that a search within a time budget wrote down."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from sigmastar.automata.algebra import mixture
from sigmastar.automata.auto.search import (
    LAYOUT,
    Starter,
    gibbs_from,
    given_start,
    hold_out_part,
    refit,
)
from sigmastar.automata.inference.expected_counts import Forest
from sigmastar.automata.learn.blocks.growth import family_named, replay_track
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.errors import InvalidParameter
from sigmastar.core.progress import stage
from sigmastar.core.types import Learned
from sigmastar.corpus.corpus import Corpus

__all__ = ["replay_recipe"]


def replay_recipe(
    corpus: Corpus,
    recipe: Mapping[str, Any],
    starters: Mapping[str, Starter],
    *,
    n_jobs: int | None = None,
) -> Learned[WFA | HMM]:
    """Take the recorded steps again; on the same sequences they give the same model.

    Parameters
    ----------
    corpus : Corpus
        The training sequences of the search.
    recipe : mapping
        ``info["recipe"]`` of the search.
    starters : mapping of name to learner
        The quick learners that the search had.
    n_jobs : int or None
        Threads.
    """
    began = time.monotonic()
    try:
        seed, steps, components = (recipe[key] for key in ("seed", "refit", "components"))
        train, _ = hold_out_part(corpus, seed)
        forest = Forest(train, n_states=LAYOUT)
        whole = Forest(corpus, n_states=LAYOUT)
        models: list[WFA | HMM] = []
        with stage("replaying", len(components)) as bar:
            for part in components:
                models.append(
                    _component(part, corpus, train, forest, whole, seed, steps, starters, n_jobs)
                )
                bar.advance()
    except (KeyError, TypeError, IndexError) as error:
        raise InvalidParameter(
            f"recipe must be one that AutoWFA wrote (recipe_); this one lacks or breaks {error}."
        ) from None
    info = {
        "recipe": dict(recipe),
        "leaderboard": [
            {"name": part["name"], "weight": part["weight"], "n_states": model.n_states}
            for part, model in zip(components, models, strict=True)
        ],
        "seconds": time.monotonic() - began,
    }
    if len(models) == 1:
        return Learned(models[0], info)
    return Learned(mixture(models, [part["weight"] for part in components]), info)


def _component(
    part: Mapping[str, Any],
    corpus: Corpus,
    train: Corpus,
    forest: Forest,
    whole: Forest,
    seed: int,
    steps: int,
    starters: Mapping[str, Starter],
    n_jobs: int | None,
) -> WFA | HMM:
    if "starter" in part:
        return starters[part["starter"]](train)
    given = {
        name: given_start(starters[name](train), train, seed)
        for verb, name in part["steps"]
        if verb == "given"
    }
    parameters = replay_track(part["family"], part["seed"], part["steps"], forest, given)
    if "gibbs" in part:
        return gibbs_from(parameters, train, part["gibbs"]["n_sweeps"], seed)
    parameters = refit(part["family"], parameters, whole, steps, n_jobs)
    return family_named(part["family"]).model(parameters, corpus.alphabet)
