"""From words to classes: a table of known forms, and the guesser for all others.

A form has two classes, one inside and one at the beginning of a sentence (they differ for words
with a capital). Forms outside the table follow the guesser's trie to a node, which has a class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, repeat
from typing import Any

import numpy as np

from sigmastar.core.arrays import offsets_of
from sigmastar.core.errors import InvalidModel
from sigmastar.core.facts import Bytes, Codes, Fact, Offsets, proved
from sigmastar.core.garbage import collector_resting
from sigmastar.core.remembered import bytes_of_word, remembered
from sigmastar.core.threads import ForkLock
from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.tagging.kernels.suffixes import N_SHAPES, Endings
from sigmastar.tagging.kernels.words import Spans
from sigmastar.tagging.lexicon.guesser import SuffixTrie
from sigmastar.tagging.lexicon.words import WordTable, join_words, split_words, word_spans

__all__ = ["Vocabulary", "cut_names"]

_MOST_REMEMBERED = 1 << 15  # words, and their characters: a service must not grow with its guests
_MOST_CHARACTERS = 1 << 23
FACTS: dict[str, Fact] = {
    "form_offsets": Offsets("forms", into="form_bytes"),
    "form_bytes": Bytes("form_bytes"),
    "form_inside": Codes("forms", below="classes"),
    "form_initial": Codes("forms", below="classes"),
    "node_classes": Codes("nodes", below="classes"),
    "trie_keys": Codes("slots", low=-(1 << 63), below=1 << 63, dtype=np.int64),
    "trie_children": Codes("slots", low=-1, below="nodes"),
    "trie_depth": Codes(1, below=1 << 16, dtype=np.int64),
}


def cut_names(codes: SymbolArray, names: Sequence[str], starts: IndexArray) -> list[list[str]]:
    """Turn numbers into names, and cut them into sentences."""
    ends = starts.tolist()
    with collector_resting():
        flat = np.array(names, dtype=object)[codes].tolist()
        return [flat[a:b] for a, b in pairwise(ends)]


@dataclass(eq=False)
class Vocabulary:
    """The classes of known forms and of guessed ones."""

    forms: Sequence[str]  # distinct
    inside: SymbolArray  # class of each form inside a sentence,
    initial: SymbolArray  # and at its beginning
    trie: SuffixTrie  # the endings known to the guesser
    node_classes: SymbolArray  # class of each node of the trie

    def __post_init__(self) -> None:
        self.forms = tuple(self.forms)
        for name in ("inside", "initial", "node_classes"):
            setattr(self, name, np.ascontiguousarray(getattr(self, name), np.int32))
        self._table: WordTable | None = None
        self._lock = ForkLock()
        self._memory: _Memory | None = None

    def classes(self, sentences: Sequence[Sequence[str]]) -> tuple[SymbolArray, IndexArray]:
        """Return the class of every word of many sentences, and where each sentence begins."""
        lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
        offsets = offsets_of(lengths)
        numbers, guessed = self._numbers(sentences, int(offsets[-1]))
        begins = offsets[:-1][lengths > 0]
        unknown = numbers >= len(self.forms)
        known = np.where(unknown, 0, numbers)
        codes = self.inside[known] if len(self.forms) else known
        codes[unknown] = guessed[numbers[unknown] - len(self.forms), 0]
        if len(self.forms):
            codes[begins] = self.initial[known[begins]]
        begins = begins[unknown[begins]]
        codes[begins] = guessed[numbers[begins] - len(self.forms), 1]
        return codes, offsets

    def _numbers(
        self, sentences: Sequence[Sequence[str]], total: int
    ) -> tuple[SymbolArray, SymbolArray]:
        """Return the number of each word, and the two classes of those beyond the known forms.

        Unknown words are guessed once and remembered. A memory only grows: numbers taken from it
        stay right whatever other threads add, and when it is full, or all
        taggers together remember too much, a new one takes its place.
        """
        memory = self._remembered()
        numbers = _look_up(memory, sentences, total)
        if numbers.min(initial=0) >= 0:
            return numbers, memory.guessed
        with self._lock:
            memory = self._remembered()
            words = dict.fromkeys(chain.from_iterable(sentences))
            new = [word for word in words if word not in memory.codes]
            spans = word_spans(new)  # refuses what is no string
            if memory.is_full(new):
                remembered.drop(self)
                memory = self._memory = _Memory(self.forms)
                new = [word for word in words if word not in memory.codes]
                spans = word_spans(new)
            memory.add(new, np.stack([self.guess(spans, f) for f in (False, True)], axis=1))
            remembered.grow(self, sum(map(bytes_of_word, new)))
        return _look_up(memory, sentences, total), memory.guessed

    def forget(self) -> None:
        """Give up what is remembered; who is looking something up keeps it as long as that."""
        self._memory = None

    def _remembered(self) -> _Memory:
        """Return the memory; two threads may both begin one, of which one stays."""
        memory = self._memory
        if memory is None:
            memory = self._memory = _Memory(self.forms)
        return memory

    def guess(self, words: Spans, first: bool) -> SymbolArray:
        """Return the guesser's class of each word, all at the beginning of a sentence or none."""
        flags = np.full(len(words.begins), first)
        guessed: SymbolArray = self.node_classes[self.trie.nodes(words, flags)]
        return guessed

    def classes_of_bytes(self, tokens: Spans, starts: IndexArray) -> SymbolArray:
        """Return the class of every token of a text, given where tokens and sentences are."""
        if self._table is None:
            self._table = WordTable(self.forms)
        numbers = self._table.find(tokens)
        codes = self.inside[np.maximum(numbers, 0)]
        heads = starts[:-1][np.diff(starts) > 0]
        codes[heads] = self.initial[np.maximum(numbers[heads], 0)]
        missing = np.flatnonzero(numbers < 0)
        if len(missing):
            first = np.zeros(len(numbers), bool)
            first[heads] = True
            unknown = Spans(tokens.data, tokens.begins[missing], tokens.ends[missing])
            nodes = self.trie.nodes(unknown, first[missing])
            codes[missing] = self.node_classes[nodes]
        return codes

    def marked(self, words: Sequence[str], n_classes: int) -> Vocabulary:
        """Return a vocabulary that tells some words apart.

        To the class of the first word n_classes is added, to that of the second twice as much, and
        so on.
        """
        new = [word for word in words if word not in set(self.forms)]
        spans = word_spans(new)
        guessed = [self.guess(spans, first) for first in (False, True)]
        inside = np.concatenate((self.inside, guessed[0])).astype(np.int32)
        initial = np.concatenate((self.initial, guessed[1])).astype(np.int32)
        forms = (*self.forms, *new)
        place = {form: number for number, form in enumerate(forms)}
        for number, word in enumerate(words, 1):
            inside[place[word]] += number * n_classes
            initial[place[word]] += number * n_classes
        return Vocabulary(forms, inside, initial, self.trie, self.node_classes)

    def unmarked(self, n_classes: int) -> Vocabulary:
        """Return the vocabulary that tells no words apart; see :meth:`marked`."""
        inside, initial = self.inside % n_classes, self.initial % n_classes
        return Vocabulary(self.forms, inside, initial, self.trie, self.node_classes)

    def to_arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        """Give the named arrays of the vocabulary."""
        blob, offsets = join_words(self.forms)
        return {
            "form_bytes": blob,
            "form_offsets": offsets,
            "form_inside": self.inside,
            "form_initial": self.initial,
            "trie_keys": self.trie.endings.keys,
            "trie_children": self.trie.endings.children,
            "trie_depth": np.array([self.trie.depth], np.int64),
            "node_classes": self.node_classes,
        }

    @classmethod
    def from_arrays(cls, array: Any, n_classes: int) -> Vocabulary:
        """Rebuild from named arrays (``array`` gives one by name), checking every index."""
        given = {name: array(name) for name in FACTS}
        end = given["form_offsets"].ravel()[-1:]
        if len(end) and 0 <= int(end[0]) <= len(given["form_bytes"]):
            given["form_bytes"] = given["form_bytes"][: int(end[0])]  # the buffer may be longer
        found = proved(FACTS, given, classes=n_classes)
        keys, children = found["trie_keys"], found["trie_children"]
        if len(keys) & (len(keys) - 1) or (children >= 0).all():
            raise InvalidModel(
                "trie_children must be a power of two long, with a free slot that ends a search."
            )
        if len(found["node_classes"]) < N_SHAPES:
            raise InvalidModel(f"node_classes must have a node for each of {N_SHAPES} shapes.")
        return cls(
            forms=split_words(found["form_bytes"], found["form_offsets"]),
            inside=found["form_inside"],
            initial=found["form_initial"],
            trie=SuffixTrie(Endings(keys, children), int(found["trie_depth"][0])),
            node_classes=found["node_classes"],
        )


