"""The exhibits of the paper on taggers, run quickly on sentences that come with the package."""

import pytest

from sigmastar.bench import tagging as bench
from sigmastar.bench import tagging_rules
from sigmastar.bench.papers.exhibit import Settings
from sigmastar.bench.papers.published_tagging import FIGURE_2, LANGUAGES, MACHINES
from sigmastar.bench.papers.tagging import EXHIBITS


@pytest.fixture(scope="module")
def shown():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bench, "_TIMED_WORDS", 1)
        patch.setattr(tagging_rules, "_TIMED_WORDS", 1)
        return {exhibit.key: exhibit.run(Settings(quick=True)) for exhibit in EXHIBITS}


def test_every_exhibit_has_rows_of_the_same_columns_and_says_what_to_mind(shown):
    for exhibit in shown.values():
        assert exhibit.rows
        assert {tuple(row) for row in exhibit.rows} == {tuple(exhibit.rows[0])}
        assert all(note.endswith(".") for note in exhibit.notes)
        assert exhibit.notes
        assert all(picture.startswith("<svg") for picture in exhibit.pictures)


def test_figures_of_the_paper_stand_beside_ours(shown):
    rows = {row["machine"]: row for row in shown["tagging-table-1"].rows}
    assert rows["n1"]["words/s published"] == MACHINES["n1"].words_per_second
    assert rows["n1"]["arcs published"] == MACHINES["n1"].n_arcs
    assert rows["n1"]["arcs"] > 0
    assert rows["lazy"]["accuracy % published"] is None
    assert rows["lazy"]["as its HMM %"] == 100.0
    words = [row["word"] for row in shown["tagging-figure-2"].rows]
    assert words == [word for word, _, _ in FIGURE_2]
    assert shown["tagging-composition"].rows[0]["as rules run afterwards %"] == 100.0


def test_a_column_of_table_2_goes_with_its_language(monkeypatch):
    row = bench.MachineFigures("n1", 0.9)
    table = next(exhibit for exhibit in EXHIBITS if exhibit.key == "tagging-table-2")
    kinds = [row.__class__(name, 0.9) for name in LANGUAGES["Dutch"].accuracy]
    monkeypatch.setattr(bench, "six_languages", lambda *_: iter(()))
    monkeypatch.setattr(bench, "languages", lambda *_: (("Dutch (X)", kind) for kind in kinds))
    found = table.run(Settings())
    assert {r["machine"]: r["Dutch (X), published"] for r in found.rows} == dict(
        LANGUAGES["Dutch"].accuracy
    )
    assert ">90.0 %<" in found.pictures[0]


def test_table_2_ends_with_how_much_there_was(shown):
    task = bench.demo_task(120)
    sizes = {row["machine"]: row[task.name] for row in shown["tagging-table-2"].rows[-4:]}
    assert sizes["test words"] == sum(map(len, task.test.target))
    assert 0 < sizes["training words"] <= sum(map(len, task.train.target))
    assert sizes["tags"] == len(task.tagger().tags_)
    assert sizes["classes"] == task.tagger().trained_model.n_classes
