"""AutoWFA on generated problems that no setting was looked at with, beside another version of it.

Machines are those of ``sigmastar bench generated``: each follows from its number, kinds take turns.
Every search runs in a process of its own; one of the first problem that does not count compiles.
``--before SRC`` lets the ``src`` of another checkout search the same problems, in turns with this
one. ``--output FILE`` keeps a line of JSON for each search; those that are in it are not run again,
so a run that was stopped goes on.

    python benchmarks/unseen.py --problems 50 --first 8000 --before ../0.1.0/src --output FILE

``--versions here floor`` adds what is lost by who was told the machine's structure: the likeliest
parameters of the true machine, arcs of no probability left out, found from the same strings and
from where the truth is. (A few steps of EM from there would not do: they stay close to the truth
wherever strings say little, and lose less than anybody could who does not know it.)

Gaps are perplexities above the truth's; ``used`` is the share of the budget that the search took by
the clock, and ``cores`` the processor's seconds to those of the clock.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import sigmastar as ss
from sigmastar.automata.inference.expected_counts import Forest
from sigmastar.automata.learn.blocks.em_family import HMMFamily, PFAFamily
from sigmastar.automata.learn.blocks.quasi_newton import QuasiNewton
from sigmastar.datasets import make_pautomac
from sigmastar.metrics import pautomac_perplexity

SEARCH = """
import json, sys, time
import numpy as np
import sigmastar as ss

given = np.load(sys.argv[1])
budget = float(sys.argv[2])
alphabet = ss.Alphabet(range(int(given["n_symbols"])))
train, test = (
    ss.Corpus(given[f"{name}_symbols"], given[f"{name}_offsets"], alphabet)
    for name in ("train", "test")
)
search = ss.AutoWFA(time_budget=budget, random_state=0)  # imports what there is to import
used, began = time.process_time(), time.perf_counter()
found = search.fit(train)
seconds, used = time.perf_counter() - began, time.process_time() - used
perplexity = ss.metrics.pautomac_perplexity(found, test, given["solution"])
print(json.dumps({
    "perplexity": perplexity, "seconds": seconds, "processor_seconds": used,
    "states": found.model_.n_states,
}))
"""
VERSIONS = "here", "before", "floor"
SETTLING, SETTLED = 10, 0.5  # steps that gain no more nats than this together end the climb
LEAST = 1e-6  # a gap below this counts as this: a mean of logarithms needs a floor


def search(source, place, budget):
    """Let a version search; return what it tells."""
    environment = {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run(
        [sys.executable, "-c", SEARCH, str(place), str(budget)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def floor(problem):
    """Climb from the true machine to the likeliest; return what it tells there."""
    family = HMMFamily() if isinstance(problem.model, ss.HMM) else PFAFamily()
    began, used = time.perf_counter(), time.process_time()
    parameters = {name: getattr(problem.model, name) for name in family.names}
    run = QuasiNewton(Forest(problem.train), family, n_jobs=None)
    reached = []
    while len(reached) <= SETTLING or reached[-1] - reached[-1 - SETTLING] > SETTLED:
        step = run.step(parameters)
        parameters = step.parameters
        reached.append(step.objective * len(problem.train))
    model = family.model(parameters, problem.train.alphabet)
    return {
        "perplexity": pautomac_perplexity(model, problem.test, problem.solution),
        "seconds": time.perf_counter() - began,
        "processor_seconds": time.process_time() - used,
        "states": problem.model.n_states,
    }


def drawn(number, place):
    """Draw a problem, also into a file; return it, and what is known of its machine."""
    kind = ("hmm", "pfa", "dpfa")[number % 3]
    problem = make_pautomac(kind, random_state=number)
    np.savez(
        place,
        n_symbols=problem.model.n_symbols,
        train_symbols=problem.train.symbols,
        train_offsets=problem.train.offsets,
        test_symbols=problem.test.symbols,
        test_offsets=problem.test.offsets,
        solution=problem.solution,
    )
    return problem, {
        "problem": number,
        "kind": kind,
        "true_states": problem.model.n_states,
        "symbols": problem.model.n_symbols,
        "strings": len(problem.train),
        "truth": pautomac_perplexity(problem.model, problem.test, problem.solution),
    }


def summary(rows, budget):
    """Say how near the truth a version is over all problems."""
    gaps = np.array([max(row["perplexity"] - row["truth"], LEAST) for row in rows])
    shares = 100 * gaps / [row["truth"] for row in rows]
    near = (
        f"{len(rows)} problems, geometric mean of gaps {np.exp(np.log(gaps).mean()):.4f}, "
        f"{(shares <= 1).sum()} within 1 %, worst {shares.max():.2f} %"
    )
    if rows[0]["version"] == "floor":
        return near
    used = np.array([row["seconds"] for row in rows]) / budget
    cores = [row["processor_seconds"] / row["seconds"] for row in rows]
    return (
        f"{near}; used {100 * used.min():.1f} to {100 * used.max():.1f} %, "
        f"{np.mean(cores):.2f} cores"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=50)
    parser.add_argument("--first", type=int, default=8000)
    parser.add_argument("--budget", type=float, default=60.0, help="seconds")
    parser.add_argument("--before", type=Path, help="src of another checkout")
    parser.add_argument("--versions", nargs="+", default=["here", "before"], choices=VERSIONS)
    parser.add_argument("--output", type=Path, help="lines of JSON, read and added to")
    options = parser.parse_args()
    ours = Path(__file__).parents[1] / "src"
    before = options.before and options.before.resolve()
    sources = dict(zip(VERSIONS, (ours, before, "floor"), strict=True))
    sources = {n: sources[n] for n in options.versions if sources[n] is not None}
    rows = []
    if options.output is not None and options.output.exists():
        rows = [json.loads(line) for line in options.output.read_text().splitlines()]
    compiled: set[str] = set()
    known = {(row["problem"], row["version"]) for row in rows}
    print("problem kind states symbols strings version       gap      %  found seconds")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "problem.npz"
        for number in range(options.first, options.first + options.problems):
            left = [name for name in sources if (number, name) not in known]
            if not left:
                continue
            problem, machine = drawn(number, place)
            for name in left:
                if name == "floor":
                    told = floor(problem)
                else:
                    if name not in compiled:
                        search(sources[name], place, options.budget / 2)
                        compiled.add(name)
                    told = search(sources[name], place, options.budget)
                row = machine | {"version": name} | told
                rows.append(row)
                gap = row["perplexity"] - row["truth"]
                print(
                    f"{number:7d} {row['kind']:4} {row['true_states']:6d} {row['symbols']:7d} "
                    f"{row['strings']:7d} {name:7} {gap:9.4f} {100 * gap / row['truth']:6.2f} "
                    f"{row['states']:6d} {row['seconds']:7.1f}",
                    flush=True,
                )
                if options.output is not None:
                    with open(options.output, "a") as file:
                        file.write(json.dumps(row) + "\n")
    for name in sources:
        for kind in ("hmm", "pfa", "dpfa", ""):
            own = [r for r in rows if r["version"] == name and r["kind"].startswith(kind)]
            if own:
                print(f"{name}, {kind or 'all'}: {summary(own, options.budget)}")


if __name__ == "__main__":
    main()
