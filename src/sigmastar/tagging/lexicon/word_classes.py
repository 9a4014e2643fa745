"""Every word a class of its own: scores of tags given words, with the tag before as context.

P(t|w) is the word's frequencies shrunk towards what the guesser says of its form; unlikely tags are
dropped. The score log P(t|w)/P(t) is Bayes' P(w|t) without what is common to all tags. A word seen
more than once also knows how it follows tags: with m the weight of the context, the score gains
log(1 + m/(1-m) · P(t'|w,t)/P(t'|t)) after the tag t', which is the mixture of P(w|t) and P(w|t',t).
Words whose rounded scores agree share a class.

Forms not in the lexicon but close to one that is (Walk, WALK for walk; london, LONDON for London)
borrow its frequencies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from sigmastar.core.arrays import items_of, offsets_of
from sigmastar.core.types import BoolArray, FloatArray, IndexArray
from sigmastar.tagging.kernels.records import Classes
from sigmastar.tagging.lexicon.counts import Lexicon, TagCounts
from sigmastar.tagging.lexicon.guesser import Guesser, SuffixTrie
from sigmastar.tagging.lexicon.neighbours import Neighbours, no_neighbours
from sigmastar.tagging.lexicon.raw_words import RawWords, normal_form
from sigmastar.tagging.lexicon.vocabulary import Vocabulary
from sigmastar.tagging.model import SCORE_UNIT
from sigmastar.tagging.settings import TaggerSettings

__all__ = [
    "Candidates",
    "Entries",
    "Gains",
    "context_gains",
    "kindred_forms",
    "likely_tags",
    "merged_classes",
    "word_entries",
]

A = TypeVar("A", np.int32, np.int64)

_ROUND_SCORE = 8  # classes are equal if their scores agree to 1/8 nat, their contexts to 1/4
_ROUND_CONTEXT = 4
_LARGEST = 4095  # of a rounded gain
_BATCH = 4096
_BORROWED_PRIOR = 2.0  # as settings.prior, for a form that borrows its frequencies
_CONTEXT_COUNT = 2  # how often a word must be seen to know how it follows tags


@dataclass(frozen=True, eq=False)
class Entries:
    """What may become a class.

    One entry for each node of the guesser, one for each form inside a sentence, and one for each
    form at its beginning that differs there (those are ``apart``). While a tagger is trained there
    are ``shadows`` as well: known words as if only raw text had told of them.
    """

    forms: Sequence[str]
    apart: IndexArray
    trie: SuffixTrie
    word: IndexArray  # a known word for each entry, -1: none
    node: IndexArray  # and what the guesser makes of it
    borrowed: BoolArray  # whether it is another form's word
    raw: RawWords | None = None  # what untagged text tells of the forms
    shadows: IndexArray = field(default_factory=lambda: np.zeros(0, np.int64))  # whose they are

    def __len__(self) -> int:
        return len(self.word)

    def by_form(self, values: NDArray[A]) -> tuple[NDArray[A], NDArray[A], NDArray[A]]:
        """Cut an array over entries: of nodes, of forms inside, of forms at the beginning."""
        last = len(self) - len(self.apart) - len(self.shadows)
        first = last - len(self.forms)
        inside, initial = values[first:last], values[first:last].copy()
        initial[self.apart] = values[last : last + len(self.apart)]
        return values[:first], inside, initial

    def shadowed(self, n_words: int) -> Entries:
        """Add shadows of the first forms, the known words, wherever raw text tells of them."""
        if self.raw is None:
            return self
        nodes, _, _ = self.by_form(self.node)
        form = np.concatenate((nodes * 0 - 1, np.arange(len(self.forms)), self.apart))
        told = np.array([normal_form(form) in self.raw.places for form in self.forms[:n_words]])
        shadows = np.flatnonzero((form >= 0) & (form < n_words))
        shadows = shadows[told[form[shadows]]]
        return replace(
            self,
            shadows=shadows,
            word=np.concatenate((self.word, shadows * 0 - 1)),
            node=np.concatenate((self.node, self.node[shadows])),
            borrowed=np.concatenate((self.borrowed, shadows < 0)),
        )


class Candidates(NamedTuple):
    """Tags of the entries, entry after entry, with their scores."""

    owner: IndexArray
    tag: IndexArray
    score: FloatArray


class Gains(NamedTuple):
    """What a candidate of an entry gains after a tag, for every context seen."""

    entry: IndexArray
    which: IndexArray
    before: IndexArray
    gain: FloatArray


def kindred_forms(words: tuple[str, ...]) -> list[tuple[str, int, bool]]:
    """List forms outside the lexicon with the word each borrows from, and whether anywhere.

    A capitalised form of a lower-case word is that word at the beginning of a sentence only.
    """
    known = set(words)
    found: dict[str, tuple[int, bool]] = {}
    for number, word in enumerate(words):
        if word == word.lower() and word != word.upper():
            capital = word[:1].upper() + word[1:]
            if capital not in known:
                found[capital] = (number, False)
            upper = word.upper()
            if len(word) > 1 and upper not in known:
                found[upper] = (number, True)
    for number, word in enumerate(words):
        if word[:1].isupper():
            for form in (word[:1].lower() + word[1:], word.upper()):
                if form not in known and form not in found:
                    found[form] = (number, True)
    return [(form, number, anywhere) for form, (number, anywhere) in found.items()]


def word_entries(lexicon: Lexicon, guesser: Guesser, raw: RawWords | None = None) -> Entries:
    """List all forms, those of raw text as well, and all nodes of the guesser."""
    known = [(word, number, True) for number, word in enumerate(lexicon.words)]
    known += kindred_forms(lexicon.words)
    if raw is not None:
        met = {form for form, _, _ in known}
        known += [(form, -1, True) for form in raw.forms if form not in met]
    forms, sources, places = zip(*known, strict=True)
    source, anywhere = np.array(sources, np.int64), np.array(places, bool)
    borrowed = np.arange(len(forms)) >= len(lexicon.words)
    inside = guesser.trie.nodes_of(forms, np.zeros(len(forms), bool))
    initial = guesser.trie.nodes_of(forms, np.ones(len(forms), bool))
    nodes, apart = np.arange(guesser.n_nodes), np.flatnonzero(initial != inside)
    return Entries(
        forms=forms,
        apart=apart,
        trie=guesser.trie,
        word=np.concatenate((nodes * 0 - 1, np.where(anywhere, source, -1), source[apart])),
        node=np.concatenate((nodes, inside, initial[apart])).astype(np.int64),
        borrowed=np.concatenate((nodes < 0, borrowed, borrowed[apart])),
        raw=raw,
    )


def likely_tags(
    entries: Entries,
    lexicon: Lexicon,
    counts: TagCounts,
    guesser: Guesser,
    settings: TaggerSettings,
) -> Candidates:
    """Score the likely tags of all entries."""
    n_tags = len(lexicon.tags)
    log_tag = np.log(np.maximum(counts.unigrams[:n_tags], 0.5))
    parts = []
    source = entries.word
    prior = np.where(entries.borrowed, _BORROWED_PRIOR, settings.prior)
    for begin in range(0, len(source), _BATCH):
        part = slice(begin, begin + _BATCH)
        rows = guesser.dense(entries.node[part].astype(np.int32), n_tags)
        rows /= rows.sum(axis=1, keepdims=True)
        seen = np.flatnonzero(source[part] >= 0)
        rows[seen] *= prior[part][seen, None]
        words = source[part][seen]
        lengths = lexicon.offsets[words + 1] - lexicon.offsets[words]
        where, item = items_of(lexicon.offsets[words], lengths)
        rows[seen[where], lexicon.word_tags[item]] += lexicon.counts[item]
        rows /= rows.sum(axis=1, keepdims=True)
        kept = rows >= settings.least_share * rows.max(axis=1, keepdims=True)
        owner, tag = np.nonzero(kept)
        parts.append((owner + begin, tag, np.log(rows[owner, tag]) - log_tag[tag]))
    return Candidates(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def context_gains(
    entries: Entries,
    found: Candidates,
    lexicon: Lexicon,
    counts: TagCounts,
    settings: TaggerSettings,
) -> Gains:
    """Find what the contexts that were seen with the entries' words are worth."""
    source, (owner, tag, score) = entries.word, found
    n_tags = len(lexicon.tags)
    nothing = np.zeros(0, np.int64)
    if settings.context_weight <= 0:
        return Gains(nothing, nothing, nothing, np.zeros(0))
    word_counts = lexicon.word_counts
    word, before, tag_seen, count = counts.context.T
    begins = np.searchsorted(word, np.arange(len(lexicon.words) + 1))
    able = np.flatnonzero((source >= 0) & (word_counts[source] >= _CONTEXT_COUNT))
    lengths = begins[source[able] + 1] - begins[source[able]]
    which, item = items_of(begins[source[able]], lengths)
    entry = able[which]
    # Where among the entry's candidates the tag stands, if it was kept.
    codes = owner * n_tags + tag
    wanted = entry * n_tags + tag_seen[item]
    place = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
    kept = codes[place] == wanted
    entry, item, place = entry[kept], item[kept], place[kept]
    share = count[item] / word_counts[source[entry]]
    usual = np.exp(score[place]) * counts.bigrams[before[item], tag_seen[item]]
    odds = settings.context_weight / (1 - settings.context_weight)
    gain = np.log1p(odds * share / usual)
    first = np.searchsorted(owner, entry)
    return Gains(entry=entry, which=place - first, before=before[item], gain=gain)


