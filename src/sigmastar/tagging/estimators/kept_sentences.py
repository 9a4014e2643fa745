"""Tagged sentences kept beside a tagger, to learn on from: joined, and as arrays of a file."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from sigmastar.core.errors import InvalidParameter
from sigmastar.corpus.alphabet_json import alphabet_from_json, alphabet_to_json
from sigmastar.corpus.continuing import joined, whole
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.pairs import PairCorpus

__all__ = ["joined_sentences", "kept_sentences", "sentences_to_keep"]


def joined_sentences(before: PairCorpus | None, more: PairCorpus) -> PairCorpus:
    """Put tagged sentences behind others, over the words and tags of both."""
    if before is None:
        return more
    return PairCorpus(joined(before.source, more.source), joined(before.target, more.target))


def sentences_to_keep(tagged: PairCorpus | None) -> dict[str, np.ndarray[Any, Any]]:
    """Return tagged sentences as arrays: codes of words and tags, and their names as JSON."""
    if tagged is None:
        raise InvalidParameter("there are no sentences to keep. Call fit first.")
    names = [alphabet_to_json(side.alphabet) for side in (tagged.source, tagged.target)]
    return {
        "words": tagged.source.symbols,
        "tags": tagged.target.symbols,
        "offsets": tagged.source.offsets,
        "names": np.frombuffer(json.dumps(names).encode(), dtype=np.uint8),
    }


def kept_sentences(kept: dict[str, np.ndarray[Any, Any]]) -> PairCorpus:
    """Return the tagged sentences of such arrays; whatever is wrong with them is a ValueError."""
    words, tags = json.loads(whole(kept["names"]).astype(np.uint8).tobytes().decode())
    offsets = whole(kept["offsets"])
    pairs = PairCorpus(
        Corpus(whole(kept["words"]), offsets, alphabet_from_json(words)),
        Corpus(whole(kept["tags"]), offsets, alphabet_from_json(tags)),
    )
    if not all(isinstance(name, str) for side in (words, tags) for name in side["symbols"]):
        raise ValueError("names must be text")
    return pairs
