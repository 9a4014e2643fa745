"""The tagger command: from tagged sentences to tagged text."""

import json

import pytest
from typer.testing import CliRunner

from sigmastar.cli.main import app

TRAIN = "the/DT dog/NN walks/VBZ ./.\nto/TO walk/VB ./.\nthe/DT walk/NN ./.\n" * 6


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tagger")
    (folder / "train.txt").write_text(TRAIN)
    (folder / "text.txt").write_text("the dog walks .\nto walk .\n")
    (folder / "rules.txt").write_text("VB -> NN / TO _\n")
    result = run("train", folder / "train.txt", "-o", folder / "hmm.sigma", "--order", "1")
    assert "tags" in result.output
    return folder


def run(*arguments):
    result = CliRunner().invoke(app, ["tagger", *map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result


def test_text_is_tagged(place):
    run("tag", place / "hmm.sigma", place / "text.txt", "-o", place / "out.txt")
    assert (place / "out.txt").read_text() == "the/DT dog/NN walks/VBZ ./.\nto/TO walk/VB ./.\n"


def test_compiled_tagger_with_rules_and_phrases(place):
    made = place / "fst.sigma"
    arguments = ["--kind", "n1", "--rules", place / "rules.txt", "--phrases", "--json"]
    info = json.loads(run("compile", place / "hmm.sigma", "-o", made, *arguments).output)
    assert info["rules"] == info["phrases"] == "composed"
    run("tag", made, place / "text.txt", "-o", place / "out.txt", "-t", "tsv")
    lines = (place / "out.txt").read_text().splitlines()
    assert lines[:2] == ["the\tDT|B-NP", "dog\tNN|I-NP"]
    assert lines[6] == "walk\tNN|B-NP"


def test_evaluation_counts_known_and_unknown_words(place):
    (place / "test.txt").write_text("the/DT cat/NN ./.\n")
    found = json.loads(run("evaluate", place / "hmm.sigma", place / "test.txt", "--json").output)
    assert (found["n_known"], found["n_unknown"]) == (2, 1)
    assert found["known_accuracy"] == 1.0


def test_rules_are_learned_and_written(place):
    arguments = [place / "hmm.sigma", place / "train.txt", "-o", place / "learned.txt"]
    found = json.loads(run("rules", *arguments, "--folds", "2", "--json").output)
    assert found["n_rules"] == len((place / "learned.txt").read_text().splitlines())


def test_baum_welch_from_untagged_text(place):
    made = place / "em.sigma"
    info = run("train", place / "train.txt", "-o", made, "--untagged", place / "text.txt", "--json")
    assert json.loads(info.output)["converged"] in (True, False)


def test_compiling_a_compiled_tagger_is_refused(place):
    made = place / "again.sigma"
    run("compile", place / "hmm.sigma", "-o", made)
    result = CliRunner().invoke(app, ["tagger", "compile", str(made), "-o", str(made)])
    assert "compiled already" in str(result.exception)


def test_lemmas_are_learned_and_written(place):
    rows = [("dogs", "dog", "NNS"), ("cats", "cat", "NNS"), ("walks", "walk", "VBZ")]
    lines = [f"{i}\t{w}\t{lemma}\t_\t{t}\t_\t_\t_\t_\t_" for i, (w, lemma, t) in enumerate(rows, 1)]
    (place / "train.conllu").write_text("\n".join(lines) + "\n\n")
    made = place / "lemmas.sigma"
    told = run("lemmas", place / "train.conllu", "-o", made, "--column", "xpos", "--json")
    assert json.loads(told.output)["n_words"] == 3
    arguments = ["tag", place / "hmm.sigma", place / "text.txt", "--lemmas", made]
    run(*arguments, "-t", "conllu", "-o", place / "out.conllu")
    columns = [line.split("\t") for line in (place / "out.conllu").read_text().splitlines() if line]
    assert [row[2] for row in columns if row[1] == "walks"] == ["walk"]
    told = json.loads(run(*arguments, "--json").output)
    assert {"word": "walks", "tag": "VBZ", "lemma": "walk"} in told[0]
    wrong = CliRunner().invoke(app, ["tagger", *map(str, arguments)])
    assert "lemmas have a column in CoNLL-U only" in str(wrong.exception)