class _Memory:
    """Numbers of words: the known forms, then words that were guessed, with their classes."""

    def __init__(self, forms: Sequence[str]) -> None:
        self.codes = {form: number for number, form in enumerate(forms)}
        self.guessed = np.empty((64, 2), np.int32)  # inside and at the beginning of a sentence
        self.n_guessed = 0
        self._n_characters = 0
        self._first = len(forms)

    def is_full(self, words: Sequence[str]) -> bool:
        """Tell whether new words do not fit in, though there are others that could be forgotten."""
        more = sum(map(len, words))
        full = self.n_guessed + len(words) > _MOST_REMEMBERED
        return self.n_guessed > 0 and (full or self._n_characters + more > _MOST_CHARACTERS)

    def add(self, words: Sequence[str], classes: SymbolArray) -> None:
        """Remember new words: their classes first, for whoever finds their numbers looks there."""
        n = self.n_guessed + len(words)
        if n > len(self.guessed):
            larger = np.empty((2 * n, 2), np.int32)
            larger[: self.n_guessed] = self.guessed[: self.n_guessed]
            self.guessed = larger
        self.guessed[self.n_guessed : n] = classes
        first = self._first + self.n_guessed
        self.n_guessed = n
        self._n_characters += sum(map(len, words))
        self.codes.update(zip(words, range(first, first + len(words)), strict=True))


def _look_up(memory: _Memory, sentences: Sequence[Sequence[str]], total: int) -> SymbolArray:
    """Return the number of each word, -1 for one that is not remembered."""
    words = chain.from_iterable(sentences)
    return np.fromiter(map(memory.codes.get, words, repeat(-1)), np.int32, total)
