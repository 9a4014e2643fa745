"""Rules learned from errors, each held against all that could have been learned."""

from collections import Counter

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.tagging.fst.rules import RuleSet, TagRule
from sigmastar.tagging.learn import brill
from sigmastar.tagging.learn.brill import held_out_tags, learn_rules

TAGS = ["ANY", "B", "C", "D"]
# What contexts look at: t and w for tags and words, and how far away.
CONTEXTS = (
    *(
        "t-1",
        "t+1",
        "t-1 t+1",
        "t-2 t-1",
        "t+1 t+2",
        "w+0",
        "w-1",
        "w+1",
        "w+0 t-1",
        "w+0 t+1",
    ),
    *("w-1 w+0", "w+0 w+1", "w-1 t+1", "t-1 w+1"),
)
TEMPLATES = [
    tuple(({"t": "tag", "w": "word"}[part[0]], int(part[1:])) for part in context.split())
    for context in CONTEXTS
]


def drawn(seed, n=100):
    """Draw sentences, their tags, and guesses that are wrong in contexts of one kind."""
    rng = np.random.default_rng(seed)
    template = TEMPLATES[seed % len(TEMPLATES)]
    words, gold, guessed = [], [], []
    for _ in range(n):
        length = rng.integers(1, 6)
        words.append([f"w{k}" if k else 'a"/' for k in rng.integers(0, 4, length)])
        gold.append([TAGS[k] for k in rng.integers(0, 4, length)])
        wrong = list(gold[-1])
        for place in range(length):
            context = [seen_at(*part, words[-1], gold[-1], place) for part in template]
            odd = context[0] in ("w1", "B", "<s>")
            if len(context) == 2:
                odd &= context[1] in ("w2", "C", "</s>")
            if odd and rng.random() < 0.9:
                wrong[place] = TAGS[(TAGS.index(wrong[place]) + 1) % 4]
        guessed.append(wrong)
    return words, gold, guessed


def seen_at(kind, offset, words, tags, place):
    """Give the word or tag there, or the boundary it lies beyond."""
    at = place + offset
    if 0 <= at < len(tags):
        return words[at] if kind == "word" else tags[at]
    return "<s>" if at < 0 else "</s>"


def gains(words, gold, tags, use_words=True):
    """Count what every rule would correct more than break, as (template, context, old, new)."""
    found, broken = Counter(), Counter()
    for template in TEMPLATES:
        if not use_words and any(kind == "word" for kind, _ in template):
            continue
        for own, right, now in zip(words, gold, tags, strict=True):
            for place in range(len(now)):
                context = tuple(seen_at(*part, own, now, place) for part in template)
                named = [
                    c for c, (kind, _) in zip(context, template, strict=True) if kind == "word"
                ]
                if any(c in ("<s>", "</s>") or "/" in c or '"' in c for c in named):
                    continue
                if now[place] != right[place]:
                    found[template, context, now[place], right[place]] += 1
                else:
                    broken[template, context, now[place]] += 1
    return {rule: count - broken[rule[:3]] for rule, count in found.items()}


def written(template, context, old, new):
    """Write a rule down as it reads."""
    sides, word = {}, ""
    for (kind, offset), value in zip(template, context, strict=True):
        if kind == "word" and offset == 0:
            word = value
        elif value in ("<s>", "</s>"):
            sides[offset] = value
        else:
            quoted = f'"{value}"' if value == "ANY" else value
            sides[offset] = f"{value}/ANY" if kind == "word" else quoted
    left = " ".join(sides[k] for k in sorted(sides) if k < 0).replace("<s> <s>", "<s>")
    right = " ".join(sides[k] for k in sorted(sides) if k > 0).replace("</s> </s>", "</s>")
    return TagRule(source=old, target=new, left=left, right=right, word=word)


