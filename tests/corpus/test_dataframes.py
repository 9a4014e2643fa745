"""Tables of several libraries become the same sequences; what is no sequence is asked about."""

import numpy as np
import pyarrow as pa
import pytest

import sigmastar as ss
from sigmastar.core.errors import InvalidData, InvalidParameter

EVENTS = {
    "session": ["s2", "s1", "s1", "s2", "s1"],
    "time": [9, 5, 3, 1, 4],
    "event": ["close", "close", "open", "open", "read"],
}


def tables():
    yield pytest.param(pa.table, id="pyarrow")
    for name in ("pandas", "polars"):
        yield pytest.param(
            lambda data, name=name: pytest.importorskip(name).DataFrame(data), id=name
        )


@pytest.mark.parametrize("make", list(tables()))
def test_events_are_gathered_by_session_and_sorted_by_time(make):
    corpus = ss.Corpus.from_dataframe(
        make(EVENTS), sequence="session", symbol="event", order="time"
    )
    assert list(corpus) == [["open", "close"], ["open", "read", "close"]]


@pytest.mark.parametrize("make", list(tables()))
def test_results_go_beside_the_rows_they_belong_to(make):
    table = make(EVENTS)
    where = {"sequence": "session", "order": "time"}
    corpus = ss.Corpus.from_dataframe(table, symbol="event", **where)
    model = ss.KneserNey(2).fit(corpus)
    found = ss.anomaly_scores(model, corpus)
    wide = ss.add_columns(
        table, {"score": found.scores, "bits": found.surprises, "same": list(corpus)}, **where
    )
    assert type(wide) is type(table)
    column = {name: list(map(_plain, wide[name])) for name in ("event", "same", "score", "bits")}
    assert column["event"] == column["same"] == EVENTS["event"]
    assert column["score"][0] == column["score"][3] == found.scores[0]
    assert column["bits"][3] == found.surprises[0][0]


def _plain(cell):
    return cell.as_py() if hasattr(cell, "as_py") else cell


def test_results_that_do_not_fit_are_told():
    table = pa.table(EVENTS)
    with pytest.raises(InvalidData, match="for each of 2 sequences; it has 3"):
        ss.add_columns(table, {"x": [1, 2, 3]}, sequence="session")
    with pytest.raises(InvalidData, match="must have 2 values for sequence 0"):
        ss.add_columns(table, {"x": [[1], [1, 2, 3]]}, sequence="session")


def test_without_an_order_rows_stay_as_they_come():
    corpus = ss.Corpus.from_dataframe(pa.table(EVENTS), sequence="session", symbol="event")
    assert list(corpus) == [["close", "open"], ["close", "open", "read"]]


def test_pairs_and_tagged_words_come_from_columns():
    pairs = pa.table({"latin": ["anna", "max"], "cyrillic": ["анна", "макс"]})
    found = ss.PairCorpus.from_dataframe(pairs, source="latin", target="cyrillic")
    assert [("".join(x), "".join(y)) for x, y in found] == [("anna", "анна"), ("max", "макс")]
    words = pa.table({"s": [1, 1, 2], "word": ["the", "dog", "go"], "tag": ["DT", "NN", "VB"]})
    tagged = ss.PairCorpus.from_dataframe(words, source="word", target="tag", sequence="s")
    assert list(tagged) == [(["the", "dog"], ["DT", "NN"]), (["go"], ["VB"])]


def test_frames_come_from_the_columns_of_numbers():
    table = pa.table({"walk": [1, 1, 2], "x": [0.5, 1.0, 2.0], "y": [1, 2, 3], "mode": list("aab")})
    found = ss.FrameTable.from_dataframe(table, label="mode", sequence="walk")
    np.testing.assert_array_equal(found.frames, [[0.5, 1], [1.0, 2], [2.0, 3]])
    assert found.labels == ["a", "a", "b"]
    assert found.offsets.tolist() == [0, 2, 3]


def test_missing_columns_and_cells_are_named():
    with pytest.raises(InvalidParameter, match="no column 'events'; the table has 'session'"):
        ss.Corpus.from_dataframe(pa.table(EVENTS), sequence="session", symbol="events")
    holes = pa.table({**EVENTS, "event": ["a", None, "b", "c", "d"]})
    with pytest.raises(InvalidData, match="column 'event' has no value in row 1"):
        ss.Corpus.from_dataframe(holes, sequence="session", symbol="event")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (pa.table(EVENTS), "from_dataframe"),
        (np.array([[1], [2], [3]]), "3 sequences of one symbol"),
        (np.array([[0.5, 1.5]]), "GaussianHMM"),
        ([np.array([0.5, np.nan])], "GaussianHMM"),
        ([[0.5, 1.5], [float("nan")]], "got the float 0.5"),
        ({"a": "ab", "b": "ba"}, r"list\(X.values\(\)\)"),
    ],
)
def test_what_is_no_sequence_is_asked_about(given, words):
    with pytest.raises(InvalidData, match=words):
        ss.SpectralWFA(1).fit(given)


def test_a_column_with_lengths_is_a_flat_run_as_in_hmmlearn():
    column = np.array([[0], [1], [1], [0]])
    flat = ss.Corpus.from_sequences(column[:, 0], lengths=[3, 1])
    assert list(ss.Corpus.from_sequences(column, lengths=[3, 1])) == list(flat)
    with pytest.raises(InvalidData, match="leave out lengths"):
        ss.Corpus.from_sequences(np.zeros((2, 2), int), lengths=[4])
    with pytest.raises(InvalidData, match="GaussianHMM"):
        ss.Corpus.from_sequences(np.array([[0.5], [1.0]]), lengths=[2])


def test_rows_of_a_table_of_numbers_are_frames():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"x": [0.0, 1.0, 0.1, 1.1], "y": [1.0, 0.0, 1.1, 0.1]})
    learned = ss.GaussianHMM(2, max_iter=2, random_state=0).fit(table)
    expected = ss.GaussianHMM(2, max_iter=2, random_state=0).fit(table.to_numpy())
    assert learned.score(table) == expected.score(table.to_numpy())
    with pytest.raises(InvalidData, match=r"FrameTable.from_dataframe\(df, columns"):
        ss.GaussianHMM(2).fit(pd.DataFrame(EVENTS))


@pytest.mark.parametrize("given", [pa.table(EVENTS), None, 5])
def test_taggers_of_measurements_ask_for_sequences(given):
    with pytest.raises(InvalidData, match="X must be a list of sequences"):
        ss.FramewiseTagger().fit(given, [["a"]])
