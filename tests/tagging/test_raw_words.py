"""Word classes from untagged text: what is counted, and what it is good for."""

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.core.errors import InvalidParameter
from sigmastar.tagging.lexicon.raw_words import learn_raw_words, normal_form


def untagged(n=400, seed=0):
    """Draw sentences in which towns and colours stand between other words."""
    rng = np.random.default_rng(seed)
    towns, colours = ["Ulm", "Bonn", "Trier", "Kiel"], ["red", "blue", "green", "pink"]
    return [
        ["the", str(rng.choice(colours)), "house", "in", str(rng.choice(towns)), "."]
        for _ in range(n)
    ]


def test_words_between_the_same_words_share_a_class(monkeypatch):
    monkeypatch.setattr("sigmastar.tagging.lexicon.raw_words._CLASSES", (6,))
    raw = learn_raw_words(untagged())

    def of(word):
        return int(raw.classes[raw.places[normal_form(word)], 1])

    assert of("Ulm") == of("Bonn") == of("Trier") == of("Kiel")
    assert of("red") == of("blue") == of("green") == of("pink")
    assert len({of(word) for word in ("Ulm", "red", "the", "house", "in", ".")}) == 6


def test_names_are_told_by_their_capitals_inside_sentences():
    raw = learn_raw_words([*untagged(), *[["House", "in", "red"]] * 50])
    share = {word: int(raw.classes[raw.places[word], 0]) for word in ("ulm", "house", "red")}
    assert share == {"ulm": 5, "house": 0, "red": 0}


def test_numbers_are_one_word_and_rare_words_none():
    raw = learn_raw_words([["in", year] for year in ("1914", "1999", "2001")] + [["once"]])
    assert "0000" in raw.places
    assert "once" not in raw.places
    assert raw.features("1848") == raw.features("1914") != []
    assert raw.features("once") == []


def test_no_text_at_all_tells_nothing():
    assert learn_raw_words([]).features("word") == []


@pytest.fixture(scope="module")
def taggers():
    sentences = [["the", "red", "house", "in", "Ulm", "."], ["the", "blue", "house", "."]] * 10
    sentences += [["a", "house", "in", "Bonn", "."], ["the", "Ulm", "house"], ["red", "."]] * 5
    kinds = {"red": "J", "blue": "J", "house": "N", "Ulm": "P", "Bonn": "P", ".": ".", "in": "I"}
    tags = [[kinds.get(word, "D") for word in words] for words in sentences]
    settings = {"training": "discriminative", "threshold": 0.001, "n_passes": 20}
    plain = ss.HMMTagger(**settings).fit(sentences, tags)
    return plain, ss.HMMTagger(**settings).fit(sentences, tags, raw=untagged())


def test_raw_text_tells_the_tags_of_words_that_were_never_tagged(taggers):
    _, helped = taggers
    assert helped.predict([["the", "green", "house", "in", "Kiel", "."]]) == [
        ["D", "J", "N", "I", "P", "."]
    ]
    assert "green" in helped.vocabulary_.forms


def test_the_lazy_machine_equals_a_tagger_that_raw_text_helped(taggers):
    _, helped = taggers
    sentences = [*untagged(50, seed=1), ["Green", "house"], ["unheard", "of"]]
    machine = ss.FSTTagger.from_hmm(helped, "lazy")
    assert machine.predict(sentences) == helped.predict(sentences)
    assert machine.predict(sentences) == helped.predict(sentences)  # from memory


def test_counts_have_no_use_for_raw_text():
    with pytest.raises(InvalidParameter, match='raw needs training="discriminative"'):
        ss.HMMTagger().fit([["a"]], [["D"]], raw=[["a"]])
