"""From raw text to tags and lemmas: places kept, tokens of several words, one file."""

import io
import json
import subprocess
import sys
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import sigmastar as ss
from sigmastar.cli.main import app
from sigmastar.core.errors import InvalidData
from sigmastar.corpus.annotated import AnnotatedText, Token, Word
from sigmastar.metrics import text_scores
from sigmastar.tagging.kernels.boundary_features import (
    BEFORE,
    BEGIN,
    END,
    GAP,
    MARKS,
    N_FEATURES,
    N_FEATURES_FIRST,
    RUN_AFTER,
    RUN_BEFORE,
    RUN_LENGTH,
)
from sigmastar.tagging.taggers.expansions import Expansion, Expansions, expansion_between
from sigmastar.tagging.taggers.readings import decide_alike
from sigmastar.tagging.text import raw
from sigmastar.tagging.text.characters import boundary_text
from sigmastar.tagging.text.raw import paragraphs

NAMES = ["Ann", "Bob", "Mr. Fox", "Dr. Owl", "Eve"]
VERBS = ["sees", "likes", "doesn't see", "can't hear", "finds"]
THINGS = ["a cat", "3.5 dogs", "the end", "www.x.org", "that"]


def treebank_lines(n, seed=0):
    """Write sentences of a small language with points that do not end them."""
    rng = np.random.default_rng(seed)
    lines = []
    for number in range(n):
        if number % 5 == 0:
            lines.append("# newpar")
        words = " ".join(rng.choice(part) for part in (NAMES, VERBS, THINGS)).split()
        row = 1
        for place, word in enumerate(words):
            close = "SpaceAfter=No" if place == len(words) - 1 else "_"
            if word.endswith("n't"):
                lines.append(f"{row}-{row + 1}\t{word}" + "\t_" * 7 + f"\t{close}")
                parts, close = [(word[:-3], "AUX"), ("n't", "PART")], "_"
            elif word in ("Mr.", "Dr."):
                parts = [(word, "PROPN")]
            else:
                tag = "VERB" if word in ("sees", "likes", "see", "hear", "finds") else "NOUN"
                parts = [(word, tag)]
            for form, tag in parts:
                lemma = form.removesuffix("s").lower()
                lines.append(f"{row}\t{form}\t{lemma}\t{tag}\t{tag[0]}\t_\t_\t_\t_\t{close}")
                row += 1
        lines.append(f"{row}\t.\t.\tPUNCT\t.\t_\t_\t_\t_\t_")
        lines.append("")
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("treebank")
    for name, size, seed in (("train", 300, 0), ("test", 80, 1)):
        (folder / f"{name}.conllu").write_text(treebank_lines(size, seed))
    return folder


@pytest.fixture(scope="module")
def pipeline(files):
    return ss.learn_pipeline(ss.read_treebank(files / "train.conllu"))


def test_both_columns_are_those_of_one_tagger(pipeline):
    upos, xpos = (pipeline.taggers[name] for name in ("upos", "xpos"))
    assert all(
        x == u[0] if u != "PUNCT" else x == "." for u, x in zip(upos.tags, xpos.tags, strict=True)
    )
    assert set(xpos.tags) == {"A", "N", "P", "V", "."}
    assert xpos.tags.count("P") == 2  # proper nouns and particles
    assert np.array_equal(upos.machine.model.scores, xpos.machine.model.scores)


