"""Learn over very many symbols: every learner ends in time, within its memory, or refuses in words.

``python tools/stress/large_alphabets.py --memory 4GB`` draws sequences of words as rare as those of
a language (Zipf), and lets each learner learn them in a process of its own. Bounded are the memory
that the process takes (with what Python and its libraries take) and the time; what is refused must
be refused by ``TooLarge`` before it begins. Any failure makes the exit code 1.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

LEARNERS: dict[str, tuple[int, Callable[[Any], Any]]] = {
    "AutoWFA": (6_247, lambda ss: ss.AutoWFA(time_budget=60, random_state=0)),
    "TensorHMM": (98_000, lambda ss: ss.TensorHMM(5)),
    "SeparablePFA": (100_000, lambda ss: ss.SeparablePFA(5)),
    "SpectralWFA": (100_000, lambda ss: ss.SpectralWFA(5)),
    "SpectralWFA, size chosen": (100_000, lambda ss: ss.SpectralWFA()),
    "BaumWelchPFA": (100_000, lambda ss: ss.BaumWelchPFA(5, max_iter=5)),
    "BaumWelchHMM": (100_000, lambda ss: ss.BaumWelchHMM(5, max_iter=5)),
    "KneserNey": (100_000, lambda ss: ss.KneserNey(3)),
}
BASE = 700 << 20  # what Python, its libraries and the corpus take by themselves
PATIENCE = 600  # seconds of the processor


def drawn(n_symbols: int, n_sequences: int):
    """Return sequences in which every symbol occurs at least once, most of them rarely."""
    import numpy as np

    import sigmastar as ss

    rng = np.random.default_rng(0)
    share = 1.0 / np.arange(1, n_symbols + 1)
    lengths = rng.integers(2, 20, n_sequences)
    symbols = rng.choice(n_symbols, int(lengths.sum()), p=share / share.sum())
    symbols[rng.choice(len(symbols), n_symbols, replace=False)] = np.arange(n_symbols)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    alphabet = ss.Alphabet([f"w{i}" for i in range(n_symbols)])
    return ss.Corpus(symbols.astype(np.int32), offsets, alphabet)


def learn_one(name: str, n_sequences: int) -> dict[str, object]:
    """Learn in this process; tell how it ended."""
    import sigmastar as ss
    from sigmastar.core.errors import TooLarge

    n_symbols, make = LEARNERS[name]
    corpus = drawn(n_symbols, n_sequences)
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE))
    before = time.process_time()
    try:
        learner = make(ss)
        learner.fit(corpus)
        ended = f"learned, {getattr(learner.model_, 'n_states', '–')} states"
    except TooLarge as refusal:
        ended = f"refused: {refusal}"
    seconds = time.process_time() - before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    return {"symbols": n_symbols, "ended": ended, "seconds": seconds, "peak": peak}


def main() -> int:
    """Run every learner in turn."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--memory", default="4GB", help="the bound, as in $SIGMASTAR_MAX_MEMORY")
    parser.add_argument("--sequences", type=int, default=60_000)
    parser.add_argument("--only", choices=LEARNERS, help="one learner")
    parser.add_argument("--child", choices=LEARNERS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(learn_one(options.child, options.sequences)))
        return 0
    from sigmastar.core.memory import memory_budget

    bound = BASE + memory_budget(options.memory)
    failures = 0
    for name in [options.only] if options.only else LEARNERS:
        command = [sys.executable, __file__, "--child", name, "--sequences", str(options.sequences)]
        environment = {**os.environ, "SIGMASTAR_MAX_MEMORY": options.memory}
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode:
            print(f"{name}: FAILED, exit code {done.returncode}\n{done.stderr[-2000:]}", flush=True)
            failures += 1
            continue
        found = json.loads(done.stdout.splitlines()[-1])
        fits = found["peak"] <= bound
        failures += not fits
        print(
            f"{name}, {found['symbols']:,} symbols: {found['ended']}; {found['seconds']:.1f} s of "
            "the processor, "
            f"peak {found['peak'] / 1e9:.2f} GB{'' if fits else ' FAILED, above the bound'}",
            flush=True,
        )
    return int(failures > 0)


if __name__ == "__main__":
    raise SystemExit(main())
