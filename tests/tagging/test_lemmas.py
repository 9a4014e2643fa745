"""Lemmas: edits between words and lemmas, what is learned of them, files, and CoNLL-U."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sigmastar as ss
from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.tagging.taggers.lemmatizer import edit_between

ROWS = [
    *(("cats", "NNS", "cat"), ("dogs", "NNS", "dog"), ("ponies", "NNS", "pony")),
    *(("cities", "NNS", "city"), ("mice", "NNS", "mouse"), ("Cats", "NNS", "cat")),
    *(("walked", "VBD", "walk"), ("talked", "VBD", "talk"), ("was", "VBD", "be")),
    *(("left", "VBD", "leave"), ("left", "JJ", "left"), ("Paris", "NNP", "Paris")),
    *(("may", "MD", "may"), ("May", "NNP", "May"), ("London", "NNP", "London")),
]
WORDS, TAGS, LEMMAS = ([list(column)] for column in zip(*ROWS, strict=True))


def pairs(words, others):
    return ss.PairCorpus.from_pairs(zip(words, others, strict=True))


@pytest.fixture(scope="module")
def lemmatizer():
    return ss.learn_lemmas(pairs(WORDS, TAGS), pairs(WORDS, LEMMAS))


@given(st.text(min_size=1, max_size=8), st.text(min_size=1, max_size=8))
def test_an_edit_leads_from_the_word_to_the_lemma(word, lemma):
    assert edit_between(word, lemma).apply(word) == lemma


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["Aa", "aa", "AA", "bab", "Bab", "abb", "bb"]),
            st.sampled_from("XY"),
            st.sampled_from(["a", "Aa", "bab", "b", "ab"]),
        ),
        min_size=1,
        unique_by=lambda row: row[:2],
    )
)
def test_every_word_that_was_seen_gets_its_lemma_back(rows):
    words, tags, lemmas = ([list(column)] for column in zip(*rows, strict=True))
    learned = ss.learn_lemmas(pairs(words, tags), pairs(words, lemmas))
    assert learned.lemmas(words, tags) == lemmas


def test_endings_and_tags_decide_for_words_that_were_not_seen(lemmatizer):
    assert lemmatizer.lemma("Berries", "NNS") == "berry"
    assert lemmatizer.lemma("hats", "NNS") == "hat"
    assert lemmatizer.lemma("jumped", "VBD") == "jump"
    assert lemmatizer.lemma("Texas", "NNP") == "Texas"
    assert (lemmatizer.lemma("left", "VBD"), lemmatizer.lemma("left", "JJ")) == ("leave", "left")


def test_a_new_tag_takes_what_all_tags_have_in_common(lemmatizer):
    assert lemmatizer.lemma("mice", "NOUN") == "mouse"


def test_a_file_holds_every_edit(lemmatizer, tmp_path):
    lemmatizer.save(tmp_path / "l.sigma")
    loaded = ss.load(tmp_path / "l.sigma")
    assert (loaded.endings, loaded.words) == (lemmatizer.endings, lemmatizer.words)
    ss.Lemmatizer({}, {}).save(tmp_path / "none.sigma")
    assert ss.load(tmp_path / "none.sigma").lemma("Cats", "NNS") == "Cats"


def test_the_share_of_right_lemmas(lemmatizer):
    wrong = [["x", *LEMMAS[0][1:]]]
    assert lemmatizer.score(pairs(WORDS, TAGS), pairs(WORDS, wrong)) == 14 / 15


def test_lemmas_go_to_their_column(lemmatizer):
    tagger = ss.HMMTagger(1).fit(WORDS * 3, TAGS * 3)
    text = io.BytesIO(b"cats walked\n")
    written = io.BytesIO()
    tagger.tag_file(text, written, output_format="conllu", lemmatizer=lemmatizer)
    lines = written.getvalue().decode().splitlines()
    assert [line.split("\t")[1:4] for line in lines if line] == [
        ["cats", "cat", "NNS"],
        ["walked", "walk", "VBD"],
    ]
    again = io.BytesIO()
    source = io.BytesIO(written.getvalue().replace(b"\tcat\t", b"\t?\t"))
    formats = {"input_format": "conllu", "output_format": "conllu"}
    tagger.tag_file(source, again, lemmatizer=lemmatizer, **formats)
    assert again.getvalue() == written.getvalue()
    with pytest.raises(InvalidParameter, match="lemmas have a column in CoNLL-U only"):
        tagger.tag_file(io.BytesIO(b"a\n"), io.BytesIO(), lemmatizer=lemmatizer)


def test_tags_and_lemmas_must_be_of_the_same_words():
    with pytest.raises(InvalidData, match="must belong to the same words"):
        ss.learn_lemmas(pairs(WORDS, TAGS), pairs([["cats"]], [["cat"]]))
    fine, short = pairs([["a", "b"]], [["X", "Y"]]), pairs([["a", "b"]], [["X"]])
    for tagged, lemmas in ((fine, short), (short, fine)):
        with pytest.raises(InvalidData, match="as many tags and lemmas as words"):
            ss.learn_lemmas(tagged, lemmas)


def test_read_tagged_reads_lemmas_where_there_are_some(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text("1\tcats\tcat\tNOUN\tNNS\t_\t_\t_\t_\t_\n\n")
    assert list(ss.read_tagged(path, column="lemma").target) == [["cat"]]
    (tmp_path / "b.txt").write_text("cats/NNS\n")
    with pytest.raises(InvalidData, match="the file has no lemmas"):
        ss.read_tagged(tmp_path / "b.txt", column="lemma")
