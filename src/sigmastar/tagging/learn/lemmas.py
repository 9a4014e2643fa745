"""Learning lemmas from words, their tags and their lemmas.

For each tag, endings tell the edits of words (:mod:`sigmastar.tagging.learn.endings`); what they
get wrong becomes an exception.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from sigmastar.core.errors import InvalidData
from sigmastar.core.types import Learned
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.tagging.learn.endings import ending_rules, most_frequent
from sigmastar.tagging.taggers.lemmatizer import ANY_TAG, Edit, Lemmatizer, edit_between
from sigmastar.tagging.taggers.sentences import tags_of

__all__ = ["learn_lemmas", "train_lemmas"]

Rules = dict[tuple[str, str], Edit]


def learn_lemmas(tagged: PairCorpus, lemmas: PairCorpus) -> Lemmatizer:
    """Learn to lemmatize from a corpus with tags and the same corpus with lemmas.

    Parameters
    ----------
    tagged : PairCorpus
        Words and their tags: ``read_tagged(path)``.
    lemmas : PairCorpus
        The same words and their lemmas: ``read_tagged(path, column="lemma")``.

    Examples
    --------
    >>> import sigmastar as ss
    >>> words = [["cats", "dogs", "ponies", "cities", "mice"]]
    >>> tagged = ss.PairCorpus.from_pairs([(words[0], ["NNS"] * 5)])
    >>> lemmas = ss.PairCorpus.from_pairs([(words[0], ["cat", "dog", "pony", "city", "mouse"])])
    >>> ss.learn_lemmas(tagged, lemmas).lemma("berries", "NNS")
    'berry'
    """
    return train_lemmas(tagged, lemmas).model


def train_lemmas(tagged: PairCorpus, lemmas: PairCorpus) -> Learned[Lemmatizer]:
    """Learn to lemmatize, and say what there was to learn from."""
    words = [str(word) for sentence in tagged.source for word in sentence]
    if words != [str(word) for sentence in lemmas.source for word in sentence] or not words:
        raise InvalidData(
            "tags and lemmas must belong to the same words, at least one. Read both from one file: "
            'read_tagged(path) and read_tagged(path, column="lemma").'
        )
    if not (tagged.is_aligned and lemmas.is_aligned):
        raise InvalidData("each sentence must have as many tags and lemmas as words.")
    seen: dict[tuple[str, str], Counter[Edit]] = defaultdict(Counter)
    times = Counter(zip(words, tags_of(tagged), tags_of(lemmas), strict=True))
    for (word, tag, lemma), count in times.items():
        edit = edit_between(word, lemma)
        seen[tag, word][edit] += count
        seen[ANY_TAG, word][edit] += count
    chosen = {key: most_frequent(edits) for key, edits in seen.items()}
    endings = ending_rules(chosen)
    model = Lemmatizer(endings, {})
    # A word in lower case is an exception for its capitalised forms, too, so these are looked at
    # again; each time round there are more exceptions, until there is nothing wrong.
    while wrong := _wrong(model, chosen):
        model = Lemmatizer(endings, {**model.words, **wrong})
    return Learned(model, {"n_words": len(words), **model.facts()})


def _wrong(model: Lemmatizer, chosen: Rules) -> Rules:
    """Return the words that a lemmatizer gets wrong."""
    return {
        key: edit
        for key, edit in chosen.items()
        if model.lemma(key[1], key[0]) != edit.apply(key[1])
    }