def test_a_treebank_is_read_with_its_text(tmp_path):
    path = tmp_path / "t.conllu"
    path.write_text(
        "# newdoc\n# text = Don't go.\n1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "1\tDo\tdo\tAUX\tVB\t_\t_\t_\t_\t_\n2\tn't\tnot\tPART\tRB\t_\t_\t_\t_\t_\n"
        "3\tgo\tgo\tVERB\tVB\t_\t_\t_\t_\tSpaceAfter=No\n3.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "4\t.\t.\tPUNCT\t.\t_\t_\t_\t_\t_\n\n# newpar\n1\tNo\tno\tINTJ\tUH\t_\t_\t_\t_\t_\n\n"
    )
    found = ss.read_treebank(path)
    assert found.text == "Don't go.\n\nNo"
    assert [[found.form(t) for t in s] for s in found] == [["Don't", "go", "."], ["No"]]
    assert found.sentences[0][0].words == (
        Word("Do", "AUX", "VB", "do"),
        Word("n't", "PART", "RB", "not"),
    )
    again = tmp_path / "again.conllu"
    again.write_text(found.to_conllu())
    assert ss.read_treebank(again) == found


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        ("1-2\tx" + "\t_" * 8 + "\n1\tx" + "\t_" * 8 + "\n\n", "1 more words of 'x'"),
        ("1-99\tx" + "\t_" * 8 + "\n", "a range of 1 to 64 words"),
        ("1\tx\n", "10 tab-separated columns"),
        ("# nothing\n", "holds no sentences"),
    ],
)
def test_strange_treebanks_are_refused(tmp_path, lines, what):
    path = tmp_path / "t.conllu"
    path.write_text(lines)
    with pytest.raises(ss.SigmastarError, match=what):
        ss.read_treebank(path)


def test_runs_of_letters_are_known_whatever_signs_stand_around_them(files):
    # Each of these is a word between blanks that was never seen as a whole.
    tokenizer = ss.learn_tokens(ss.read_treebank(files / "train.conllu"))
    chars, words = boundary_text("((Don't (don't")
    assert len(words) == 2
    first, second = (text.find("t") for text in ("((Don't", "(don't"))
    second += len("((Don't ")
    for run in (RUN_BEFORE, RUN_AFTER):
        assert chars[first, run] == chars[second, run]
    assert chars[first, BEFORE] != chars[second, BEFORE]
    assert chars[:8, RUN_LENGTH].tolist() == [1, 2, 1, 2, 3, 4, 5, 0]
    assert tokenizer.n_features == N_FEATURES


@pytest.mark.parametrize(
    ("word", "marks"),
    [
        ("http://x", 1 | 8 | 64),
        ("www.x.org", 2 | 16 | 64),
        ("a@b.c", 4 | 16 | 64),
        ("1/2", 8 | 32),
        ("--", 0),
        ("@", 0),
    ],
)
def test_words_tell_signs_of_addresses(word, marks):
    assert boundary_text(f"and {word}").words[1, MARKS] == marks


def test_tokenizers_of_old_cut_with_the_features_they_know(files, tmp_path):
    learned = ss.learn_tokens(ss.read_treebank(files / "train.conllu"))
    weights = learned.weights
    old = ss.Tokenizer(weights, n_features=N_FEATURES_FIRST)
    stored = old.to_stored()
    del stored.meta["features"]  # as files of that time
    again = ss.Tokenizer.from_stored(stored)
    assert again.n_features == N_FEATURES_FIRST
    text = "Mr. Fox doesn't see 3.5 dogs."
    assert again.tokenize(text) == old.tokenize(text)
    learned.save(tmp_path / "t.sigma")
    assert ss.load(tmp_path / "t.sigma").n_features == N_FEATURES
    with pytest.raises(ss.SigmastarError, match="n_features must be"):
        ss.Tokenizer(weights, n_features=45)


def test_what_is_learned_cuts_new_text(files, pipeline):
    gold = ss.read_treebank(files / "test.conllu")
    scores = text_scores(gold, pipeline(gold.text))
    assert scores == dict.fromkeys(scores, 1.0)
    assert set(scores) == {"tokens", "sentences", "words", "upos", "xpos", "lemmas"}
    rules = text_scores(gold, ss.Tokenizer.default().annotate(gold.text))
    assert rules["tokens"] < 1.0


def test_places_hold_all_that_is_visible(pipeline):
    text = (
        "Ann  sees\tthat.\r\nMr. Fox can't hear 3.5 dogs.\n\n\n  Bob\u00a0finds… \U0001f600e\u0301!"
    )
    found = pipeline(text)
    tokens = [token for sentence in found for token in sentence]
    assert "".join(found.form(t) for t in tokens) == "".join(text.split())
    places = [place for token in tokens for place in (token.begin, token.end)]
    assert places == sorted(places)
    assert all(token.begin < token.end for token in tokens)


