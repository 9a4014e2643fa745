"""``sigmastar bench wikipedia`` on a made-up text."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

import sigmastar as ss
from sigmastar import datasets
from sigmastar.bench import wikipedia
from sigmastar.cli.main import app

WORDS = ["the ", "cat ", "sat ", "on ", "a ", "mat. ", "zebra ", "ox? "]


def make_text(n_words=12_000):
    words = np.random.default_rng(0).zipf(1.6, n_words) % len(WORDS)
    return ss.Corpus.from_sequences(["".join(WORDS[word] for word in words)])


TEXT = make_text()
ARGUMENTS = ["bench", "wikipedia", "--states", "3", "--basis", "20", "--em-basis", "20"]


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(datasets, "load_wikipedia_text", lambda chunk, data_home: TEXT)
    monkeypatch.setitem(wikipedia.SETS, "small", 20)


def test_test_chunks_come_from_another_part_than_training_chunks():
    places = ss.Corpus(np.arange(50_000) // 400, [0, 50_000], ss.Alphabet(range(125)))
    drawn = wikipedia.draw_chunks(places, 300, n_test=25, n_characters=126)
    names = np.array([str(symbol) for symbol in drawn.train.alphabet.symbols])
    train, test = names[drawn.train.symbols], names[drawn.test.symbols]
    assert set(train) <= {str(place) for place in range(100)}
    assert set(test) <= {str(place) for place in range(100, 125)} | {"<unk>"}
    assert drawn.train.lengths.tolist() == [250] * 300
    assert len(drawn.test) == 25


def test_the_alphabet_is_chosen_on_the_training_part_and_rest_is_one_symbol():
    late = ss.Corpus.from_sequences(["ab" * 4000 + "c" + "ab" * 200 + "z" * 1600])
    alphabet = wikipedia.draw_chunks(late, 5, n_characters=4).train.alphabet
    assert sorted(map(str, alphabet.symbols)) == ["<unk>", "a", "b", "c"]


def test_every_method_reports_and_writes_its_figures(small, tmp_path):
    target, picture = tmp_path / "out.csv", tmp_path / "out.png"
    more = ["--orders", "2,4", "-o", str(target), "--plot", str(picture), "--json"]
    ran = CliRunner().invoke(app, [*ARGUMENTS, *more])
    assert ran.exit_code == 0, ran.output
    rows = json.loads(ran.stdout)
    assert [row["method"] for row in rows] == [*wikipedia.METHODS, "kneser-ney"]
    assert all(0.05 < row["likelihood"] < 1 for row in rows)
    found = {(row["method"], row["size"]): row for row in rows}
    assert found["em-separable", 3]["bits"] < found["separable", 3]["bits"]
    assert found["kneser-ney", 4]["bits"] < found["kneser-ney", 2]["bits"]
    with target.open() as file:
        assert [row["method"] for row in csv.DictReader(file)] == [row["method"] for row in rows]
    assert picture.stat().st_size > 1000


def test_likelihood_is_that_of_characters_after_the_first_fifty(small):
    data = wikipedia.draw_chunks(TEXT, 20, n_test=10)
    result = next(wikipedia.run_chunks(data, methods=["kneser-ney"], orders=[3]))
    est = ss.KneserNey(3, ends=False).fit(data.train)
    each = est.next_likelihoods(data.test).reshape(10, 250)[:, 50:]
    assert result.likelihood == pytest.approx(each.mean())
    assert result.bits == pytest.approx(-np.log2(each).mean())


@pytest.mark.parametrize(
    ("option", "value"), [("--states", "ten"), ("--chunks", "huge"), ("--method", "magic")]
)
def test_bad_options_are_named(small, option, value):
    ran = CliRunner().invoke(app, [*ARGUMENTS, option, value])
    assert ran.exit_code != 0
    assert value in str(ran.output) + str(ran.exception)
