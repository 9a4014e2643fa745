"""The exhibits on automata in a smoke run, and what their commands learn from."""

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

import sigmastar as ss
from sigmastar.automata.estimators.registry import find_method
from sigmastar.bench import generated, pautomac, runtimes, tags
from sigmastar.bench.papers import moments
from sigmastar.bench.papers.automata import EXHIBITS
from sigmastar.bench.papers.exhibit import Settings
from sigmastar.bench.published import PAPER_NAMES
from sigmastar.cli.main import app

SHOWN = {}


def shown(key):
    """Make an exhibit once."""
    if key not in SHOWN:
        exhibit = next(exhibit for exhibit in EXHIBITS if exhibit.key == key)
        SHOWN[key] = exhibit.run(Settings(quick=True))
    return SHOWN[key]


@pytest.mark.compiled
@pytest.mark.parametrize("key", [exhibit.key for exhibit in EXHIBITS])
def test_every_exhibit_has_rows_of_one_shape_and_says_what_differs(key):
    found = shown(key)
    assert found.rows
    assert all(list(row) == list(found.rows[0]) for row in found.rows)
    assert found.notes
    assert all(picture.startswith("<svg") for picture in found.pictures)
    assert ("figure" in key) == bool(found.pictures)


@pytest.mark.compiled
def test_tables_show_every_method_of_both_papers_beside_the_published_figure():
    row = shown("moments-table-3").rows[1]
    assert set(PAPER_NAMES.values()) <= set(row)
    published = {"Spec-Str": "≈1e+09 (56)", "EM-Tensor": "247.07 (3)", "BW-Sep": "67.09 (40)"}
    assert {name: row[f"{name}, paper"] for name in published} == published
    assert row["True, paper"] == "66.96 (19)"
    assert shown("moments-table-2").rows[1]["EM-Tensor, paper"] == "59.7 (5)"
    assert [row["method"] for row in shown("moments-table-4").rows] == list(PAPER_NAMES.values())[
        :6
    ]


@pytest.mark.compiled
def test_mom_is_the_best_of_the_methods_of_moments():
    results = moments.results_on_pautomac(Settings(quick=True))
    for row in shown("separable-table-1").rows:
        least = min(
            result.perplexity
            for result in results
            if result.problem == row["problem"]
            and result.method in ("spectral-string", "spectral", "convex", "tensor")
        )
        assert float(row["MoM"].split()[0]) == pytest.approx(least, abs=0.006)


def test_the_best_of_moments_needs_all_of_them_and_passes_over_refusals():
    results = moments.results_on_pautomac(Settings(quick=True))
    first = [result for result in results if result.problem == 1]
    assert pautomac.best_of_moments(r for r in first if r.method != "tensor") is None
    refused = [replace(r, perplexity=None) if r.method == "tensor" else r for r in first]
    assert pautomac.best_of_moments(refused).method != "tensor"


@pytest.mark.compiled
def test_the_command_shows_mom_beside_the_published_one():
    results = moments.results_on_pautomac(Settings(quick=True))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pautomac, "run", lambda *rest, **named: list(results))
        ran = CliRunner().invoke(app, ["bench", "pautomac", "-p", "1,6"], env={"COLUMNS": "300"})
    assert "(MoM)" in ran.stdout
    assert "95.12" in ran.stdout.split("(MoM)")[1]


class Watched:
    """An estimator that remembers what it was fitted on."""

    def __init__(self, seen, inner):
        self.seen, self.inner = seen, inner

    def fit(self, corpus):
        self.seen.append(corpus)
        self.inner.fit(corpus)
        return self

    def __getattr__(self, name):
        return getattr(self.inner, name)


def watch(monkeypatch, module):
    """Let a bench build estimators that remember; return what they saw."""
    seen = []

    class Method:
        def build(self, **options):
            return Watched(seen, find_method("separable").build(n_states=2))

    monkeypatch.setattr(module, "find_method", lambda name: Method())
    monkeypatch.setattr(module, "automaton_of", lambda estimator: estimator.inner.model_)
    monkeypatch.setattr(module, "warm_up", lambda builder, options: None)
    for name in ("pautomac_perplexity", "word_error_rate", "perplexity_per_symbol"):
        if hasattr(module, name):
            plain = getattr(module, name)
            monkeypatch.setattr(
                module,
                name,
                lambda model, *more, plain=plain: plain(getattr(model, "inner", model), *more),
            )
    return seen


