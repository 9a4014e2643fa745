"""Correction rules learned from a tagger's errors (Brill 1992).

Each round looks at every rule "change tag a to b in context x" that would correct an error, for a
fixed set of contexts (neighbouring tags and words), takes the one that corrects most more than it
breaks, applies it, and starts over. Learn from tags of text that the tagger was not trained on
(:func:`held_out_tags`), or it will see hardly any errors.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from sigmastar.core.errors import InvalidData
from sigmastar.core.progress import stage
from sigmastar.core.rules import Integer, check
from sigmastar.core.types import BoolArray, IndexArray
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.tagging.fst.rules import RuleSet, TagRule
from sigmastar.tagging.learn.supervised import learn_tagger
from sigmastar.tagging.settings import TaggerSettings
from sigmastar.tagging.taggers.sentences import words_of

__all__ = ["held_out_tags", "learn_rules"]

_SHIFT = 1 << 21


# A context: the parts it looks at, as (tag or word, offset).
Template: TypeAlias = tuple[tuple[str, int], ...]
TEMPLATES: tuple[Template, ...] = (
    (("tag", -1),),
    (("tag", 1),),
    (("tag", -1), ("tag", 1)),
    (("tag", -2), ("tag", -1)),
    (("tag", 1), ("tag", 2)),
    (("word", 0),),
    (("word", -1),),
    (("word", 1),),
    (("word", 0), ("tag", -1)),
    (("word", 0), ("tag", 1)),
    (("word", -1), ("word", 0)),
    (("word", 0), ("word", 1)),
    (("word", -1), ("tag", 1)),
    (("tag", -1), ("word", 1)),
)


def held_out_tags(tagger: Any, corpus: PairCorpus, n_folds: int = 5) -> list[list[str]]:
    """Tag a corpus by taggers trained on the rest of it, fold by fold.

    Parameters
    ----------
    tagger : HMMTagger, or a loaded one
        Its settings are used; it need not be fitted.
    corpus : PairCorpus
        Sentences and their tags.
    n_folds : int
        Parts of the corpus, each tagged by a tagger trained on the others.

    Returns
    -------
    list of lists of str
        The tags of each sentence, with the errors that a tagger makes on new text.
    """
    check("n_folds", n_folds, Integer(2))
    if len(corpus) < n_folds:
        raise InvalidData(f"{len(corpus)} sentences are too few for {n_folds} folds.")
    settings = TaggerSettings(**tagger.get_params(deep=False))
    result: list[list[str]] = [[] for _ in range(len(corpus))]
    numbers = np.arange(len(corpus))
    with stage("tagging held-out folds", n_folds) as progress:
        for fold in range(n_folds):
            inside = numbers % n_folds == fold
            model = learn_tagger(corpus.take(numbers[~inside]), settings).model
            tagged = model.predict(words_of(corpus.take(numbers[inside])))
            for number, tags in zip(numbers[inside].tolist(), tagged, strict=True):
                result[number] = tags
            progress.advance()
    return result


def learn_rules(
    corpus: PairCorpus,
    guessed: list[list[str]],
    *,
    max_rules: int = 60,
    min_gain: int = 8,
    use_words: bool = True,
) -> RuleSet:
    """Learn rules that correct guessed tags towards a corpus's own.

    Parameters
    ----------
    corpus : PairCorpus
        Words and their right tags.
    guessed : list of lists of str
        The tags that the tagger gave them.
    max_rules, min_gain : int
        Stop after so many rules, or when the best one corrects fewer errors more than it breaks.
    use_words : bool
        Whether contexts may name words.
    """
    check("max_rules", max_rules, Integer(1))
    check("min_gain", min_gain, Integer(1))
    names = sorted({str(tag) for tag in corpus.target.alphabet} | {t for s in guessed for t in s})
    number = {tag: code for code, tag in enumerate(names)}
    lengths = corpus.source.lengths
    if [len(s) for s in guessed] != lengths.tolist():
        raise InvalidData("guessed must have one tag for each word of the corpus.")
    n = len(names)
    recode = np.array([number[str(tag)] for tag in corpus.target.alphabet], np.int64)
    inside, place = _padded(corpus.source.offsets)
    tags = np.full(len(inside), n, np.int64)
    gold = tags.copy()
    words = np.full(len(inside), len(corpus.source.alphabet), np.int64)
    tags[place] = [number[tag] for sentence in guessed for tag in sentence]
    gold[place] = recode[corpus.target.symbols]
    words[place] = corpus.source.symbols
    vocabulary = [*(str(word) for word in corpus.source.alphabet), "<s>"]
    usable = np.array([not re.search(r'[/"\s]', word) for word in vocabulary])
    usable[-1] = False
    templates = [t for t in TEMPLATES if use_words or all(kind == "tag" for kind, _ in t)]
    rules: list[TagRule] = []
    with stage("learning rules", max_rules) as progress:
        for _ in range(max_rules):
            best: tuple[int, Template, int, int, int] | None = None
            for template in templates:
                context, sound = _context(template, tags, words, usable)
                least = min_gain if best is None else best[0] + 1
                found = _best(tags, gold, context, inside & sound, n, least)
                if found is not None:
                    best = (found[0], template, *found[1:])
            if best is None:
                break
            gain, template, old, new, key = best
            rule = _rule(template, names, vocabulary, old, new, key)
            rules.append(rule)
            progress.advance(1, f"{rule} (+{gain})")
            _apply(template, key, old, new, tags, words)
    return RuleSet(rules, names)


def _padded(offsets: IndexArray) -> tuple[BoolArray, IndexArray]:
    """Leave two places round each sentence; tell which are words, and where."""
    lengths = np.diff(offsets)
    place = np.arange(offsets[-1]) + 2 * (1 + np.repeat(np.arange(len(lengths)), lengths))
    inside = np.zeros(int(offsets[-1]) + 2 * len(lengths) + 2, bool)
    inside[place] = True
    return inside, place


def _context(
    template: Template, tags: IndexArray, words: IndexArray, usable: BoolArray
) -> tuple[IndexArray, BoolArray]:
    """Return the context of every place as a number, and whether a rule may name it."""
    context = np.zeros(len(tags), np.int64)
    sound = np.ones(len(tags), bool)
    for kind, offset in template:
        values = np.roll(tags if kind == "tag" else words, -offset)
        if kind == "word":
            sound &= usable[values]
        context = context * _SHIFT + values
    return context, sound


def _best(
    tags: IndexArray, gold: IndexArray, context: IndexArray, usable: BoolArray, n: int, least: int
) -> tuple[int, int, int, int] | None:
    """Return (gain, old tag, new tag, context) of the best rule for one template.

    None if there is no rule that gains at least ``least``.
    """
    wrong = np.flatnonzero(usable & (tags != gold))
    if len(wrong) == 0:
        return None
    places, which = np.unique(
        np.stack((context[wrong], tags[wrong]), axis=1), axis=0, return_inverse=True
    )
    changes, good = np.unique(which.ravel() * n + gold[wrong], return_counts=True)
    # Few rules correct enough errors; only for these is it worth counting what they would break.
    changes, good = changes[good >= least], good[good >= least]
    if len(changes) == 0:
        return None
    kept, which = np.unique(changes // n, return_inverse=True)
    keys = places[kept, 0] * (n + 1) + places[kept, 1]
    order = np.argsort(keys)
    right = usable & (tags == gold) & np.isin(tags, places[kept, 1])
    mine = context[right] * (n + 1) + tags[right]
    spot = np.minimum(np.searchsorted(keys[order], mine), len(keys) - 1)
    hit = order[spot[keys[order][spot] == mine]]
    gain = good - np.bincount(hit, minlength=len(keys))[which.ravel()]
    top = int(np.argmax(gain))
    if gain[top] < least:
        return None
    key, old = places[kept[which.ravel()[top]]].tolist()
    return int(gain[top]), old, int(changes[top] % n), key


def _values(template: Template, key: int) -> list[tuple[str, int, int]]:
    """Take a context's number apart into (tag or word, offset, value)."""
    parts = []
    for kind, offset in reversed(template):
        key, value = divmod(key, _SHIFT)
        parts.append((kind, offset, value))
    return parts


