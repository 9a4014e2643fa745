"""From words to classes: a table of known forms, and the guesser for all others.

A form has two classes, one inside and one at the beginning of a sentence (they differ for words
with a capital). Forms outside the table follow the guesser's trie to a node, which has a class.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence
from itertools import chain, compress, pairwise, repeat
from typing import Any

import numpy as np

from sigmastar.core.errors import InvalidModel
from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.tagging.kernels.suffixes import N_SHAPES, Endings
from sigmastar.tagging.kernels.words import Spans
from sigmastar.tagging.lexicon.guesser import SuffixTrie
from sigmastar.tagging.lexicon.words import WordTable, join_words, split_words, word_spans

__all__ = ["Vocabulary", "cut_names"]

_MOST_REMEMBERED = 1_000_000


def cut_names(codes: SymbolArray, names: Sequence[str], starts: IndexArray) -> list[list[str]]:
    """Turn numbers into names, and cut them into sentences.

    The garbage collector rests meanwhile: it would go through all these new lists several times,
    which costs more than making them, and lists of strings form no cycles.
    """
    ends = starts.tolist()
    resting = gc.isenabled()
    gc.disable()
    try:
        flat = np.array(names, dtype=object)[codes].tolist()
        return [flat[a:b] for a, b in pairwise(ends)]
    finally:
        if resting:
            gc.enable()


class Vocabulary:
    """The classes of known forms and of guessed ones.

    Parameters
    ----------
    forms : sequence of str
        Known forms, distinct.
    inside, initial : arrays of int32
        Class of each form inside and at the beginning of a sentence.
    trie : SuffixTrie
        The endings known to the guesser.
    node_classes : array of int32
        Class of each node of the trie.
    """

    def __init__(
        self,
        forms: Sequence[str],
        inside: SymbolArray,
        initial: SymbolArray,
        trie: SuffixTrie,
        node_classes: SymbolArray,
    ) -> None:
        self.forms = tuple(forms)
        self.inside = np.ascontiguousarray(inside, np.int32)
        self.initial = np.ascontiguousarray(initial, np.int32)
        self.trie = trie
        self.node_classes = np.ascontiguousarray(node_classes, np.int32)
        self._table: WordTable | None = None
        self._codes: dict[str, int] | None = None
        self._more: list[tuple[int, int]] = []

    def classes(self, sentences: Sequence[Sequence[str]]) -> tuple[SymbolArray, IndexArray]:
        """Return the class of every word of many sentences, and where each sentence begins."""
        lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
        offsets = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        numbers = self._numbers(sentences, int(offsets[-1]))
        begins = offsets[:-1][lengths > 0]
        known = len(self.forms)
        if self._more and numbers.max(initial=0) >= known:
            guessed = np.array(self._more, np.int32).reshape(-1, 2)
            inside = np.concatenate((self.inside, guessed[:, 0]))
            initial = np.concatenate((self.initial, guessed[:, 1]))
        else:
            inside, initial = self.inside, self.initial
        codes = inside[numbers]
        codes[begins] = initial[numbers[begins]]
        return codes, offsets

    def _numbers(self, sentences: Sequence[Sequence[str]], total: int) -> SymbolArray:
        """Return the number of each word; unknown words are guessed once and remembered."""
        if self._codes is None:
            self._codes = {form: number for number, form in enumerate(self.forms)}
        get = self._codes.get
        flat = chain.from_iterable(sentences)
        numbers = np.fromiter(map(get, flat, repeat(-1)), np.int32, total)
        missing = np.flatnonzero(numbers < 0)
        if len(missing) == 0:
            return numbers
        words = list(compress(chain.from_iterable(sentences), (numbers < 0).tolist()))
        new = list(dict.fromkeys(words))
        full = len(self._more) + len(new) > _MOST_REMEMBERED
        if full:
            self._codes = {form: number for number, form in enumerate(self.forms)}
            self._more = []
            new = [w for w in dict.fromkeys(chain.from_iterable(sentences)) if w not in self._codes]
        spans = word_spans(new)
        pairs = [self.guess(spans, first) for first in (False, True)]
        count = len(self.forms) + len(self._more)
        self._more.extend(zip(pairs[0].tolist(), pairs[1].tolist(), strict=True))
        self._codes.update(zip(new, range(count, count + len(new)), strict=True))
        if full:  # words remembered before have other numbers now
            return self._numbers(sentences, total)
        numbers[missing] = np.fromiter(map(self._codes.__getitem__, words), np.int32, len(words))
        return numbers

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
        return Vocabulary(
            forms=forms,
            inside=inside,
            initial=initial,
            trie=self.trie,
            node_classes=self.node_classes,
        )

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
        offsets = np.asarray(array("form_offsets"), np.int64)
        blob = np.asarray(array("form_bytes"), np.uint8)
        if len(offsets) == 0 or offsets[0] != 0 or (np.diff(offsets) < 0).any():
            raise InvalidModel("the offsets of the forms are malformed.")
        if offsets[-1] > len(blob):
            raise InvalidModel("the forms reach beyond their buffer.")
        keys = np.asarray(array("trie_keys"), np.int64)
        children = np.asarray(array("trie_children"), np.int32)
        nodes = np.asarray(array("node_classes"), np.int32)
        inside, initial = (np.asarray(array(f"form_{x}"), np.int32) for x in ("inside", "initial"))
        size = len(keys)
        if size == 0 or size & (size - 1) or len(children) != size or (children >= 0).all():
            raise InvalidModel("the table of the guesser is malformed.")
        if len(nodes) < N_SHAPES or children.max(initial=-1) >= len(nodes):
            raise InvalidModel("the nodes of the guesser are malformed.")
        if not len(inside) == len(initial) == len(offsets) - 1:
            raise InvalidModel("each form needs two classes.")
        for codes in (inside, initial, nodes):
            if codes.min(initial=0) < 0 or codes.max(initial=0) >= n_classes:
                raise InvalidModel(f"classes must lie between 0 and {n_classes - 1}.")
        depth = int(np.asarray(array("trie_depth")).ravel()[0])
        return cls(
            forms=split_words(blob, offsets),
            inside=inside,
            initial=initial,
            trie=SuffixTrie(Endings(keys, children), depth),
            node_classes=nodes,
        )