SMALL = ss.datasets.make_problem(
    "pfa", n_states=3, n_symbols=3, n_train=60, n_test=20, random_state=0
)


def test_pautomac_learns_from_the_training_strings_and_measures_on_the_others(monkeypatch):
    seen = watch(monkeypatch, pautomac)
    result = pautomac.run([6], ["separable"], load=lambda number: SMALL)[0]
    assert [corpus is SMALL.train for corpus in seen] == [True]
    model = find_method("separable").build(n_states=2).fit(SMALL.train)
    expected = ss.metrics.pautomac_perplexity(model, SMALL.test, SMALL.solution)
    assert result.perplexity == pytest.approx(expected)
    wrong = 100 * ss.metrics.word_error_rate(model, SMALL.test)
    assert result.word_error_rate == pytest.approx(wrong)


def test_tags_are_learned_from_the_training_part_and_measured_on_the_test_part(monkeypatch):
    seen = watch(monkeypatch, tags)
    parts = ss.datasets.Splits(SMALL.train, SMALL.train[:5], SMALL.test, "tags")
    result = tags.run_tags(["separable"], parts=parts)[0]
    assert [corpus is SMALL.train for corpus in seen] == [True]
    model = find_method("separable").build(n_states=2).fit(SMALL.train)
    assert result.word_error_rate == pytest.approx(
        100 * ss.metrics.word_error_rate(model, SMALL.test)
    )
    # The paper's perplexity: the shares of the distinct sequences are the test part's own.
    bits = -ss.log_proba(model.model_, SMALL.test) / 0.6931471805599453
    assert result.perplexity == pytest.approx(2 ** bits.mean())
    assert result.perplexity_natural == pytest.approx(2 ** (bits.mean() * 0.6931471805599453))


def test_generated_problems_are_learned_from_their_training_strings(monkeypatch):
    seen = watch(monkeypatch, generated)
    monkeypatch.setattr(generated, "make_pautomac", lambda kind, n_train, random_state: SMALL)
    next(generated.run_generated([0], ["separable"]))
    assert [corpus is SMALL.train for corpus in seen] == [True]


@pytest.mark.compiled
def test_runtimes_tell_what_is_done_once_and_what_for_each_size(tmp_path):
    picture = tmp_path / "figure.svg"
    arguments = ["bench", "runtimes", "-m", "spectral,tensor", "-n", "2,5", "--symbols", "4"]
    ran = CliRunner().invoke(
        app, [*arguments, "--strings", "100", "--plot", str(picture), "--json"]
    )
    assert ran.exit_code == 0, ran.output
    rows = json.loads(ran.stdout)
    assert [(row["method"], row["size"]) for row in rows] == [
        ("spectral", 2),
        ("spectral", 5),
        ("tensor", 2),
        ("tensor", 5),
    ]
    assert rows[0]["initialization"] == rows[1]["initialization"] > 0
    assert rows[3]["building"] is None  # no more states than symbols
    assert all(row["building"] > 0 for row in rows[:3])
    assert picture.read_text().startswith("<svg")
    table = CliRunner().invoke(app, [*arguments, "--strings", "100"], env={"COLUMNS": "120"}).stdout
    assert "5 states" in table


def test_unknown_methods_are_refused_before_anything_is_timed():
    with pytest.raises(ss.errors.InvalidParameter, match="methods must be some of spectral-string"):
        next(runtimes.run_runtimes(["magic"]))


def test_a_method_that_has_no_model_of_any_size_shows_its_largest():
    first, second = runtimes.run_runtimes(["tensor"], sizes=(6, 7), n_symbols=3, n_strings=300)
    assert 1 <= first.size <= 3
    assert first.building > 0
    assert (second.size, second.building) == (7, None)
