"""Fuzz what reads text: readers of every format, rules, patterns, and the record of model files.

Run ``python tools/fuzz/readers.py --inputs 1000000 --seed 0 --jobs 2``; any failure makes the exit
code 1. An input is told by its number alone.
"""

from __future__ import annotations

import one_thread  # isort: skip  # noqa: F401

import argparse
import gzip
import io
import json
import lzma
import random
import re
import struct
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from seeds import old_files
from use import Failure, foreign
from workers import Case, Limits, work_on

import sigmastar as ss

__all__ = ["READERS", "Reader", "main", "mutated"]


class Reader(NamedTuple):
    """A way to read bytes, and sound examples of what it reads."""

    read: Callable[[Path], Any]
    examples: tuple[bytes, ...]
    suffix: str = ""


TAG_SET = ("DET", "NOUN", "VERB", "ADJ", "PRON")
_PAUTOMAC = b"3 4\n2 1 0\n0\n3 2 2 1\n"
_TREBA = b"\n1 1 7 \n# a comment\n0\n"
_CONLLU = (
    b"# text = du bist\n1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n1\tde\tde\tADP\tP\t_\t_\t_\t_\t_\n"
    b"2.1\tnul\t_\t_\t_\t_\t_\t_\t_\t_\n\n1\tOui\toui\tINTJ\tI\t_\t_\t_\t_\t_\n"
)
_COLUMNS = b"10 000\tNUM\tCD\n#\tSYM\t_\n\nOui\tINTJ\tUH\n\n"
_SLASHES = b"The/at 1/2/cd jury/nn\n\n,/,\n"
_PAIRS = "anna\tж и к\t3\nmax\tш л я\t1\n".encode()
_WORDS = "ça va\nbien, merci\n\n".encode()
_FRAMES = b"sequence,x,y,label\na,1.5,2,go\na,-1e3,0.25,stop\nb,0,7,go\n"
_NO_HEADER = b"1,2,go\n3,4,stop\n\n5,6,go\n"
_PATTERNS = (b"DET? ADJ? NOUN", b"(DET | PRON) ADJ NOUN", b"<s> DET NOUN </s>", b"ANY NOUN?")
_RULES = (
    b"NOUN -> VERB / PRON _\nVERB -> NOUN / DET _ # why\n# none\nADJ -> NOUN / <s> _ DET",
    b"that/PRON -> DET / VERB _\nNOUN -> ADJ / _ old/ANY\nthe/DET -> ADJ",
    b"NOUN -> VERB / PRON (DET | ADJ)* _\nADJ -> VERB / _ NOUN",
)


def _corpus(format: str | None, **options: Any) -> Callable[[Path], Any]:
    return lambda path: ss.read_corpus(path, format, **options)


def _rules(path: Path) -> None:
    text = path.read_bytes()
    rules = ss.RuleSet.from_text(text.decode(errors="replace"), TAG_SET)
    str(rules)
    if len(text) % 16 == 0 and len(rules) < 4:  # compiling takes long
        rules.to_transducer()


@cache
def _tagger() -> Any:
    return ss.load(next(path for path in old_files() if path.stem == "fst-n0"))


def _pattern(path: Path) -> None:
    text = path.read_bytes().decode(errors="replace")
    _tagger().with_phrases(text)


def _models() -> dict[str, bytes]:
    """Write one small automaton in every format."""
    rng = np.random.default_rng(0)
    alphabet = ss.Alphabet(range(2))
    pfa = ss.PFA.normalized(rng.random(2), rng.random((2, 2, 2)), rng.random(2), alphabet)
    written = {}
    with tempfile.TemporaryDirectory() as folder:
        for format in ("pautomac", "treba", "att"):
            ss.write_model(pfa, Path(folder) / format, format)
            written[format] = (Path(folder) / format).read_bytes()
        pfa.save(Path(folder) / "sigma")
        written["sigma"] = (Path(folder) / "sigma").read_bytes()
    return written


def _npz() -> bytes:
    file = io.BytesIO()
    np.savez(
        file, frames=np.ones((3, 2)), labels=np.array(["a", "b", "a"]), lengths=np.array([2, 1])
    )
    return file.getvalue()


