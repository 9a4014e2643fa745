"""Forms of the two sides: there and back again, and chosen by what they are worth."""

import unicodedata

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.core.errors import InvalidParameter
from sigmastar.transducers.transliteration.forms import (
    choose_forms,
    in_form,
    in_forms,
    out_of_form,
)

WORDS = ["가감", "Ärger", "été", "", "plain"]
PHONES = [["t͡s", "a", "kʰ"], [], ["iː", "ˈo"]]


@pytest.mark.parametrize(
    ("form", "spell"),
    [
        ("given", list),
        ("composed", lambda word: list(unicodedata.normalize("NFC", word))),
        ("decomposed", lambda word: list(unicodedata.normalize("NFD", word))),
        ("folded", lambda word: list(word.casefold())),
    ],
)
@pytest.mark.parametrize("given", ["NFC", "NFD"])
def test_texts_are_written_in_a_form(form, spell, given):
    words = [unicodedata.normalize(given, word) for word in WORDS]
    assert list(in_form(ss.Corpus.from_sequences(words), form)) == [spell(word) for word in words]


def test_phones_are_split_and_put_together_again():
    corpus = ss.Corpus.from_sequences(PHONES)
    split = in_form(corpus, "split")
    assert split[0] == ["t", ("+", "͡"), ("+", "s"), "a", "k", ("+", "ʰ")]
    assert [out_of_form(sequence, "split") for sequence in split] == PHONES
    assert out_of_form([("+", "ʰ"), "a"], "split") == ["ʰ", "a"]


def test_phones_and_words_stay_one_symbol_in_other_forms():
    corpus = ss.Corpus.from_sequences([["Été", "a"]])
    assert in_form(corpus, "folded")[0] == ["été", "a"]
    assert in_form(corpus, "composed") is corpus
    assert len(in_form(corpus, "decomposed")[0]) == 2


def test_symbols_that_are_no_strings_are_left_alone():
    corpus = ss.Corpus.from_sequences([[1, (2, 3)], [1]])
    for form in ("composed", "decomposed", "folded", "split"):
        assert in_form(corpus, form) is corpus


def judge_of(wanted):
    """Judge as one who likes some forms."""

    def judge(pairs):
        symbols = set(pairs.source.alphabet) | set(pairs.target.alphabet)
        return 0.5 + 0.4 * sum(symbol in symbols for symbol in wanted) / len(wanted)

    return judge


def test_the_form_that_is_judged_best_is_chosen():
    pairs = ss.PairCorpus.from_pairs([("가감", ["k", "aː"]), ("나", ["n", "aː"])] * 20)
    jamo = unicodedata.normalize("NFD", "가")[0]
    forms, tried = choose_forms(pairs, judge_of([jamo]))
    assert forms == ("decomposed", "given")
    assert tried["decomposed → given"] > tried["given → given"]
    assert choose_forms(pairs, judge_of([("+", "ː")]))[0] == ("given", "split")
    assert choose_forms(pairs, judge_of(["가"]))[0] == ("given", "given")
    assert choose_forms(pairs, judge_of([jamo]), ("given", "auto"))[0][0] == "given"


def test_a_form_that_cannot_be_undone_is_not_tried():
    decomposed = unicodedata.normalize("NFD", "é")
    pairs = ss.PairCorpus.from_pairs([("a", f"é{decomposed}")] * 5)
    tried = choose_forms(pairs, lambda _: 0.5)[1]
    assert not any("decomposed" in name for name in tried)


def test_other_pairs_are_coded_like_those_learned_from():
    learned = in_forms(ss.PairCorpus.from_pairs([("é", "x")]), ("decomposed", "given"))
    other = in_forms(
        ss.PairCorpus.from_pairs([("éà", "xy")]), ("decomposed", "given"), like=learned
    )
    assert other[0] == (["e", "\u0301"], ["x"])


def test_a_transliterator_learns_letters_of_blocks_and_writes_what_was_given(tmp_path):
    onsets, vowels = "가나다마바사", range(0, 588, 28)
    blocks = [chr(ord(onset) + vowel) for onset in onsets for vowel in list(vowels)[:8]]
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(blocks, 2)) for _ in range(60)]

    def sound(word):
        return [f"{letter}ʰ" for letter in unicodedata.normalize("NFD", word)]

    learner = ss.Transliterator("joint-ngram").fit([(word, sound(word)) for word in words])
    assert learner.info_["source_form"] == "decomposed"
    unseen = [a + b for a, b in zip(blocks[:20], blocks[20:40], strict=True)]
    learner.save(tmp_path / "model.sigma")
    found, report = ss.load(tmp_path / "model.sigma").apply(unseen)
    right = [best[0][0] == sound(word) for best, word in zip(found, unseen, strict=True)]
    assert np.mean(right) > 0.9
    assert report["n_with_unknown"] == 0
    plain = ss.Transliterator("joint-ngram", source_form="given", target_form="given")
    assert plain.fit([(word, sound(word)) for word in words]).info_["forms_tried"] == {}


def test_an_unknown_form_is_refused():
    with pytest.raises(InvalidParameter, match="source_form must be 'auto', 'given'"):
        ss.Transliterator(source_form="nfd").fit([("a", "b")])
