"""Time the parts of learning transducers: alignment, LearnFST, one EM iteration, decoding.

Usage: python benchmarks/transducers.py [--data DIR]   (else $SIGMASTAR_DATA)
       python benchmarks/transducers.py --against PYTHON

Prints wall-clock and processor seconds; on a busy machine the latter are what to compare.

With ``--against``, another version of the package (that of the given interpreter) and this one take
turns at training and applying transliterators on the embedded names; the least processor seconds of
each, and their ratios, are printed.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

SIZES = ((1, 0), (1, 1), (1, 2))
ROUNDS = 3
# Runs in both versions, hence public names alone.
ON_NAMES = """
import json, time
from sigmastar import Transliterator
from sigmastar.datasets import load_demo_names

def seconds(work, times):
    work()  # compile, and warm the caches
    spent = []
    for _ in range(times):
        begin = time.process_time()
        work()
        spent.append(time.process_time() - begin)
    return min(spent)

names = load_demo_names()
found = {}
for method, times in (("joint-ngram", 5), ("em", 5), ("learnfst", 5), ("combined", 2)):
    found[f"train {method}"] = seconds(lambda: Transliterator(method).fit(names.train), times)
    learner = Transliterator(method).fit(names.train)
    found[f"apply {method}"] = seconds(lambda: learner.predict(names.test.source), 10)
print(json.dumps(found))
"""


def compare(other):
    """Print the least times of two versions, measured in turns, and their ratios."""
    best = [{}, {}]
    for _ in range(ROUNDS):
        for side, python in enumerate((other, sys.executable)):
            done = subprocess.run([python, "-c", ON_NAMES], capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"{python} failed:\n{done.stderr}")
            for name, spent in json.loads(done.stdout).items():
                best[side][name] = min(spent, best[side].get(name, spent))
    print(f"{'embedded names':<24} {'before':>10} {'after':>10} {'after/before':>13}")
    for name, before in best[0].items():
        after = best[1][name]
        print(f"{name:<24} {before:>8.4f} s {after:>8.4f} s {after / before:>13.2f}")


def timed(name, work, per=1):
    work()  # compile, and warm the caches
    wall, processor = time.perf_counter(), time.process_time()
    work()
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    print(f"{name:<44} {wall / per:10.4g} s {processor / per:10.4g} s processor", flush=True)


def measure(data):
    from sigmastar import Transliterator
    from sigmastar.datasets import load_transliteration
    from sigmastar.transducers.transliteration.alignment import align_pairs
    from sigmastar.transducers.transliteration.chunk_learning import learn_chunk_transducer

    splits = load_transliteration("en-ru", data_home=data)
    train, test = splits.train, splits.test
    timed("align 5,977 pairs", lambda: align_pairs(train, SIZES))
    for m in (1, 2, 3):
        timed(
            f"LearnFST, m = {m}, alignment included",
            lambda m=m: learn_chunk_transducer(train, SIZES, n_states=m),
        )
    for m in (2, 3, 10):
        # The difference of 21 and 1 iterations is that of 20: alignment cancels.
        spent = []
        for iterations in (1, 21):
            learn_chunk_transducer(train, SIZES, learner="em", n_states=m, max_iter=iterations)
            begin = time.process_time()
            learned = learn_chunk_transducer(
                train, SIZES, learner="em", n_states=m, max_iter=iterations
            )
            spent.append((time.process_time() - begin, len(learned.info["log_likelihood"])))
        (short, few), (long, many) = spent
        print(
            f"{f'one EM iteration, m = {m}':<44} {(long - short) / (many - few):10.4g} s processor"
        )
    for method in ("joint-ngram", "combined"):
        timed(f"train {method}", lambda m=method: Transliterator(m).fit(train, dev=splits.dev))
        learner = Transliterator(method).fit(train, dev=splits.dev)
        timed(f"decode one word, {method}", lambda e=learner: e.predict(test.source), len(test))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=None)
    parser.add_argument("--against", metavar="PYTHON", help="interpreter of another version")
    options = parser.parse_args()
    if options.against:
        compare(options.against)
    else:
        measure(options.data)


if __name__ == "__main__":
    main()
