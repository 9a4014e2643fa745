"""The commands around dictionaries of words and phones, from training to OpenFst."""

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from sigmastar.bench import pronunciation as bench
from sigmastar.cli.main import app

SOUNDS = {"a": "AH0", "b": "B", "k": "K", "i": "IY1", "n": "N"}
WORDS = ["bak", "nik", "kan", "bin", "ana", "kiki", "nab", "ibak", "kab", "bikan"] * 3


def run(*arguments, **options):
    result = CliRunner().invoke(app, list(map(str, arguments)), **options)
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("sounds")
    lines = [f"{word}  {' '.join(SOUNDS[c] for c in word)}\n" for word in WORDS]
    (home / "cmu.dict").write_text(";;; made up\n" + "".join(lines) + "broken\n")
    flags = ("--format", "dictionary", "--no-stress", "--on-error", "skip")
    model = home / "m.sigma"
    result = run("transducer", "train", home / "cmu.dict", "-o", model, "-m", "joint-ngram", *flags)
    assert "cmu.dict:32: expected a word and its phones" in result.stderr
    return home


def test_a_dictionary_is_written_with_shares(folder):
    found = run(
        "transducer", "apply", folder / "m.sigma", "-k", 2, "--style", "mfa", input="nani\n"
    )
    word, share, phones = found.stdout.splitlines()[0].split("\t")
    assert (word, phones) == ("nani", "N AH N IY")
    shares = [float(line.split("\t")[1]) for line in found.stdout.splitlines()]
    assert sum(shares) == pytest.approx(1.0, abs=1e-5)
    assert float(share) == max(shares)


def test_several_outputs_of_a_word_are_all_right(folder):
    (folder / "test.tsv").write_text("bani\tB AH N IY\nbani\tB\nkibo\tK IY B OW\n")
    arguments = ("transducer", "evaluate", folder / "m.sigma", folder / "test.tsv")
    found = json.loads(run(*arguments, "--target", "words", "--worst", 3, "--json").stdout)
    assert found["word_accuracy"] == pytest.approx(1 / 3)
    assert (found["inputs"], found["input_error_rate"]) == (2, 0.5)
    assert found["symbol_error_rate"] == pytest.approx(1 / 8)
    assert found["confusions"] == [["OW", "", 1]]
    assert found["worst"][0][0] == list("kibo")
    shown = run(*arguments, "--target", "words", "--worst", 1).stdout
    assert "Commonest confusions" in shown
    assert "Worst inputs" in shown


def test_bad_lines_of_pairs_are_named_and_left_out_where_that_is_asked_for(folder):
    (folder / "bad.tsv").write_text("ba\tB AH\nbroken\n" + "ki\tK IY\n" * 9)
    train = ("transducer", "train", folder / "bad.tsv", "-o", folder / "bad.sigma")
    options = ("-m", "joint-ngram", "--target", "words", "--on-error", "skip", "--json")
    found = run(*train, *options)
    assert "bad.tsv:2: expected at least 2 tab-separated columns" in found.stderr
    assert json.loads(found.stdout)["pairs"] == 10
    strict = CliRunner().invoke(app, list(map(str, (*train, "-m", "joint-ngram"))))
    assert "bad.tsv:2" in str(strict.exception)


def test_the_machine_is_written_with_its_tables(folder):
    run("transducer", "export", folder / "m.sigma", "-o", folder / "m.txt")
    assert (folder / "m.txt").read_text().startswith("0\t")
    assert (folder / "m.txt.isyms").read_text().startswith("<eps>\t0\na\t1\n")
    assert "IY\t" in (folder / "m.txt.osyms").read_text()


def test_languages_are_averaged_by_method(monkeypatch, tmp_path):
    rows = "".join(f"{word}\t{' '.join(SOUNDS[c] for c in word)}\n" for word in WORDS)
    for part in ("train", "dev", "test"):
        (tmp_path / f"hun_{part}.tsv").write_text(rows)
    arguments = ("bench", "g2p", "--data", tmp_path, "-l", "hun", "-m", "joint-ngram")
    (found,) = json.loads(run(*arguments, "--part", "dev", "--words", 25, "--json").stdout)
    assert (found["language"], found["word_error_rate"]) == ("hun", 0.0)
    result = bench.PronunciationResult("hun", "combined", 5.0, 1.0, "given", "given", 1.0, 9.0)
    others = [result, replace(result, language="kor", word_error_rate=15.0)]
    monkeypatch.setattr(bench, "measure", lambda *_, **__: iter(others))
    shown = run("bench", "g2p").stdout
    mean = next(line for line in shown.splitlines() if "mean" in line)
    assert "10.00" in mean
