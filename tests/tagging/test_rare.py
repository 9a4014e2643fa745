"""Taggers where it seldom happens: scores, a full memory, damaged files, text that is none."""

import io
from dataclasses import replace

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.core import remembered as memory
from sigmastar.core.errors import (
    FileFormatError,
    InvalidData,
    InvalidModel,
    InvalidParameter,
    ParseError,
)
from sigmastar.core.model_files import Stored, read_stored, write_stored
from sigmastar.core.remembered import Budget
from sigmastar.tagging.estimators.hmm_tagger import HMMTagger
from sigmastar.tagging.lexicon import vocabulary
from sigmastar.tagging.lexicon.counts import Lexicon
from sigmastar.tagging.taggers.fst_tagger import FSTTagger
from sigmastar.tagging.text import stream as text
from tagging.oracles import random_model

WORDS = ["the", "dog", "cat", "walked", "talked", "quickly", "slowly"]
TAGS = ["DT", "NN", "NN", "VB", "VB", "RB", "RB"]
PICKS = np.random.default_rng(0).integers(0, len(WORDS), (60, 5))
SENTENCES = [[WORDS[i] for i in row] for row in PICKS]
TAGGED = [[TAGS[i] for i in row] for row in PICKS]


@pytest.fixture(scope="module")
def tagger():
    return HMMTagger(1).fit(SENTENCES, TAGGED)


@pytest.mark.parametrize("compiled", [False, True])
def test_the_score_is_the_share_of_right_words(tagger, compiled):
    machine = FSTTagger.from_hmm(tagger, "lazy") if compiled else tagger
    assert machine.score(SENTENCES[:2], TAGGED[:2]) == 1.0
    wrong = [["X", *TAGGED[0][1:]], TAGGED[1]]
    pairs = ss.PairCorpus.from_pairs(zip(SENTENCES[:2], wrong, strict=True))
    assert machine.score(pairs) == pytest.approx(9 / 10)
    assert machine.predict(pairs) == TAGGED[:2]
    with pytest.raises(InvalidParameter, match="y must be None if X is a PairCorpus"):
        machine.score(pairs, wrong)


def test_a_full_memory_of_unknown_words_forgets_without_mixing_them_up(monkeypatch):
    tagger, fresh = (HMMTagger(1).fit(SENTENCES, TAGGED) for _ in range(2))
    monkeypatch.setattr(vocabulary, "_MOST_REMEMBERED", 2)
    tagger.predict([["jumped", "happily"]])
    later = [["happily", "barked", "barked", "barked", "dog"]]
    assert fresh.predict(later) == [["RB", "VB", "VB", "VB", "NN"]]
    assert tagger.predict(later) == fresh.predict(later)


def test_long_words_do_not_fill_the_memory(monkeypatch):
    tagger = HMMTagger(1).fit(SENTENCES, TAGGED)
    monkeypatch.setattr(vocabulary, "_MOST_CHARACTERS", 5000)
    for number in range(40):
        tagger.predict([["x" * 1000 + f"{number}", "happily"]])
    kept = tagger.vocabulary_._memory.codes
    assert sum(map(len, kept)) < 7000
    assert "happily" in kept
    lemmas = ss.learn_lemmas(
        ss.PairCorpus.from_pairs([(["cats", "dogs"], ["NN", "NN"])]),
        ss.PairCorpus.from_pairs([(["cats", "dogs"], ["cat", "dog"])]),
    )
    cutting = ss.Tokenizer.default()
    for number in range(40):
        lemmas.lemma("x" * (1000 + number), "NN")
        cutting.tokenize("x" * (1000 + number))
    assert not len(cutting._remembered)
    assert {word for _, word in lemmas._remembered} == {"cats", "dogs"}


def test_all_models_together_remember_no_more_than_the_budget(monkeypatch):
    budget = Budget(20_000)
    for module in (vocabulary, memory):
        monkeypatch.setattr(module, "remembered", budget)
    fresh = HMMTagger(1).fit(SENTENCES, TAGGED)
    taggers = [HMMTagger(1).fit(SENTENCES, TAGGED) for _ in range(10)]
    words, lemmas = ss.Tokenizer.default(), ss.Lemmatizer({("NN", "s"): (True, 1, "")}, {})
    rng = np.random.default_rng(3)
    for turn in range(400):
        (sentence,) = words.tokenize(" ".join(f"word{n}s" for n in rng.integers(0, 10**6, 8)))
        assert taggers[turn % 10].predict([sentence]) == fresh.predict([sentence])
        assert lemmas.lemmas([sentence], [["NN"] * 8])[0] == [word[:-1] for word in sentence]
        fresh.vocabulary_.forget()
        budget.drop(fresh.vocabulary_)
        kept = [tagger.vocabulary_._memory for tagger in taggers]
        guessed = sum(memory.n_guessed for memory in kept if memory is not None)
        assert guessed + len(words._remembered) + len(lemmas._remembered) < 20_000 / 160


CONLLU = "1\tdog\t_\tX\t_\t_\t_\t_\t_\t_\n\n"


