"""What newcomers stumbled over: each test is one trap that is no more."""

import gzip
import io
import json
import os
import select
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
from typer.testing import CliRunner

import sigmastar as ss
from automata.oracles import random_pfa
from sigmastar.automata.gramians import hankel_singular_values
from sigmastar.cli.main import app
from sigmastar.core.errors import InvalidData, InvalidParameter, PoorModelWarning
from sigmastar.sensors.inference.stream import TagStream

SENTENCES = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "cat", "barks"]] * 4
PENN = [["DT", "NN", "VBZ"]] * 12


def run(*arguments, stdin=None):
    result = CliRunner().invoke(app, [str(a) for a in arguments], input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def conllu(words, upos, xpos):
    lines = ["# text = " + " ".join(words)]
    for i, (word, u, x) in enumerate(zip(words, upos, xpos, strict=True), 1):
        lines.append(f"{i}\t{word}\t_\t{u}\t{x}\t_\t_\t_\t_\t_")
    return "\n".join(lines) + "\n\n"


@pytest.fixture
def tiny_pfa():
    arcs = [[[0.5, 0.0], [0.0, 0.5]], [[0.0, 1e-310], [0.0, 0.25]]]
    return ss.PFA([1.0, 0.0], arcs, [0.5, 0.25], ss.Alphabet("ab"))


@pytest.fixture
def xpos_tagger(tmp_path):
    text = "".join(
        conllu(s, ["DET", "NOUN", "VERB"], t) for s, t in zip(SENTENCES, PENN, strict=True)
    )
    (tmp_path / "train.conllu").write_text(text)
    run(
        "tagger", "train", tmp_path / "train.conllu", "-o", tmp_path / "x.sigma", "--column", "xpos"
    )
    return tmp_path / "x.sigma"


def test_subnormal_weights_score_as_their_logarithm_says(tiny_pfa):
    truth = np.log(1e-310) + np.log(0.25)
    assert ss.log_proba(tiny_pfa, ["b"])[0] == pytest.approx(truth, rel=1e-12)
    assert ss.log_prefix_proba(tiny_pfa, ["b"])[0] == pytest.approx(np.log(1e-310), rel=1e-12)


def test_subnormal_weights_have_paths_and_posteriors(tiny_pfa):
    path = ss.viterbi(tiny_pfa, ["ab"])
    assert path.states[0].tolist() == [0, 0, 1]
    assert path.log_proba[0] == pytest.approx(np.log(0.5) + np.log(1e-310) + np.log(0.25))
    np.testing.assert_allclose(ss.posterior(tiny_pfa, ["ab"])[0], [[1, 0], [1, 0], [0, 1]])


def test_expectation_maximisation_from_subnormal_weights_stays_finite(tiny_pfa):
    known = {"init": tiny_pfa, "alphabet": tiny_pfa.alphabet}
    learned = ss.BaumWelchPFA(2, max_iter=3, **known).fit(["aa", "a", ""] * 5)
    assert np.isfinite(learned.model_.transitions).all()
    # One state is left: a geometric distribution with mean one.
    assert learned.score(["aa", "a", ""]) == pytest.approx(2 * np.log(0.5))


def test_a_model_of_infinite_mass_has_a_report(tmp_path):
    rng = np.random.default_rng(0)
    arcs = rng.normal(size=(3, 50, 50)) * 3e3
    model = ss.WFA(rng.normal(size=50), arcs, rng.normal(size=50), ss.Alphabet("abc"))
    assert hankel_singular_values(model) is None
    ss.write_report(model, tmp_path / "page.html")
    assert "WFA" in (tmp_path / "page.html").read_text()


def test_learning_says_what_infinite_mass_means(tmp_path, monkeypatch):
    (tmp_path / "logs.txt").write_text("a b a b\nb a\n" * 30)
    monkeypatch.setattr(ss.WFA, "spectral_radius", 1.32)
    result = CliRunner().invoke(app, ["learn", str(tmp_path / "logs.txt"), "-n", "1"])
    assert "no finite sum (spectral radius 1.32)" in " ".join(result.output.split())


def test_a_saved_kneser_ney_answers_like_the_learner(tmp_path):
    learner = ss.KneserNey(2).fit(["abab", "ab", "ba"] * 10)
    learner.save(tmp_path / "kn.sigma")
    model = ss.load(tmp_path / "kn.sigma")
    np.testing.assert_array_equal(model.log_proba(["ab"]), learner.log_proba(["ab"]))
    assert model.predict_next(["a"], 2) == learner.predict_next(["a"], 2)
    assert model.sample(3, random_state=0) == learner.sample(3, random_state=0)
    assert ss.metrics.perplexity_per_symbol(model, ["ab"]) > 1.0
    (tmp_path / "t.txt").write_text("a b\n")
    assert "perplexity_per_symbol" in run(
        "perplexity", tmp_path / "kn.sigma", tmp_path / "t.txt", "--json"
    )


def test_tags_go_into_the_column_they_were_learned_from(xpos_tagger, tmp_path):
    (tmp_path / "gold.conllu").write_text(conllu(SENTENCES[0], ["DET", "NOUN", "VERB"], "___"))
    out = run("tagger", "tag", xpos_tagger, tmp_path / "gold.conllu", "-t", "conllu")
    assert out == conllu(SENTENCES[0], ["DET", "NOUN", "VERB"], PENN[0])


def test_marks_of_phrases_go_into_misc():
    hmm = ss.HMMTagger(1).fit(SENTENCES, PENN)
    marking = ss.FSTTagger.from_hmm(hmm, "n1").with_phrases()
    source = conllu(SENTENCES[0], "___", "___").replace("sleeps", "sleeps").encode()
    target = io.BytesIO()
    formats = {"input_format": "conllu", "output_format": "conllu", "column": "xpos"}
    marking.tag_file(io.BytesIO(source), target, **formats)
    rows = [line.split("\t") for line in target.getvalue().decode().split("\n")[1:4]]
    assert [row[3] for row in rows] == ["_", "_", "_"]
    assert [row[4] for row in rows] == PENN[0]
    assert [row[9] for row in rows] == ["Phrase=B-NP", "Phrase=I-NP", "_"]
    assert marking.score(SENTENCES, PENN) == 1.0


def test_a_tagger_is_evaluated_on_the_tags_it_was_trained_on(xpos_tagger, tmp_path):
    found = json.loads(run("tagger", "evaluate", xpos_tagger, tmp_path / "train.conllu", "--json"))
    assert found["accuracy"] == 1.0
    run("tagger", "compile", xpos_tagger, "-o", tmp_path / "f.sigma", "--kind", "n1", "--phrases")
    found = json.loads(
        run("tagger", "evaluate", tmp_path / "f.sigma", tmp_path / "train.conllu", "--json")
    )
    assert found["accuracy"] == 1.0
    arguments = ["tagger", "evaluate", xpos_tagger, tmp_path / "train.conllu"]
    with pytest.raises(InvalidData, match=r"tags of the data \(DET, NOUN, VERB\) are none"):
        run(*arguments, "--column", "upos")


def test_pairs_are_evaluated_and_reported_as_they_were_learned(tmp_path):
    (tmp_path / "p.tsv").write_text("ab\tAH BE\nba\tBE AH\naa\tAH AH\nb\tBE\n" * 6)
    model = tmp_path / "g2p.sigma"
    train = ["transducer", "train", tmp_path / "p.tsv", "-o", model, "-m", "joint-ngram"]
    run(*train, "--target", "words", "--order", "2")
    found = json.loads(run("transducer", "evaluate", model, tmp_path / "p.tsv", "--json"))
    assert found["word_accuracy"] == 1.0
    run("report", model, "--data", tmp_path / "p.tsv", "-o", tmp_path / "page.html")
    assert "100.00 %" in (tmp_path / "page.html").read_text()
    with pytest.raises(InvalidData, match="output symbols of the data"):
        run("transducer", "evaluate", model, tmp_path / "p.tsv", "--target", "chars")


def test_frames_with_other_labels_are_not_scored(tmp_path):
    rows = [f"{x},{x * x},{'go' if x > 0.5 else 'stop'}" for x in np.linspace(0, 1, 40)]
    (tmp_path / "f.csv").write_text("\n".join(["x,y,mode", *rows]) + "\n")
    model = tmp_path / "f.sigma"
    run("sensors", "train", tmp_path / "f.csv", "-o", model, "-m", "framewise")
    found = json.loads(run("sensors", "evaluate", model, tmp_path / "f.csv", "--json"))
    assert found["accuracy"] > 0.8
    (tmp_path / "g.csv").write_text("x,y,mode\n0.1,0.2,fly\n0.9,0.8,swim\n")
    with pytest.raises(InvalidData, match=r"labels of the data \(fly, swim\) are none"):
        run("sensors", "evaluate", model, tmp_path / "g.csv")


def test_readings_go_by_the_names_they_were_learned_by(tmp_path):
    rows = [(x, x * x, "go" if x > 0.5 else "stop") for x in np.linspace(0, 1, 40)]
    lines = [f"{i},{x},{y},{mode}" for i, (x, y, mode) in enumerate(rows)]
    (tmp_path / "f.csv").write_text("\n".join(["time,x,y,mode", *lines]) + "\n")
    turned = [f"{mode};{y};{x}" for x, y, mode in rows]
    (tmp_path / "g.csv").write_text("\n".join(["mode;y;x", *turned]) + "\n")
    (tmp_path / "h.csv").write_text("x,z,mode\n1,2,go\n3,4,stop\n")
    model = tmp_path / "f.sigma"
    train = ["sensors", "train", tmp_path / "f.csv", "-o", model, "-m", "framewise"]
    run(*train, "--columns", "x,y")
    found = [
        json.loads(run("sensors", "evaluate", model, tmp_path / name, "--json"))["accuracy"]
        for name in ("f.csv", "g.csv")
    ]
    assert found[0] == found[1] > 0.8
    for command in ("evaluate", "tag"):
        with pytest.raises(InvalidParameter, match=r"columns must name a column of .*; got 'y'"):
            run("sensors", command, model, tmp_path / "h.csv")
    states = tmp_path / "s.sigma"
    run("sensors", "learn", tmp_path / "f.csv", "-o", states, "--columns", "x,y", "-n", "2")
    one, other = (run("sensors", "states", states, tmp_path / name) for name in ("f.csv", "g.csv"))
    assert one == other


def test_false_alarms_are_counted_on_normal_sequences(tmp_path):
    (tmp_path / "logs.txt").write_text("open read close\nopen close\n" * 60)
    run("learn", tmp_path / "logs.txt", "-n", "2", "-o", tmp_path / "m.sigma")
    with pytest.raises(InvalidParameter, match="--normal FILE"):
        run("anomalies", tmp_path / "m.sigma", tmp_path / "logs.txt", "--false-alarms", "0.1")


def test_files_that_cannot_be_meant_are_named(tmp_path):
    (tmp_path / "bytes.dat").write_bytes(bytes(range(256)) * 4)
    with pytest.raises(InvalidData, match="is not text"):
        ss.read_corpus(tmp_path / "bytes.dat")
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(InvalidData, match="the file is empty"):
        ss.read_tagged(tmp_path / "empty.txt")
    (tmp_path / "cmu.dict").write_text("CAT  K AE1 T\n")
    with pytest.raises(InvalidData, match="--format dictionary"):
        ss.read_pairs(tmp_path / "cmu.dict")


def test_more_data_are_added_to_what_was_fitted():
    first, second = ["ab", "abab", "b"] * 8, ["ba", "a", "bb"] * 8
    alphabet = ss.Alphabet("ab")
    whole = ss.SpectralWFA(2, alphabet=alphabet).fit(first + second).model_
    added = ss.SpectralWFA(2, alphabet=alphabet).fit(first).partial_fit(second).model_
    assert added == whole


def test_wrong_arguments_are_told_in_words():
    hmm = ss.HMMTagger(1).fit(SENTENCES, PENN)
    with pytest.raises(InvalidData, match="got NoneType"):
        hmm.predict(None)
    with pytest.raises(InvalidParameter, match="y must hold the tags"):
        hmm.score(SENTENCES)
    with pytest.raises(InvalidData, match=r"tags of the data \(X\) are none"):
        hmm.score(SENTENCES, [["X"] * 3] * 12)
    for strange in (None, ss.FSTTagger.from_hmm(hmm, "n1")):
        with pytest.raises(InvalidParameter, match="tagger must be an HMMTagger"):
            ss.FSTTagger.from_hmm(strange, "n1")
    with pytest.raises(ss.errors.DataNotFound, match="it is a directory"):
        ss.load(".")
    with pytest.raises(InvalidParameter, match="model must be a ContinuousTagger"):
        TagStream(ss.WFA([1.0], [[[0.5]]], [0.5], ss.Alphabet("a")))


def test_one_label_is_nothing_to_learn(tmp_path):
    (tmp_path / "f.csv").write_text("a,b,mode\n" + "0.1,0.2,still\n" * 9)
    with pytest.raises(InvalidData, match="one label only, 'still'"):
        run("sensors", "train", tmp_path / "f.csv", "-o", tmp_path / "f.sigma")


def test_a_growing_machine_is_no_table():
    from sigmastar.tagging.fst.openfst import to_openfst

    lazy = ss.FSTTagger.from_hmm(ss.HMMTagger(1).fit(SENTENCES, PENN), "lazy")
    with pytest.raises(InvalidParameter, match="grows while it tags"):
        to_openfst(lazy.machine)


def test_compressed_text_is_tagged_as_text(xpos_tagger, tmp_path):
    (tmp_path / "t.gz").write_bytes(gzip.compress(b"the dog barks\n"))
    assert run("tagger", "tag", xpos_tagger, tmp_path / "t.gz") == "the/DT dog/NN barks/VBZ\n"
    target = io.BytesIO()
    ss.load(xpos_tagger).tag_file(io.BytesIO((tmp_path / "t.gz").read_bytes()), target)
    assert target.getvalue() == b"the/DT dog/NN barks/VBZ\n"


@pytest.mark.parametrize("form", ["-f lines", "-f tokens", "-f conllu", "--raw"])
def test_text_in_another_encoding_is_refused_with_a_remedy(form, xpos_tagger, tmp_path):
    text = "the dog\nin a café\n"
    if form == "-f conllu":
        text = "".join(f"{i}\t{w}" + 8 * "\t_" + "\n" for i, w in enumerate(["a", "café"], 1))
    (tmp_path / "t.txt").write_bytes(text.encode("latin-1"))
    with pytest.raises(ss.errors.ParseError) as caught:
        run("tagger", "tag", xpos_tagger, tmp_path / "t.txt", *form.split())
    told = str(caught.value)
    assert "t.txt:2: expected UTF-8 text, found the byte 0xe9 at byte " in told
    assert f"iconv -f LATIN1 -t UTF-8 {tmp_path / 't.txt'}" in told
    (tmp_path / "t.txt").write_bytes(text.encode("utf-16"))
    with pytest.raises(ss.errors.ParseError, match="iconv -f UTF-16"):
        run("tagger", "tag", xpos_tagger, tmp_path / "t.txt", *form.split())


@pytest.mark.parametrize(
    ("data", "remedy"),
    [
        ("a b\nb a\n".encode("utf-16"), "iconv -f UTF-16 -t UTF-8"),  # as Windows writes it
        ("a b\nb a\n".encode("utf-16-le"), "iconv -f UTF-16LE -t UTF-8"),
        (bytes(range(256)), "Is it the right file"),
        (b"a\tb\tb\nb\ta\n", "-f words"),
    ],
)
def test_files_that_are_no_sequences_are_told_what_to_do(data, remedy, tmp_path):
    (tmp_path / "t.txt").write_bytes(data)
    with pytest.raises(ss.SigmastarError, match=f"t.txt.*{remedy}"):
        ss.read_corpus(tmp_path / "t.txt")


def test_a_pipe_gets_its_answer_line_by_line(xpos_tagger):
    command = [sys.executable, "-m", "sigmastar", "tagger", "tag", str(xpos_tagger)]
    # Where Python itself writes everything at once, a missing flush would not be noticed.
    buffered = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=buffered
    ) as process:
        process.stdin.write(b"the dog barks\n")
        process.stdin.flush()
        assert select.select([process.stdout], [], [], 60)[0], "nothing came for a minute"
        assert process.stdout.readline() == b"the/DT dog/NN barks/VBZ\n"
        process.stdin.close()
        assert process.stdout.read() == b""


