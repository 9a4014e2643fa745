"""Learners on the 11 coarse tags of the Penn Treebank (Table 4 of Balle, Hamilton, Pineau, 2014).

The word error rate on the test part is the figure to compare. True probabilities are unknown here,
so instead of the paper's perplexity (which normalises over a list of strings) the perplexity per
symbol is given, ends counted. Settings are chosen on a part of the training sequences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from sigmastar.automata.estimators.registry import find_method
from sigmastar.automata.models.subject import automaton_of
from sigmastar.bench.clock import timed
from sigmastar.bench.pautomac import warm_up
from sigmastar.bench.published import TAGS_WER
from sigmastar.core.progress import stage
from sigmastar.corpus.corpus import Corpus
from sigmastar.datasets import load_ptb_tags
from sigmastar.metrics import perplexity_per_symbol, word_error_rate

__all__ = ["TagsResult", "run_tags"]


@dataclass(frozen=True)
class TagsResult:
    """One method on the tags; word error rates in per cent."""

    method: str
    word_error_rate: float
    published_word_error_rate: float | None
    perplexity_per_symbol: float
    n_states: int
    seconds: float


def run_tags(
    methods: Sequence[str],
    *,
    data_home: Path | None = None,
    options: Mapping[str, Any] | None = None,
) -> list[TagsResult]:
    """Run every method; ``options`` go to every estimator."""
    builders = {name: find_method(name) for name in methods}
    parts = load_ptb_tags(data_home=data_home)
    train, test = cast(Corpus, parts.train), cast(Corpus, parts.test)
    results = []
    with stage("Penn Treebank tags", len(methods)) as progress:
        for name, builder in builders.items():
            warm_up(builder, options or {})
            estimator = builder.build(**(options or {}))
            seconds = timed(estimator.fit, train)
            results.append(
                TagsResult(
                    name,
                    100.0 * word_error_rate(estimator, test),
                    TAGS_WER.get(name),
                    perplexity_per_symbol(estimator, test),
                    automaton_of(estimator).n_states,
                    seconds,
                )
            )
            progress.advance(note=name)
    return results
