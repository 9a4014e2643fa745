"""Make a model again from the recipe that a search within a time budget wrote down."""

from __future__ import annotations

import time
from collections.abc import Mapping
from itertools import islice
from typing import Any

from sigmastar.automata.algebra import mixture
from sigmastar.automata.auto.chains import chain_from
from sigmastar.automata.auto.steps import (
    LAYOUT,
    QUICK_LEARNERS,
    counted_on_all,
    first_part,
    gibbs_from,
    given_start,
    hold_out_part,
    refitting,
)
from sigmastar.automata.auto.stirring import replay_stirred
from sigmastar.automata.inference.expected_counts import Forest
from sigmastar.automata.learn.blocks.em_family import Parameters
from sigmastar.automata.learn.blocks.growth import family_named
from sigmastar.automata.learn.chain import replay_chain
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.pfa import PFA
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.blas import one_blas_thread
from sigmastar.core.errors import InvalidParameter
from sigmastar.core.progress import stage
from sigmastar.core.types import Learned
from sigmastar.corpus.corpus import Corpus

__all__ = ["replay_recipe"]


def replay_recipe(
    corpus: Corpus, recipe: Mapping[str, Any], *, n_jobs: int | None = None
) -> Learned[WFA | HMM]:
    """Take the recorded steps (``info["recipe"]``) again: the same data give the same model."""
    began = time.monotonic()
    try:
        components = recipe["components"]
        refit = recipe["refit"], recipe.get("refit_fast", False)  # 0.1.0 knew no fast steps
        replay = _Replay(corpus, recipe["seed"], refit, n_jobs)
        models: list[WFA | HMM] = []
        with stage("replaying", len(components)) as bar, one_blas_thread():
            for part in components:
                models.append(replay.component(part))
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


class _Replay:
    """The sequences of a search, laid out as it had them."""

    def __init__(
        self, corpus: Corpus, seed: int, refit: tuple[int, bool], n_jobs: int | None
    ) -> None:
        self.train, _ = hold_out_part(corpus, seed)
        self.corpus = corpus
        self.forest = Forest(self.train, n_states=LAYOUT)
        few = first_part(self.train, seed)
        self.part = None if few is None else Forest(few, n_states=LAYOUT)
        self.whole = Forest(corpus, n_states=LAYOUT)
        self.seed = seed
        self.refit_steps, self.refit_fast = refit
        self.n_jobs = n_jobs

    def component(self, part: Mapping[str, Any]) -> WFA | HMM:
        """Make one component of the mixture again."""
        if "starter" in part:
            model = QUICK_LEARNERS[part["starter"]](self.train).model
            if part.get("counted") and isinstance(model, PFA):
                return counted_on_all(model, self.whole, self.n_jobs)
            return model
        if "steps" not in part:  # a chain from random states
            return self._chain(part, None)
        given = {
            name: given_start(QUICK_LEARNERS[name](self.train).model, self.train, self.seed)
            for verb, name in part["steps"]
            if verb == "given"
        }
        for verb, recipe in part["steps"]:
            if verb == "climbed":
                given[verb] = replay_chain(corpus=self.train, kept=(), **recipe)[1].parameters
        parameters = replay_stirred(part, self.train, self.forest, given, self.part)
        if "chain" in part:
            return self._chain(part, parameters)
        if "gibbs" in part:
            return gibbs_from(parameters, self.train, part["gibbs"]["n_sweeps"], self.seed)
        family = part["family"]
        run = refitting(family, parameters, self.whole, self.refit_fast, self.n_jobs)
        for further in islice(run, self.refit_steps):
            parameters = further
        return family_named(family).model(parameters, self.train.alphabet)

    def _chain(self, part: Mapping[str, Any], start: Parameters | None) -> WFA | HMM:
        return chain_from(self.train, part["chain"], start, self.corpus, part.get("all", ()))
