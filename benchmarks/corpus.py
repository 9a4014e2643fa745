"""Throughput and memory of corpora: encoding tokens, reading PAutomaC files, bytes a symbol.

Run: python benchmarks/corpus.py [--data DIR]

DIR (or $SIGMASTAR_DATA) may hold the PAutomaC files (``pautomac/6.pautomac.train.gz``); a file of
the same shape is made up besides, so that the script runs without any data.
"""

from __future__ import annotations

import argparse
import gzip
import os
import tempfile
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import sigmastar as ss
from timing import best_of


def made_up_file(folder: Path) -> Path:
    """Write 100,000 strings of mean length 15 over 12 symbols."""
    rng = np.random.default_rng(0)
    rows = ["100000 12"]
    for length in rng.geometric(1 / 16, size=100_000) - 1:
        symbols = rng.integers(0, 12, size=length)
        rows.append(" ".join(map(str, (length, *symbols))))
    path = folder / "made-up.pautomac.train"
    path.write_text("\n".join(rows) + "\n")
    return path


def token_lists() -> list[list[str]]:
    rng = np.random.default_rng(1)
    words = np.array([f"word{i}" for i in range(20_000)], dtype=object)
    ranks = np.minimum(rng.zipf(1.3, size=1_000_000) - 1, len(words) - 1)
    # Splitting text makes every token an object of its own, as reading real text does.
    return [" ".join(words[block]).split() for block in np.split(ranks, 50_000)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("SIGMASTAR_DATA"))
    data = parser.parse_args().data
    table = Table("what", "size", "measured", "wanted", title="Corpora")

    sequences = token_lists()
    known = ss.Corpus.from_sequences(sequences).alphabet
    for title, alphabet in (("known alphabet", known), ("collected alphabet", None)):
        spent = best_of(
            lambda a=alphabet: ss.Corpus.from_sequences(sequences, alphabet=a), warm_up=True
        )
        table.add_row(
            f"encode token lists, {title}", "1,000,000", f"{1 / spent:.1f} M/s", ">= 5 M/s"
        )
    text = ["".join(chr(97 + i % 26) for i in range(1000))] * 1000
    spent = best_of(lambda: ss.Corpus.from_sequences(text), warm_up=True)
    table.add_row("encode strings of characters", "1,000,000", f"{1 / spent:.1f} M/s", ">= 5 M/s")

    with tempfile.TemporaryDirectory() as folder:
        plain = made_up_file(Path(folder))
        packed = plain.with_name(plain.name + ".gz")
        packed.write_bytes(gzip.compress(plain.read_bytes()))
        files = [plain, packed]
        if data is not None:
            files += sorted(Path(data).glob("**/6.pautomac.train*"))
        for path in files:
            corpus = ss.read_corpus(path)
            spent = best_of(lambda p=path: ss.read_corpus(p), 5, warm_up=True)
            rate = corpus.n_symbols / spent / 1e6
            size = f"{corpus.n_symbols:,}"
            table.add_row(f"read {path.name}", size, f"{rate:.1f} M/s", ">= 3 M/s")
            table.add_row(
                f"memory of {path.name}",
                size,
                f"{corpus.nbytes / corpus.n_symbols:.2f} B",
                "<= 6 B",
            )
    Console().print(table)


if __name__ == "__main__":
    main()
