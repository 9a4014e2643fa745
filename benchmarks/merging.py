"""How often MergedPFA finds a deterministic machine, beside AALpy's Alergia if that is installed.

Machines are drawn as PAutomaC's were: 5 to 75 states, 4 to 23 symbols, strings of 5 to 20 symbols
on average. A structure is found if the learned one is isomorphic to it, over all arcs that the
sample holds so many times. ``lost`` is the mean log-probability of fresh strings that is lost
against the truth, in nats a string; perplexities are those of PAutomaC, on fresh strings.

    python benchmarks/merging.py --problems 24 --first 1000
"""

from __future__ import annotations

import argparse
import time
from importlib.util import find_spec

import numpy as np

import sigmastar as ss
from sigmastar.metrics import pautomac_perplexity, same_structure

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


def alergia(corpus: ss.Corpus) -> tuple[ss.PFA, float]:
    """Learn with AALpy; return its machine and seconds."""
    from aalpy.learning_algs import run_Alergia

    # Its Markov chains begin with a label and have no ends: both become symbols.
    symbols = {str(symbol): code for code, symbol in enumerate(corpus.alphabet)}
    data = [["start", *map(str, sequence), "end"] for sequence in corpus]
    began = time.perf_counter()
    chain = run_Alergia(data, automaton_type="mc", eps=0.05, print_info=False)
    seconds = time.perf_counter() - began
    places = {id(state): place for place, state in enumerate(chain.states)}
    n_states = len(places)
    transitions = np.zeros((len(corpus.alphabet), n_states, n_states))
    final = np.zeros(n_states)
    for state in chain.states:
        for following, probability in state.transitions:
            own = places[id(state)]
            if following.output == "end":
                final[own] += probability
            else:
                to = places[id(following)]
                transitions[symbols[following.output], own, to] += probability
    initial = np.zeros(n_states)
    initial[places[id(chain.initial_state)]] = 1.0
    return ss.PFA.normalized(initial, transitions, final, corpus.alphabet), seconds


def perplexity(model: ss.PFA, truth: ss.PFA, fresh: ss.Corpus) -> float:
    """Return the perplexity of PAutomaC on the distinct strings among fresh ones."""
    distinct = ss.Corpus.from_sequences(sorted(set(map(tuple, fresh))), alphabet=fresh.alphabet)
    return pautomac_perplexity(model, distinct, np.exp(ss.log_proba(truth, distinct)))


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
        "seed states symbols  perplexity | learned  all  >=3 >=10      lost perplexity seconds"
        + (" | Alergia states perplexity seconds" if rival else "")
    )
    above: dict[str, list[float]] = {"MergedPFA": [], "Alergia": []}
    took = dict.fromkeys(above, 0.0)
    for seed in range(options.first, options.first + options.problems):
        truth, train, fresh = problem(seed, options.strings)
        began = time.perf_counter()
        learned = ss.MergedPFA(options.test, refine=not options.plain).fit(train).model_
        seconds = time.perf_counter() - began
        same = [same_structure(truth, learned, train, seen=seen) for seen in SEEN]
        hits += same
        lost = float(np.mean(ss.log_proba(truth, fresh) - ss.log_proba(learned, fresh)))
        least, own = (perplexity(model, truth, fresh) for model in (truth, learned))
        above["MergedPFA"].append(own / least - 1)
        took["MergedPFA"] += seconds
        row = f"{seed:4d} {truth.n_states:6d} {truth.n_symbols:7d} {least:11.3f} | "
        row += f"{learned.n_states:7d}  " + "  ".join("yes" if hit else " no" for hit in same)
        row += f"  {lost:8.4f} {own:10.3f} {seconds:7.2f}"
        if rival:
            other, seconds = alergia(train)
            theirs = perplexity(other, truth, fresh)
            above["Alergia"].append(theirs / least - 1)
            took["Alergia"] += seconds
            row += f" | {other.n_states:14d} {theirs:10.3f} {seconds:7.2f}"
        print(row, flush=True)
    for name, shares in above.items():
        if shares:
            print(
                f"{name}: perplexity {100 * np.mean(shares):.2f} % above the truth's on average, "
                f"{100 * np.max(shares):.2f} % at most; {took[name]:.1f} s in all"
            )
    print(f"found of {options.problems}: all arcs {hits[0]}, thrice {hits[1]}, ten times {hits[2]}")


if __name__ == "__main__":
    main()
