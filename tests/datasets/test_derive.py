"""Public files to the files we use, and the table of pinned sources."""

import hashlib
import io
import re
import zipfile

import pytest

from sigmastar.datasets import derive, sources, store
from sigmastar.datasets.pronunciation import PRONUNCIATIONS
from sigmastar.datasets.tagged import TREEBANKS, reduced_brown_tag


def _every_file():
    for suffix in (".train", ".test", "_solution.txt", "_model.txt"):
        yield sources.pautomac(6, suffix)
    for number in (3, 6, 8, 13):
        yield sources.spice(number, ".train")
        for part in ("public", "private"):
            yield from (sources.spice(number, f".{what}.{part}") for what in ("prefix", "target"))
    for part in ("train", "dev", "test"):
        for size in ("news", "full"):
            yield sources.transliteration(part, size)
    for name, parts in TREEBANKS.items():
        for part in parts:
            yield sources.treebank(name, part)
    for language in PRONUNCIATIONS:
        yield from (sources.pronunciation(language, part) for part in ("train", "dev", "test"))
    yield from sources.brown()
    yield from (sources.ptb_tags(), sources.wall_following(), sources.wikipedia_text())


@pytest.mark.parametrize("file", list(_every_file()), ids=lambda file: file.name)
def test_every_file_has_a_checksum_and_a_pinned_source(file):
    assert re.fullmatch("[0-9a-f]{64}", file.sha256)
    for source in file.sources:
        assert re.fullmatch(r"[\w.-]+/[\w.-]+/[0-9a-f]{40}/[\w./-]+", source)


def test_no_checksum_is_without_a_use():
    used = {f"{file.folder}/{file.name}" for file in _every_file()}
    pinned = {name for name in store._checksums() if not name.startswith("pautomac/")}
    assert pinned == {name for name in used if not name.startswith("pautomac/")}


def test_conllu_keeps_words_and_both_tags():
    row = "{}\t{}\tx\t{}\t{}\t_\t0\troot\t_\t_\n"
    text = "# text = du vin\n" + row.format("1-2", "du", "_", "_")
    text += row.format(1, "de", "ADP", "P") + row.format(2, "le", "DET", "_")
    text += row.format("2.1", "rien", "X", "_") + row.format(3, "10 000", "NUM", "_") + "\n"
    found = derive.columns_of_conllu([(text + text).encode()]).decode()
    assert found == 2 * "de\tADP\tP\nle\tDET\t_\n10 000\tNUM\t_\n\n"


def test_pairs_get_an_empty_third_column():
    found = derive.columns_of_pairs(["Wörter\tNOUN\n.\t.\n\n\nja\tPRT\n\n".encode()])
    assert found.decode() == "Wörter\tNOUN\t_\n.\t.\t_\n\nja\tPRT\t_\n\n"


def test_news_sized_draws_clean_pairs_by_their_digest():
    rows = [
        "anna\tа н н а\t5",
        "max\tм а к с\t2",
        "zoë\tз о я\t9",
        "ivan\tи в а н\t1",
        "li\tли-\t3",
    ]
    kept = sorted(rows[:2], key=lambda row: hashlib.sha256(row[:-2].encode()).hexdigest())
    expected = [row[:-2].replace(" ", "") + "\n" for row in kept]
    raw = ("\n".join(rows) + "\n").encode()
    assert derive.news_sized(5)([raw]).decode() == "".join(expected)
    assert derive.news_sized(1)([raw]).decode() == expected[0]


def test_brown_archive_becomes_lines_and_a_list_of_documents():
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as files:
        files.writestr("brown/cats.txt", "cb01 editorial\nca01 news\n")
        files.writestr("brown/cb01", "\n\n\tYes/rb ./.\n\n")
        files.writestr("brown/ca01", "\n\tThe/at jury/nn\n\n\n\tsaid/vbd  so/rb \n")
    parts = [archive.getvalue()]
    assert derive.brown_text(parts) == b"The/at jury/nn\nsaid/vbd so/rb\nYes/rb ./.\n"
    assert derive.brown_documents(parts) == b"ca01\tnews\t0\t2\ncb01\teditorial\t2\t1\n"


def test_articles_lose_markup_and_stop_at_the_limit(monkeypatch):
    article = '<doc id="1" title="A">\nA\n\n  Some text. \n\n</doc>\n'
    found = derive.wikipedia_articles([article.encode(), (2 * article).encode()])
    assert found == 3 * b"A\nSome text.\n\n"
    monkeypatch.setattr(derive, "_WIKIPEDIA_BYTES", 2 * len(b"A\nSome text.\n\n"))
    assert derive.wikipedia_articles([(3 * article).encode()]) == 2 * b"A\nSome text.\n\n"


@pytest.mark.parametrize(
    ("tag", "reduced"),
    [("np-tl", "np"), ("fw-at-tl", "at"), ("ppss+bez", "ppss"), ("nn-tl-hl", "nn"), ("*", "*")],
)
def test_brown_tags_are_reduced(tag, reduced):
    assert reduced_brown_tag(tag) == reduced
