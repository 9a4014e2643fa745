"""Hidden tags that share names: what is given out and how sure, and what is refused."""

import pytest

import sigmastar as ss
from sigmastar.core.errors import InvalidData, InvalidParameter

# "run" is V in both cases; what follows it depends on the finer tag, as does what it follows.
SENTENCES = [["we", "run", "home"], ["we", "can", "run"], ["a", "can", "rusts"], ["a", "run"]] * 3
TAGS = [["P", "V", "N"], ["P", "V", "V"], ["D", "N", "V"], ["D", "N"]] * 3
FINER = [["p", "fin", "n"], ["p", "aux", "inf"], ["d", "n", "fin"], ["d", "n"]] * 3


@pytest.fixture(scope="module", params=["counts", "discriminative"])
def tagger(request):
    return ss.HMMTagger(training=request.param, n_passes=3).fit(SENTENCES, TAGS, finer=FINER)


def pairs_of(tagger):
    return list(zip(tagger.tags_, tagger.info_["finer"], strict=True))


def test_hidden_tags_are_the_pairs_that_were_seen(tagger):
    seen = {pair for t, f in zip(TAGS, FINER, strict=True) for pair in zip(t, f, strict=True)}
    assert sorted(pairs_of(tagger)) == sorted(seen)
    assert tagger.tags_.count("V") == 3


def test_it_is_the_tagger_of_pairs_by_other_names(tagger):
    joined = [
        [f"{a}\t{b}" for a, b in zip(t, f, strict=True)] for t, f in zip(TAGS, FINER, strict=True)
    ]
    whole = ss.HMMTagger(**tagger.get_params()).fit(SENTENCES, joined)
    text = [*SENTENCES[:4], ["we", "can", "home"], ["a", "home", "run", "runs"]]
    assert tagger.predict(text) == [[t.split("\t")[0] for t in s] for s in whole.predict(text)]
    for mine, others in zip(tagger.predict_proba(text), whole.predict_proba(text), strict=True):
        for word, apart in zip(mine, others, strict=True):
            for name, share in word.items():
                parts = [v for k, v in apart.items() if k.split("\t")[0] == name]
                assert share == pytest.approx(sum(parts))


def test_confidence_is_that_of_the_name(tagger):
    tags, chances = tagger.predict_with_confidence(SENTENCES[:4])
    told = tagger.predict_proba(SENTENCES[:4])
    for given, sure, words in zip(tags, chances, told, strict=True):
        assert sure == pytest.approx([word[tag] for tag, word in zip(given, words, strict=True)])


def test_the_lazy_machine_and_files_keep_shared_names(tagger, tmp_path):
    machine = ss.FSTTagger.from_hmm(tagger, "lazy", corpus=SENTENCES)
    assert machine.info["agreement"] == 1
    for number, model in enumerate((tagger, machine)):
        model.save(tmp_path / f"{number}.sigma")
        loaded = ss.load(tmp_path / f"{number}.sigma")
        assert loaded.tags_ == tagger.tags_
        assert loaded.predict(SENTENCES) == tagger.predict(SENTENCES)
        assert loaded.score(SENTENCES, TAGS) == tagger.score(SENTENCES, TAGS)


def test_rules_and_phrases_need_names_of_their_own(tagger):
    machine = ss.FSTTagger.from_hmm(tagger, "lazy")
    with pytest.raises(InvalidParameter, match="phrases need tags that have names of their own"):
        machine.with_phrases("D N")
    rules = ss.RuleSet.from_text("N -> V", ("D", "N", "P", "V"))
    with pytest.raises(InvalidParameter, match="rules need tags that have names of their own"):
        machine.with_rules(rules)


def test_each_word_needs_one():
    with pytest.raises(InvalidData, match="finer must have a tag for each word; got 2 tags in 1"):
        ss.HMMTagger().fit([["a", "run"], ["run"]], [["D", "N"], ["V"]], finer=[["d", "n"]])


def test_a_lexicon_has_no_finer_tags():
    lexicon = ss.Lexicon.from_tagged(ss.PairCorpus.from_pairs([(["a"], ["D"])]))
    with pytest.raises(InvalidParameter, match="finer must be left out"):
        ss.HMMTagger(classes="sets").fit([["a"]], [["D"]], lexicon=lexicon, finer=[["d"]])
