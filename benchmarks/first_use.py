"""How long a newcomer waits: six examples and four commands, with an empty cache and a full one.

Each example runs in a process of its own, first with an empty cache of compiled code (cold), then
again (warm); the least of a few warm runs counts. ``--before SRC`` measures the ``src`` of another
checkout in turns with this one, so that both see the same machine.

    python benchmarks/first_use.py
    python benchmarks/first_use.py --before ../old/src
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EXAMPLES = {
    "README, twelve lines": """
import sigmastar as ss
logs = ["open read close"] * 80 + ["open write close"] * 60 + ["open close"] * 40
logs += ["open read read close"] * 20
est = ss.BaumWelchPFA(n_states=5, n_restarts=5, random_state=0)
est.fit([line.split() for line in logs])
est.predict_next([["open", "read"]], k=2)
est.log_proba([["open", "close"], ["close", "open"]])
est.save("logs.sigma")
ss.likeliest_strings(ss.load("logs.sigma"), 3)
""",
    "SpectralWFA": """
import sigmastar as ss
est = ss.SpectralWFA(n_states=2).fit(["ab", "abab", "ab", "ababab"] * 20)
est.predict_next(["aba"], k=1)
""",
    "… of 2,000 strings": """
import sigmastar as ss
problem = ss.datasets.make_problem("pfa", n_states=8, n_symbols=5, n_train=2000, random_state=7)
est = ss.SpectralWFA().fit(problem.train)
ss.metrics.pautomac_perplexity(est, problem.test, problem.solution)
est.save("m.sigma")
""",
    "tagger": """
import sigmastar as ss
splits = ss.datasets.load_demo_english()
hmm = ss.HMMTagger().fit(splits.train)
ss.FSTTagger.from_hmm(hmm, "lazy").predict([["the", "dog", "barks"]])
hmm.save("t.sigma")
""",
    "Transliterator": """
import sigmastar as ss
splits = ss.datasets.load_demo_names()
ss.Transliterator().fit(splits.train[:200]).predict(["anna"])
""",
    "… of 400 pairs, with networks": """
import sigmastar as ss
splits = ss.datasets.load_demo_names()
ss.Transliterator().fit(splits.train[:400]).predict(["anna"])
""",
}
# What to run, and what to give it on standard input; commands use the models saved above.
RUNS = {
    **{title: (["-c", code], "") for title, code in EXAMPLES.items()},
    "sigmastar predict": (["-m", "sigmastar", "predict", "m.sigma", "-"], "0 1\n"),
    "sigmastar score": (["-m", "sigmastar", "score", "m.sigma", "-"], "0 1\n"),
    "sigmastar tagger tag": (["-m", "sigmastar", "tagger", "tag", "t.sigma"], "the dog\n"),
    "import sigmastar": (["-c", "import sigmastar"], ""),
}


def seconds(source, folder, cache, arguments, given):
    """Return how long a process takes; infinity for what this version cannot do."""
    environment = {**os.environ, "PYTHONPATH": str(source), "NUMBA_CACHE_DIR": str(cache)}
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        input=given,
        text=True,
        check=False,
        capture_output=True,
    )
    took = time.perf_counter() - began
    return float("inf") if done.returncode else took


def main():
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--before", type=Path, help="src of another checkout")
    options.add_argument("--runs", type=int, default=3, help="warm runs, of which the best counts")
    given = options.parse_args()
    sources = {"here": Path(__file__).parents[1] / "src"}
    if given.before is not None:
        sources = {"before": given.before.resolve(), **sources}
    with tempfile.TemporaryDirectory() as place:
        print(f"{'':24}" + "".join(f"{name + ' cold':>14}{name + ' warm':>14}" for name in sources))
        for number, (title, (arguments, text)) in enumerate(RUNS.items()):
            row = ""
            for name, source in sources.items():
                folder = Path(place) / name
                folder.mkdir(exist_ok=True)
                cache = folder / f"cache-{number}"
                times = [
                    seconds(source, folder, cache, arguments, text) for _ in range(1 + given.runs)
                ]
                row += f"{times[0]:14.2f}{min(times[1:]):14.2f}"
            print(f"{title:24}{row}", flush=True)


if __name__ == "__main__":
    main()
