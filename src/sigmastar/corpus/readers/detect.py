"""Which format a file has: by its name first, by its first lines otherwise."""

from __future__ import annotations

from sigmastar.core.errors import InvalidData
from sigmastar.core.rules import AnyOf, Choice, Nothing, check
from sigmastar.corpus.readers.source import Source, base_name

__all__ = ["FORMATS", "TAGGED", "detect_format", "format_of", "has_two_columns", "refuse_columns"]

FORMATS = (
    "pautomac",
    "spice",
    "treba",
    "conllu",
    "columns",
    "tag-tsv",
    "word-tag",
    "pairs",
    "jsonl",
    "words",
    "chars",
    "chunks",
)
TAGGED = ("conllu", "columns", "tag-tsv", "word-tag", "jsonl")
JSON_LINES = (".jsonl", ".ndjson")  # how names end
_RULE = AnyOf(Nothing(), Choice(*FORMATS))
_UPOS = frozenset(
    # The 17 universal tags, and those of the older 12-tag set.
    "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X "
    ". CONJ PRT _".split()
)


def detect_format(source: Source, format: str | None) -> str:
    """Return the format asked for, or find it out from name and content."""
    check("format", format, _RULE, "Leave it out to have the format detected.")
    if format is not None:
        return "pautomac" if format == "spice" else format
    name = base_name(source.path)
    if ".pautomac" in name or ".spice" in name:
        return "pautomac"
    if name.endswith(".obs"):
        return "treba"
    if name.endswith((".conllu", ".conll")):
        return "conllu"
    if name.endswith(JSON_LINES):
        return "jsonl"
    return format_of(source.head())


def format_of(head: bytes) -> str:
    """Return what the first lines of a file look like."""
    text = head.decode("utf-8", "replace")
    lines = text.split("\n")
    if len(lines) > 1:
        lines.pop()  # cut anywhere, or the empty rest after the last line's end
    rows = [line.removesuffix("\r") for line in lines[:200]]
    filled = [row for row in rows if row.strip()]
    if not filled:
        return "words"
    if all(_is_integers(row) for row in filled if not row.startswith("#")):
        headed = not any(row.startswith("#") for row in filled) and _has_header(filled)
        # Every integer up to the largest becomes a symbol: not if few of them can be meant.
        return "pautomac" if headed else "treba" if _is_dense(filled) else "words"
    columns = [row.split("\t") for row in filled]
    if any(len(c) == 10 for c in columns) and all(
        row.startswith("#") or len(c) == 10 for row, c in zip(filled, columns, strict=True)
    ):
        return "conllu"
    if all(len(c) == 3 and c[1] in _UPOS for c in columns):
        return "tag-tsv"
    if all(len(c) >= 2 for c in columns):
        return "pairs"
    return "word-tag" if _has_tags(filled) else "words"


def has_two_columns(head: bytes) -> bool:
    """Tell words with a tag each, blank lines between sentences, from pairs without any."""
    lines = head.split(b"\n")[:-1]  # the last is empty, or cut anywhere
    filled = [line for line in lines if line.strip()]
    return len(filled) < len(lines) and all(line.count(b"\t") == 1 for line in filled)


def refuse_columns(source: Source, found: str) -> None:
    """Ask what is meant by columns where sequences are expected; ``found`` is a format guessed."""
    if found == "pairs" and not base_name(source.path).endswith(".tsv"):
        raise InvalidData(
            f"{source.path}: has columns between tabs: pairs, or names before sequences? Say "
            "format='words' if every cell is a symbol, format='pairs' to take the first column "
            "by characters, or leave the sequences alone in the file (cut -f2). On the command "
            "line: -f words, -f pairs."
        )
    if found == "words" and _is_table(source):
        raise InvalidData(
            f"{source.path}: looks like a table with commas between its columns. For "
            "measurements: read_frames, sigmastar sensors; for events, one a row: "
            "Corpus.from_dataframe. If every line is a sequence of words all the same, say "
            "format='words' (on the command line: -f words)."
        )


def _is_table(source: Source) -> bool:
    """Tell a table with commas or semicolons from lines of words that have some."""
    lines = [line for line in source.head().split(b"\n")[:-1] if line.strip()][:200]
    bare = base_name(source.path).endswith(".csv") or not any(len(x.split()) > 1 for x in lines)
    return bare and len(lines) > 1 and any(_cut_alike(lines, mark) for mark in (b",", b";"))


def _cut_alike(lines: list[bytes], mark: bytes) -> bool:
    """Tell whether a mark stands in all lines equally often."""
    times = {line.count(mark) for line in lines}
    return len(times) == 1 and 0 not in times


def _has_tags(rows: list[str]) -> bool:
    """Tell word/TAG from paths and dates: tags are fewer than words, and words begin with none."""
    tokens = [word.rpartition("/") for row in rows for word in row.split()]
    words, tags = {word for word, _, _ in tokens}, {tag for _, _, tag in tokens}
    return all(words) and all(tags) and len(tags) <= len(words) and _are_bare(words)


def _are_bare(words: set[str]) -> bool:
    return not any(word.startswith("/") and len(word) > 1 for word in words)


def _is_dense(rows: list[str]) -> bool:
    numbers = [int(word[:18]) for row in rows if row[:1] != "#" for word in row.split()]
    return max(numbers, default=0) <= 1000 + 10 * len(numbers)


def _is_integers(row: str) -> bool:
    return all(word.isascii() and word.isdigit() for word in row.split())


def _has_header(rows: list[str]) -> bool:
    """Tell a PAutomaC header and lengths from bare sequences of integers."""
    numbers = [[int(word[:18]) for word in row.split()] for row in rows if row.strip()]
    count, size = numbers[0] if len(numbers[0]) == 2 else (1, 0)
    if len(numbers) == 1:
        return count == 0
    return all(row[0] == len(row) - 1 and all(s < size for s in row[1:]) for row in numbers[1:])
