"""The HMM tagger: an estimator that learns, and a model that is saved, loaded and asked."""

import io
import subprocess
import sys
from dataclasses import asdict

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import sigmastar as ss
from sigmastar.core.confusion import accuracy, confusion
from sigmastar.core.errors import ParseError
from sigmastar.tagging.settings import TaggerSettings
from sigmastar.tagging.taggers.evaluation import evaluate_tagger
from sigmastar.tagging.taggers.hmm import HMMTaggerModel

WORDS = [["the", "dog", "walks"], ["to", "walk", "the", "dog"], ["a", "long", "walk"]] * 4
TAGS = [["DT", "NN", "VBZ"], ["TO", "VB", "DT", "NN"], ["DT", "JJ", "NN"]] * 4
PAIRS = ss.PairCorpus.from_pairs(zip(WORDS, TAGS, strict=True))


@pytest.fixture(params=["viterbi", "posterior"])
def tagger(request):
    return ss.HMMTagger(decoding=request.param).fit(WORDS, TAGS)


@pytest.fixture
def loaded(tagger, tmp_path):
    tagger.save(tmp_path / "t.sigma")
    return ss.load(tmp_path / "t.sigma")


def test_a_loaded_tagger_answers_as_the_estimator_that_wrote_it(tagger, loaded):
    assert isinstance(loaded, HMMTaggerModel)
    assert not isinstance(loaded, ss.HMMTagger)
    sentences = [["to", "walk"], ["the", "Unheard", "walk"], []]
    assert loaded.predict(sentences) == tagger.predict(sentences)
    assert loaded.predict_proba(sentences) == tagger.predict_proba(sentences)
    assert np.array_equal(loaded.confidence(sentences)[1], tagger.confidence(sentences)[1])
    assert loaded.score(PAIRS) == tagger.score(WORDS, TAGS)
    assert loaded.tags_ == tagger.tags_
    assert loaded.vocabulary_.forms == tagger.vocabulary_.forms
    assert loaded.model_.n_classes == tagger.model_.n_classes
    assert loaded.get_params() == tagger.get_params()
    assert evaluate_tagger(loaded, PAIRS) == evaluate_tagger(tagger, PAIRS)


def test_what_is_made_of_a_loaded_tagger_is_what_is_made_of_the_estimator(tagger, loaded):
    from_loaded, from_fitted = (ss.FSTTagger.from_hmm(t, "n1") for t in (loaded, tagger))
    assert np.array_equal(from_loaded.machine.table, from_fitted.machine.table)
    held_out = ss.held_out_tags(tagger, PAIRS, 2)
    assert ss.held_out_tags(loaded, PAIRS, 2) == held_out
    assert ss.held_out_tags(ss.HMMTagger(**tagger.get_params()), PAIRS, 2) == held_out


def test_a_loaded_tagger_saves_the_same_file(tagger, loaded, tmp_path):
    tagger.model_.save(tmp_path / "one.sigma")
    loaded.save(tmp_path / "two.sigma")
    assert (tmp_path / "one.sigma").read_bytes() == (tmp_path / "two.sigma").read_bytes()


def test_settings_have_the_parameters_and_defaults_of_the_estimator():
    assert asdict(TaggerSettings()) == ss.HMMTagger().get_params()


@pytest.mark.parametrize("question", ["predict", "confidence", "predict_proba", "to_classes"])
def test_a_tagger_that_has_learned_nothing_says_so(question):
    with pytest.raises(NotFittedError):
        getattr(ss.HMMTagger(), question)(WORDS)
    with pytest.raises(NotFittedError):
        ss.FSTTagger.from_hmm(ss.HMMTagger())


def test_who_only_tags_does_not_wait_for_scikit_learn(tagger, tmp_path):
    tagger.save(tmp_path / "hmm.sigma")
    ss.FSTTagger.from_hmm(tagger, "lazy").save(tmp_path / "fst.sigma")
    program = (
        "import sys; import sigmastar as ss\n"
        "for name in sys.argv[1:]:\n"
        "    tagger = ss.load(name)\n"
        "    tagger.predict([['the', 'dog']]), tagger.score([['the']], [['DT']])\n"
        "ss.FSTTagger.from_hmm(ss.load(sys.argv[1]), 'n1')\n"
        "print([name for name in sys.modules if name.split('.')[0] == 'sklearn'])\n"
    )
    files = [str(tmp_path / name) for name in ("hmm.sigma", "fst.sigma")]
    done = subprocess.run(
        [sys.executable, "-c", program, *files], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("line", ["x\tdog" + "\t_" * 8, "1\t \t_" + "\t_" * 7])
def test_tagger_and_reader_refuse_the_same_lines(tagger, line, tmp_path):
    (tmp_path / "bad.conllu").write_text(line + "\n\n")
    with pytest.raises(ParseError) as read:
        ss.read_tagged(tmp_path / "bad.conllu")
    with open(tmp_path / "bad.conllu", "rb") as source, pytest.raises(ParseError) as tagged:
        tagger.tag_file(source, io.BytesIO(), input_format="conllu")
    assert str(read.value) == str(tagged.value)


def test_a_mark_at_the_beginning_of_a_file_hides_nothing(tagger):
    text = "\ufeff# a comment\n1\tdog\t_\tX\tX" + "\t_" * 5 + "\n\n"
    target = io.BytesIO()
    tagger.tag_file(
        io.BytesIO(text.encode()), target, input_format="conllu", output_format="conllu"
    )
    assert target.getvalue().decode() == text.replace("X\tX", "NN\tNN")


def test_the_commonest_errors_come_first():
    right, given = list("aaabbbcc"), list("abbabacc")
    found = confusion(right, given)
    assert found.errors(10) == [("a", "b", 2), ("b", "a", 2)]
    assert found.errors(1) == [("a", "b", 2)]
    assert accuracy(right, given) == found.accuracy == 0.5
    assert np.isnan(accuracy([], []))