def applied(rule, words, tags):
    """Rewrite sentences by a rule set of one rule."""
    rules = RuleSet([rule], TAGS)
    known = rules.alphabet.words
    result = []
    for own, now in zip(words, tags, strict=True):
        codes = np.array([TAGS.index(tag) for tag in now], np.int32)
        marks = np.array([1 + known.index(w) if w in known else 0 for w in own], np.int32)
        found = rules.apply(codes, np.array([0, len(codes)]), marks)
        result.append([TAGS[code] for code in found])
    return result


@pytest.mark.parametrize(
    ("seed", "use_words"),
    [*((seed, True) for seed in range(14)), *((seed, False) for seed in range(5))],
)
def test_each_rule_gains_most_of_all_that_there_are(seed, use_words):
    words, gold, tags = drawn(seed)
    corpus = ss.PairCorpus.from_pairs(zip(words, gold, strict=True))
    learned = learn_rules(corpus, tags, max_rules=12, min_gain=3, use_words=use_words)
    assert list(learned.tags) == TAGS
    for rule in learned.rules:
        worth = gains(words, gold, tags, use_words)
        best = max(worth.values())
        assert best >= 3
        assert rule in {written(*key) for key, gain in worth.items() if gain == best}
        tags = applied(rule, words, tags)
    left = max(gains(words, gold, tags, use_words).values(), default=0)
    assert len(learned.rules) == 12 or left < 3


def test_learning_stops_at_the_number_and_the_gain_asked_for():
    words, gold, tags = drawn(0)
    corpus = ss.PairCorpus.from_pairs(zip(words, gold, strict=True))
    assert len(learn_rules(corpus, tags, max_rules=2, min_gain=1)) == 2
    most = max(gains(words, gold, tags).values())
    assert len(learn_rules(corpus, tags, max_rules=1, min_gain=most)) == 1
    assert len(learn_rules(corpus, tags, max_rules=1, min_gain=most + 1)) == 0
    assert len(learn_rules(corpus, gold, min_gain=1)) == 0
    small = ss.PairCorpus.from_pairs([(["p", "q"], ["B", "C"])])
    assert len(learn_rules(small, [["B", "B"]], min_gain=1)) == 1


def test_each_fold_is_left_out_once_and_the_rest_learned_from(monkeypatch):
    left_out, learn = [], brill.learn_tagger
    words = [[f"w{number}"] for number in range(13)]
    corpus = ss.PairCorpus.from_pairs(zip(words, [["X"], *[["Y"]] * 12], strict=True))

    def watched(rest, settings):
        left_out.append({word for (word,) in words} - {str(word) for (word,) in rest.source})
        return learn(rest, settings)

    monkeypatch.setattr(brill, "learn_tagger", watched)
    assert [len(tags) for tags in held_out_tags(ss.HMMTagger(1), corpus, n_folds=4)] == [1] * 13
    assert sorted(map(len, left_out)) == [3, 3, 3, 4]
    assert set().union(*left_out) == {word for (word,) in words}


def test_folds_and_guesses_must_fit_the_corpus():
    words, gold, tags = drawn(0, n=4)
    corpus = ss.PairCorpus.from_pairs(zip(words, gold, strict=True))
    with pytest.raises(InvalidParameter, match="n_folds must be"):
        held_out_tags(ss.HMMTagger(1), corpus, n_folds=1)
    with pytest.raises(InvalidData, match="4 sentences are too few for 5 folds"):
        held_out_tags(ss.HMMTagger(1), corpus, n_folds=5)
    for n_folds in (2, 4):
        assert len(held_out_tags(ss.HMMTagger(1), corpus, n_folds=n_folds)) == 4
    with pytest.raises(InvalidData, match="one tag for each word"):
        learn_rules(corpus, [*tags[:-1], tags[-1][1:]])
    for change in ({"max_rules": 0}, {"min_gain": 0}):
        with pytest.raises(InvalidParameter, match=f"{next(iter(change))} must be"):
            learn_rules(corpus, tags, **change)