def _readers() -> dict[str, Reader]:
    texts = (_PAUTOMAC, _TREBA, _CONLLU, _COLUMNS, _SLASHES, _PAIRS, _WORDS)
    models = _models()
    readers = {
        "corpus": Reader(_corpus(None), texts),
        "corpus-unk": Reader(_corpus(None, limit=2, column="source"), texts),
        "batches": Reader(lambda path: list(ss.iter_corpus(path, batch=2)), texts),
        "pautomac": Reader(_corpus("pautomac"), (_PAUTOMAC,)),
        "treba": Reader(_corpus("treba"), (_TREBA,)),
        "words": Reader(_corpus("words"), (_WORDS,)),
        "chars": Reader(_corpus("chars"), (_WORDS,)),
        "chunks": Reader(_corpus("chunks", chunk=3), (_WORDS,)),
        "pairs": Reader(ss.read_pairs, (_PAIRS,)),
        "pairs-of-words": Reader(
            lambda p: ss.read_pairs(p, target="words", columns=(1, 0)), (_PAIRS,)
        ),
        "solution": Reader(ss.read_solution, (b"2\n0.5\n0.25\n",)),
        "rules": Reader(_rules, _RULES),
        "pattern": Reader(_pattern, _PATTERNS),
        "frames-csv": Reader(ss.read_frames, (_FRAMES, _NO_HEADER), ".csv"),
        "frames-tsv": Reader(
            lambda p: ss.read_frames(p, label="label", length=2),
            (_FRAMES.replace(b",", b"\t"),),
            ".tsv",
        ),
        "frames-npz": Reader(ss.read_frames, (_npz(),), ".npz"),
        "model": Reader(ss.read_model, tuple(models.values())),
        "sigma": Reader(ss.load, (models["sigma"],), ".sigma"),
    }
    for format in ("conllu", "tag-tsv", "word-tag"):
        example = {"conllu": _CONLLU, "tag-tsv": _COLUMNS, "word-tag": _SLASHES}[format]
        readers[format] = Reader(lambda p, format=format: ss.read_tagged(p, format), (example,))
    for format in ("pautomac", "treba", "att"):
        readers[f"model-{format}"] = Reader(
            lambda p, format=format: ss.read_model(p, format), (models[format],)
        )
    return readers


READERS = _readers()
_TOKEN = re.compile(rb"[A-Za-z_]+|[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?|[ \t\n]|[^A-Za-z0-9 \t\n]+")
_HOSTILE = (
    *(b"0 1 -1 2147483648 9223372036854775807 99999999999999999999 1e999 nan inf -inf NaN 1e-400"
      b" 0x10 1_000 +5 .5 5. -0 1.5.2 \xd9\xa3 \xc2\xb2 % & -> / _ | * ? + ( ) ((( () /_ <s> </s>"
      b" ANY DET / // \\ \" ' \"a,b\" # : ; , {} [] null true").split(b" "),
    b"9" * 5000, b"(" * 2000, b"(A " * 300, b"x" * 70_000, b"", b" ", b"\n", b"\r\n", b"\r", b"\t",
    b"\0", b"\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80",
    "\u2028".encode(), "\x85".encode(), "\u00a0".encode(), "\ufeff".encode(), b"\x1c", b"\x0c",
    b"\x1f\x8b\x08", b"\xfd7zXZ\0", b"\n\n\n", b" _ ", b"->", b"\\ud800", b'"\\u0000"',
)  # fmt: skip


def mutated(number: int) -> Case:
    """Make the input of a number: its reader, what was done, and the bytes."""
    rng = random.Random(number)
    name = rng.choice(sorted(READERS))
    data = rng.choice(READERS[name].examples)
    if rng.random() < 0.02:
        data = rng.choice(rng.choice(list(READERS.values())).examples)
    changes = []
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        change = rng.choice(_CHANGES)
        data = change(data, rng)[: 1 << 18]
        changes.append(change.__name__.strip("_"))
    return Case(name, ", ".join(changes), data)