def merged_classes(
    entries: Entries, found: Candidates, gains: Gains, near: Neighbours | None, n_tags: int
) -> tuple[Classes, Vocabulary]:
    """Round scores and give equal entries one class; return the classes, and how to find them."""
    n_entries = len(entries) - len(entries.shadows)
    real = found.owner < n_entries
    found = Candidates(found.owner[real], found.tag[real], found.score[real])
    owner, tag, _ = found
    offsets = np.searchsorted(owner, np.arange(n_entries + 1))
    best = np.maximum.reduceat(found.score, offsets[:-1])[owner]
    score = np.rint((found.score - best) * _ROUND_SCORE).astype(np.int64)
    order = np.lexsort((gains.before, gains.which, gains.entry))
    entry, which, before, exact = (column[order] for column in gains)
    gain = np.rint(exact * _ROUND_CONTEXT).astype(np.int64).clip(-_LARGEST, _LARGEST)
    context_codes = (which * (n_tags + 1) + before) * (2 * _LARGEST + 1) + gain + _LARGEST
    context_offsets = np.searchsorted(entry, np.arange(len(offsets)))
    codes = (tag * 65536 + score + 32768).astype(np.int64)
    if near is None:
        near = no_neighbours(len(entries), n_tags)
    pairs = np.stack((near.after_rows, near.before_rows), axis=1)
    numbers: dict[tuple[bytes, bytes, bytes], int] = {}
    members = np.empty(len(offsets) - 1, np.int32)
    leaders: list[int] = []
    for number in range(len(members)):
        own = codes[offsets[number] : offsets[number + 1]].tobytes()
        context = context_codes[context_offsets[number] : context_offsets[number + 1]].tobytes()
        known = numbers.setdefault((own, context, pairs[number].tobytes()), len(leaders))
        if known == len(leaders):
            leaders.append(number)
        members[number] = known
    lead = np.array(leaders)
    lengths = offsets[lead + 1] - offsets[lead]
    _, item = items_of(offsets[lead], lengths)
    with_context = np.flatnonzero(context_offsets[lead + 1] > context_offsets[lead])
    rows = np.full(len(lead), -1, np.int32)
    rows[with_context] = np.cumsum(lengths[with_context]) - lengths[with_context]
    context_table = np.zeros((int(lengths[with_context].sum()), n_tags + 1), np.int32)
    leader_row = np.full(len(members), -1)
    leader_row[lead] = rows
    mine = leader_row[entry] >= 0
    table_row = leader_row[entry[mine]] + which[mine]
    unit = SCORE_UNIT // _ROUND_CONTEXT
    context_table[table_row, before[mine]] = gain[mine] * unit
    classes = Classes(
        offsets=offsets_of(lengths),
        candidates=tag[item].astype(np.int32),
        scores=(score[item] * (SCORE_UNIT // _ROUND_SCORE)).astype(np.int32),
        context_rows=rows,
        context=context_table,
        after_rows=near.after_rows[lead],
        after=near.after,
        before_rows=near.before_rows[lead],
        before=near.before,
    )
    nodes, inside, initial = entries.by_form(members)
    return classes, Vocabulary(entries.forms, inside, initial, entries.trie, nodes)
