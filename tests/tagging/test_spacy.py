"""The component of spaCy, in a blank pipeline."""

import pytest

import sigmastar as ss

spacy = pytest.importorskip("spacy", reason="spaCy is not installed")

SENTENCES = [["The", "dog", "barks", "."], ["Dogs", "bark", "."]]
TAGS = [["DET", "NOUN", "VERB", "PUNCT"], ["NOUN", "VERB", "PUNCT"]]
LEMMAS = [["the", "dog", "bark", "."], ["dog", "bark", "."]]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    tagged = ss.PairCorpus.from_pairs(zip(SENTENCES, TAGS, strict=True))
    lemmas = ss.PairCorpus.from_pairs(zip(SENTENCES, LEMMAS, strict=True))
    tagger = ss.HMMTagger(1).fit(tagged)
    pipeline = ss.Pipeline(
        ss.Tokenizer.default(), {"upos": tagger}, ss.learn_lemmas(tagged, lemmas)
    )
    path = tmp_path_factory.mktemp("spacy") / "en.sigma"
    pipeline.save(path)
    return path


@pytest.fixture(scope="module")
def nlp(model):
    import sigmastar.spacy_component  # noqa: F401  (what the entry point does)

    blank = spacy.blank("en")
    blank.add_pipe("sigmastar", config={"model": str(model)})
    return blank


def test_documents_get_tags_lemmas_and_sentences(nlp):
    doc = nlp("The dog barks.  Dogs bark.")
    words = [token for token in doc if not token.is_space]
    assert [token.pos_ for token in words] == [*TAGS[0], *TAGS[1]]
    assert [token.tag_ for token in words] == [*TAGS[0], *TAGS[1]]
    assert [token.lemma_ for token in words] == [*LEMMAS[0], *LEMMAS[1]]
    assert [sentence.text.strip() for sentence in doc.sents] == ["The dog barks.", "Dogs bark."]


def test_sentences_that_a_document_has_are_kept(nlp, model):
    split = spacy.blank("en")
    split.add_pipe("sentencizer", config={"punct_chars": [";"]})
    split.add_pipe("sigmastar", config={"model": str(model)})
    assert len(list(split("The dog barks. Dogs bark.").sents)) == 1
    assert len(nlp("")) == 0
