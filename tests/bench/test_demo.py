"""Each part of the demonstration learns something, and the command line tells all of it."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import sigmastar as ss
import sigmastar.bench.demo as stories
from sigmastar.bench.demo.ahead import names_ahead
from sigmastar.cli.main import app
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.datasets import Splits


@pytest.fixture(scope="module")
def results():
    return stories.run_demo(n_strings=1000)


def shuffled(splits):
    """Break the tie between words and tags in the training part, and nothing else."""
    tags = splits.train.target
    mixed = np.random.default_rng(0).permutation(tags.symbols)
    train = PairCorpus(splits.train.source, Corpus(mixed, tags.offsets, tags.alphabet))
    return Splits(train, None, splits.test, "shuffled")


def test_learned_machines_come_near_the_truth(results):
    truth, *learned = results.automaton.rows
    uniform = len(results.automaton.problem.test)
    for row in learned:
        assert truth.perplexity <= row.perplexity < 1.2 * truth.perplexity < 0.1 * uniform
    assert results.automaton.best.perplexity == min(row.perplexity for row in learned)


def test_learning_curves_rise(results):
    curves = [row.curve for row in results.automaton.rows if row.curve]
    curves += [row.curve for row in results.sensors.rows if row.curve]
    assert len(curves) == 3
    assert all(np.diff(curve).min() > -1e-9 for curve in curves)


def test_the_tagger_beats_commonest_tags_and_its_transducer_equals_it(results):
    baseline, hmm, greedy, exact = results.text.rows
    assert hmm.accuracy > baseline.accuracy + 0.05
    assert exact.accuracy == hmm.accuracy == results.text.confusion.accuracy
    assert exact.agreement == 1
    assert greedy.agreement < 1


def test_nothing_is_learned_from_shuffled_tags():
    found = stories.demo_text(shuffled(ss.datasets.load_demo_english()))
    assert max(row.accuracy for row in found.rows) < 0.5


def test_contexts_spell_names_better_than_letters(results):
    letters, ngrams, combined = results.names.rows
    assert min(ngrams.word_accuracy, combined.word_accuracy) > letters.word_accuracy + 0.1
    assert combined.character_error_rate < letters.character_error_rate - 0.03
    right = np.mean([example.is_right for example in results.names.examples])
    assert right == pytest.approx(combined.word_accuracy)


def test_sequences_tell_more_than_steps(results):
    alone, em, spectral, forest, both = results.sensors.rows
    assert alone.accuracy > results.sensors.majority + 0.1
    assert spectral.accuracy > max(alone.accuracy, em.accuracy) + 0.05
    assert both.accuracy > forest.accuracy + 0.01
    assert results.sensors.confusion.accuracy == pytest.approx(both.accuracy)
    table = results.sensors.table
    assert len(table.frames) == len(table.labels) == table.offsets[-1]


def test_saved_models_can_be_loaded(results, tmp_path):
    files = results.save(tmp_path / "models")
    assert [path.name for path in files] == [
        "automaton.sigma",
        "tagger-hmm.sigma",
        "tagger-fst.sigma",
        "names.sigma",
        "robot.sigma",
    ]
    loaded = ss.load(files[2])
    words = [["The", "light", "falls", "."]]
    assert loaded.predict(words) == results.text.rows[-1].tagger.predict(words)


@pytest.fixture
def run(results, monkeypatch, tmp_path):
    """Run the command with what was found already, in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def replay(parts, *, tell, **options):
        for name in stories.PARTS:
            if name in parts:
                tell(name, getattr(results, name))
        return results

    monkeypatch.setattr(stories, "run_demo", replay)

    def call(*arguments):
        found = CliRunner().invoke(app, ["demo", *arguments], catch_exceptions=False)
        assert found.exit_code == 0, found.output
        return found.stdout

    return call


def test_the_command_prints_four_numbered_stories(run, results):
    text = run()
    for number, title in enumerate(("A machine", "English", "Names", "A robot"), 1):
        assert f"{number}. {title}" in text
    assert f"{100 * results.text.rows[-1].accuracy:.1f} %" in text
    assert f"{100 * results.sensors.shown.accuracy:.1f} %" in text


def test_the_command_prints_one_document(run, results, tmp_path):
    document = json.loads(run("--json", "--output", str(tmp_path)))
    assert set(stories.PARTS) <= set(document)
    assert len(document["names"]["rows"]) == 3
    assert document["sensors"]["shown"] == results.sensors.rows[-1].method
    assert len(document["files"]) == 5


def test_the_page_shows_what_was_found(run, results, tmp_path):
    text = run("--report", "story.html")
    page = (tmp_path / "story.html").read_text(encoding="utf-8")
    assert str(tmp_path / "story.html") in text
    titles = ("A machine is learned back", "English is tagged", "Names change", "A robot&#x27;s")
    assert all(title in page for title in titles)
    assert f"{results.automaton.best.perplexity:.3f}" in page
    assert f"{100 * results.text.rows[-1].accuracy:.2f} %" in page
    assert results.names.examples[0].true in page
    assert f"{100 * results.sensors.shown.accuracy:.2f} %" in page


def test_one_part_is_told_alone(run):
    text = run("--part", "names")
    assert "1. Names" in text
    assert "robot" not in text


def test_unknown_parts_are_refused():
    with pytest.raises(ss.errors.InvalidParameter, match="part must be 'automaton', 'text'"):
        stories.run_demo(["poetry"])


def test_nothing_is_compiled_ahead_for_one_part():
    with names_ahead(["names"]) as helper:
        assert helper is None
