"""Learners on the 11 coarse tags of the Penn Treebank (Table 4 of Balle, Hamilton, Pineau, 2014).

The word error rate on the test part is the figure to compare. The paper's perplexity is
2^(−Σ p*(x) log p(x)) with p* the share of a sequence among those of the test part: two to the mean
of −log p over the test sequences, so a figure for whole sequences. Which logarithm it takes is not
said; both are given. Beside it stands the perplexity per symbol, ends counted. Settings are chosen
on a part of the training sequences.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from sigmastar.automata.estimators.registry import find_method
from sigmastar.automata.models.subject import automaton_of
from sigmastar.bench.clock import timed
from sigmastar.bench.pautomac import warm_up
from sigmastar.bench.published import TAGS_PERPLEXITY, TAGS_WER
from sigmastar.core.progress import stage
from sigmastar.corpus.corpus import Corpus
from sigmastar.datasets import Splits, load_ptb_tags
from sigmastar.metrics import perplexity_per_symbol, word_error_rate

__all__ = ["TagsResult", "run_tags"]


@dataclass(frozen=True)
class TagsResult:
    """One method on the tags; word error rates in per cent.

    ``perplexity`` takes binary, ``perplexity_natural`` natural logarithms of the probability of a
    sequence.
    """

    method: str
    word_error_rate: float
    published_word_error_rate: float | None
    perplexity: float
    perplexity_natural: float
    published_perplexity: float | None
    perplexity_per_symbol: float
    n_states: int
    seconds: float


def run_tags(
    methods: Sequence[str],
    *,
    data_home: Path | None = None,
    options: Mapping[str, Any] | None = None,
    special: Mapping[str, Mapping[str, Any]] | None = None,
    parts: Splits[Corpus] | None = None,
) -> list[TagsResult]:
    """Run every method; ``options`` go to every estimator, ``special`` has more by method.

    ``parts`` replace the Treebank's.
    """
    builders = {name: find_method(name) for name in methods}
    parts = parts or load_ptb_tags(data_home=data_home)
    train, test = cast(Corpus, parts.train), cast(Corpus, parts.test)
    results = []
    with stage("Penn Treebank tags", len(methods)) as progress:
        for name, builder in builders.items():
            chosen = {**(options or {}), **(special or {}).get(name, {})}
            warm_up(builder, chosen)
            estimator = builder.build(**chosen)
            seconds = timed(estimator.fit, train)
            lost = -float(estimator.log_proba(test).mean())  # nats a sequence
            results.append(
                TagsResult(
                    name,
                    100.0 * word_error_rate(estimator, test),
                    TAGS_WER.get(name),
                    _to_the(math.e, lost),
                    _to_the(2.0, lost),
                    TAGS_PERPLEXITY.get(name),
                    perplexity_per_symbol(estimator, test),
                    automaton_of(estimator).n_states,
                    seconds,
                )
            )
            progress.advance(note=name)
    return results


def _to_the(base: float, power: float) -> float:
    """Return a power, infinite where no number holds it."""
    try:
        return math.pow(base, power)
    except OverflowError:
        return math.inf
