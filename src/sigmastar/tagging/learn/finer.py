"""Hidden tags that are finer than those given out: each tag split by another column of the corpus.

English AUX and VERB follow other words, though both may be VBZ; a tagger that tells them apart
inside is more accurate, on either column. What it learns are pairs of tags. Their names are those
of the first column alone, so several hidden tags may have the same name, and every machine made of
the tagger writes names as before.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from sigmastar.core.errors import InvalidData
from sigmastar.core.types import Learned
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.tagging.taggers.hmm import HMMTaggerModel
from sigmastar.tagging.taggers.sentences import as_sentences

__all__ = ["finer_corpus", "with_names"]

_BETWEEN = "\t"  # which no tag of a file has


def finer_corpus(tagged: PairCorpus, finer: Any) -> PairCorpus:
    """Return the corpus with tags that are pairs: of its own and of the finer ones."""
    if isinstance(finer, PairCorpus):
        finer = finer.target
    other = finer if isinstance(finer, Corpus) else Corpus.from_sequences(as_sentences(finer))
    own = tagged.target
    if not np.array_equal(own.offsets, other.offsets):
        raise InvalidData(
            f"finer must have a tag for each word; got {other.n_symbols:,} tags in {len(other):,} "
            f"sentences for {own.n_symbols:,} words in {len(own):,}."
        )
    codes = own.symbols.astype(np.int64) * len(other.alphabet) + other.symbols
    used, symbols = np.unique(codes, return_inverse=True)
    names = [
        f"{own.alphabet[code // len(other.alphabet)]}{_BETWEEN}"
        f"{other.alphabet[code % len(other.alphabet)]}"
        for code in used.tolist()
    ]
    return PairCorpus(tagged.source, Corpus(symbols, own.offsets, Alphabet(names)))


def with_names(learned: Learned[HMMTaggerModel]) -> Learned[HMMTaggerModel]:
    """Give the tags of a tagger that learned pairs the names of the first column.

    ``info["finer"]`` has those of the second, tag by tag.
    """
    names = [name.partition(_BETWEEN) for name in learned.model.tags]
    model = replace(learned.model, tags=tuple(first for first, _, _ in names))
    return Learned(model, {**learned.info, "finer": [last for _, _, last in names]})
