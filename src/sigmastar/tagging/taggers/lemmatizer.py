"""Lemmas of tagged words: exceptions by word, and edits of the ending for all other words.

An edit lower-cases the word or not, cuts letters off its end and adds others: *studies*, VBZ → cut
three, add *y*. A word with a tag may be an exception with an edit of its own; else the longest
known ending of the word decides, among those that were seen with the tag, or with any tag if the
tag is new.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from sigmastar.core.errors import InvalidData
from sigmastar.core.facts import Bytes, Codes, Fact, Offsets, proved
from sigmastar.core.model_files import Stored
from sigmastar.core.remembered import Lately, bytes_of_word
from sigmastar.core.stored_model import StoredModel
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.tagging.lexicon.words import join_words, split_words
from sigmastar.tagging.model import names_of
from sigmastar.tagging.taggers.sentences import tags_of

__all__ = ["ANY_TAG", "Edit", "Lemmatizer", "edit_between"]

ANY_TAG = ""  # of rules for tags that were never seen
LONGEST_ENDING = 8
_MOST_CUT = 1 << 16
_LISTS = ("edit", "ending", "word")  # strings in files: what edits add, endings, exceptions
FACTS: dict[str, Fact] = {
    "edit_offsets": Offsets("edits", into="edit_bytes"),
    "edit_bytes": Bytes("edit_bytes"),
    "edit_lower": Codes("edits", below=2),
    "edit_cut": Codes("edits", below=_MOST_CUT),
    "ending_offsets": Offsets("endings", into="ending_bytes"),
    "ending_bytes": Bytes("ending_bytes"),
    "ending_tags": Codes("endings", below="tags"),
    "ending_edits": Codes("endings", below="edits"),
    "word_offsets": Offsets("words", into="word_bytes"),
    "word_bytes": Bytes("word_bytes"),
    "word_tags": Codes("words", below="tags"),
    "word_edits": Codes("words", below="edits"),
}


class Edit(NamedTuple):
    """From a word to its lemma."""

    lower: bool
    cut: int
    add: str

    def apply(self, word: str) -> str:
        """Return the lemma; a word that is too short for the edit is its own lemma."""
        base = word.lower() if self.lower else word
        if self.cut > len(base) or (self.cut == len(base) and not self.add):
            return base
        return base[: len(base) - self.cut] + self.add


def edit_between(word: str, lemma: str) -> Edit:
    """Return the edit that leads from a word to a lemma and keeps as much of it as it can.

    Where case does not matter it goes by the word in lower case, as words begin sentences, too.
    """
    found = []
    for lower in (True, False):
        base = word.lower() if lower else word
        shared = 0
        while shared < min(len(base), len(lemma)) and base[shared] == lemma[shared]:
            shared += 1
        found.append((-shared, not lower, Edit(lower, len(base) - shared, lemma[shared:])))
    return min(found)[-1]


def _bytes_of_lemma(tagged: tuple[str, str], lemma: str) -> int:
    return bytes_of_word(tagged[1]) + bytes_of_word(lemma)


@dataclass(eq=False, repr=False)
class Lemmatizer(StoredModel):
    """From words and their tags to lemmas; :func:`sigmastar.learn_lemmas` learns one.

    Parameters
    ----------
    endings : mapping from (tag, ending) to Edit
        Endings in lower case; the empty one, if there is one, fits every word.
    words : mapping from (tag, word) to Edit
        Exceptions.

    Examples
    --------
    >>> import sigmastar as ss
    >>> endings = {("NNS", "ies"): (True, 3, "y"), ("NNS", "s"): (True, 1, "")}
    >>> lemmatizer = ss.Lemmatizer(endings, {("NNS", "mice"): (True, 3, "ouse")})
    >>> lemmatizer.lemmas([["cats", "Ponies", "mice"]], [["NNS", "NNS", "NNS"]])
    [['cat', 'pony', 'mouse']]
    """

    endings: Mapping[tuple[str, str], Edit]
    words: Mapping[tuple[str, str], Edit]

    kind: ClassVar[str] = "Lemmatizer"

    def __post_init__(self) -> None:
        self.endings = {key: Edit(*edit) for key, edit in self.endings.items()}
        self.words = {key: Edit(*edit) for key, edit in self.words.items()}
        self._tags = {tag for tag, _ in (*self.endings, *self.words)}
        self._remembered: Lately[tuple[str, str], str] = Lately(_bytes_of_lemma)

    def __repr__(self) -> str:
        return f"Lemmatizer({len(self.endings):,} endings, {len(self.words):,} exceptions)"

    def lemma(self, word: str, tag: str) -> str:
        """Return the lemma of a word with a tag."""
        return self._remembered.one((tag, word), self._find)

    def _find(self, tagged: tuple[str, str]) -> str:
        tag, word = tagged
        return self.find(word, tag)

    def find(self, word: str, tag: str) -> str:
        """Return the lemma of a word with a tag, which is not remembered."""
        return self._edit(word, tag).apply(word)

    def _edit(self, word: str, tag: str) -> Edit:
        known = tag if tag in self._tags else ANY_TAG
        lower = word.lower()
        exception = self.words.get((known, word)) or self.words.get((known, lower))
        if exception is not None:
            return exception
        for n in range(min(LONGEST_ENDING, len(lower)), -1, -1):
            edit = self.endings.get((known, lower[len(lower) - n :]))
            if edit is not None:
                return edit
        return Edit(False, 0, "")

    def lemmas(
        self, sentences: Sequence[Sequence[str]], tags: Sequence[Sequence[str]]
    ) -> list[list[str]]:
        """Return the lemmas of tagged sentences."""
        return [
            [self.lemma(word, tag) for word, tag in zip(words, given, strict=True)]
            for words, given in zip(sentences, tags, strict=True)
        ]

    def score(self, tagged: PairCorpus, lemmas: PairCorpus) -> float:
        """Return the share of words with the right lemma, given the right tags."""
        words = [str(word) for sentence in tagged.source for word in sentence]
        pairs = zip(words, tags_of(tagged), tags_of(lemmas), strict=True)
        right = [self.lemma(word, tag) == lemma for word, tag, lemma in pairs]
        return float(np.mean(right)) if right else 0.0

    def facts(self) -> dict[str, Any]:
        """Return what the lemmatizer knows, in numbers."""
        return {"endings": len(self.endings), "exceptions": len(self.words)}

    def to_stored(self) -> Stored:
        """Give the named arrays and metadata."""
        edits = sorted({*self.endings.values(), *self.words.values()})
        tags = sorted(self._tags)
        edit_number = {edit: number for number, edit in enumerate(edits)}
        tag_number = {tag: number for number, tag in enumerate(tags)}
        lists = {"edit": [edit.add for edit in edits]}
        arrays: dict[str, np.ndarray[Any, Any]] = {
            "edit_lower": np.array([edit.lower for edit in edits], np.int32),
            "edit_cut": np.array([edit.cut for edit in edits], np.int32),
        }
        for name, rules in (("ending", self.endings), ("word", self.words)):
            lists[name] = [text for _, text in rules]
            arrays[f"{name}_tags"] = np.array([tag_number[tag] for tag, _ in rules], np.int32)
            numbers = [edit_number[edit] for edit in rules.values()]
            arrays[f"{name}_edits"] = np.array(numbers, np.int32)
        for name, texts in lists.items():
            arrays[f"{name}_bytes"], arrays[f"{name}_offsets"] = join_words(texts)
        return Stored(self.kind, arrays, {"tags": tags})

    @classmethod
    def from_stored(cls, stored: Stored) -> Lemmatizer:
        """Rebuild from named arrays and metadata, checking every index."""
        tags = names_of(stored, "tags")
        given = {name: stored.array(name) for name in FACTS}
        for name in _LISTS:  # a buffer of nothing holds one byte
            if not given[f"{name}_offsets"].ravel()[-1:].any():
                given[f"{name}_bytes"] = given[f"{name}_bytes"][:0]
        found = proved(FACTS, given, tags=len(tags))
        texts = {
            name: split_words(found[f"{name}_bytes"], found[f"{name}_offsets"]) for name in _LISTS
        }
        columns = (found["edit_lower"].tolist(), found["edit_cut"].tolist(), texts["edit"])
        edits = [Edit(bool(lower), cut, add) for lower, cut, add in zip(*columns, strict=True)]
        rules: dict[str, dict[tuple[str, str], Edit]] = {}
        for name in ("ending", "word"):
            numbers = zip(found[f"{name}_tags"].tolist(), texts[name], strict=True)
            keys = [(tags[tag], text) for tag, text in numbers]
            if len(set(keys)) < len(keys):
                raise InvalidData(f"the model file has two edits for one {name} and tag.")
            values = [edits[number] for number in found[f"{name}_edits"].tolist()]
            rules[name] = dict(zip(keys, values, strict=True))
        return cls(rules["ending"], rules["word"])
