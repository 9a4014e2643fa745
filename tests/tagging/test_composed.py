"""Tagger, rules and phrases as one transducer that grows: equal to one after the other."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sigmastar as ss
from sigmastar.core.errors import InvalidData
from sigmastar.tagging.fst.composed import ComposedTransducer
from sigmastar.tagging.fst.lazy import LazyTransducer
from sigmastar.tagging.fst.ntype import n_type
from sigmastar.tagging.fst.openfst import NotSequential
from sigmastar.tagging.fst.phrases import phrase_transducer
from sigmastar.tagging.fst.rules import RuleSet
from sigmastar.tagging.fst.sequential import SequentialTransducer
from sigmastar.tagging.fst.stages import delays
from sigmastar.tagging.fst.stype import all_subsequences, s_type
from sigmastar.tagging.kernels.composed import forget_rows
from sigmastar.tagging.kernels.sequential import Pool
from tagging.oracles import random_model, random_sentences

FIRST, SECOND = random_model(7), random_model(8, order=2, context=True, near=True)
MACHINES = {
    "n1": n_type(FIRST, 1),
    "s+n1": s_type(FIRST, all_subsequences(FIRST, 3), complete=True),
    "lazy": LazyTransducer(FIRST),
    "lazy, order 2": LazyTransducer(SECOND),
    "b": LazyTransducer(SECOND, look_ahead=1),
}
FOCUS = st.sampled_from(["T0", "T1", "T2", "up/T1", "on/T2", "up/T3"])
LEFT = st.sampled_from(["", "T0", "T1 T2", "<s>", "<s> T3", "up/ANY", "T2 on/ANY", "up/ANY T0"])
RIGHT = st.sampled_from(["", "T1", "T2 T0", "</s>", "T3 </s>", "on/ANY", "up/ANY T1", "T0 up/ANY"])
RULE = st.tuples(FOCUS, st.sampled_from(["T0", "T1", "T3"]), LEFT, RIGHT)
RULES = st.lists(RULE, min_size=1, max_size=12).map(
    lambda rules: "\n".join(f"{f} -> {to} / {left} _ {right}" for f, to, left, right in rules)
)


def marked_sentences(seed, n_classes, n_words, n=60, longest=9):
    """Draw sentences whose words are often among those that rules name."""
    rng = np.random.default_rng(seed)
    codes, starts = random_sentences(rng, n_classes, n, longest)
    return (codes + n_classes * rng.integers(0, n_words + 1, len(codes))).astype(np.int32), starts


def rewritten(rules, tags, words):
    """Apply rules with fixed contexts to one sentence, as their definition has it."""
    tags = list(tags)
    for rule in rules.rules:
        left, right = rule.left.split(), rule.right.split()
        for i, tag in enumerate(tags):
            if tag != rule.source or (rule.word and rule.word != words[i]):
                continue
            places = [i - len(left) + x for x in range(len(left))]
            places += [i + 1 + x for x in range(len(right))]
            fits = True
            for place, wanted in zip(places, [*left, *right], strict=True):
                if not 0 <= place < len(tags):
                    fits &= wanted in ("<s>", "</s>")
                elif wanted.endswith("/ANY"):
                    fits &= wanted[:-4] == words[place]
                else:
                    fits &= wanted == tags[place]
            if fits:
                tags[i] = rule.target
    return tags


@given(RULES, st.sampled_from(sorted(MACHINES)), st.integers(0, 99))
@settings(deadline=None)
def test_one_transducer_writes_what_the_parts_write_one_after_the_other(text, kind, seed):
    machine = MACHINES[kind]
    one = ComposedTransducer(machine, RuleSet.from_text(text, FIRST.tags))
    codes, starts = marked_sentences(seed, FIRST.n_classes, len(one.rules.alphabet.words))
    words, classes = np.divmod(codes, FIRST.n_classes)
    tags = [FIRST.tags[t] for t in machine.run_aligned(classes.astype(np.int32), starts)]
    names = [("", *one.rules.alphabet.words)[w] for w in words]
    expected = [
        tag
        for a, b in pairwise(starts.tolist())
        for tag in rewritten(one.rules, tags[a:b], names[a:b])
    ]
    # Twice: an arc is computed the first time and looked up the second.
    for _ in range(2):
        assert [FIRST.tags[t] for t in one.run_aligned(codes, starts)] == expected


FAR = """
T0 -> T2 / T1 (T3 | up/ANY)* _
up/T1 -> T0 / _ T2? T3
T2 -> T3 / _ T2? T1
on/T2 -> T0
T3 -> T1 / on/ANY _
"""


@pytest.mark.parametrize("kind", sorted(MACHINES))
def test_patterns_and_phrases_are_stages_like_any_other(kind):
    rules = RuleSet.from_text(FAR, FIRST.tags)
    marker = phrase_transducer(FIRST.tags, "T0? T1 T2 | T3+")
    one = ComposedTransducer(MACHINES[kind], rules, marker)
    codes, starts = marked_sentences(3, FIRST.n_classes, 2, n=300)
    found = one.run_aligned(codes, starts)
    assert np.array_equal(found, one.one_after_the_other(codes, starts))
    assert len(np.unique(found)) > FIRST.n_tags  # there are phrases


@pytest.mark.parametrize("kind", ["s+n1", "lazy, order 2"])
def test_a_small_memory_costs_time_and_no_tag(kind):
    rules = RuleSet.from_text(FAR + "T1 -> T0 / _ T2 T2\nup/T0 -> T3 / T1 T1 _", FIRST.tags)
    one = ComposedTransducer(MACHINES[kind], rules, max_states=64)
    codes, starts = marked_sentences(4, FIRST.n_classes, 2, n=400, longest=40)
    assert np.array_equal(one.run_aligned(codes, starts), one.one_after_the_other(codes, starts))
    assert one.n_restarts > 0
    assert one.n_states <= 64


def test_growing_keeps_what_is_known():
    one = ComposedTransducer(MACHINES["lazy"], RuleSet.from_text(FAR, FIRST.tags))
    codes, starts = marked_sentences(5, FIRST.n_classes, 2, n=200)
    before = one.run_aligned(codes, starts)
    n_states, n_arcs = one.n_states, one.n_arcs
    for why in (1, 2, 3):
        assert one._make_room(why)
    assert np.array_equal(one.run_aligned(codes, starts), before)
    assert (one.n_states, one.n_arcs) == (n_states, n_arcs)


def test_sentences_outside_an_s_type_are_refused():
    machine = s_type(FIRST, all_subsequences(FIRST, 2), complete=False)
    one = ComposedTransducer(machine, RuleSet.from_text("T0 -> T1 / T2 _", FIRST.tags))
    ambiguous = int(np.flatnonzero(FIRST.is_ambiguous)[0])
    with pytest.raises(InvalidData, match="sequence 1 is not in the domain"):
        one.run_aligned(np.array([0, *[ambiguous] * 5], np.int32), np.array([0, 1, 6]))


@pytest.mark.parametrize(
    ("outputs", "final", "message"),
    [
        ([[3], [0]], [0, 0], "writes more than it has read"),
        ([[0], [0]], [0, 0], "one symbol for each"),
        ([[1], [1]], [0, 1], "one symbol for each"),
    ],
)
def test_machines_that_write_another_length_are_not_composed(outputs, final, message):
    pool = Pool(np.array([0, 1], np.int32), np.array([0, 2]))
    machine = SequentialTransducer(
        np.array([[1], [1]]), np.array(outputs), np.array(final), pool, ["a"], ["x", "y"]
    )
    with pytest.raises(NotSequential, match=message):
        delays(machine)


def test_a_rule_without_a_bound_is_not_composed():
    rules = RuleSet.from_text("T0 -> T1 / _ T2* T3", FIRST.tags)
    with pytest.raises(NotSequential, match="rule 'T0 -> T1 / _ T2\\* T3' is not sequential"):
        ComposedTransducer(MACHINES["n1"], rules)


SENTENCES = [["the", "dog", "walks"], ["to", "walk"], ["the", "walk"]] * 5
TAGS = [["DT", "NN", "VBZ"], ["TO", "NN"], ["DT", "NN"]] * 5
WORDY = "walk/NN -> VBZ / to/ANY _\nNN -> DT / DT _ </s>"


@pytest.mark.parametrize("kind", ["n1", "s+n1", "lazy", "b"])
def test_rules_that_name_words_are_composed_saved_and_loaded(tmp_path, kind):
    hmm = ss.HMMTagger(1, classes="sets").fit(SENTENCES, TAGS)
    plain = ss.FSTTagger.from_hmm(hmm, kind, corpus=SENTENCES)
    tagger = plain.with_rules(RuleSet.from_text(WORDY, hmm.tags_), corpus=SENTENCES)
    assert tagger.info["rules"] == "composed"
    assert "rules_note" not in tagger.info
    assert tagger.info["rules_agreement"] == 1.0
    assert tagger.info["n_states"] == tagger.as_one().n_states > 1
    tagger.save(tmp_path / "t.sigma")
    expected = [["TO", "VBZ"], ["DT", "DT"]]
    for copy in (tagger, ss.load(tmp_path / "t.sigma"), pickle.loads(pickle.dumps(tagger))):
        assert copy.predict([["to", "walk"], ["the", "walk"]]) == expected
        assert copy.info["rules"] == "composed"


def test_files_from_when_rules_ran_after_the_machine_become_one(tmp_path):
    hmm = ss.HMMTagger(1).fit(SENTENCES, TAGS)
    tagger = ss.FSTTagger.from_hmm(hmm, "lazy").with_rules(RuleSet.from_text(WORDY, hmm.tags_))
    tagger.info |= {"rules": "cascade", "rules_note": "the rules name words"}
    tagger.save(tmp_path / "old.sigma")
    loaded = ss.load(tmp_path / "old.sigma")
    assert (loaded.info["rules"], loaded.info.get("rules_note")) == ("composed", None)
    assert loaded.predict([["to", "walk"]]) == [["TO", "VBZ"]]


def test_sentences_that_take_turns_are_tagged_again_where_room_ends():
    """Lanes end out of order: none may be passed over when the rows are moved or forgotten."""
    rules = RuleSet.from_text(FAR + "T1 -> T0 / _ T2 T2\nup/T0 -> T3 / T1 T1 _", FIRST.tags)
    rng = np.random.default_rng(6)
    lengths = np.where(rng.random(300) < 0.1, 60, rng.integers(0, 4, 300))
    starts = np.append(0, np.cumsum(lengths))
    codes = rng.integers(0, 3 * FIRST.n_classes, starts[-1]).astype(np.int32)
    for most in (64, 80, 200, 1 << 20):
        one = ComposedTransducer(MACHINES["lazy"], rules, max_states=most)
        one._rows = one._new_rows(64)
        forget_rows(one._rows, one.stages.start)
        found = one._decided_apart(codes, starts)
        np.testing.assert_array_equal(found, one.one_after_the_other(codes, starts))
