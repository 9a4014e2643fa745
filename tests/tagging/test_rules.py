"""Rules and phrases: the language, its compilation, composition, and learning from errors."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sigmastar as ss
from sigmastar.core.errors import InvalidData, ParseError
from sigmastar.tagging.fst.compose import compose
from sigmastar.tagging.fst.ntype import n_type
from sigmastar.tagging.fst.openfst import NotSequential, from_openfst
from sigmastar.tagging.fst.phrases import bracketed, phrase_transducer
from sigmastar.tagging.fst.rules import RuleSet, TagRule
from sigmastar.tagging.learn.brill import held_out_tags, learn_rules
from tagging.oracles import random_model, random_sentences

TAGS = ("DT", "JJ", "NN", "VB", "TO", "md*", ".")


def rewrite(rules, tags, words=None):
    """Apply rules to one sentence of tags by name."""
    codes = np.array([TAGS.index(tag) for tag in tags], np.int32)
    spoken = np.zeros(len(codes), np.int32) if words is None else np.array(words, np.int32)
    found = rules.apply(codes, np.array([0, len(codes)]), spoken)
    return [TAGS[code] for code in found]


def test_a_rule_changes_its_tag_in_its_context_only():
    rules = RuleSet.from_text("NN -> VB / TO _  # to walk\n", TAGS)
    assert rewrite(rules, ["TO", "NN", "NN", "DT", "NN"]) == ["TO", "VB", "NN", "DT", "NN"]


def test_left_context_sees_what_the_rule_has_written():
    rules = RuleSet.from_text("NN -> VB / VB _", TAGS)
    assert rewrite(rules, ["VB", "NN", "NN"]) == ["VB", "VB", "VB"]


def test_right_context_sees_what_was_there():
    rules = RuleSet.from_text("NN -> VB / _ NN", TAGS)
    assert rewrite(rules, ["NN", "NN", "NN"]) == ["VB", "VB", "NN"]


def test_boundaries_and_tags_that_look_like_operators():
    rules = RuleSet.from_text("md* -> NN / <s> _\nVB -> md* / _ . </s>", TAGS)
    assert rewrite(rules, ["md*", "md*", "VB", "."]) == ["NN", "md*", "md*", "."]


def test_long_distance_contexts_compile_and_run():
    rules = RuleSet.from_text("NN -> VB / TO (DT | JJ)* _", TAGS)
    assert rules.is_sequential
    assert rewrite(rules, ["TO", "DT", "JJ", "JJ", "NN"])[-1] == "VB"
    assert rewrite(rules, ["TO", "DT", "md*", "JJ", "NN"])[-1] == "NN"


def test_unbounded_right_context_is_not_sequential_but_runs():
    rules = RuleSet.from_text("NN -> VB / _ JJ* .", TAGS)
    assert not rules.is_sequential
    assert "not sequential" in rules.why_not[0]
    with pytest.raises(NotSequential, match="NN -> VB"):
        rules.to_transducer()
    assert rewrite(rules, ["NN", "JJ", "JJ", "."]) == ["VB", "JJ", "JJ", "."]
    assert rewrite(rules, ["NN", "JJ", "DT", "."]) == ["NN", "JJ", "DT", "."]


def test_rules_may_name_words():
    rules = RuleSet.from_text("that/DT -> NN / _ VB\nJJ -> VB / that/ANY _", TAGS)
    assert rules.alphabet.words == ("that",)
    assert rewrite(rules, ["DT", "VB", "DT", "JJ"], [0, 0, 1, 0]) == ["DT", "VB", "DT", "VB"]
    assert rewrite(rules, ["DT", "VB"], [1, 0]) == ["NN", "VB"]


CONTEXTS = st.sampled_from(["", "DT", "NN", "DT NN", "<s>", "VB", "TO JJ"])
RIGHT = st.sampled_from(["", "DT", "NN", "NN .", "</s>", "VB"])


@given(CONTEXTS, RIGHT, st.lists(st.sampled_from(TAGS), min_size=1, max_size=9))
def test_kernel_and_compiled_transducer_agree(left, right, tags):
    rules = RuleSet([TagRule("NN", "VB", left, right), TagRule("VB", "DT", right="NN")], TAGS)
    machine = rules.to_transducer()
    assert machine.transduce(tags) == rewrite(rules, tags)


@given(
    st.lists(
        st.tuples(st.sampled_from(["NN", "VB", "that/NN"]), CONTEXTS, RIGHT), min_size=1, max_size=4
    )
)
def test_rules_survive_being_written_and_read(parts):
    text = "".join(f"{source} -> DT / {left} _ {right}\n" for source, left, right in parts)
    rules = RuleSet.from_text(text, TAGS)
    assert RuleSet.from_text(str(rules), TAGS).rules == rules.rules


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("NN VB", "rules:1: expected TAG -> TAG"),
        ("\nNN -> XX", "rules:2: expected a known tag, found 'XX'"),
        ("NN -> VB / DT", "one _ between"),
    ],
)
def test_bad_rules_are_refused_with_their_line(text, message):
    with pytest.raises(ParseError, match=re.escape(message)):
        RuleSet.from_text(text, TAGS)


def test_unbalanced_pattern_is_refused():
    with pytest.raises(InvalidData, match="missing"):
        rewrite(RuleSet.from_text("NN -> VB / (DT _", TAGS), ["NN"])


def test_composition_equals_running_one_after_the_other():
    model = random_model(30)
    first = n_type(model, 1)
    rules = RuleSet.from_text("T0 -> T1 / T2 _\nT1 -> T3 / _ T1\nT3 -> T0 / <s> _ T2", model.tags)
    both = compose(first, rules.to_transducer())
    codes, starts = random_sentences(np.random.default_rng(0), model.n_classes, 300)
    one = first.run_aligned(codes, starts)
    expected = rules.apply(one, starts, np.zeros(len(codes), np.int32))
    assert np.array_equal(both.run_aligned(codes, starts), expected)


def test_one_input_with_two_outputs_is_refused():
    import pynini

    fst = pynini.union(pynini.cross("a", "b"), pynini.cross("a", "c")).optimize()
    with pytest.raises(NotSequential, match="several outputs"):
        from_openfst(fst, [chr(i) for i in range(1, 128)], [chr(i) for i in range(1, 128)])


def test_learned_rule_corrects_a_systematic_error():
    words = [["to", "walk", "."], ["a", "walk", "."]] * 20
    gold = [["TO", "VB", "."], ["DT", "NN", "."]] * 20
    guessed = [["TO", "NN", "."], ["DT", "NN", "."]] * 20
    corpus = ss.PairCorpus.from_pairs(zip(words, gold, strict=True))
    rules = learn_rules(corpus, guessed, use_words=False)
    assert [str(rule) for rule in rules.rules] == ["NN -> VB / TO _"]
    with_words = learn_rules(corpus, guessed)
    assert len(with_words) == 1


def test_held_out_tags_come_from_taggers_that_never_saw_the_sentence():
    # Each sentence has a word of its own whose tag nothing else tells: only who has learned from
    # that sentence knows it.
    tags = [["A", "B"][number % 3 == 0] for number in range(20)]
    words = [["the", f"{'ox' * (1 + number % 2)}{number}", "."] for number in range(20)]
    gold = [["DT", tag, "."] for tag in tags]
    corpus = ss.PairCorpus.from_pairs(zip(words, gold, strict=True))
    tagger = ss.HMMTagger(1)
    known = tagger.fit(corpus).predict(words)
    guessed = held_out_tags(tagger, corpus, n_folds=5)
    assert [sentence[1] for sentence in known] == tags
    assert [sentence[1] for sentence in guessed] != tags
    for fold in range(5):
        rest = [number for number in range(20) if number % 5 != fold]
        alone = ss.HMMTagger(1).fit(corpus.take(np.array(rest)))
        assert guessed[fold::5] == alone.predict(words[fold::5])


def test_learning_applies_rules_as_the_rule_set_does():
    rng = np.random.default_rng(1)
    gold = [[str(t) for t in rng.choice(["A", "B", "C"], 6)] for _ in range(80)]
    words = [[f"w{t}" for t in s] for s in gold]
    guessed = [
        ["A" if t == "B" and i and s[i - 1] == "C" else t for i, t in enumerate(s)] for s in gold
    ]
    corpus = ss.PairCorpus.from_pairs(zip(words, gold, strict=True))
    rules = learn_rules(corpus, guessed, min_gain=1)
    fst = RuleSet(rules.rules, rules.tags)
    starts = corpus.source.offsets
    codes = np.array([rules.tags.index(t) for s in guessed for t in s], np.int32)
    marks = np.array(
        [
            1 + fst.alphabet.words.index(w) if w in fst.alphabet.words else 0
            for s in words
            for w in s
        ],
        np.int32,
    )
    right = np.array([rules.tags.index(t) for s in gold for t in s])
    assert (fst.apply(codes, starts, marks) == right).mean() > (codes == right).mean()


@given(st.lists(st.sampled_from(TAGS), max_size=10))
def test_phrases_are_the_longest_matches_from_left_to_right(tags):
    machine = phrase_transducer(TAGS, "DT? JJ? NN+ | DT JJ")
    pattern = re.compile(r"(?:D?J?N+|DJ)")  # the alternatives, longest first, as letters
    letters = "".join({"DT": "D", "JJ": "J", "NN": "N"}.get(tag, "x") for tag in tags)
    expected = list(tags)
    for match in pattern.finditer(letters):
        for place in range(*match.span()):
            expected[place] += "|B-NP" if place == match.start() else "|I-NP"
    assert machine.transduce(tags) == expected


def test_unbounded_phrase_is_refused_with_a_remedy():
    with pytest.raises(NotSequential, match="Bound its repetitions"):
        phrase_transducer(TAGS, "JJ* NN")


def test_brackets_are_written_around_phrases():
    marks = ["DT|B-NP", "NN|I-NP", "VB", "NN|B-NP"]
    text = bracketed(["the", "dog", "bites", "Bob"], marks)
    assert text == "[NP the/DT dog/NN ] bites/VB [NP Bob/NN ]"


def test_tagger_with_rules_and_phrases_says_how_it_runs(tmp_path):
    sentences = [["the", "dog", "walks"], ["to", "walk"], ["the", "walk"]] * 5
    tags = [["DT", "NN", "VBZ"], ["TO", "NN"], ["DT", "NN"]] * 5
    hmm = ss.HMMTagger(1, classes="sets").fit(sentences, tags)
    one = ss.FSTTagger.from_hmm(hmm, "n1")
    rules = RuleSet.from_text("NN -> VBZ / TO _", hmm.tags_)
    composed = one.with_rules(rules).with_phrases("DT? NN")
    assert composed.info["rules"] == composed.info["phrases"] == "composed"
    word_rules = RuleSet.from_text("walk/NN -> VBZ / to/ANY _ DT* </s>", hmm.tags_)
    cascade = ss.FSTTagger.from_hmm(hmm, "lazy").with_rules(word_rules).with_phrases("DT? NN")
    assert cascade.info["rules"] == cascade.info["phrases"] == "cascade"
    assert "not sequential" in cascade.info["rules_note"]
    expected = [["TO", "VBZ"], ["DT|B-NP", "NN|I-NP"]]
    for tagger in (composed, cascade):
        assert tagger.predict([["to", "walk"], ["the", "walk"]]) == expected
        tagger.save(tmp_path / "t.sigma")
        assert ss.load(tmp_path / "t.sigma").predict([["to", "walk"]]) == expected[:1]


WORDY_LEFT = st.sampled_from(["", "that/ANY", "that/DT", "TO", "<s> dog/ANY", "DT dog/NN"])
WORDY_RIGHT = st.sampled_from(["", "dog/ANY", "dog/NN", "VB", "dog/NN .", "(JJ | that/DT) NN"])
SPOKEN = st.lists(st.tuples(st.sampled_from(TAGS), st.integers(0, 2)), min_size=1, max_size=8)


@given(st.sampled_from(["NN", "dog/NN", "that/NN"]), WORDY_LEFT, WORDY_RIGHT, SPOKEN)
def test_compiled_rules_about_words_write_the_tags_that_the_kernel_writes(
    source, left, right, tokens
):
    text = f"{source} -> VB / {left} _ {right}\nVB -> DT / that/ANY _\nDT -> JJ / _ dog/ANY"
    rules = RuleSet.from_text(text, TAGS)
    assert rules.alphabet.words == ("dog", "that")
    symbols = [tag if word == 0 else f"{('dog', 'that')[word - 1]}/{tag}" for tag, word in tokens]
    expected = rewrite(rules, [tag for tag, _ in tokens], [word for _, word in tokens])
    assert rules.to_transducer().transduce(symbols) == expected


def test_words_count_in_contexts_of_any_length():
    rules = RuleSet.from_text("NN -> VB / that/ANY JJ* _ JJ* .", TAGS)
    assert not rules.is_sequential
    assert rewrite(rules, ["DT", "JJ", "NN", "JJ", "."], [1, 0, 0, 0, 0])[2] == "VB"
    assert rewrite(rules, ["DT", "JJ", "NN", "JJ", "."], [0, 0, 0, 0, 0])[2] == "NN"


def test_quoted_tags_are_taken_as_they_stand():
    rules = RuleSet.from_text('NN -> VB / "md*" _ ANY', TAGS)
    assert rewrite(rules, ["md*", "NN", "."]) == ["md*", "VB", "."]
    assert rewrite(rules, ["md*", "NN"]) == ["md*", "NN"]


@pytest.mark.parametrize(
    ("left", "message"),
    [("(DT", r"a '\)' is missing"), ("DT)", r"there is a '\)' too much"), ("* DT", "wrong place")],
)
def test_patterns_that_are_no_patterns_are_refused(left, message):
    with pytest.raises(InvalidData, match=message):
        RuleSet([TagRule("NN", "VB", left)], TAGS).to_transducer()


def test_no_rules_cannot_be_compiled():
    with pytest.raises(InvalidData, match="no rules to compile"):
        RuleSet([], TAGS).to_transducer()


def test_rules_of_another_tag_set_are_refused():
    hmm = ss.HMMTagger(1).fit([["a", "b"]] * 4, [["DT", "NN"]] * 4)
    rules = ss.RuleSet.from_text("NN -> VB / TO _", ["DT", "NN", "TO", "VB"])
    with pytest.raises(ss.errors.InvalidParameter, match=r"names 'VB'. The tags are DT, NN"):
        ss.FSTTagger.from_hmm(hmm, "lazy").with_rules(rules)


def test_rules_show_themselves():
    rules = ss.RuleSet.from_text("NN -> VB / TO _\n" * 4, ["NN", "TO", "VB"])
    first = "'NN -> VB / TO _'"
    assert repr(rules) == f"RuleSet([{first}, {first}, {first}, … 1 more], 3 tags)"


def test_a_wrong_pattern_is_told_when_rules_are_read():
    with pytest.raises(InvalidData):
        ss.RuleSet.from_text("NN -> VB / (TO _", ["NN", "TO", "VB"])
