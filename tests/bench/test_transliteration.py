"""Transliteration as in the paper on spectral transducers: figures, choices, and who sees what."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import sigmastar as ss
from sigmastar.bench import transducer_problems as problems
from sigmastar.bench import transliteration as bench
from sigmastar.bench import transliteration_states as states
from sigmastar.bench.papers import published_transducers as published
from sigmastar.bench.papers.exhibit import Settings
from sigmastar.bench.papers.transducers import EXHIBITS
from sigmastar.cli.main import app
from sigmastar.core.errors import DataNotFound
from sigmastar.datasets.problem import Splits
from sigmastar.transducers.learn.theory import learnability

# Balle, Quattoni and Carreras (ECML 2011), copied from the print.
TABLE_1 = """
number of training sequences 6,000 average length x 7.84
number of test sequences 943 average length y 8.20
size of X 82 length ratio 0.959
size of Y 34 equal length 53.42%
"""
TABLE_2 = """
m 1 2 3 4 5
σ 0.0929 0.0914 0.0327 0.0241 0.0088
NED 21.769 21.189 21.224 26.227 71.780
"""
TABLE_3 = """
75 350 750 1500 3000 6000
2 1.15 (120) 3.53 (70) 6.73 (140) 10.60 (120) 19.8 (50) 37.74 (40)
3 1.16 (50) 3.55 (80) 6.75 (40) 10.62 (180) 19.9 (180) 37.78 (30)
"""


def test_published_figures_are_those_of_the_print():
    line = "".join(f"{value:g} " for value in published.DATA.values())
    words = TABLE_1.replace(",", "").replace("%", "").split()
    numbers = [float(word) for word in words if word[0].isdigit()]
    assert [float(word) for word in line.split()] == [*numbers[::2], *numbers[1::2]]
    rows = [row.split()[1:] for row in TABLE_2.strip().splitlines()]
    for m, sigma, ned in zip(*rows, strict=True):
        assert published.STATES[int(m)] == (float(sigma), float(ned))
    assert len(published.STATES) == 5
    sizes, *rows = (row.split() for row in TABLE_3.strip().splitlines())
    assert published.PAIRS == tuple(map(int, sizes))
    for row in rows:
        cells = zip(sizes, row[1::2], row[2::2], strict=True)
        for n, seconds, iterations in cells:
            found = published.EM_ITERATION[int(row[0])][int(n)]
            assert found == (float(seconds), int(iterations.strip("()")))
    # "our model obtains 87% on the F1 metric"; "about 13 seconds … and about 13 seconds"
    assert (published.F_SCORE, published.SECONDS) == (87.0, (13.0, 13.0))
    shown = bench.OTHERS["LearnFST as published (other data)"]
    assert shown == (None, 87.0, 21.2, None, 26.0, None)


@pytest.fixture(scope="module")
def names():
    letters = dict(zip("abdegx", "а б д е г кс".split(), strict=True))
    rng = np.random.default_rng(0)

    def draw(n):
        words = ["".join(rng.choice(list(letters), size=rng.integers(2, 6))) for _ in range(n)]
        return ss.PairCorpus.from_pairs([(w, "".join(letters[c] for c in w)) for w in words])

    return states.Names(draw(60), draw(20), draw(25))


def test_the_properties_are_those_of_the_training_pairs():
    train = ss.PairCorpus.from_pairs([("ab", "xyz"), ("abc", "xyz")])
    found = states.data_properties(states.Names(train, train[:0], train[:1]))
    assert list(found) == list(published.DATA)
    assert list(found.values()) == pytest.approx([2, 1, 3, 3, 2.5, 3, (2 / 3 + 1) / 2, 50])


def test_nothing_is_chosen_on_test_pairs(names, monkeypatch):
    judged, decode = [], states._best_outputs

    def watched(model, parts, pairs):
        judged.append("test" if pairs is names.test else "dev" if pairs is names.dev else "?")
        return decode(model, parts, pairs)

    monkeypatch.setattr(states, "_best_outputs", watched)
    rows = list(
        states.learning_curves(names, sizes=(40,), states=(2,), starts=2, iterations=20, seed=0)
    )
    # LearnFST is tested; two climbs are judged twice each; the better of them is tested.
    assert judged == ["test", "dev", "dev", "dev", "dev", "test"]
    assert [(row.method, row.n_pairs) for row in rows] == [("LearnFST", 40), ("EM", 40)]


def test_em_keeps_the_iteration_that_is_best_on_development_pairs(names, monkeypatch):
    errors = iter([30.0, 10.0, 20.0])
    monkeypatch.setattr(states, "_ned", lambda *_: next(errors))
    aligned = states.align_chunks(names.train, states.UNITS, max_iter=0)
    found = states._climb(names, aligned, 2, 30, 0)
    assert (found.best_iteration, found.dev_ned) == (20, 10.0)
    start = states.start_of_em(aligned, 2, random_state=0)
    again = states.climb_chunks(aligned, start, max_iter=20, tol=0.0).model
    np.testing.assert_allclose(found.model.model.operators, again.model.operators, atol=1e-9)


def test_the_methods_are_trained_without_test_pairs(names, monkeypatch):
    given = {}

    class Watched(ss.Transliterator):
        def fit(self, X, y=None, *, dev=None):
            if dev is not None:  # the first fit only compiles
                given.update(train=X, dev=dev)
            return super().fit(X, y, dev=dev)

        def predict(self, X, **options):
            given["predicted"] = X
            return super().predict(X, **options)

    splits = Splits(names.train, names.dev, names.test, name="en-ru")
    monkeypatch.setattr(bench, "load_transliteration", lambda *_, **__: splits)
    monkeypatch.setattr(bench, "Transliterator", Watched)
    (result,) = bench.measure(["LearnFST, m = 2"])
    assert given["train"] is names.train
    assert given["dev"] is names.dev
    assert given["predicted"] is names.test.source
    truth = list(names.test.target)
    fst = ss.Transliterator(**bench.METHODS["LearnFST, m = 2"]).fit(names.train)
    guesses = [list(guess) for guess in fst.predict(names.test.source)]
    assert result.word_accuracy == 100 * ss.metrics.word_accuracy(truth, guesses)


def test_parts_are_taken_for_what_they_are_and_told_of_if_missing(names):
    found = states.Names.of(Splits(names.train, names.dev, names.test, name="en-ru"))
    assert (found.train, found.dev, found.test) == (names.train, names.dev, names.test)
    with pytest.raises(DataNotFound, match="three parts"):
        states.Names.of(Splits(names.train, None, names.test, name="en-ru"))


@pytest.mark.parametrize("exhibit", EXHIBITS, ids=lambda exhibit: exhibit.key)
def test_every_exhibit_runs_through_without_data(exhibit):
    shown = exhibit.run(Settings(quick=True))
    assert all(list(row) == list(shown.rows[0]) for row in shown.rows)
    assert shown.notes
    assert all(picture.startswith("<svg") for picture in shown.pictures)
    assert bool(shown.pictures) == ("figure" in exhibit.key)


def test_the_command_prints_a_table_of_the_paper(names, tmp_path):
    for part, pairs in (("train", names.train), ("dev", names.dev), ("test", names.test)):
        lines = ["".join(x) + "\t" + "".join(y) + "\n" for x, y in pairs]
        (tmp_path / f"news-size-{part}.tsv").write_text("".join(lines), encoding="utf-8")
    command = ["bench", "transliteration", "--data", str(tmp_path), "--table", "data"]
    found = json.loads(CliRunner().invoke(app, [*command, "--json"]).stdout)
    assert found["rows"][0] == {
        "property": "number of training sequences", "published": 6000, "ours": 60,
    }  # fmt: skip
    shown = CliRunner().invoke(app, command)
    assert "8.2" in shown.stdout
    assert "not comparable" in shown.stderr


def test_the_difficulty_of_a_drawn_problem_is_that_of_its_exact_moments():
    shape = problems.Shape(3, 4, 2)
    problem = problems.random_problem(np.random.default_rng(0), shape, "history")
    exact = problem.moments(problem.joint)
    told = learnability(exact, n_states=2, model=problem.model).difficulty
    assert problem.difficulty() == pytest.approx(told)


def test_the_error_of_a_drawn_problem_is_a_sum_over_all_pairs():
    rng = np.random.default_rng(0)
    one, other = (problems.random_problem(rng, problems.Shape(2, 3, 2)) for _ in range(2))
    x, y = problems.all_strings(2, 3), problems.all_strings(3, 3)
    gaps = problems.conditional(one.operators, x, y) - problems.conditional(other.operators, x, y)
    weights = one.inputs[tuple(x.T)]
    assert one.error(other.operators) == pytest.approx(weights @ np.abs(gaps).sum(axis=1))
    assert one.joint.sum() == pytest.approx(1.0)
