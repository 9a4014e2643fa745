"""Scoring strings: ours and hmmlearn's, side by side; long and many strings.

python benchmarks/scoring.py --data DIR
"""

from __future__ import annotations

import argparse
import tracemalloc

import numpy as np

import sigmastar as ss
from sigmastar.datasets import load_pautomac
from timing import best_of


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", default=None, help="directory with the PAutomaC files")
    options = parser.parse_args()
    from hmmlearn.hmm import CategoricalHMM

    corpus = load_pautomac(6, data_home=options.data).train
    rng = np.random.default_rng(0)
    n, k = 20, len(corpus.alphabet)
    emission = rng.dirichlet(np.ones(k + 1), size=n)
    model = ss.HMM(
        rng.dirichlet(np.ones(n)),
        rng.dirichlet(np.ones(n), size=n),
        emission[:, :k],
        emission[:, k],
        corpus.alphabet,
    )
    theirs = CategoricalHMM(n, implementation="scaling")
    theirs.startprob_, theirs.transmat_ = model.initial, model.transition
    theirs.emissionprob_ = emission[:, :k] / emission[:, :k].sum(axis=1, keepdims=True)
    lengths = corpus.lengths[corpus.lengths > 0]
    flat = corpus.symbols.reshape(-1, 1)
    automaton = model.to_pfa()
    ss.log_proba(automaton, corpus)
    one = best_of(lambda: ss.log_proba(automaton, corpus), 7)
    other = best_of(lambda: theirs.score(flat, lengths), 3)
    print(
        f"problem 6, 20 states: ours {one:.4f} s, hmmlearn {other:.4f} s, {other / one:.1f} times"
    )
    for size in (100_000, 1_000_000):
        long = ss.Corpus(rng.integers(0, k, size).astype(np.int32), [0, size], corpus.alphabet)
        print(
            f"one string of {size:,}: {best_of(lambda x=long: ss.log_proba(automaton, x), 3):.3f} s"
        )
    short = ss.sample(automaton, 1_000_000, random_state=0)
    tracemalloc.start()
    seconds = best_of(lambda: ss.log_proba(automaton, short), 1)
    peak = tracemalloc.get_traced_memory()[1]
    print(f"10^6 strings ({short.n_symbols:,} symbols): {seconds:.2f} s, peak {peak >> 20} MiB")


if __name__ == "__main__":
    main()
