"""Time the parts of learning transducers: alignment, LearnFST, one EM iteration, decoding.

Usage: python benchmarks/transducers.py [--data DIR]   (else $SIGMASTAR_DATA)

Prints wall-clock and processor seconds; on a busy machine the latter are what to compare.
"""

import argparse
import time
from pathlib import Path

from sigmastar import Transliterator
from sigmastar.datasets import load_transliteration
from sigmastar.transducers.transliteration.alignment import align_pairs
from sigmastar.transducers.transliteration.chunk_transducer import learn_chunk_transducer

SIZES = ((1, 0), (1, 1), (1, 2))


def timed(name, work, per=1):
    work()  # compile, and warm the caches
    wall, processor = time.perf_counter(), time.process_time()
    work()
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    print(f"{name:<44} {wall / per:10.4g} s {processor / per:10.4g} s processor", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=None)
    splits = load_transliteration("en-ru", data_home=parser.parse_args().data)
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


if __name__ == "__main__":
    main()
