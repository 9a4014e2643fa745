"""Results of parts in files of their own: whole, once each, and not mixed with another job's."""

import os
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.core.errors import InvalidData, InvalidParameter

SEQUENCES = ["abba", "", "ab", "b", "ba", "bb", "aab"]


def parts(size=2, sequences=SEQUENCES):
    pieces = [sequences[i : i + size] for i in range(0, len(sequences), size)]
    return ss.Partitions.from_sequences(pieces, alphabet=ss.Alphabet("ab"), threads=2)


def lines_of(written):
    return [line for path in written.files for line in Path(path).read_text().splitlines()]


def lengths(corpus):
    return corpus.lengths


def test_scores_of_parts_are_the_scores(tmp_path):
    model = ss.KneserNey(2).fit(SEQUENCES).model_
    written = parts().write(model.log_proba, tmp_path / "out")
    found = [float(line) for line in lines_of(written)]
    corpus = ss.Corpus.from_sequences(SEQUENCES)
    assert np.array_equal(found, model.log_proba(corpus))
    assert [os.path.basename(path) for path in written.files] == [
        f"part-00000{i}.txt" for i in range(4)
    ]
    assert (written.n_before, written.counts) == (0, (7, corpus.n_symbols))


def test_finished_parts_are_not_done_again(tmp_path):
    calls = []

    def counted(corpus):
        calls.append(len(corpus))
        if len(calls) == 3:
            raise ZeroDivisionError
        return corpus.lengths

    few = ss.Partitions.from_sequences([["a"], ["b", "a"], ["ab"], ["ba"]], threads=1)
    with pytest.raises(ZeroDivisionError):
        few.write(counted, tmp_path)
    names = sorted(os.listdir(tmp_path))
    done = [name for name in names if name != "job.json"]
    # The fourth may have been under way while the others waited for the disk.
    assert done in ([f"part-00000{i}.txt" for i in some] for some in ((0, 1), (0, 1, 3)))
    before = [os.stat(tmp_path / name).st_mtime_ns for name in done]
    n_calls = len(calls)
    written = few.write(counted, tmp_path)
    assert len(calls) == n_calls + 4 - len(done)
    assert written.n_before == len(done)
    assert [os.stat(tmp_path / name).st_mtime_ns for name in done] == before
    assert lines_of(written) == ["1", "1", "1", "2", "2"]


def test_a_folder_belongs_to_one_job(tmp_path):
    parts().write(lengths, tmp_path / "one")
    for other, options in (
        (parts(3), {}),
        (parts(), {"job": "x"}),
        (parts(), {"format": "parquet"}),
    ):
        with pytest.raises(InvalidParameter, match=r"other data, another model or other options"):
            other.write(lengths, tmp_path / "one", **options)
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "part-000000.txt").write_text("mine")
    with pytest.raises(InvalidParameter, match="Name another directory"):
        parts().write(lengths, tmp_path / "two")
    with pytest.raises(InvalidParameter, match="format must be"):
        parts().write(lengths, tmp_path / "three", format="csv")


def test_an_error_in_a_part_is_raised_and_leaves_no_file(tmp_path):
    def fails(corpus):
        raise InvalidData("no")

    with pytest.raises(InvalidData, match="no"):
        parts().write(fails, tmp_path)
    assert os.listdir(tmp_path) == ["job.json"]


def test_who_hears_of_an_error_finds_no_other_part_half_written(tmp_path):
    begun = threading.Event()

    def fails_beside(corpus):
        if len(corpus) == 4:
            begun.wait(10)
            raise InvalidData("no")
        begun.set()
        time.sleep(0.3)
        return ["late"] * len(corpus)

    with pytest.raises(InvalidData, match="no"):
        parts(4).write(fails_beside, tmp_path)
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".part")]


def test_results_as_parquet(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    model = ss.KneserNey(2).fit(SEQUENCES).model_
    corpus = ss.Corpus.from_sequences(SEQUENCES)
    scores = parts().write(model.log_proba, tmp_path / "scores", format="parquet")
    found = [v for path in scores.files for v in parquet.read_table(path)["value"].to_pylist()]
    assert found == model.log_proba(corpus).tolist()
    nexts = parts().write(model.predict_next, tmp_path / "next", format="parquet")
    first = parquet.read_table(nexts.files[0])["value"].to_pylist()[0]
    assert first == [{"symbol": str(s), "p": p} for s, p in model.predict_next(corpus[:1])[0]]
    lines = parts().write(model.predict_next, tmp_path / "lines")
    symbol, p = lines_of(lines)[0].split()
    assert (symbol, float(p)) == (first[0]["symbol"], pytest.approx(first[0]["p"], rel=1e-5))


def test_taggers_and_transliterators_are_applied_to_parts(tmp_path):
    english = ss.datasets.load_demo_english()
    tagger = ss.HMMTagger(order=1).fit(english.train)
    sentences = [list(words) for words, _ in english.test[:20]]
    words = ss.Partitions.from_sequences([sentences[:7], sentences[7:]])
    found = lines_of(words.write(tagger.predict, tmp_path / "tags"))
    assert found == [" ".join(tags) for tags in tagger.predict(sentences)]
    names = ss.Transliterator("joint-ngram").fit(ss.datasets.load_demo_names().train[:60])
    given = ["anna", "max", "petra"]
    letters = ss.Partitions.from_sequences([given[:1], given[1:]])
    found = lines_of(letters.write(names.predict, tmp_path / "names"))
    assert found == ["".join(name) for name in names.predict(given)]
    assert [row for part in letters.stream(names.predict) for row in part] == names.predict(given)


def test_a_folder_is_refused_to_another_function_or_another_model(tmp_path):
    first, second = (ss.KneserNey(order).fit(SEQUENCES) for order in (2, 3))
    parts().write(first.log_proba, tmp_path)
    assert parts().write(first.log_proba, tmp_path).n_before == 4
    for other in (first.predict_next, second.log_proba, lengths):
        with pytest.raises(InvalidParameter, match="another model"):
            parts().write(other, tmp_path)


def test_a_function_that_forgets_sequences_is_refused(tmp_path):
    with pytest.raises(InvalidData, match="got 1 values for 2 sequences"):
        parts().write(lambda corpus: [1], tmp_path)