def _tokens(data: bytes, rng: random.Random) -> bytes:
    """Put something else in the place of a token."""
    tokens = _TOKEN.findall(data)
    if not tokens:
        return rng.choice(_HOSTILE)
    at = rng.randrange(len(tokens))
    tokens[at] = rng.choice((*_HOSTILE, rng.choice(tokens), tokens[at] * 2, tokens[at][1:]))
    return b"".join(tokens)


def _insertion(data: bytes, rng: random.Random) -> bytes:
    tokens = _TOKEN.findall(data)
    tokens.insert(rng.randrange(len(tokens) + 1), rng.choice((*_HOSTILE, *tokens[:5])))
    return b"".join(tokens)


def _lines(data: bytes, rng: random.Random) -> bytes:
    """Drop, repeat, exchange or join lines."""
    lines = data.split(b"\n")
    first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
    way = rng.randrange(5)
    if way == 0:
        del lines[first]
    elif way == 1:
        lines.insert(second, lines[first])
    elif way == 2:
        lines[first], lines[second] = lines[second], lines[first]
    elif way == 3:
        lines[first:first] = [lines[first]] * rng.choice((10, 300))
    else:
        return data.replace(
            b"\n", rng.choice((b" ", b"\r\n", b"\t", b"\r", b"")), rng.choice((1, -1))
        )
    return b"\n".join(lines)


def _cut(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return rng.choice((data[:at], data[at:]))


def _bits(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 3)) if data else 0):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _header(data: bytes, rng: random.Random) -> bytes:
    """Change the record of a model file as text, and make its length right again."""
    if data[8:9] != b"{":
        return _bits(data, rng)
    (length,) = struct.unpack("<Q", data[:8])
    try:
        header = json.loads(data[8 : 8 + length])
        record = header["__metadata__"]["sigmastar"]
        changed = rng.choice((_tokens, _insertion, _cut, _lines))(record.encode(), rng)
        header["__metadata__"]["sigmastar"] = changed.decode(errors="replace")
    except (ValueError, KeyError, TypeError):
        return _bits(data, rng)
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data[8 + length :]


def _splice(data: bytes, rng: random.Random) -> bytes:
    other = rng.choice(rng.choice(list(READERS.values())).examples)
    return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]


def _compressed(data: bytes, rng: random.Random) -> bytes:
    if rng.random() < 0.8:  # rarely: what is compressed is seen by all readers alike
        return _tokens(data, rng)
    packed = gzip.compress(data, 1) if rng.random() < 0.7 else lzma.compress(data, preset=0)
    return packed + rng.choice((b"", b"", packed, b"rest"))


_CHANGES = (_tokens, _tokens, _tokens, _insertion, _insertion, _lines, _lines, _cut, _bits)
_CHANGES += (_header, _splice, _compressed)


def read(case: Case, folder: Path) -> Failure | None:
    """Let a reader read the bytes."""
    reader = READERS[case.kind]
    path = folder / f"input{reader.suffix}"
    path.write_bytes(case.data)
    return foreign(case.kind, lambda: reader.read(path))[1]


def work(number: int, folder: Path, announce: Callable[[str], None]) -> Iterator[Failure]:
    """Work on the input of a number."""
    case = mutated(number)
    announce(case.kind)
    failure = read(case, folder)
    if failure:
        yield failure


def main(arguments: list[str] | None = None) -> int:
    """Run the tool; return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0, help="number of the first input")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="where failing inputs are kept")
    parser.add_argument("--json", type=Path, help="where the failures are written")
    parser.add_argument("--seconds", type=float, default=10.0, help="processor time of an input")
    options = parser.parse_args(arguments)
    keep = options.keep or Path(tempfile.gettempdir()) / "sigmastar-fuzz-readers"
    keep.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, reader in READERS.items():  # sound input is read, and compiles what there is
            for example in reader.examples:
                failure = read(Case(name, "none", example), Path(folder))
                if failure:
                    print(f"sound {name}: {failure}", file=sys.stderr)
    numbers = range(options.seed, options.seed + options.inputs)
    json_file = options.json or keep / "failures.json"
    limits = Limits(seconds=options.seconds)
    tally = work_on(numbers, work, mutated, keep, json_file, jobs=options.jobs, limits=limits)
    print(tally.table())
    return int(bool(tally.found))


if __name__ == "__main__":
    sys.exit(main())