def test_a_model_worse_than_frequencies_is_not_learned_in_silence():
    # What comes late is never seen in prefixes of this length, nor by so small a basis.
    late = ["x" * 12 + "abcdefgh"[i % 8] * 12 for i in range(40)]
    with pytest.warns(PoorModelWarning, match="a unigram has"):
        learner = ss.SeparablePFA(1, statistics="prefix", basis_size=4, max_length=1).fit(late)
    assert learner.info_["held_out_perplexity"] > learner.info_["unigram_perplexity"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ss.SpectralWFA().fit(late)


def test_parts_are_compared_with_frequencies_too():
    late = ["x" * 12 + "abcdefgh"[i % 8] * 12 for i in range(40)]
    parts = ss.Partitions.from_sequences([late[:20], late[20:]])
    with pytest.warns(PoorModelWarning, match="a unigram has"):
        learner = ss.SpectralWFA(1, statistics="prefix", basis_size=4, max_length=1).fit(parts)
    assert learner.info_["training_perplexity"] > learner.info_["unigram_perplexity"]


def test_a_model_that_expects_empty_sequences_is_not_learned_in_silence():
    logs = [f"open {what} close".split() for what in ["read"] * 50 + ["write"] * 30]
    logs += [["open", "close"]] * 10
    with pytest.warns(PoorModelWarning, match=r"the empty sequence a probability of 0\.8"):
        ss.SpectralWFA(3).fit(logs)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ss.SpectralWFA(1).fit([*logs, *[[]] * 200])  # where many are empty, they are expected
        assert ss.SpectralWFA().fit(logs).log_proba([[]])[0] < -5


@pytest.mark.parametrize("learner", [ss.SeparablePFA, ss.TensorHMM])
def test_defaults_do_not_fail_on_logs(learner):
    sessions = ss.datasets.make_logs(300, random_state=0).sessions
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = learner(max_states=6).fit(sessions).info_
    assert found["statistics"] == "substring"
    # On the part that was held out, by perplexities of a symbol.
    assert found["held_out_perplexity"] < found["unigram_perplexity"]
    with pytest.warns(PoorModelWarning, match="on sequences held out, where a unigram has"):
        learner(max_states=6, statistics="prefix").fit(sessions)


@pytest.mark.parametrize(
    ("text", "symbols"),
    [
        ("/api/users /api/login\n/api/users\n", {"/api/users", "/api/login"}),
        ("api/users api/login\n", {"api/users", "api/login"}),
        ("5 1000000\n", {"5", "1000000"}),
        ("the/DT dog/NN\na/DT cat/NN\n", {"the", "dog", "a", "cat"}),
    ],
)
def test_formats_are_guessed_only_where_they_are_certain(text, symbols, tmp_path):
    (tmp_path / "logs.txt").write_text(text)
    assert set(map(str, ss.read_corpus(tmp_path / "logs.txt").alphabet)) == symbols


def test_columns_between_tabs_are_asked_about(tmp_path):
    (tmp_path / "logs.txt").write_text("s1\topen read close\ns2\topen close\n")
    with pytest.raises(InvalidData, match="pairs, or names before sequences"):
        ss.read_corpus(tmp_path / "logs.txt")


def test_learning_tells_how_the_file_was_read(tmp_path):
    (tmp_path / "logs.txt").write_text("open read close\nopen close\n" * 20)
    result = CliRunner().invoke(app, ["learn", str(tmp_path / "logs.txt"), "-n", "1"])
    assert "as words: 40 sequences, 3 symbols" in " ".join(result.output.split())


def test_characters_are_scored_as_they_were_learned(tmp_path):
    (tmp_path / "names.txt").write_text("anna\nhanna\n" * 20)
    run("learn", tmp_path / "names.txt", "-f", "chars", "-n", "2", "-o", tmp_path / "m.sigma")
    assert float(run("score", tmp_path / "m.sigma", tmp_path / "names.txt").split()[0]) < 0


def test_odd_sequences_are_found_with_the_wanted_share_of_false_alarms(tmp_path):
    rng = np.random.default_rng(0)
    normal = [["open", *["read"] * int(rng.integers(1, 5)), "close"] for _ in range(300)]
    model = ss.KneserNey(3).fit(normal[:150])
    threshold = ss.alarm_threshold(model, normal[150:], false_alarms=0.05)
    scores = ss.anomaly_scores(model, normal[150:]).scores
    assert np.mean(scores > threshold) <= 0.05
    odd = ss.anomaly_scores(model, [["open", "open", "close"], ["open", "erase"], []])
    assert (odd.scores > threshold).all()
    assert odd.oddest.tolist()[1:] == [1, 0]


@pytest.mark.parametrize("whole", [ss.PFA, ss.WFA])
def test_surprises_add_up_to_the_probability(whole):
    arcs = [[[0.3, 0.2], [0.1, 0.1]], [[0.1, 0.3], [0.4, 0.1]]]
    model = whole([1.0, 0.0], arcs, [0.1, 0.3], ss.Alphabet("ab"))
    found = ss.anomaly_scores(model, ["abba", "", "b"], by="mean")
    bits = [float(surprise.sum()) for surprise in found.surprises]
    expected = -ss.log_proba(model, ["abba", "", "b"]) / np.log(2)
    np.testing.assert_allclose(bits, expected, rtol=1e-9)
    np.testing.assert_allclose(found.scores, expected / [5, 1, 2], rtol=1e-9)


def test_the_command_prints_what_is_odd(tmp_path):
    (tmp_path / "logs.txt").write_text("open read close\nopen close\n" * 60)
    run("learn", tmp_path / "logs.txt", "-n", "3", "-o", tmp_path / "m.sigma")
    (tmp_path / "new.txt").write_text("open close\nopen erase close\n")
    out = run(
        *("anomalies", tmp_path / "m.sigma", tmp_path / "new.txt"),
        *("--normal", tmp_path / "logs.txt", "--false-alarms", "0.1"),
    )
    assert [line.split("\t")[0::2] for line in out.splitlines()] == [["2", "erase"]]


def test_a_prior_keeps_the_perplexity_finite(tmp_path):
    (tmp_path / "t.txt").write_text("a b\nb c\n" * 20)
    (tmp_path / "new.txt").write_text("c a\n")
    em = ["learn", tmp_path / "t.txt", "-m", "em", "-n", "3", "--max-iter", "20"]
    run(*em, "--prior", "0.1", "-o", tmp_path / "m.sigma")
    found = json.loads(run("perplexity", tmp_path / "m.sigma", tmp_path / "new.txt", "--json"))
    assert np.isfinite(found["perplexity_per_symbol"])


def test_learned_policies_hold_on_the_command_line(tmp_path):
    (tmp_path / "t.txt").write_text("open read\nopen close\n" * 20)
    (tmp_path / "new.txt").write_text("open erase\nopen\n")
    learn = ["learn", tmp_path / "t.txt", "-n", "2", "-o", tmp_path / "m.sigma"]
    run(*learn, "--unknown", "unk")
    new, old = map(float, run("score", tmp_path / "m.sigma", tmp_path / "new.txt").split())
    assert new < old - 1.0
    run(*learn, "--unknown", "ignore")
    result = CliRunner().invoke(
        app, ["score", str(tmp_path / "m.sigma"), str(tmp_path / "new.txt")]
    )
    assert "1 of 3 symbols are unknown to the model" in " ".join(result.output.split())


def test_a_missing_file_is_one_kind_of_error(tmp_path):
    for read in (ss.load, ss.read_corpus, ss.read_pairs, ss.read_tagged, ss.read_frames):
        with pytest.raises(ss.errors.DataNotFound, match=r"cannot be opened"):
            read(tmp_path / "nothing.txt")
    with pytest.raises(ss.errors.DataNotFound, match=r"cannot be opened"):
        ss.read_model(tmp_path / "nothing.sigma")


def test_numbers_alone_do_not_correlate():
    with pytest.raises(InvalidParameter, match="metric must be 'euclidean' for frames of one"):
        ss.CentroidFeatures(2).fit(np.arange(9.0)[:, None])


def test_taggers_answer_to_the_same_names(tmp_path):
    hmm = ss.HMMTagger(1).fit(SENTENCES, PENN)
    fst = ss.FSTTagger.from_hmm(hmm, "n1")
    for tagger in (hmm, hmm.model_, fst):
        assert tagger.tags == tagger.tags_
    assert fst.info_ == fst.info
    assert not fst.has_confidence


@pytest.mark.parametrize(
    "texts",
    [
        ["open read close", "open close"] * 9,
        ["open read"],
        ["a b a", "b a"],
        ["it was a dark and stormy night", "the rain fell in torrents"],
    ],
)
def test_words_in_strings_are_asked_about(texts):
    with pytest.warns(
        ss.errors.CharactersWarning, match=r"If words are meant: \[text.split"
    ) as told:
        ss.KneserNey(2).fit(texts)
    assert told[0].filename == __file__


def test_words_and_characters_are_learned_in_silence_where_they_are_told_apart():
    logs = ["open read close", "open close"] * 9
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learned = ss.KneserNey(2, unknown="error").fit([text.split() for text in logs])
        ss.KneserNey(2).fit([list(text) for text in logs])
        ss.KneserNey(2).fit(["anna", "new york", "hanna"])
        text = "the cat sat on the mat " * 9
        ss.KneserNey(2).fit([text[i : i + 10] for i in range(0, len(text), 10)])
    with pytest.raises(ss.errors.UnknownSymbol, match=r"character by character. Cut them"):
        learned.predict_next(["open read"])


def told(*arguments, stdin=None):
    result = CliRunner().invoke(app, [str(a) for a in arguments], input=stdin)
    return " ".join(result.output.split())


@pytest.mark.parametrize("command", ["score", "predict"])
def test_nothing_to_do_is_said(command, tmp_path):
    ss.KneserNey(2).fit([["a", "b"]] * 5).save(tmp_path / "m.sigma")
    (tmp_path / "empty.txt").write_text("")
    assert "holds no sequences" in told(command, tmp_path / "m.sigma", tmp_path / "empty.txt")


def test_text_that_is_not_cut_is_noticed(xpos_tagger, tmp_path):
    (tmp_path / "raw.txt").write_text("The dog, they say, barks.\n")
    note = told("tagger", "tag", xpos_tagger, tmp_path / "raw.txt")
    assert "seems not to be cut into tokens: 'dog,' is tagged as one word. --raw cuts it" in note
    (tmp_path / "cut.txt").write_text("Mr. Fox , they say , barks etc. .\nthe dog barks\n")
    assert "not to be cut" not in told("tagger", "tag", xpos_tagger, tmp_path / "cut.txt")


def test_a_treebank_in_a_pipe_is_told_from_text(xpos_tagger):
    text = conllu(["the", "dog"], ["X", "X"], ["X", "X"])
    tagged = run("tagger", "tag", xpos_tagger, "-t", "conllu", stdin=text)
    assert tagged == conllu(["the", "dog"], ["X", "X"], ["DT", "NN"])


def test_two_columns_with_blank_lines_are_tagged_sentences(tmp_path):
    (tmp_path / "hunpos.tsv").write_text("the\tDT\ndog\tNN\n\na\tDT\ncat\tNN\n")
    found = ss.read_tagged(tmp_path / "hunpos.tsv")
    assert list(found.source) == [["the", "dog"], ["a", "cat"]]
    (tmp_path / "pairs.tsv").write_text("the\tDT\ndog\tNN\n")
    with pytest.raises(InvalidData, match="looks like 'pairs'"):
        ss.read_tagged(tmp_path / "pairs.tsv")


def test_files_without_pairs_are_named(tmp_path):
    (tmp_path / "empty.tsv").write_text("")
    with pytest.raises(InvalidData, match=r"empty\.tsv: holds no pairs"):
        run("transducer", "train", tmp_path / "empty.tsv", "-o", tmp_path / "m.sigma")


def test_letters_never_learned_are_named(tmp_path):
    pairs = ss.PairCorpus.from_pairs([("anna", "ANNA"), ("nan", "NAN")] * 8)
    ss.Transliterator("joint-ngram", order=2).fit(pairs).save(tmp_path / "m.sigma")
    note = told("transducer", "apply", tmp_path / "m.sigma", stdin="Anna\n")
    assert "1 input with symbols never learned (left out): 'A'" in note


def test_the_first_of_equally_odd_events_is_pointed_at():
    model = ss.SpectralWFA().fit([["open", "read", "close"], ["open", "close"]] * 30)
    # After an unknown event nothing is like it was: the end is as odd but for rounding.
    assert ss.anomaly_scores(model, [["open", "hack"]]).oddest.tolist() == [1]


def test_a_symbol_spelled_nearly_alike_is_asked_about():
    model = ss.KneserNey(2, unknown="error").fit([["login", "view", "leave"]] * 5)
    with pytest.raises(ss.errors.UnknownSymbol, match=r"'veiw' is not in .* Did you mean 'view'\?"):
        model.log_proba([["login", "veiw"]])


def test_files_are_not_taken_for_sequences(tmp_path):
    path = tmp_path / "logs.txt"
    path.write_text("open close\n")
    for given in (path, str(path)):
        with pytest.raises(InvalidData, match="read_corpus"):
            ss.SpectralWFA().fit(given)


@pytest.mark.parametrize("kind", [tuple, iter, np.array, "pandas"])
def test_words_in_strings_are_asked_about_wherever_they_are(kind):
    if kind == "pandas":
        kind = pytest.importorskip("pandas").Series
    with pytest.warns(ss.errors.CharactersWarning, match="character by character"):
        learned = ss.KneserNey(2).fit(kind(["open read", "open close"] * 3))
    assert (
        learned.model_
        == ss.KneserNey(2).fit([list(t) for t in ["open read", "open close"] * 3]).model_
    )


def test_a_column_of_events_is_asked_about():
    pandas = pytest.importorskip("pandas")
    with pytest.warns(ss.errors.CharactersWarning, match="If cells are events"):
        ss.KneserNey(2).fit(pandas.Series(["open", "read", "close"] * 9))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ss.KneserNey(2).fit(pandas.Series(["anna", "hanna", "nan"]))
        ss.KneserNey(2).fit([pandas.Series(["open", "read", "close"] * 9).to_list()])


def test_a_checkpoint_is_not_taken_for_a_model_of_a_newer_version(tmp_path):
    path = tmp_path / "run.ckpt"
    data = [["a", "b"], ["b"]] * 9
    ss.BaumWelchPFA(2, max_iter=2, random_state=0, checkpoint=str(path), checkpoint_every=0.0).fit(
        data
    )
    with pytest.raises(ss.errors.FileFormatError, match="state of a run that may go on"):
        ss.load(path)


def test_a_model_given_as_text_is_not_converted(tmp_path):
    ss.KneserNey(2).fit([["a", "b"]] * 5).save(tmp_path / "m.sigma")
    with pytest.raises(InvalidData, match="does not look like text at all"):
        ss.read_corpus(tmp_path / "m.sigma", "words")


@pytest.mark.parametrize(
    ("name", "text"),
    [("f.csv", "time stamp,event\n1,open file\n2,close\n"), ("f.txt", "0.5;1\n0.7;2\n")],
)
def test_tables_are_not_taken_for_sequences(name, text, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(InvalidData, match="looks like a table with commas"):
        ss.read_corpus(tmp_path / name)
    assert len(ss.read_corpus(tmp_path / name, "words")) == text.count("\n")
    (tmp_path / "t.txt").write_text("well, yes\noh, no\n")
    assert len(ss.read_corpus(tmp_path / "t.txt")) == 2


def test_who_writes_openfst_files_is_told(tmp_path):
    pfa = ss.PFA([1.0], [[[0.4]]], [0.6], ss.Alphabet("a"))
    with pytest.raises(InvalidParameter, match=r"by model\.to_openfst\(\)\.write"):
        ss.write_model(pfa, tmp_path / "m.fst")


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: ss.Partitions.from_files([]), "files must name at least one file"),
        (lambda: ss.join_pairs([("ann",)]), "a pair must hold a source and a target; got"),
        (lambda: ss.join_pairs(["an"]), "a pair must hold a source and a target; got 'an'"),
        (lambda: parts_of_ab().write("x", "out"), "function must be callable.*got 'x'"),
        (lambda: parts_of_ab().write(len, "out"), "a value for each sequence of a part; got 2"),
        (lambda: parts_of_ab(scratch=__file__), "scratch must be a directory; '.*' is a file"),
        (lambda: parts_of_ab().write(list, __file__), "results go into a directory; .* is a file"),
        (lambda: exact(3, "strings"), "statistics must be 'string', 'prefix' or 'substring'"),
        (lambda: exact(4, "string"), "basis must be over as many symbols as the model, 3; got"),
        (
            lambda: ss.metrics.pautomac_perplexity(random_pfa(0, symbols="abc"), ["a"], ["x"]),
            "solution must hold numbers",
        ),
        (
            lambda: ss.datasets.make_problem("pfa", n_states=1, n_symbols=1, n_test=100_000),
            "n_test must not exceed the number of distinct strings",
        ),
    ],
)
def test_what_is_asked_of_parts_and_problems_wrongly_is_told(ask, words):
    with pytest.raises(ss.SigmastarError, match=words):
        ask()


