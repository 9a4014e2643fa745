"""The hidden Markov model of words and tags that an HMM tagger learns, saves and uses."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from sigmastar.core.errors import InvalidData
from sigmastar.core.model_files import Stored
from sigmastar.core.stored_model import StoredModel
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.tagging.decode import class_posteriors, decode_classes, tag_chances
from sigmastar.tagging.lexicon.vocabulary import Vocabulary
from sigmastar.tagging.model import TagModel, model_fields
from sigmastar.tagging.settings import RULES, TaggerSettings
from sigmastar.tagging.taggers.sentences import Sentences
from sigmastar.tagging.taggers.tagger import Tagger

__all__ = ["HMMTaggerModel", "HMMTagging"]


class HMMTagging(Tagger):
    """What can be asked of an HMM tagger, be it the estimator or the model in a file."""

    decoding: str

    def tag_classes(self, codes: SymbolArray, starts: IndexArray) -> SymbolArray:
        """Return the tags of class sequences, as numbers into ``tags_``."""
        model: HMMTaggerModel = self.trained_model
        if self.decoding == "viterbi":
            return decode_classes(model, codes, starts)
        if len(codes) == 0:
            return np.empty(0, model.candidates.dtype)
        places, chances = class_posteriors(model, codes, starts)
        best = np.array([np.argmax(x) for x in np.split(chances, places[1:])], np.int64)
        tags: SymbolArray = model.candidates[model.offsets[codes] + best]
        return tags

    def _chances(self, codes: SymbolArray, starts: IndexArray, tags: SymbolArray) -> FloatArray:
        return tag_chances(self.trained_model, codes, starts, tags)

    def predict_proba(self, X: Sentences) -> list[list[dict[str, float]]]:
        """Return, for each word, the probabilities of its candidate tags given the sentence."""
        model: HMMTaggerModel = self.trained_model
        codes, starts = self.to_classes(X)
        places, chances = class_posteriors(model, codes, starts)
        words = []
        for code, place in zip(codes.tolist(), places.tolist(), strict=True):
            first, last = model.offsets[code : code + 2].tolist()
            names = (model.tags[t] for t in model.candidates[first:last].tolist())
            values = chances[place : place + last - first].tolist()
            shares: dict[str, float] = {}
            for name, value in zip(names, values, strict=True):  # names may be shared
                shares[name] = shares.get(name, 0.0) + value
            words.append(shares)
        return [words[a:b] for a, b in pairwise(starts.tolist())]


@dataclass(frozen=True, eq=False, repr=False)
class HMMTaggerModel(HMMTagging, TagModel, StoredModel):
    """A :class:`TagModel` that knows words, and how it was trained.

    Parameters
    ----------
    vocabulary : Vocabulary
        From words to classes.
    settings : TaggerSettings
        The parameters of the estimator that learned it.
    """

    vocabulary: Vocabulary = field(kw_only=True)
    settings: TaggerSettings = field(default_factory=TaggerSettings)

    kind: ClassVar[str] = "HMMTagger"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "decoding", self.settings.decoding)

    @property
    def model_(self) -> HMMTaggerModel:
        """The model itself: what was loaded answers to the names of the estimator that wrote it."""
        return self

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the estimator that learned the model."""
        return asdict(self.settings)

    def __repr__(self) -> str:
        facts = ", ".join(f"{value:,} {name}" for name, value in self.facts().items())
        return f"HMMTaggerModel({facts.replace('_', ' ')})"

    def facts(self) -> dict[str, Any]:
        """Return what the tagger knows, in numbers."""
        return {
            "order": self.order,
            "tags": self.n_tags,
            "classes": self.n_classes,
            "ambiguous_classes": int(self.is_ambiguous.sum()),
            "known_forms": len(self.vocabulary.forms),
        }

    def to_stored(self) -> Stored:
        """Give the named arrays and metadata of the tagger."""
        arrays = self.to_arrays() | self.vocabulary.to_arrays()
        return Stored(self.kind, arrays, {"tags": list(self.tags), "parameters": self.get_params()})

    @classmethod
    def from_stored(cls, stored: Stored) -> HMMTaggerModel:
        """Rebuild from named arrays and metadata."""
        fields = model_fields(stored)
        parameters = stored.meta.get("parameters")
        if not isinstance(parameters, dict) or not set(parameters) <= set(RULES):
            raise InvalidData("the parameters of the model file are malformed.")
        # As many classes as the offsets tell; that these are sound is proved below, once.
        n_classes = int(np.size(fields["offsets"])) - 1
        if n_classes < 1:
            raise InvalidData("offsets must give at least one class.")
        vocabulary = Vocabulary.from_arrays(stored.array, n_classes)
        return cls(**fields, vocabulary=vocabulary, settings=TaggerSettings(**parameters))