def tag_conllu(tagger, content):
    source, target = io.BytesIO(content.encode()), io.BytesIO()
    text.tag_file(
        source,
        target,
        tagger.vocabulary_,
        tagger.tag_classes,
        tagger.tags_,
        input_format="conllu",
        output_format="conllu",
    )
    return target.getvalue().decode()


def test_lines_are_counted_through_the_whole_file(tagger, monkeypatch):
    monkeypatch.setattr(text, "_BLOCK", 40)
    assert tag_conllu(tagger, 4 * CONLLU) == 4 * CONLLU.replace("X\t_", "NN\tNN")
    with pytest.raises(ParseError, match=r"input:9: expected 10 tab-separated columns, found 2"):
        tag_conllu(tagger, 4 * CONLLU + "1\tdog\n")


def test_a_word_must_have_a_form(tagger):
    with pytest.raises(ParseError, match=r"input:3: expected a word form, found"):
        tag_conllu(tagger, CONLLU + CONLLU.replace("dog", ""))


@pytest.fixture(scope="module")
def saved(tagger, tmp_path_factory):
    folder = tmp_path_factory.mktemp("taggers")
    tagger.save(folder / "hmm.sigma")
    FSTTagger.from_hmm(tagger, "n1").save(folder / "fst.sigma")
    return folder


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("hmm", {"tags": "DT"}, "the tags of the model file are malformed"),
        ("hmm", {"parameters": {"magic": 1}}, "the parameters of the model file are malformed"),
        ("hmm", {"parameters": {"order": 9}}, "order must be"),
        ("hmm", {"bigram": [[0]]}, "bigram must have shape"),
        ("hmm", {"trigram": [[[0]]]}, "trigram must have shape"),
        ("hmm", {"offsets": [0]}, "offsets must give at least one class"),
        ("hmm", {"scores": []}, "scores must have shape"),
        ("hmm", {"candidates": lambda old: old + 99}, "candidates must lie between"),
        ("hmm", {"context_rows": []}, "context_rows must have shape"),
        ("hmm", {"context_rows": lambda old: old + 99}, "context_rows must lie between"),
        ("hmm", {"form_offsets": [3, 4]}, "form_offsets must ascend from 0"),
        ("hmm", {"form_bytes": []}, "form_bytes must have shape"),
        ("hmm", {"trie_keys": [1, 2, 3]}, "trie_children must have shape"),
        ("hmm", {"node_classes": []}, "trie_children must lie between"),
        ("hmm", {"form_inside": []}, "form_inside must have shape"),
        ("fst", {"tags": [1]}, "the tags of the model file are malformed"),
        ("fst", {"info": None}, "the information in the model file is malformed"),
        ("fst", {"classes": None}, "the classes of the model file are malformed"),
        ("fst", {"table": [[-1]]}, "next_states must have shape"),
        ("fst", {"table": lambda old: old + (99 << 32)}, "next_states must lie between"),
        ("fst", {"table": lambda old: old + 999}, "outputs must lie between"),
        ("fst", {"final": lambda old: old + 999}, "final must lie between"),
        ("fst", {"string_offsets": [1]}, "string_offsets must ascend from 0"),
        ("fst", {"string_offsets": [0, 7]}, "string_symbols must have shape"),
    ],
)
def test_damaged_taggers_are_refused_in_words(saved, tmp_path, name, change, message):
    stored = read_stored(saved / f"{name}.sigma")
    arrays, meta = dict(stored.arrays), dict(stored.meta)
    for key, value in change.items():
        old = arrays.get(key)
        if old is None:
            meta[key] = value
        else:
            arrays[key] = value(old) if callable(value) else np.array(value, old.dtype)
    write_stored(tmp_path / "bad.sigma", Stored(stored.kind, arrays, meta))
    with pytest.raises(FileFormatError, match=message):
        ss.load(tmp_path / "bad.sigma")


def test_a_model_needs_a_tag():
    with pytest.raises(InvalidModel, match="needs 1 to"):
        replace(random_model(0), tags=())


def test_what_cannot_be_trained_is_refused():
    with pytest.raises(InvalidData, match="at least one word; it is empty"):
        HMMTagger().fit([[]], [[]])
    with pytest.raises(InvalidData, match="non-empty strings; got ''"):
        HMMTagger().fit([["a", ""]], [["X", "X"]])
    with pytest.raises(InvalidData, match="as many tags as words"):
        Lexicon.from_tagged(ss.PairCorpus.from_pairs([(["a"], ["X", "Y"])]))
    with pytest.raises(InvalidParameter, match='a lexicon needs classes="sets"'):
        HMMTagger(classes="words").fit(
            SENTENCES, TAGGED, lexicon=Lexicon.from_tagged(pair_corpus())
        )


def pair_corpus():
    return ss.PairCorpus.from_pairs(zip(SENTENCES, TAGGED, strict=True))


def test_s_type_machines_need_something_to_cover():
    sets = HMMTagger(1, classes="sets").fit(SENTENCES, TAGGED)
    with pytest.raises(InvalidParameter, match=r"needs subsequences: pass corpus="):
        FSTTagger.from_hmm(sets, "s+n1")
