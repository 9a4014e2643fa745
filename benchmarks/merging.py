"""How often MergedPFA finds a deterministic machine, beside AALpy's Alergia if that is installed.

Machines are drawn as PAutomaC's were: 5 to 75 states, 4 to 23 symbols, strings of 5 to 20 symbols
on average. A structure is found if the learned one is isomorphic to it, over all arcs that the
sample holds so many times. The last columns are the mean log-probability of fresh strings that is
lost against the truth, in nats a string, and seconds.

    python benchmarks/merging.py --problems 24 --first 1000
"""

from __future__ import annotations

import argparse
import time
from importlib.util import find_spec

import numpy as np

import sigmastar as ss
from sigmastar.metrics import same_structure

SEEN = (1, 3, 10)  # times that an arc must have been taken to be compared


def problem(seed: int, n_strings: int) -> tuple[ss.PFA, ss.Corpus, ss.Corpus]:
    """Draw a machine, strings to learn from and fresh ones."""
    rng = np.random.default_rng([77, seed])
    truth = ss.datasets.make_dpfa(
        int(rng.integers(5, 76)),
        int(rng.integers(4, 24)),
        symbol_sparsity=float(rng.uniform(0.2, 0.8)),
        mean_length=float(rng.uniform(5, 20)),
        stop_sparsity=0.3,
        random_state=seed,
    )
    return (
        truth,
        ss.sample(truth, n_strings, random_state=seed),
        ss.sample(truth, 2000, random_state=seed + 1),
    )


def alergia(corpus: ss.Corpus) -> tuple[int, float]:
    """Learn with AALpy; return states and seconds."""
    from aalpy.learning_algs import run_Alergia

    # Its Markov chains begin with a label and have no ends: both become symbols.
    data = [["start", *map(str, sequence), "end"] for sequence in corpus]
    began = time.perf_counter()
    model = run_Alergia(data, automaton_type="mc", eps=0.05, print_info=False)
    return len(model.states), time.perf_counter() - began


def main() -> None:
    """Print a row for each problem."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=24)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--strings", type=int, default=20_000)
    parser.add_argument("--test", default="chi2")
    parser.add_argument("--plain", action="store_true", help="without refinement")
    options = parser.parse_args()
    rival = find_spec("aalpy") is not None
    hits = np.zeros(len(SEEN), dtype=int)
    print(
        "seed states symbols | learned  all  >=3 >=10      lost   seconds"
        + (" | Alergia states seconds" if rival else "")
    )
    for seed in range(options.first, options.first + options.problems):
        truth, train, fresh = problem(seed, options.strings)
        began = time.perf_counter()
        learned = ss.MergedPFA(options.test, refine=not options.plain).fit(train).model_
        seconds = time.perf_counter() - began
        same = [same_structure(truth, learned, train, seen=seen) for seen in SEEN]
        hits += same
        lost = float(np.mean(ss.log_proba(truth, fresh) - ss.log_proba(learned, fresh)))
        row = f"{seed:4d} {truth.n_states:6d} {truth.n_symbols:7d} | {learned.n_states:7d}  "
        row += "  ".join("yes" if hit else " no" for hit in same) + f"  {lost:9.4f} {seconds:7.2f}"
        if rival:
            row += " | {:14d} {:7.2f}".format(*alergia(train))
        print(row, flush=True)
    print(f"found of {options.problems}: all arcs {hits[0]}, thrice {hits[1]}, ten times {hits[2]}")


if __name__ == "__main__":
    main()
