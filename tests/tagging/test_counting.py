"""What taggers learn from counts: guessers, first steps of Baum-Welch, endings, boundaries."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.core.errors import InvalidData
from sigmastar.corpus.annotated import AnnotatedText, Token, Word
from sigmastar.tagging.kernels.boundaries import UNIT
from sigmastar.tagging.kernels.posterior import expected_counts
from sigmastar.tagging.kernels.records import Moves
from sigmastar.tagging.learn import parts, supervised, tokens
from sigmastar.tagging.learn.baum_welch import learn_untagged
from sigmastar.tagging.learn.endings import ending_rules, most_frequent
from sigmastar.tagging.learn.supervised import learn_guesser_of
from sigmastar.tagging.lexicon.class_sets import build_class_sets
from sigmastar.tagging.lexicon.counts import Lexicon
from sigmastar.tagging.model import SCORE_UNIT
from sigmastar.tagging.settings import TaggerSettings
from sigmastar.tagging.taggers.lemmatizer import LONGEST_ENDING, Edit
from tagging.test_tagger import corpus

SENTENCES = [["run", "dogs", "run"], [], ["the", "dogs", "run"], ["cats"], ["the", "cats", "run"]]
GOLD = [["V", "N", "N"], [], ["D", "N", "V"], ["N"], ["D", "N", "V"]]


@pytest.fixture
def told(monkeypatch):
    """Remember what guessers are learned from."""
    seen, learn = [], supervised.learn_guesser

    def watched(rare, n_tags, settings):
        columns = (rare.words, rare.first.tolist(), rare.tags.tolist(), rare.weights.tolist())
        seen.append({tuple(row): weight for *row, weight in zip(*columns, strict=True)})
        return learn(rare, n_tags, settings)

    monkeypatch.setattr(supervised, "learn_guesser", watched)
    return seen


@pytest.mark.parametrize("rare_count", [1, 2, 4])
def test_guessers_learn_from_rare_words_where_they_stood(told, rare_count):
    """Each by its count with a tag over the root of its count; of all words where none is rare."""
    ss.HMMTagger(1, rare_count=rare_count).fit(SENTENCES, GOLD)
    counts = Counter(word for sentence in SENTENCES for word in sentence)
    least = rare_count if min(counts.values()) <= rare_count else max(counts.values())
    tags = sorted({tag for sentence in GOLD for tag in sentence})
    expected = Counter()
    for words, own in zip(SENTENCES, GOLD, strict=True):
        for place, (word, tag) in enumerate(zip(words, own, strict=True)):
            if counts[word] <= least:
                expected[word, place == 0, tags.index(tag)] += 1 / np.sqrt(counts[word])
    assert told[0] == pytest.approx(dict(expected))


@pytest.mark.parametrize("rare_count", [1, 2, 4])
def test_guessers_of_a_lexicon_let_words_stand_in_both_places(told, rare_count):
    lexicon = Lexicon.from_tagged(ss.PairCorpus.from_pairs(zip(SENTENCES, GOLD, strict=True)))
    learn_guesser_of(lexicon, TaggerSettings(rare_count=rare_count))
    counts = Counter(word for sentence in SENTENCES for word in sentence)
    least = rare_count if min(counts.values()) <= rare_count else max(counts.values())
    expected = Counter()
    for words, own in zip(SENTENCES, GOLD, strict=True):
        for word, tag in zip(words, own, strict=True):
            for first in (False, True):
                if counts[word] <= least:
                    expected[word, first, lexicon.tags.index(tag)] += 1 / np.sqrt(counts[word])
    assert told[0] == pytest.approx(dict(expected))


def test_a_corpus_may_have_no_tag_that_its_lexicon_lacks():
    lexicon = Lexicon.from_tagged(ss.PairCorpus.from_pairs(zip(SENTENCES, GOLD, strict=True)))
    with pytest.raises(InvalidData, match="the tag 'Q', which the lexicon does not have"):
        ss.HMMTagger(1, classes="sets").fit([["the", "dogs"]], [["D", "Q"]], lexicon=lexicon)


def test_facts_of_a_tagger_count_what_it_has():
    info = ss.HMMTagger(1, classes="sets", threshold=0.001).fit(SENTENCES, GOLD).info_
    assert (info["n_words"], info["n_tags"]) == (10, 3)
    assert info["n_ambiguous"] >= 1  # run


@pytest.mark.parametrize("n", [1, 30])
@pytest.mark.parametrize("order", [1, 2])
def test_baum_welch_begins_where_all_moves_are_equal(order, n):
    """Classes are as frequent as they were met, shared by the first idea of their tags."""
    sentences, tags = corpus(30)
    pairs = ss.PairCorpus.from_pairs(zip(sentences, tags, strict=True))
    lexicon, sentences = Lexicon.from_tagged(pairs), sentences[:n]
    settings = TaggerSettings(order=order, classes="sets", tol=0.0, max_iter=1)
    learned = learn_untagged(sentences, lexicon, settings)
    sets = build_class_sets(lexicon, learn_guesser_of(lexicon, settings), settings)
    codes, starts = sets.vocabulary.classes(sentences)
    n = len(lexicon.tags)
    met = np.array([np.sum(codes == code) + 1e-3 for code in range(len(sets.offsets) - 1)])
    shares = sets.shares * met[sets.owner]
    logs = np.log(shares / np.bincount(sets.candidates, shares, n)[sets.candidates])
    even = -np.log(n + 1) * SCORE_UNIT
    third = np.full((n + 1,) * 3, even) if order == 2 else np.zeros((0, 0, 0))
    moves = Moves(np.full((n + 1, n + 1), even), third)
    triples = np.zeros((n + 1 if order == 2 else 1, n + 1, n + 1))
    members = np.zeros(len(sets.candidates))
    classes = sets.scored(logs * SCORE_UNIT, n)
    total = expected_counts(codes, starts, classes, moves, triples, members)
    assert learned.info["log_likelihood"] == [pytest.approx(total)]
    assert learned.info["converged"] is False
    model = learned.model
    tables = [(model.bigram, triples.sum(axis=0)), (model.trigram, triples)][:order]
    for found, counts in tables:
        total = counts.sum(axis=-1, keepdims=True)
        expected = np.where(total > 0, counts / np.where(total > 0, total, 1), 1 / (n + 1))
        likely = expected > 1e-6
        np.testing.assert_allclose(found[likely] / SCORE_UNIT, np.log(expected[likely]), atol=1e-5)
        assert found[~likely].max(initial=-(10**9)) < -10 * SCORE_UNIT
    used = np.bincount(model.candidates, members, n)[model.candidates]
    own = members / np.where(used > 0, used, 1.0)
    seen = own > 1e-6
    np.testing.assert_allclose(model.scores[seen] / SCORE_UNIT, np.log(own[seen]), atol=1e-5)


def test_baum_welch_converges_when_a_token_gains_too_little():
    sentences, tags = corpus(30)
    lexicon = Lexicon.from_tagged(ss.PairCorpus.from_pairs(zip(sentences, tags, strict=True)))
    settings = TaggerSettings(order=1, classes="sets", tol=1e-3, max_iter=50)
    info = learn_untagged(sentences, lexicon, settings).info
    n = sum(map(len, sentences))
    gains = np.diff(info["log_likelihood"]) / n
    assert info["converged"] is True
    assert gains[-1] < 1e-3 <= gains[:-1].min()
    short = learn_untagged(sentences, lexicon, replace(settings, max_iter=2)).info
    assert short["converged"] is False
    with pytest.raises(InvalidData, match="at least one word"):
        learn_untagged([[], []], lexicon, settings)


def drawn_edits(seed):
    """Draw what words need; a few edits, and words that share endings up to the longest."""
    rng = np.random.default_rng(seed)
    edits = [Edit(True, 0, ""), Edit(True, 1, ""), Edit(True, 2, "x"), Edit(True, 1, "y")]
    stems = ["", "a", "Ba", "ab", "bab", "abab", "babbab"]
    tails = ["a", "b", "ab", "bb", "aabbaabb", "baabbaabb"]
    return {
        (tag, rng.choice(stems) + rng.choice(tails)): edits[rng.integers(4)]
        for tag in "XY"
        for _ in range(25)
    }


@pytest.mark.parametrize("seed", range(6))
def test_the_longest_ending_says_what_most_words_with_it_need(seed):
    """Where at least two do, and wherever all words are asked; and no ending says so in vain."""
    chosen = drawn_edits(seed)
    rules = ending_rules(chosen)

    def told(rules, tag, ending):
        every = (rules.get((tag, ending[n:])) for n in range(len(ending) + 1))
        return next((edit for edit in every if edit is not None), None)

    counts = {}
    for (tag, word), edit in chosen.items():
        for n in range(min(len(word), LONGEST_ENDING) + 1):
            if n == 0 or edit.cut <= n:  # an ending tells nothing of letters before it
                ending = word.lower()[len(word) - n :]
                counts.setdefault((tag, ending), Counter())[edit] += 1
    for (tag, ending), needed in counts.items():
        most = max(needed.values())
        best = min((e for e in needed if needed[e] == most), key=lambda e: (e.cut, e))
        if most >= 2 or not ending:
            assert told(rules, tag, ending) == best
        else:
            assert (tag, ending) not in rules
    for (tag, ending), edit in rules.items():
        less = {key: value for key, value in rules.items() if key != (tag, ending)}
        assert told(less, tag, ending) != edit


def test_of_equally_frequent_edits_the_simplest_is_taken():
    short, long, other = Edit(True, 1, "z"), Edit(True, 2, ""), Edit(True, 1, "a")
    assert most_frequent(Counter({long: 3, short: 2})) == long
    assert most_frequent(Counter({long: 2, short: 2})) == short
    assert most_frequent(Counter({short: 2, other: 2})) == other


def sentence_of(text, *spans):
    return [Token(begin, end, (Word(text[begin:end]),)) for begin, end in spans]


def test_boundaries_are_learned_at_the_ends_of_tokens_and_sentences(monkeypatch):
    """A blank ends a token whatever a treebank says; blanks are no places to learn from."""
    text = "a b. New York\nc!"
    treebank = AnnotatedText(
        text,
        [
            sentence_of(text, (0, 1), (2, 3), (3, 4)),
            sentence_of(text, (5, 13)),
            sentence_of(text, (14, 15), (15, 16)),
        ],
    )
    seen = []

    def learn_pass(order, chars, words, labels, weights, squares, step, found):
        seen.append((order.copy(), labels.copy(), step))
        weights[0, 0] += 0.126
        weights[1, 1] = 1e9
        return 24.0

    monkeypatch.setattr(tokens, "learn_pass", learn_pass)
    learned = tokens.train_tokens(treebank, n_passes=4, n_bits=8)
    for order, labels, _ in seen:
        assert sorted(order) == [i for i, char in enumerate(text) if not char.isspace()]
        assert labels.tolist() == [1, 0, 1, 2, 0, 0, 0, 1, 0, 0, 0, 0, 2, 0, 1, 2]
    assert len({tuple(order) for order, *_ in seen}) == 4
    assert [step for *_, step in seen] == pytest.approx([0.1, 0.075, 0.05, 0.025])
    stored = learned.model.weights
    assert stored.shape == (256, 2)
    assert (stored[0, 0], stored[1, 1]) == (round(4 * 0.126 / UNIT), 32767)
    facts = {name: learned.info[name] for name in ("sentences", "tokens", "tokens_with_blanks")}
    assert facts == {"sentences": 3, "tokens": 7, "tokens_with_blanks": 1}
    assert learned.info["loss"] == [2.0] * 4


@pytest.mark.parametrize(
    "options", [{"n_passes": 0}, {"n_passes": 1001}, {"n_bits": 7}, {"n_bits": 25}]
)
def test_passes_and_bits_have_bounds(options):
    treebank = AnnotatedText("a", [sentence_of("a", (0, 1))])
    with pytest.raises(InvalidData, match="n_passes must be from 1 to 1000"):
        tokens.train_tokens(treebank, **options)
    with pytest.raises(InvalidData, match="at least one sentence"):
        tokens.train_tokens(AnnotatedText("", []))


def test_one_pass_and_few_bits_are_allowed():
    treebank = AnnotatedText("a", [sentence_of("a", (0, 1))])
    assert len(tokens.learn_tokens(treebank, n_passes=1, n_bits=8).weights) == 2**8


def test_tokens_take_the_expansion_they_have_most_often():
    """By endings; a token that its ending gets wrong has one of its own."""
    words = ["don't", "can't", "won't", "don't", "don't", "isn't", "ant"]
    split = [("do", "n't"), ("ca", "n't"), ("will", "n't"), ("don't",), ("do", "n't")]
    split += [("is", "n't"), ("ant",)]
    text = " ".join(words)
    begins = np.cumsum([0, *(len(word) + 1 for word in words)])
    sentence = [
        Token(int(begin), int(begin) + len(word), tuple(map(Word, own)))
        for begin, word, own in zip(begins, words, split, strict=False)
    ]
    found = tokens._expansions(AnnotatedText(text, [sentence]))
    told = {word: found.find(word).apply(word) for word in ("Don't", "hasn't", "won't", "ant")}
    assert told == {
        "Don't": ("Do", "n't"),
        "hasn't": ("has", "n't"),
        "won't": ("will", "n't"),
        "ant": ("ant",),
    }
    assert set(found.tokens) == {"won't", "ant"}  # most tokens are two words
    single = tokens._expansions(AnnotatedText("ant", [[Token(0, 3, (Word("ant"),))]]))
    assert not single.endings
    assert not single.tokens


@pytest.mark.parametrize("strange", [("b", 3), ("b", ""), ("b", "Y", "Z"), 7])
def test_parts_hold_nothing_but_pairs_of_words_and_tags(strange):
    with pytest.raises(InvalidData, match="pairs of a word and a tag"):
        parts._side(ss.Alphabet([("a", "X"), strange]), 1)
    names, places = parts._side(ss.Alphabet([("a", "Y"), ("b", "X"), ("c", "Y")]), 1)
    assert (names, places.tolist()) == (("X", "Y"), [1, 0, 1])


def test_empty_sentences_leave_no_trace_in_the_counts_of_a_part():
    pairs = ss.Alphabet([("a", "X"), ("b", "Y"), ("b", "X")])
    count = parts._CountTags(np.array([0, 1, 1]), np.array([0, 1, 0]), 2, 2)
    for empty in ([[]], [[], []]):
        some = [*empty, [("a", "X"), ("b", "Y")], *empty, [("b", "X")], *empty]
        found = count.summarize(ss.Corpus.from_sequences(some, alphabet=pairs))
        alone = [sentence for sentence in some if sentence]
        expected = count.summarize(ss.Corpus.from_sequences(alone, alphabet=pairs))
        # Words at the beginning are told from others: (word, first, tag).
        assert found.places.tolist() == [(0 * 2 + 1) * 2, (1 * 2 + 0) * 2 + 1, (1 * 2 + 1) * 2]
        for one, other in zip(found[1:], expected[1:], strict=True):
            np.testing.assert_array_equal(one, other)