@pytest.mark.parametrize("text", ["", " ", "\n\n", ".", "\ud800", "x" * 3000, "\u3000。", "'" * 50])
def test_any_text_can_be_cut(pipeline, text):
    for tokenizer in (pipeline.tokenizer, ss.Tokenizer.default()):
        found = tokenizer.annotate(text)
        assert "".join(found.form(t) for s in found for t in s) == "".join(text.split())


def test_words_and_gaps_of_a_text():
    words = boundary_text("ab c.\nd\n \ne").words
    assert words[:, BEGIN].tolist() == [0, 3, 6, 10]
    assert words[:, END].tolist() == [2, 5, 7, 11]
    assert words[:, GAP].tolist() == [1, 2, 3, 0]


def test_decisions_do_not_depend_on_threads(files, pipeline, monkeypatch):
    text = ss.read_treebank(files / "test.conllu").text * 30
    monkeypatch.setenv("SIGMASTAR_THREADS", "1")
    alone = pipeline.tokenizer.boundaries(text)
    monkeypatch.delenv("SIGMASTAR_THREADS")
    for one, other in zip(alone, pipeline.tokenizer.boundaries(text), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("token", "words"),
    [
        ("don't", ("do", "n't")),
        ("DON'T", ("DO", "N'T")),
        ("du", ("de", "le")),
        ("Du", ("De", "le")),
        ("x", ("x",)),
        ("dámelo", ("da", "me", "lo")),
    ],
)
def test_expansions_lead_from_tokens_to_words(token, words):
    assert expansion_between(token, words).apply(token) == words


def test_expansions_that_do_not_fit_leave_the_token():
    assert Expansion(5, "", ("lo",)).apply("lo") == ("lo",)
    assert Expansion(2, "", ("lo",)).apply("lo") == ("lo",)


def test_unseen_tokens_are_expanded_by_their_endings(pipeline):
    assert pipeline.tokenizer.expansions.words("wouldn't") == ("would", "n't")
    assert pipeline.tokenizer.expansions.words("Ann") == ("Ann",)


@pytest.mark.parametrize(
    "value", [None, {}, {"endings": [], "tokens": [["a"]]}, {"endings": [["a", True, ""]]}]
)
def test_malformed_expansions_are_refused(value):
    with pytest.raises(ss.SigmastarError):
        Expansions.from_json(value)


def test_one_file_holds_all_and_answers_the_same(files, pipeline, tmp_path):
    path = tmp_path / "x.sigma"
    pipeline.save(path)
    text = ss.read_treebank(files / "test.conllu").text
    assert ss.load(path)(text) == pipeline(text)
    tokenizer = pipeline.tokenizer
    tokenizer.save(path)
    assert ss.load(path).annotate(text) == tokenizer.annotate(text)


def test_a_file_with_parts_of_the_wrong_kind_is_refused(pipeline, tmp_path):
    stored = pipeline.to_stored()
    stored.meta["parts"]["tokenizer"] = {"kind": "PFA", "meta": {}}
    with pytest.raises(ss.SigmastarError, match="tokenizer"):
        ss.Pipeline.from_stored(stored)


def test_streams_are_cut_between_paragraphs_and_long_ones_between_sentences(monkeypatch):
    text = "One two. Three!\n\nFour five.\n\n" * 40 + "six. " * 200
    monkeypatch.setattr(raw, "_PIECE", 64)
    monkeypatch.setattr(raw, "_LONGEST", 256)
    parts = list(paragraphs(io.BytesIO(text.encode())))
    assert "".join(parts) == text
    assert max(map(len, parts)) < 1024
    assert all(part.endswith(("\n\n", ". ")) for part in parts[:-1])


