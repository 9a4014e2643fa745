"""Time EM and Viterbi of HMMs over measurements against hmmlearn and, if installed, dynamax.

Run: python benchmarks/measurements.py [--frames N] [--states 4 16 64] [--peak GFLOPS]
     [--dynamax-python PYTHON] [--covariance diag full] [--json FILE]

One step of EM from the same start, best of a few; hmmlearn in both of its implementations. The work
counted is what any exact step must do, as multiply-adds of the chain (forward, backward, expected
moves), of the densities and of the statistics, for Viterbi additions and maxima; ``--peak`` is what
one core does in a product of 1024 by 1024 matrices (measured first if it is not given). Memory is
what a step takes beside the frames, at its peak (Linux only). With ``--hmmlearn-frames`` hmmlearn
gets the first of the frames, and its time and memory are scaled up.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import subprocess
import sys
import time

import numpy as np

import sigmastar as ss
from sigmastar.core.blas import one_blas_thread
from sigmastar.core.threads import available_threads
from sigmastar.sensors.hmm.data import as_measurements
from sigmastar.sensors.hmm.emissions import Gaussian
from sigmastar.sensors.hmm.inference.decode import decode
from sigmastar.sensors.hmm.inference.smooth import expect
from sigmastar.sensors.hmm.learn.em import Problem
from sigmastar.sensors.hmm.structure import chain_rules

DIMENSIONS = 8


def problem(n_frames, n_states, covariance, seed=0):
    """Return frames of a sticky chain and a start beside the truth."""
    rng = np.random.default_rng(seed)
    moves = 0.9 * np.eye(n_states) + 0.1 * rng.dirichlet(np.ones(n_states), n_states)
    means = rng.normal(size=(n_states, DIMENSIONS)) * 2.0
    matrices = np.tile(np.eye(DIMENSIONS), (n_states, 1, 1))
    shape = {
        "diag": np.ones((n_states, DIMENSIONS)),
        "full": matrices,
    }
    made = ss.GaussianHMM.from_parameters(
        np.full(n_states, 1 / n_states), moves, means, shape[covariance], covariance=covariance
    )
    X, _ = made.sample(n_frames, seed)
    start = ss.GaussianHMM.from_parameters(
        made.startprob_,
        moves,
        means + 0.3 * rng.normal(size=means.shape),
        shape[covariance] * 1.5,
        covariance=covariance,
    )
    return X, start.model_


def best_of(work, repeats):
    """Return the least time of some runs, in seconds."""
    taken = []
    for _ in range(repeats):
        begun = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begun)
    return min(taken)


def taken_memory(work):
    """Return the megabytes that some work takes at its peak, beside what is there before."""

    def status(field):
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith(field)) / 1024

    if not os.path.exists("/proc/self/clear_refs"):
        return float("nan")
    ctypes.CDLL(None).malloc_trim(0)  # what was freed before is not there
    before = status("VmRSS")
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    work()
    return status("VmHWM") - before


def multiply_adds(n_frames, n_states, covariance):
    """Return the multiply-adds of one step: chain, densities, statistics."""
    d = DIMENSIONS
    chain = 3 * n_states**2
    density = 2 * d * n_states if covariance == "diag" else d * d * n_states
    statistics = 2 * d * n_states if covariance == "diag" else (d + d * (d + 1) // 2) * n_states
    return n_frames * (chain + density + statistics)


def core_peak():
    """Return the GFLOP/s of one core in a large matrix product."""
    a = np.random.default_rng(0).normal(size=(1024, 1024))
    with one_blas_thread():
        return 2 * 1024**3 / best_of(lambda: a @ a, 5) / 1e9


def ours(X, lengths, start, covariance):
    """Return seconds of a step of EM and of Viterbi, and the memory of the step."""
    data = as_measurements(X, lengths)
    family = Gaussian(covariance, variance_floor=0.0).prepared(X)
    work = Problem(data, family, chain_rules(start.n_states))

    def step():
        work.maximised(start, expect(start, data))

    step()  # compiles
    memory = taken_memory(step)
    return best_of(step, 5), best_of(lambda: decode(start, data), 5), memory


def hmmlearn(X, lengths, start, implementation):
    """Return the same of hmmlearn."""
    made = ss.to_hmmlearn(start)
    made.set_params(n_iter=1, init_params="", implementation=implementation)
    memory = taken_memory(lambda: made.fit(X, lengths))
    step = best_of(lambda: made.fit(X, lengths), 1)
    made = ss.to_hmmlearn(start).set_params(implementation=implementation)
    return step, best_of(lambda: made.decode(X, lengths), 2), memory


DYNAMAX = """
import sys, time, json
import numpy as np
import jax
jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp
from dynamax.hidden_markov_model import GaussianHMM, DiagonalGaussianHMM
arrays = np.load(sys.argv[1])
X, n = arrays["X"], len(arrays["means"])
cls = GaussianHMM if arrays["covariances"].ndim == 3 else DiagonalGaussianHMM
hmm = cls(n, X.shape[-1])
key = dict(initial_probs=arrays["initial"], transition_matrix=arrays["moves"],
           emission_means=arrays["means"])
