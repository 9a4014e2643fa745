"""The tagging bench on a made-up language in the files of the public corpora."""

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import sigmastar as ss
from sigmastar.bench import tagging as bench
from sigmastar.bench import tagging_rules, tagging_trained
from sigmastar.bench.papers.published_tagging import LANGUAGES, MACHINES
from sigmastar.bench.tagging_rules import PEERS
from sigmastar.cli.main import app
from sigmastar.tagging.kernels.meetings import MEETINGS
from sigmastar.tagging.taggers.sentences import words_of

WORDS = {
    "at": ["the", "a", "every"],
    "jj": ["old", "red", "light", "round"],
    "nn": ["light", "round", "saw", "dog", "boat", "house", "man"],
    "vb": ["saw", "light", "man", "eats", "sees"],
}


def sentences(seed, n):
    """Articles, perhaps an adjective, a noun, a verb, and all that again; some words ambiguous."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        tags = []
        for end in (["vb"], []):
            tags += ["at", *["jj"] * int(rng.integers(0, 2)), "nn", *end]
        yield [(str(rng.choice(WORDS[tag])), tag) for tag in tags]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tagged")
    brown = [" ".join(f"{w}/{t}" for w, t in pairs) for pairs in sentences(0, 200)]
    brown[0] = "the/at-tl-hl dogs/fw-nns it's/pps+bez"
    (folder / "brown.txt").write_text("\n".join(brown) + "\n")
    (folder / "brown-documents.tsv").write_text("ca01\tnews\t0\t200\n")
    for name, parts in {
        "en_ewt": ("train", "dev", "test"),
        "fr_sequoia": ("train", "dev", "test"),
        "de_utb": ("train", "eval"),
        "nl_lassysmall": ("dev", "test"),
        "es_gsd": ("dev", "test"),
        "pt_bosque": ("dev", "test"),
    }.items():
        for seed, part in enumerate(parts):
            rows = ["".join(f"{w}\t{t}\t{t.upper()}\n" for w, t in s) for s in sentences(seed, 60)]
            (folder / f"{name}-{part}.tsv").write_text("\n".join(rows))
    text = [" ".join(word for word, _ in pairs) + "." for pairs in sentences(9, 60)]
    (folder / "enwiki-2015.txt").write_text("\n".join(text) + "\n")
    return folder


@pytest.fixture(autouse=True)
def _short_timing(monkeypatch):
    monkeypatch.setattr(bench, "_TIMED_WORDS", 1)
    monkeypatch.setattr(tagging_rules, "_TIMED_WORDS", 1)


def run(home, *arguments):
    result = CliRunner().invoke(
        app, ["bench", "tagging", "--data", str(home), *arguments], catch_exceptions=False
    )
    assert result.exit_code == 0, result.output
    return result.stdout


def test_every_tenth_sentence_of_brown_is_for_testing(home):
    train, test = bench.brown_split(home)
    assert (len(train), len(test)) == (180, 20)
    assert train[0] == (["the", "dogs", "it's"], ["at", "nns", "pps+bez"])
    lines = (home / "brown.txt").read_text().splitlines()
    assert " ".join(f"{w}/{t}" for w, t in zip(*test[3], strict=True)) == lines[39]
    assert bench.brown_split(home, joined=False)[0][0][1] == ["at", "nns", "pps"]


def test_a_sample_is_spread_over_the_corpus_and_holds_the_words(home):
    train, _ = bench.brown_split(home)
    part = bench._sample(train, 200)
    assert 200 <= part.source.n_symbols < 200 + part.source.lengths.max()
    assert part[1] == train[train.source.n_symbols // 200]


@pytest.fixture(scope="module")
def figures(home):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bench, "_TIMED_WORDS", 1)
        patch.setattr(tagging_rules, "_TIMED_WORDS", 1)
        return json.loads(run(home, "--long", "--json"))


def test_table_1_has_the_machines_of_the_paper_and_the_exact_one(figures):
    rows = {row["name"]: row for row in figures["table1"]}
    assert set(MACHINES) < set(rows)
    others = [re.sub(r"\d+ rules", "N rules", name) for name in rows if name not in MACHINES]
    assert others == [
        "s+n0 100K F1",
        "b",
        "lazy",
        "s+n1 100K F1, N rules",
        "s+n1 100K F1, N rules, phrases",
        "lazy, N rules",
        "HMM, order 2",
        "n2",
        "s+n2 100K F1",
        "HMM, untagged text",
        "s+n1 100K F1, untagged text",
    ]
    assert rows["lazy"]["agreement"] == 1.0
    assert all(row["n_arcs"] for name, row in rows.items() if "HMM" not in name)
    assert rows["lazy"]["accuracy"] == rows["HMM"]["accuracy"] > 0.95
    assert rows["n0"]["accuracy"] < rows["n1"]["accuracy"] <= rows["s+n1 ≤3"]["accuracy"]
    assert rows["n0"]["n_states"] == 1 < rows["n1"]["n_states"] < rows["s+n1 ≤2"]["n_states"]


def test_table_2_has_a_column_for_each_language(figures):
    found = {row["language"] for row in figures["table2"]}
    assert {name.partition(" (")[0] for name in found} == set(LANGUAGES)
    assert {row["name"] for row in figures["table2"]} == set(LANGUAGES["Dutch"].accuracy)
    # The languages are the same but for their sample: so are the taggers, nearly.
    best = [row["accuracy"] for row in figures["table2"] if row["name"] == "HMM"]
    assert min(best) > 0.9


def test_exact_transducers_agree_and_rules_are_counted(figures):
    rows = figures["accuracy"]
    assert {row["corpus"] for row in rows} == set(PEERS)
    exact = [row["agreement"] for row in rows if row["name"] in ("lazy", "CRF lazy")]
    assert exact == [1.0] * (2 * len(PEERS))
    assert all(re.fullmatch(r"(CRF )?lazy, \d+ rules", row["name"]) for row in rows[2::3])


def test_rules_are_one_transducer_with_the_tagger(figures):
    rows = figures["composition"]
    assert [row["corpus"] for row in rows] == list(PEERS)
    assert all(row["agreement"] == 1.0 for row in rows)
    assert all(row["n_tokens"] > 200 and row["n_states"] > 1 for row in rows)


def test_what_grows_is_measured_on_text_that_it_has_not_grown_on():
    task = bench.demo_task(60)
    hmm = task.tagger()
    grown = ss.FSTTagger.from_hmm(hmm, "lazy", corpus=task.text(100_000))
    before = grown.machine.n_arcs
    for _ in range(MEETINGS):  # an arc is made when it has been met so often
        row = bench.measure("lazy", grown, task.test)
    assert row.n_arcs == before < grown.machine.n_arcs
    assert not {*map(tuple, task.text(10**9))} & {*map(tuple, words_of(task.test))}


def test_tables_for_people_put_the_paper_beside(home, monkeypatch):
    row = bench.MachineFigures("n1", 0.875, 0.75, 71, 100, 0.5, 3e6)
    monkeypatch.setattr(bench, "machines", lambda *_, **__: iter([row]))
    monkeypatch.setattr(bench, "languages", lambda *_: iter([("French", row), ("German", row)]))
    monkeypatch.setattr(tagging_rules, "accuracies", lambda *_: iter([("Brown", row)]))
    one = tagging_rules.CompositionFigures(
        *("EWT", 43, 22, 900, 10_000, 1.0, 70, 80, 0.5, 2.0, 2e6, 1e6, 7e6, 4e6)
    )
    monkeypatch.setattr(tagging_rules, "compositions", lambda *_: iter([one]))
    crf = tagging_trained.TrainedFigures("EWT UPOS", "CRF", 0.95, 0.8, 25_094, 2_000, 1.0, 61.4)
    monkeypatch.setattr(tagging_trained, "trained", lambda *_: iter([crf]))
    cells = [re.split(r"\s*│\s*", line)[1:-1] for line in run(home).splitlines() if "│ n1" in line]
    cells += [
        re.split(r"\s*│\s*", line)[1:-1]
        for line in run(home).splitlines()
        if re.search("│ (Brown|EWT)", line)
    ]
    assert cells == [
        ["n1", "87.50", "94.19", "75.00", "3.0", "17,244"],
        ["n1", "71", "71", "100", "21,087", "0.50", "17"],
        ["n1", "87.50 (98.18)", "87.50 (94.49)"],
        ["Brown", "n1", "87.50%", "97.31%", "75.0000%", "3.0"],
        ["EWT", "43", "100.0000%", "70", "0.50", "7.00 / 4.00", "2.00 / 1.00"],
        ["EWT UPOS", "CRF", "95.00%", "80.00% of 2,000", "100.0000%", "61"],
    ]


def test_trained_taggers_are_measured_with_and_without_help(home):
    rows = json.loads(run(home, "--table", "trained", "--json"))["trained"]
    names = ["HMM", "HMM, finer", "CRF", "CRF, finer", "CRF, finer, raw text"]
    assert [row["name"] for row in rows[:10]] == names * 2
    assert [row["corpus"] for row in rows[10:12]] == ["Brown"] * 2
    assert {row["corpus"].split()[0] for row in rows[12:]} == {
        *("Dutch", "French", "German", "Portuguese", "Spanish")
    }
    assert all(row["agreement"] == 1.0 and row["accuracy"] > 0.8 for row in rows)
    assert all(row["n_unknown"] == 0 for row in rows[:10])


def test_there_is_no_other_table(home):
    result = CliRunner().invoke(app, ["bench", "tagging", "--data", str(home), "--table", "3"])
    assert result.exit_code == 2
    told = " ".join(re.sub("[│\n]", " ", result.output).split())
    assert "must be 1, 2, accuracy, composition, trained or all; got '3'" in told
