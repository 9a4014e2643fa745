"""How well a tagger does: accuracy on known and unknown words, and what it confuses."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from sigmastar.corpus.pairs import PairCorpus

__all__ = ["evaluate_tagger"]


def evaluate_tagger(tagger: Any, corpus: PairCorpus) -> dict[str, Any]:
    """Compare a tagger's tags with a corpus's; accuracies are shares, None where there is nothing.

    Words are known if the tagger's vocabulary lists them as they stand.
    """
    sentences = [[str(word) for word in sentence] for sentence in corpus.source]
    vocabulary = getattr(tagger, "vocabulary_", None) or tagger.vocabulary
    forms = set(vocabulary.forms)
    guessed = [tag for sentence in tagger.predict(sentences) for tag in sentence]
    gold = [str(tag) for sentence in corpus.target for tag in sentence]
    right = np.array([a == b for a, b in zip(guessed, gold, strict=True)], bool)
    known = np.array([word in forms for sentence in sentences for word in sentence], bool)
    whole = [
        bool(right[a:b].all())
        for a, b in zip(corpus.source.offsets[:-1], corpus.source.offsets[1:], strict=True)
    ]
    pairs = Counter((b, a) for a, b in zip(guessed, gold, strict=True) if a != b)

    def share(values: Any) -> float | None:
        return float(np.mean(values)) if len(values) else None

    return {
        "accuracy": share(right),
        "n_words": len(right),
        "known_accuracy": share(right[known]),
        "n_known": int(known.sum()),
        "unknown_accuracy": share(right[~known]),
        "n_unknown": int((~known).sum()),
        "sentence_accuracy": share(whole),
        "n_sentences": len(whole),
        "confusions": [
            {"right": b, "given": a, "times": times} for (b, a), times in pairs.most_common(50)
        ],
    }
