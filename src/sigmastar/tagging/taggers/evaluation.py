"""How well a tagger does: accuracy on known and unknown words, and what it confuses."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from sigmastar.core.confusion import confusion
from sigmastar.core.types import BoolArray
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.tagging.lexicon.marks import split_mark
from sigmastar.tagging.taggers.sentences import check_tags, tags_of, words_of
from sigmastar.tagging.taggers.tagger import Tagger

__all__ = ["evaluate_tagger"]

_MOST_CONFUSIONS = 50


def evaluate_tagger(tagger: Tagger, corpus: PairCorpus) -> dict[str, Any]:
    """Compare a tagger's tags with a corpus's; accuracies are shares, None where there is nothing.

    Words are known if the tagger's vocabulary lists them as they stand. Marks of phrases are left
    out of the comparison; tags of which the tagger knows none are refused.
    """
    sentences = words_of(corpus)
    forms = set(tagger.vocabulary_.forms)
    gold = tags_of(corpus)
    check_tags(tagger.tags_, gold)
    guessed = [split_mark(tag)[0] for tags in tagger.predict(sentences) for tag in tags]
    right = np.array([a == b for a, b in zip(guessed, gold, strict=True)], bool)
    known = np.array([word in forms for sentence in sentences for word in sentence], bool)
    ends = corpus.source.offsets
    whole = np.array([right[a:b].all() for a, b in pairwise(ends.tolist())], bool)
    errors = confusion(gold, guessed).errors(_MOST_CONFUSIONS)
    return {
        "accuracy": _share(right),
        "n_words": len(right),
        "known_accuracy": _share(right[known]),
        "n_known": int(known.sum()),
        "unknown_accuracy": _share(right[~known]),
        "n_unknown": int((~known).sum()),
        "sentence_accuracy": _share(whole),
        "n_sentences": len(whole),
        "confusions": [{"right": b, "given": a, "times": times} for b, a, times in errors],
    }


def _share(values: BoolArray) -> float | None:
    return float(values.mean()) if len(values) else None