def _rule(
    template: Template, names: list[str], words: list[str], old: int, new: int, key: int
) -> TagRule:
    """Write a learned rule in the language of rules."""
    sides: dict[int, str] = {}
    word = ""
    for kind, offset, value in _values(template, key):
        if kind == "word" and offset == 0:
            word = words[value]
        elif kind == "word":
            sides[offset] = f"{words[value]}/ANY"
        elif value < len(names):
            sides[offset] = names[value] if _plain(names[value]) else f'"{names[value]}"'
        else:
            sides[offset] = "<s>" if offset < 0 else "</s>"
    left = " ".join(sides[offset] for offset in sorted(sides) if offset < 0)
    right = " ".join(sides[offset] for offset in sorted(sides) if offset > 0)
    left, right = left.replace("<s> <s>", "<s>"), right.replace("</s> </s>", "</s>")
    return TagRule(source=names[old], target=names[new], left=left, right=right, word=word)


def _plain(tag: str) -> bool:
    return tag not in ("ANY", "<s>", "</s>", "_", "#") and '"' not in tag


def _apply(
    template: Template, key: int, old: int, new: int, tags: IndexArray, words: IndexArray
) -> None:
    """Apply a rule from left to right: what stands before is seen as already rewritten."""
    fits: BoolArray = tags == old
    behind: list[Callable[[int], bool]] = []
    for kind, offset, value in _values(template, key):
        if kind == "tag" and offset < 0:
            behind.append(lambda i, offset=offset, value=value: tags[i + offset] == value)  # type: ignore[misc]
        else:
            fits &= np.roll(tags if kind == "tag" else words, -offset) == value
    for place in np.flatnonzero(fits).tolist():
        if all(test(place) for test in behind):
            tags[place] = new
