"""Seconds per step of Baum–Welch: ours, hmmlearn's and Treba's, side by side.

    python benchmarks/em.py --data DIR [--treba PATH] [--states 10,20,40,80] [--problems 6,14,39]
    python benchmarks/em.py --sparse

Every tool runs the same number of steps on the same strings, one after the other.
The table also gives our rate in GFLOP/s (three products of 2 n² for every node of the prefix trees)
beside what one thread of this machine's BLAS reaches on products of the same width, and peak memory
of the arrays that hold forward and adjoint vectors.

``--sparse`` needs no data: on generated machines of few arcs, steps along lists of arcs beside
steps by products of matrices, in one run, with the way that is chosen.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np

import sigmastar as ss
from sigmastar.automata.inference import arc_lists
from sigmastar.automata.inference.expected_counts import Forest
from sigmastar.automata.learn.blocks.em_family import PFAFamily
from sigmastar.core.blas import one_blas_thread
from sigmastar.datasets import load_pautomac, make_pfa
from timing import best_of


def gemm_rate(n: int, rows: int = 1000) -> float:
    """GFLOP/s of one thread on (rows × n)(n × n)."""
    rng = np.random.default_rng(0)
    a, b, out = rng.random((rows, n)), rng.random((n, n)), np.empty((rows, n))
    repeats = max(int(2e8 / (2 * rows * n * n)), 1)

    def run() -> None:
        for _ in range(repeats):
            np.dot(a, b, out=out)

    with one_blas_thread():
        return repeats * 2 * rows * n * n / best_of(run, 5) / 1e9


def ours(corpus: ss.Corpus, n: int, jobs: int) -> tuple[float, Forest]:
    family = PFAFamily()
    parameters = family.random(np.random.default_rng(0), n, len(corpus.alphabet))
    forest = Forest(corpus, n_states=n)

    def step() -> None:
        family.maximize(forest.expected_counts(*family.expand(parameters), n_jobs=jobs), parameters)

    step()
    return best_of(step, 5), forest


def hmmlearn_step(corpus: ss.Corpus, n: int) -> float:
    from hmmlearn.hmm import CategoricalHMM

    lengths = corpus.lengths[corpus.lengths > 0]
    flat = corpus.symbols.reshape(-1, 1)

    def run(steps: int) -> float:
        model = CategoricalHMM(
            n, n_iter=steps, tol=-np.inf, implementation="scaling", random_state=0
        )
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(flat, lengths)
        return time.perf_counter() - began

    return run(2) - run(1)


def treba_step(treba: str, corpus: ss.Corpus, n: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        observations = Path(folder) / "train.obs"
        lines = (" ".join(map(str, corpus.codes(i).tolist())) for i in range(len(corpus)))
        observations.write_text("\n".join(lines) + "\n")

        def run(steps: int) -> float:
            command = [treba, "--train=bw", f"--initialize={n}", f"--max-iter={steps}"]
            began = time.perf_counter()
            subprocess.run(
                [*command, "--max-delta=0", str(observations)], check=True, capture_output=True
            )
            return time.perf_counter() - began

        return run(2) - run(1)


def lists_and_products() -> None:
    """Compare both ways of a step on machines from deterministic to dense."""
    print("machine                   nodes  arcs  products      list  ratio  chosen")
    for n, k, arcs_a_symbol in [(73, 6, 1), (47, 20, 1), (64, 21, 2), (56, 23, 3), (30, 8, 3)]:
        model = make_pfa(
            n, k, symbol_sparsity=0.6, transition_sparsity=1 - arcs_a_symbol / n, random_state=0
        )
        forest = Forest(ss.sample(model, 20_000, random_state=0), n_states=64)
        weights = model.initial, model.transitions, model.final
        chosen = "list" if forest._listed(*weights[:2]) is not None else "products"
        seconds = {}
        for way, visit in (("products", 10**12), ("list", 1e-9)):
            arc_lists.VISIT, usual = visit, arc_lists.VISIT
            seconds[way] = best_of(
                partial(forest.expected_counts, *weights, n_jobs=1),
                5,
                warm_up=True,
                clock=time.process_time,
            )
            arc_lists.VISIT = usual
        ratio = seconds["products"] / seconds["list"]
        title = f"{n} states, {k} symbols"
        print(
            f"{title:22s} {forest.n_nodes:8d} {np.count_nonzero(model.transitions):5d}"
            f" {seconds['products']:8.4f}s {seconds['list']:8.4f}s {ratio:5.1f}x  {chosen}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", default=None, help="directory with the PAutomaC files")
    parser.add_argument("--treba", default=None, help="path of the treba program")
    parser.add_argument("--states", default="10,20,40,80")
    parser.add_argument("--problems", default="6,14,39")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--sparse", action="store_true", help="lists of arcs against products")
    options = parser.parse_args()
    if options.sparse:
        lists_and_products()
        return
    print(
        "problem states  ours, 1 thread, threads   GF/s  of GEMM memory hmmlearn ratio  Treba ratio"
    )
    for problem in map(int, options.problems.split(",")):
        corpus = load_pautomac(problem, data_home=options.data).train
        for n in map(int, options.states.split(",")):
            one, forest = ours(corpus, n, 1)
            several, _ = ours(corpus, n, options.jobs)
            rate = 6 * n * n * forest.n_nodes / one / 1e9
            share = rate / gemm_rate(n)
            whole = 2 * 8 * n * forest.n_nodes  # forward and adjoint vectors of every node
            space = next(iter(forest._spare.values()))[0]
            held = sum(a.nbytes for a in (space.alpha, space.scale, *space.buffers))
            theirs = hmmlearn_step(corpus, n)
            line = f"{problem:7d} {n:6d} {one:12.4f} s {several:6.4f} s {rate:6.1f} {share:7.0%}"
            line += f" {held * options.jobs / whole:7.2f} {theirs:7.2f} s {theirs / several:5.0f}x"
            if options.treba:
                slow = treba_step(options.treba, corpus, n)
                line += f" {slow:6.2f} s {slow / several:5.0f}x"
            print(line, flush=True)
    print(
        "memory: arrays of all threads, as a share of one forward and one adjoint vector per node"
    )


if __name__ == "__main__":
    main()
