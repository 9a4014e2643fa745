"""Speed and memory of moments and spectral learning.

Run: python benchmarks/moments.py [--data DIR] [--splearn-python PATH] [--plot FILE] [--wikipedia]

1. counting n-grams, symbols a second; 2. a path of 8 sizes on PAutomaC problem 6 (basis 300,
strings up to 4, counting included), beside one fit of scikit-splearn if its Python is given; 3. all
problems found, with the size chosen automatically; 4. time and memory against the size of the
corpus, with a plot; 5. with --wikipedia, 100 states and a basis of 2,000 on 12 million characters.

DIR (or $SIGMASTAR_DATA) holds ``pautomac/`` and ``wikipedia-text/``.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import sigmastar as ss
from sigmastar.bench.pautomac_truth import find_problems
from timing import best_of

SIZES = [2, 5, 10, 15, 20, 30, 40, 60]
console = Console()


def problem_six(data: Path, splearn_python: str | None) -> None:
    corpus = ss.datasets.load_pautomac(6, data_home=data).train
    learner = ss.SpectralWFA(basis_size=300, max_length=4)
    learner.path(corpus, SIZES)  # compiles
    ours = best_of(lambda: learner.path(corpus, SIZES), 5)
    counting = best_of(lambda: ss.moments.count_ngrams(corpus, 9), 5)
    table = Table("problem 6", "seconds", "", title="Basis 300, strings up to 4")
    rate = corpus.n_symbols / counting / 1e6
    table.add_row("counting alone, windows of 9", f"{counting:.4f}", f"{rate:.0f}M symbols/s")
    table.add_row(f"counting and a path of {len(SIZES)} sizes", f"{ours:.4f}", "")
    if splearn_python:
        train = next(data.glob("**/6.pautomac.train*"))
        script = Path(__file__).with_name("splearn_fit.py")
        theirs = []
        for _ in range(3):
            done = subprocess.run(
                [splearn_python, str(script), str(train)],
                capture_output=True,
                text=True,
                check=True,
            )
            theirs.append(json.loads(done.stdout.strip().splitlines()[-1])["seconds"])
        table.add_row(
            "scikit-splearn, one size", f"{min(theirs):.2f}", f"{min(theirs) / ours:.0f} times ours"
        )
    console.print(table)


def all_problems(data: Path) -> None:
    numbers = find_problems(data)
    total = 0.0
    for number in numbers:
        corpus = ss.datasets.load_pautomac(number, data_home=data).train
        started = time.perf_counter()
        ss.SpectralWFA().fit(corpus)
        total += time.perf_counter() - started
    console.print(f"SpectralWFA(n_states='auto') on {len(numbers)} problems: {total:.1f} s")


def scaling(plot: Path | None) -> None:
    """Count and learn from growing corpora drawn from one machine."""
    truth = ss.datasets.make_problem(
        "hmm", n_states=10, n_symbols=20, n_train=10, n_test=5, random_state=0
    ).model
    piece = ss.sample(truth, 60_000, random_state=1)
    rows = []
    for copies in (1, 2, 4, 8, 16):
        corpus = ss.sample(truth, 60_000 * copies, random_state=copies) if copies > 1 else piece
        learner = ss.SpectralWFA(20, basis_size=300, max_length=3)
        spent = best_of(lambda c=corpus, e=learner: e.fit(c), 2)
        counting = best_of(lambda c=corpus: ss.moments.count_ngrams(c, 7), 2)
        tracemalloc.start()
        learner.fit(corpus)
        peak = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
        rows.append((corpus.n_symbols / 1e6, counting, spent, peak))
    table = Table(
        "million symbols", "counting s", "M symbols/s", "fit s", "peak MB", title="Growth"
    )
    for size, counting, spent, peak in rows:
        table.add_row(
            f"{size:.2f}",
            f"{counting:.3f}",
            f"{size / counting:.0f}",
            f"{spent:.3f}",
            f"{peak:.0f}",
        )
    console.print(table)
    if plot is not None:
        draw(np.array(rows), plot)


def draw(rows: np.ndarray, target: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
    left.plot(rows[:, 0], rows[:, 1], "o-", label="counting")
    left.plot(rows[:, 0], rows[:, 2], "s-", label="fit, 20 states")
    left.set(xlabel="million symbols", ylabel="seconds", ylim=(0, None), xlim=(0, None))
    left.legend()
    right.plot(rows[:, 0], rows[:, 3], "o-")
    right.set(xlabel="million symbols", ylabel="peak MB", ylim=(0, None), xlim=(0, None))
    figure.savefig(target, dpi=90)
    console.print(f"plot written to {target}")


def wikipedia(data: Path) -> None:
    """Learn 100 states from 12 million characters, rare characters mapped to one."""
    corpus = ss.datasets.load_wikipedia_text(chunk=500, data_home=data)
    frequency = np.bincount(corpus.symbols, minlength=len(corpus.alphabet))
    kept = sorted(np.argsort(-frequency)[:99])
    letters = ss.Alphabet([corpus.alphabet[code] for code in kept]).with_unk()
    corpus = corpus.recode(letters, unknown="unk")
    cut = len(corpus) - 500
    train, test = corpus[:cut], corpus[cut:]
    started = time.perf_counter()
    learner = ss.SpectralWFA(100, basis_size=2000).fit(train)
    spent = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    perplexity = ss.metrics.perplexity_per_symbol(learner.model_, test)
    console.print(
        f"wikipedia-text: {train.n_symbols:,} characters, {len(letters)} symbols, basis 2,000, "
        f"100 states: {spent:.1f} s, peak memory of the process {peak:.2f} GB, perplexity of a "
        f"held-out character {perplexity:.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("SIGMASTAR_DATA"))
    parser.add_argument("--splearn-python", help="a Python that has scikit-splearn")
    parser.add_argument("--plot", type=Path, help="where to draw time and memory against size")
    parser.add_argument("--wikipedia", action="store_true", help="only the 12 million characters")
    arguments = parser.parse_args()
    data = Path(arguments.data) if arguments.data else None
    if arguments.wikipedia:
        if data is None:
            sys.exit("--wikipedia needs --data or $SIGMASTAR_DATA")
        wikipedia(data)
        return
    if data is not None:
        problem_six(data, arguments.splearn_python)
        all_problems(data)
    scaling(arguments.plot)


if __name__ == "__main__":
    main()
