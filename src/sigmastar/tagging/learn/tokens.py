"""Learning where tokens and sentences end from a treebank with its text.

A logistic regression over three outcomes at every character (goes on, a token ends, a sentence
ends), by stochastic gradient ascent (AdaGrad). Its weights are hashed; two features that share a
slot share a weight. Tokens of several words take the expansion they have most often; endings tell
those of tokens that were never seen.

References: duchi2011 (docs/references.bib).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import numpy as np

from sigmastar.core.errors import InvalidData
from sigmastar.core.progress import stage
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.types import Learned
from sigmastar.corpus.annotated import AnnotatedText
from sigmastar.tagging.kernels.boundaries import SENTENCE_END, TOKEN_END, UNIT, learn_pass
from sigmastar.tagging.kernels.boundary_features import END, KIND, N_FEATURES, SPACE
from sigmastar.tagging.learn.endings import ending_rules, most_frequent
from sigmastar.tagging.taggers.expansions import Expansion, Expansions, expansion_between
from sigmastar.tagging.taggers.tokenizer import Tokenizer
from sigmastar.tagging.text.characters import boundary_text

__all__ = ["learn_tokens", "train_tokens"]

_STEP = 0.1  # falls to zero in the course of the passes
_LARGEST = 32767


def learn_tokens(
    treebank: AnnotatedText, *, n_passes: int = 6, n_bits: int = 20, random_state: RandomState = 0
) -> Tokenizer:
    """Learn to cut text into sentences, tokens and words.

    Parameters
    ----------
    treebank : AnnotatedText
        Text with its tokens: :func:`sigmastar.read_treebank` of CoNLL-U with ``SpaceAfter``.
    n_passes : int
        Times to go through the text.
    n_bits : int
        The features are hashed to 2 ** n_bits slots.
    random_state : int, Generator or None
        Order of the places in each pass.

    Examples
    --------
    >>> import sigmastar as ss
    >>> tokenizer = ss.learn_tokens(ss.read_treebank("train.conllu"))  # doctest: +SKIP
    >>> tokenizer.tokenize("Don't do it. Please!")  # doctest: +SKIP
    [['Do', "n't", 'do', 'it', '.'], ['Please', '!']]
    """
    return train_tokens(treebank, n_passes=n_passes, n_bits=n_bits, random_state=random_state).model


def train_tokens(
    treebank: AnnotatedText, *, n_passes: int = 6, n_bits: int = 20, random_state: RandomState = 0
) -> Learned[Tokenizer]:
    """Learn to cut text, and say how that went."""
    if not treebank.sentences:
        raise InvalidData("a tokenizer needs at least one sentence to learn from.")
    if not (1 <= n_passes <= 1000 and 8 <= n_bits <= 24):
        raise InvalidData(
            f"n_passes must be from 1 to 1000 and n_bits from 8 to 24; got {n_passes}, {n_bits}."
        )
    chars, words = boundary_text(treebank.text)
    labels = np.zeros(len(chars), np.uint8)
    n_with_blanks = 0
    for sentence in treebank.sentences:
        for token in sentence:
            labels[token.end - 1] = TOKEN_END
            n_with_blanks += any(c.isspace() for c in treebank.form(token))
        labels[sentence[-1].end - 1] = SENTENCE_END
    # A blank ends a token here whatever the treebank says; the kernel relies on it.
    at_end = words[:, END] - 1
    labels[at_end] = np.maximum(labels[at_end], TOKEN_END)
    weights = np.zeros((1 << n_bits, 2))
    squares = np.zeros_like(weights)
    found = np.empty(N_FEATURES, np.int64)
    rng = as_generator(random_state)
    places = np.flatnonzero(chars[:, KIND] != SPACE)
    losses = []
    with stage("Learning where tokens end", n_passes) as progress:
        for number in range(n_passes):
            order = rng.permutation(places)
            step = _STEP * (1 - number / n_passes)
            loss = learn_pass(order, chars, words, labels, weights, squares, step, found)
            losses.append(float(loss) / len(places))
            progress.advance(note=f"{losses[-1]:.5f} nats a character")
    stored = np.clip(np.round(weights / UNIT), -_LARGEST, _LARGEST).astype(np.int16)
    tokenizer = Tokenizer(stored, _expansions(treebank))
    info: dict[str, Any] = {
        "sentences": len(treebank),
        "tokens": int(np.count_nonzero(labels)),
        "tokens_with_blanks": n_with_blanks,
        "loss": losses,
        **tokenizer.facts(),
    }
    return Learned(tokenizer, info)


def _expansions(treebank: AnnotatedText) -> Expansions:
    """Find out which tokens are several words."""
    seen: dict[str, Counter[Expansion]] = defaultdict(Counter)
    for sentence in treebank.sentences:
        for token in sentence:
            form = treebank.form(token)
            found = expansion_between(form, [word.form for word in token.words])
            seen[form.lower()][found] += 1
    if not any(edit.words for edits in seen.values() for edit in edits):
        return Expansions()
    chosen = {("", form): most_frequent(edits) for form, edits in seen.items()}
    endings = {ending: edit for (_, ending), edit in ending_rules(chosen).items()}
    known = Expansions(endings)
    own = {form: edit for (_, form), edit in chosen.items() if known.find(form) != edit}
    return Expansions(endings, own)