key["emission_covariances" if cls is GaussianHMM else "emission_scale_diags"] = (
    arrays["covariances"] if cls is GaussianHMM else np.sqrt(arrays["covariances"]))
params, props = hmm.initialize(jax.random.PRNGKey(0), **{k: jnp.asarray(v) for k, v in key.items()})
batch = jnp.asarray(X)
estep = jax.jit(jax.vmap(lambda x: hmm.e_step(params, x)))
viterbi = jax.jit(jax.vmap(lambda x: hmm.most_likely_states(params, x)))
out = []
for work in (estep, viterbi):
    jax.block_until_ready(work(batch))
    best = 1e9
    for _ in range(2):
        begun = time.perf_counter()
        jax.block_until_ready(work(batch))
        best = min(best, time.perf_counter() - begun)
    out.append(best)
print(json.dumps(out))
"""


def dynamax(python, X, lengths, start):
    """Return seconds of an E-step and of Viterbi of dynamax in its own environment."""
    emission = start.emission
    covariances = getattr(emission, "variances", None)
    path = "/tmp/sigmastar_dynamax.npz"
    np.savez(
        path,
        X=X.reshape(len(lengths), -1, X.shape[1]),
        initial=start.initial,
        moves=start.transitions,
        means=emission.means,
        covariances=emission.covariances if covariances is None else covariances,
    )
    command = [python, "-c", DYNAMAX, path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    os.unlink(path)
    if done.returncode:
        print("dynamax failed:", done.stderr.strip().splitlines()[-1], file=sys.stderr)
        return None
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=1_000_000)
    parser.add_argument("--states", type=int, nargs="+", default=[4, 16, 64])
    parser.add_argument("--covariance", nargs="+", default=["diag"], choices=["diag", "full"])
    parser.add_argument("--shapes", nargs="+", default=["one", "many"], choices=["one", "many"])
    parser.add_argument("--hmmlearn-frames", type=int, help="fewer frames for hmmlearn")
    parser.add_argument("--skip-hmmlearn", action="store_true")
    parser.add_argument("--dynamax-python")
    parser.add_argument("--peak", type=float)
    parser.add_argument("--json")
    given = parser.parse_args()
    peak = given.peak or core_peak()
    print(f"{available_threads()} threads; one core: {peak:.1f} GFLOP/s in a product of 1024³")
    rows = []
    for covariance in given.covariance:
        for n_states in given.states:
            X, start = problem(given.frames, n_states, covariance)
            for shape in given.shapes:
                n_sequences = 1 if shape == "one" else 10_000
                lengths = np.full(n_sequences, given.frames // n_sequences)
                step, path, memory = ours(X, lengths, start, covariance)
                rate = 2 * multiply_adds(given.frames, n_states, covariance) / step / 1e9
                row = {
                    "covariance": covariance,
                    "states": n_states,
                    "sequences": n_sequences,
                    "step": step,
                    "viterbi": path,
                    "gflops": rate,
                    "share": rate / (peak * available_threads()),
                    "viterbi_gflops": 2 * given.frames * n_states**2 / path / 1e9,
                    "memory_mb": memory,
                }
                if not given.skip_hmmlearn:
                    part = min(given.hmmlearn_frames or given.frames, given.frames)
                    own = np.full(
                        max(n_sequences * part // given.frames, 1),
                        part // max(n_sequences * part // given.frames, 1),
                    )
                    for name in ("log", "scaling"):
                        try:
                            with one_blas_thread():  # more of them only get in its way
                                seconds, viterbi, memory = hmmlearn(X[:part], own, start, name)
                        except ValueError as error:
                            print("hmmlearn", name, error)
                            continue
                        row[f"hmmlearn_{name}"] = seconds * given.frames / part
                        row[f"hmmlearn_{name}_memory_mb"] = memory * given.frames / part
                        viterbi *= given.frames / part
                        row["hmmlearn_viterbi"] = min(row.get("hmmlearn_viterbi", viterbi), viterbi)
                if given.dynamax_python:
                    found = dynamax(given.dynamax_python, X, lengths, start)
                    if found:
                        row["dynamax_estep"], row["dynamax_viterbi"] = found
                rows.append(row)
                shown = {k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()}
                print(shown, flush=True)
    if given.json:
        with open(given.json, "w") as file:
            json.dump({"peak": peak, "threads": available_threads(), "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
