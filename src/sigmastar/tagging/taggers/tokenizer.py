"""From text to sentences, tokens and words; a text keeps its places."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from sigmastar.core.errors import InvalidData, InvalidModel
from sigmastar.core.facts import Codes, Fact, Proved, freeze_proved
from sigmastar.core.garbage import collector_resting
from sigmastar.core.model_files import Stored
from sigmastar.core.remembered import Lately, bytes_of_word
from sigmastar.core.stored_model import StoredModel
from sigmastar.core.threads import over_rows
from sigmastar.core.types import BoolArray, IndexArray
from sigmastar.corpus.annotated import AnnotatedText, Token, Word
from sigmastar.tagging.kernels.boundaries import SENTENCE_END, Weights, decide
from sigmastar.tagging.kernels.boundary_features import KIND, N_FEATURES, N_FEATURES_FIRST
from sigmastar.tagging.taggers.expansions import Expansions
from sigmastar.tagging.text.characters import boundary_text
from sigmastar.tagging.text.default_tokens import default_boundaries

__all__ = ["Tokenizer"]

_LARGEST = 1 << 15
_MOST_SLOTS = 1 << 24
FACTS: dict[str, Fact] = {
    "weights": Codes("slots", 2, below=_LARGEST, low=-_LARGEST, dtype=np.int16)
}


def _bytes_of_words(token: str, words: tuple[Word, ...]) -> int:
    return bytes_of_word(token) * (1 + len(words))


@dataclass(frozen=True, eq=False, repr=False)
class Tokenizer(Proved, StoredModel):
    """Cuts text into sentences and tokens, and tokens into words.

    :func:`sigmastar.learn_tokens` learns one from a treebank; :meth:`default` needs none.

    Parameters
    ----------
    weights : array of shape (slots, 2)
        How much each hashed feature speaks for the end of a token, and of a sentence.
    expansions : Expansions
        Which tokens are several words.
    by_rules : bool
        Whether the weights do not count and rules that fit most languages cut the text.
    n_features : int
        How many features the weights were learned with.

    Examples
    --------
    >>> import sigmastar as ss
    >>> tokenizer = ss.Tokenizer.default()
    >>> found = tokenizer.annotate("It costs $9.99, he said. (Really?)")
    >>> [[found.form(token) for token in sentence] for sentence in found]
    [['It', 'costs', '$', '9.99', ',', 'he', 'said', '.'], ['(', 'Really', '?', ')']]
    """

    weights: Weights
    expansions: Expansions = field(default_factory=Expansions)
    by_rules: bool = False
    n_features: int = N_FEATURES

    kind: ClassVar[str] = "Tokenizer"

    def __post_init__(self) -> None:
        freeze_proved(self, FACTS)
        n_slots = len(self.weights)
        if not 1 <= n_slots <= _MOST_SLOTS or n_slots & (n_slots - 1):
            raise InvalidModel(
                f"weights must have a power of two of rows, at most {_MOST_SLOTS:,}; got {n_slots}."
            )
        if self.n_features not in (N_FEATURES_FIRST, N_FEATURES):
            raise InvalidModel(
                f"n_features must be {N_FEATURES_FIRST} or {N_FEATURES}, which this version knows; "
                f"got {self.n_features!r}. Learn the tokenizer again: sigmastar tagger tokens."
            )
        object.__setattr__(self, "_remembered", Lately(_bytes_of_words))

    @classmethod
    def default(cls) -> Tokenizer:
        """Return a tokenizer that was not learned: rules that fit most languages with blanks."""
        return cls(np.zeros((1, 2), np.int16), by_rules=True)

    def __repr__(self) -> str:
        how = "by rules" if self.by_rules else f"{len(self.weights):,} slots"
        return f"Tokenizer({how}, {len(self.expansions.tokens):,} tokens of several words)"

    def boundaries(self, text: str) -> tuple[IndexArray, IndexArray, BoolArray]:
        """Return where tokens begin and end, and which of them end a sentence."""
        if self.by_rules:
            return default_boundaries(text)
        if not text or text.isspace():
            return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.bool_)
        chars, words = boundary_text(text)
        labels = np.empty(len(chars), np.uint8)

        def work(first: int, last: int) -> None:
            found = np.empty(self.n_features, np.int64)
            decide(first, last, chars, words, self.weights, found, labels)

        over_rows(work, len(labels), least=1 << 14)
        ends = np.flatnonzero(labels) + 1
        visible = np.flatnonzero(chars[:, KIND])
        # A token begins with the first visible character after the one before it.
        begins = visible[np.searchsorted(visible, np.concatenate(([0], ends[:-1])))]
        return begins, ends, labels[ends - 1] == SENTENCE_END

    def annotate(self, text: str) -> AnnotatedText:
        """Cut a text into sentences, tokens and words, which have no tags yet."""
        begins, ends, last = self.boundaries(text)
        with collector_resting():
            places = list(zip(begins.tolist(), ends.tolist(), strict=True))
            forms = [text[begin:end] for begin, end in places]
            words = self._remembered.find(forms, self._words)  # type: ignore[attr-defined]
            tokens = [Token(*place, own) for place, own in zip(places, words, strict=True)]
            bounds = [0, *(np.flatnonzero(last) + 1).tolist(), len(tokens)]
            return AnnotatedText(text, [tokens[a:b] for a, b in pairwise(bounds) if a < b])

    def tokenize(self, text: str) -> list[list[str]]:
        """Return the words of each sentence: what a tagger takes."""
        return [[word.form for word in words] for words in self.annotate(text).words()]

    def _words(self, token: str) -> tuple[Word, ...]:
        return tuple(map(Word, self.expansions.words(token)))

    def facts(self) -> dict[str, Any]:
        """Return what the tokenizer knows, in numbers."""
        return {
            "learned": not self.by_rules,
            "slots": len(self.weights),
            "endings_of_several_words": len(self.expansions.endings),
            "tokens_of_several_words": len(self.expansions.tokens),
        }

    def to_stored(self) -> Stored:
        """Give the named arrays and metadata."""
        meta = {
            "expansions": self.expansions.to_json(),
            "by_rules": self.by_rules,
            "features": self.n_features,
        }
        return Stored(self.kind, {"weights": self.weights}, meta)

    @classmethod
    def from_stored(cls, stored: Stored) -> Tokenizer:
        """Rebuild from named arrays and metadata, checking all of it."""
        by_rules = stored.meta.get("by_rules")
        if not isinstance(by_rules, bool):
            raise InvalidData("the model file must say whether its tokenizer goes by rules.")
        expansions = Expansions.from_json(stored.meta.get("expansions"))
        # Files that do not say it are of a time when there were fewer.
        n_features = stored.meta.get("features", N_FEATURES_FIRST)
        if not isinstance(n_features, int):
            raise InvalidData("the model file must tell the number of its tokenizer's features.")
        return cls(stored.array("weights"), expansions, by_rules, n_features)