def exact(n_symbols, statistics):
    basis = ss.moments.all_basis(n_symbols, 2)
    return ss.moments.exact_moments(random_pfa(0, symbols="abc"), basis, statistics)


def parts_of_ab(**options):
    return ss.Partitions.from_sequences([[["a"], ["b"]], [["a"]]], **options)


@pytest.mark.parametrize("address", ["nowhere", "tcp:/host", "http://host:8786", ""])
def test_an_address_that_is_none_is_told_and_leaves_no_thread(address):
    pytest.importorskip("distributed")
    before = set(threading.enumerate())
    with pytest.raises(InvalidParameter, match="client must be a scheduler's address such as"):
        parts_of_ab(client=address)
    assert set(threading.enumerate()) <= before


def test_a_path_in_place_of_a_model_is_to_be_loaded():
    with pytest.raises(InvalidParameter, match=r"got str\. Load it first: sigmastar\.load"):
        ss.metrics.pautomac_perplexity("learned.sigma", ["ab"], [1.0])


def test_exact_moments_are_those_of_what_an_estimator_learned():
    est = ss.BaumWelchHMM(2, max_iter=2, random_state=0).fit(["ab", "b", "abb"] * 5)
    basis = ss.moments.all_basis(2, 1)
    found = ss.moments.exact_moments(est, basis, "string")
    wanted = ss.moments.exact_moments(est.model_.to_pfa(), basis, "string")
    assert np.array_equal(found.block, wanted.block)


def test_no_states_are_refused_without_a_word_on_ranks():
    from sigmastar.automata.learn.spectral import learn_spectral

    with pytest.raises(InvalidParameter, match="n_states must be an integer of at least 1; got 0"):
        learn_spectral(exact(3, "string"), n_states=0)


@pytest.mark.parametrize("frame", ["ab", [[1.0], [2.0, 3.0]], {}])
def test_a_frame_that_is_no_row_of_numbers_is_refused(frame):
    X = [np.repeat([0.0, 4.0], 20)[:, None] + np.linspace(0, 1, 40)[:, None]]
    hmm = ss.GaussianHMM(2, random_state=0).fit(X).model_
    operators = [[[[1.0]], [[0.0]]], [[[0.0]], [[1.0]]]]
    tagger = ss.ContinuousTagger([1.0], operators, [1.0], ss.Alphabet(["off", "on"]), [0.5, 0.5])
    for stream in (ss.StateStream(hmm), ss.TagStream(tagger)):
        with pytest.raises(InvalidData, match="a frame must be"):
            stream.push(frame)
