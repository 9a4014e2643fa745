"""Lexicon and guesser as sequential transducers, from letters to classes (Kempe 1997, section 4).

The lexicon reads a word letter by letter and writes its class at the end; it is built from the
sorted words as a minimal acyclic machine. The guesser reads the word's shape,
then its letters from the last to the first, and writes the class of the longest ending it knows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sigmastar.core.types import SymbolArray
from sigmastar.tagging.fst.sequential import NO_STRINGS, SequentialTransducer
from sigmastar.tagging.kernels.suffixes import N_SHAPES, decode_word, word_shape
from sigmastar.tagging.lexicon.vocabulary import Vocabulary
from sigmastar.tagging.lexicon.words import character_properties, word_spans

__all__ = ["OTHER", "guesser_input", "guesser_transducer", "lexicon_transducer"]

OTHER = "<other>"  # a letter that no known ending has


def lexicon_transducer(
    vocabulary: Vocabulary, class_names: Sequence[str], *, initial: bool = False
) -> SequentialTransducer:
    """Build the transducer from the letters of known words to their classes.

    ``initial`` gives the classes at the beginning of a sentence. Unknown words are refused.
    """
    classes = vocabulary.initial if initial else vocabulary.inside
    words = sorted(zip(vocabulary.forms, classes.tolist(), strict=True))
    arcs: list[dict[str, int]] = [{}]
    final = [-1]
    for word, code in words:
        state = 0
        for letter in word:
            if letter not in arcs[state]:
                arcs[state][letter] = len(arcs)
                arcs.append({})
                final.append(-1)
            state = arcs[state][letter]
        final[state] = code
    # From the leaves up, a state whose future was met before gives way to that one.
    same = list(range(len(arcs)))
    known: dict[tuple[int, tuple[tuple[str, int], ...]], int] = {}
    for state in reversed(same):
        arcs[state] = {letter: same[target] for letter, target in arcs[state].items()}
        same[state] = known.setdefault((final[state], tuple(arcs[state].items())), state)
    order, seen = [0], {0: 0}
    for state in order:
        for target in arcs[state].values():
            if target not in seen:
                seen[target] = len(order)
                order.append(target)
    alphabet = sorted({letter for word, _ in words for letter in word})
    number = {letter: place for place, letter in enumerate(alphabet)}
    targets = np.full((len(order), len(alphabet)), -1, np.int32)
    for row, state in enumerate(order):
        for letter, target in arcs[state].items():
            targets[row, number[letter]] = seen[target]
    ends = np.array([final[state] for state in order], np.int32)
    return _classifying(targets, np.where(ends >= 0, ends + 1, -1), alphabet, class_names)


def guesser_transducer(vocabulary: Vocabulary, class_names: Sequence[str]) -> SequentialTransducer:
    """Build the transducer from a shape and reversed letters (see guesser_input) to classes."""
    parents, points, children = vocabulary.trie.arcs()
    letters = [chr(point) for point in np.unique(points).tolist()]
    place = {letter: N_SHAPES + i for i, letter in enumerate(letters)}
    inputs = [*(f"<shape {i}>" for i in range(N_SHAPES)), *letters, OTHER]
    n_nodes = len(vocabulary.node_classes)
    found = np.unique(vocabulary.node_classes)
    # State 0 reads the shape; then a state for each node; then, for words that left the trie, one
    # for each class.
    left = 1 + n_nodes + np.searchsorted(found, vocabulary.node_classes)
    targets = np.full((1 + n_nodes + len(found), len(inputs)), -1, np.int32)
    targets[0, :N_SHAPES] = 1 + np.arange(N_SHAPES)
    targets[1 : 1 + n_nodes, N_SHAPES:] = left[:, None]
    columns = np.array([place[chr(point)] for point in points.tolist()], np.int64)
    targets[1 + parents, columns] = 1 + children
    targets[1 + n_nodes :, N_SHAPES:] = np.arange(1 + n_nodes, len(targets))[:, None]
    final = np.concatenate(([-1], 1 + vocabulary.node_classes, 1 + found))
    return _classifying(targets, final, inputs, class_names)


def _classifying(
    targets: SymbolArray, final: SymbolArray, inputs: Sequence[str], classes: Sequence[str]
) -> SequentialTransducer:
    """Make the machine that writes a class at the end and nothing before."""
    return SequentialTransducer(targets, np.zeros_like(targets), final, NO_STRINGS, inputs, classes)


def guesser_input(machine: SequentialTransducer, word: str, *, initial: bool = False) -> list[str]:
    """Return what the guesser's transducer reads for a word: shape, then letters from the end."""
    letters_of = word_spans([word])
    points = np.empty(len(letters_of.data) + 1, np.int64)
    n = decode_word(letters_of.data, 0, int(letters_of.ends[0]), points)
    properties = character_properties()
    shape = word_shape(points, n, initial, properties)
    known = set(machine.inputs)
    letters = []
    for point in points[:n][::-1].tolist():
        letter = chr(int(properties[point]) >> 4) if point < len(properties) else chr(point)
        letters.append(letter if letter in known else OTHER)
    return [f"<shape {shape}>", *letters]