def test_tags_of_streams_equal_those_of_the_text(pipeline, files, monkeypatch):
    text = ss.read_treebank(files / "test.conllu").text
    whole = io.BytesIO()
    pipeline.tag_file(io.BytesIO(text.encode()), whole)
    monkeypatch.setattr(raw, "_PIECE", 200)
    pieces = io.BytesIO()
    counts = pipeline.tag_file(io.BytesIO(text.encode()), pieces)
    assert pieces.getvalue().count(b"\n\n") == whole.getvalue().count(b"\n\n") == counts[0]
    assert [x for x in pieces.getvalue().split(b"\n") if x] == [
        x for x in whole.getvalue().split(b"\n") if x
    ]


PEAKS = """
import json, sys
import sigmastar as ss
from sigmastar.core.remembered import remembered

class Peaks(list):
    def write(self, data):
        status = open("/proc/self/status").read()  # ru_maxrss would begin with that of the parent
        self.append(int(status.partition("VmHWM:")[2].split()[0]))
    def flush(self):
        pass

remembered.most = 1 << 20
peaks = Peaks()
ss.load(sys.argv[1]).tag_file(sys.stdin.buffer, peaks)
json.dump(peaks, sys.stdout)
"""


def test_memory_does_not_grow_with_the_text_nor_with_new_words(pipeline, tmp_path):
    if not Path("/proc/self/status").exists():
        pytest.skip("this system does not tell the peak of a process")
    pipeline.save(tmp_path / "model.sigma")
    names = (f"{word:x}" for word in range(10**9, 10**12, 10**7 + 19))
    line = "Mr. Fox sees {} and {}, and likes {} of them. "
    text = "".join(
        line.format(*islice(names, 3)) + ("\n\n" if n % 5 == 0 else "") for n in range(20_000)
    )
    done = subprocess.run(
        [sys.executable, "-c", PEAKS, str(tmp_path / "model.sigma")],
        input=text.encode(),
        stdout=subprocess.PIPE,
        check=True,
    )
    peaks = json.loads(done.stdout)
    assert len(peaks) > len(text) / 2**16
    assert peaks[-1] < 1.02 * peaks[len(peaks) // 4]


def test_columns_of_texts_become_tables_of_words(pipeline):
    pa = pytest.importorskip("pyarrow")
    texts = ["It rains. No.", None, "Dogs don't bark."]
    table = pipeline.tag_column(pa.chunked_array([texts[:1], texts[1:]]))
    assert isinstance(table, pa.Table)
    rows = table.to_pylist()
    for number in (0, 2):
        found = pipeline(texts[number])
        mine = [row for row in rows if row["text"] == number]
        words = [word for sentence in found.words() for word in sentence]
        assert [(row["form"], row["upos"], row["lemma"]) for row in mine] == [
            (word.form, word.upos, word.lemma) for word in words
        ]
        assert {texts[number][row["begin"] : row["end"]] for row in mine} == {
            found.form(token) for sentence in found for token in sentence
        }
        assert max(row["sentence"] for row in mine) == len(found) - 1
    assert not [row for row in rows if row["text"] == 1]
    with pytest.raises(InvalidData, match="column must be a column of pandas, polars or pyarrow"):
        pipeline.tag_column(texts)


@pytest.mark.parametrize(("library", "table"), [("pandas", "DataFrame"), ("polars", "DataFrame")])
def test_columns_become_tables_of_their_own_library(pipeline, library, table):
    made_by = pytest.importorskip(library)
    found = pipeline.tag_column(made_by.Series(["Ann sees a cat."]))
    assert isinstance(found, getattr(made_by, table))
    assert list(found["form"]) == ["Ann", "sees", "a", "cat", "."]
    assert list(found["begin"]) == [0, 4, 9, 11, 14]


def test_one_file_holds_rules_and_phrases_as_well(tmp_path):
    tags = ["DT", "NN", "VB", "."]
    hmm = ss.HMMTagger(1).fit([["the", "dog", "barks", "."]] * 3, [tags] * 3)
    rules = ss.RuleSet.from_text("barks/VB -> NN / DT NN _", hmm.tags_)
    tagger = ss.FSTTagger.from_hmm(hmm, "lazy").with_rules(rules).with_phrases()
    pipeline = ss.Pipeline(ss.Tokenizer.default(), {"xpos": tagger}, ss.Lemmatizer({}, {}))
    pipeline.save(tmp_path / "model.sigma")
    text = "the dog barks."
    found = ss.load(tmp_path / "model.sigma")(text)
    assert found == pipeline(text)
    assert [word[2:] for (words,) in [found.words()] for word in words] == [
        ("DT", "the", "Phrase=B-NP"),
        ("NN", "dog", "Phrase=I-NP"),
        ("NN", "barks", "Phrase=I-NP"),
        (".", ".", "_"),
    ]


def test_a_tagger_of_two_columns_decides_once_and_is_kept_once(pipeline, tmp_path):
    pipeline.save(tmp_path / "model.sigma")
    for one in (pipeline, ss.load(tmp_path / "model.sigma")):
        upos, xpos = (one.taggers[name] for name in ("upos", "xpos"))
        assert decide_alike(upos, xpos)
        upos.predict([["Ann", "sees", "a", "cat", "."]] * 3)
        assert xpos.machine.n_arcs == upos.machine.n_arcs > 0
        assert xpos.confidence([["Ann", "."]])[0] == pytest.approx(
            upos.confidence([["Ann", "."]])[0]
        )
    names = {name.partition(".")[0] for name in pipeline.to_stored().arrays}
    assert len(names & {"upos", "xpos"}) == 1
    alone = ss.Pipeline(pipeline.tokenizer, {"xpos": pipeline.taggers["xpos"]})
    text = "Mr. Fox doesn't see the end."
    assert [[w.xpos for w in s] for s in alone(text).words()] == [
        [w.xpos for w in s] for s in pipeline(text).words()
    ]


def test_scores_count_as_the_shared_tasks_do():
    text = "ab cd ef"
    gold = AnnotatedText(
        text,
        [
            [Token(0, 2, (Word("ab", "X"),)), Token(3, 5, (Word("c", "Y"), Word("d", "Z")))],
            [Token(6, 8, (Word("ef", "X"),))],
        ],
    )
    system = AnnotatedText(
        "abcd ef",
        [
            [
                Token(0, 2, (Word("ab", "Q"),)),
                Token(2, 4, (Word("cd", "Y"),)),
                Token(5, 7, (Word("ef", "X"),)),
            ]
        ],
    )
    scores = text_scores(gold, system)
    assert scores["tokens"] == 1.0
    assert scores["sentences"] == 0.0
    assert scores["words"] == pytest.approx(2 * 2 / 7)  # ab and ef; c, d are not cd
    assert scores["upos"] == pytest.approx(2 * 1 / 7)
    with pytest.raises(ss.SigmastarError, match="same text"):
        text_scores(gold, AnnotatedText("other", []))


def test_commands_learn_tag_and_evaluate(files, tmp_path):
    model, cut = tmp_path / "x.sigma", tmp_path / "tokens.sigma"
    run = CliRunner()
    train = str(files / "train.conllu")
    assert run.invoke(app, ["tagger", "pipeline", train, "-o", str(model)]).exit_code == 0
    assert run.invoke(app, ["tagger", "tokens", train, "-o", str(cut)]).exit_code == 0
    raw_text = tmp_path / "raw.txt"
    raw_text.write_text("Mr. Fox doesn't see 3.5 dogs. Bob likes that.")
    done = run.invoke(app, ["tagger", "tag", str(model), str(raw_text)])
    lines = done.stdout.split("\n")
    assert lines[:5] == [
        "# newpar",
        "# text = Mr. Fox doesn't see 3.5 dogs.",
        "1\tMr.\tmr.\tPROPN\tP\t_\t_\t_\t_\t_",
        "2\tFox\tfox\tNOUN\tN\t_\t_\t_\t_\t_",
        "3-4\tdoesn't\t_\t_\t_\t_\t_\t_\t_\t_",
    ]
    words = json.loads(
        run.invoke(app, ["tagger", "tag", str(model), str(raw_text), "--json"]).stdout
    )
    assert [len(sentence) for sentence in words] == [8, 4]
    done = run.invoke(app, ["tagger", "evaluate", str(model), str(files / "test.conllu"), "--json"])
    assert json.loads(done.stdout)["sentences"] == 1.0
    hmm = tmp_path / "hmm.sigma"
    assert run.invoke(app, ["tagger", "train", train, "-o", str(hmm)]).exit_code == 0
    tag = ["tagger", "tag", str(hmm), str(raw_text), "-t", "word/TAG"]
    by_rules = run.invoke(app, [*tag, "--raw"]).stdout
    assert by_rules.startswith("Mr/")
    learned = run.invoke(app, [*tag, "--tokens", str(cut)]).stdout
    assert learned.startswith("Mr./PROPN Fox/NOUN does/AUX n't/PART")
    wrong = run.invoke(app, ["tagger", "tag", str(model), str(raw_text), "-f", "lines"])
    assert wrong.exit_code == 2


def test_pages_show_tokens_taggers_and_lemmas(pipeline, tmp_path):
    for model, words in (
        (pipeline, ("Machine: UPOS", "Machine: XPOS", "Edits", "[doesn&#x27;t]")),
        (pipeline.tokenizer, ("Endings of several words", "An example")),
        (ss.Tokenizer.default(), ("a tokenizer", "[$]")),
    ):
        ss.write_report(model, tmp_path / "page.html")
        text = (tmp_path / "page.html").read_text()
        assert all(word in text for word in words)
        assert repr(model).startswith(model.kind)


def test_lines_and_columns_of_words(pipeline):
    for output, expected in (
        ("word/TAG", b"Ann/N sees/V that/N ./.\n"),
        ("tsv", b"Ann\tN\nsees\tV\nthat\tN\n.\t.\n\n"),
    ):
        target = io.BytesIO()
        assert pipeline.tag_file(io.BytesIO(b"Ann sees that."), target, output_format=output) == (
            1,
            4,
        )
        assert target.getvalue() == expected


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        (lambda p: p(3), "text must be a string; got int"),
        (lambda p: ss.Pipeline(p.tokenizer, {}), "upos, xpos or both; got none"),
        (lambda p: ss.Pipeline(p.tokenizer, {"upos": 3}), "must be an FSTTagger"),
        (lambda p: ss.Pipeline(p.tokenizer, p.taggers, None, "x"), "lemmas_from must be"),
        (lambda p: p.tag_file(None, None, output_format="x"), "output_format must be"),
        (lambda p: ss.learn_tokens(AnnotatedText("", [])), "at least one sentence"),
        (lambda p: ss.learn_tokens(p("Ann."), n_bits=3), "n_bits from 8 to 24"),
        (lambda p: ss.Tokenizer(np.zeros((3, 2), np.int16)), "a power of two"),
    ],
)
def test_what_is_wrong_is_said(pipeline, wrong, what):
    with pytest.raises(ss.SigmastarError, match=what):
        wrong(pipeline)


@pytest.mark.parametrize(
    "change",
    [
        lambda meta: meta.pop("parts"),
        lambda meta: meta.update(lemmas_from=3),
        lambda meta: meta["parts"].pop("tokenizer"),
        lambda meta: meta["parts"].update(upos=meta["parts"]["lemmatizer"]),
        lambda meta: meta["parts"]["xpos"].update(same_as="lemmatizer"),
        lambda meta: meta["parts"]["xpos"].update(same_as=["upos"]),
        lambda meta: meta["parts"]["xpos"].update(tags=["N"]),
        lambda meta: meta["parts"]["xpos"].pop("tags"),
        lambda meta: meta["parts"].update(xpos="same_as"),
        lambda meta: meta["parts"].update(xpos=None),
    ],
)
def test_malformed_pipelines_are_refused(pipeline, change):
    stored = pipeline.to_stored()
    change(stored.meta)
    with pytest.raises(ss.SigmastarError):
        ss.Pipeline.from_stored(stored)
