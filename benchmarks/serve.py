"""The service under load, by wrk (Debian: apt install wrk): requests a second, p50 and p99.

Starts ``sigmastar serve`` on a free port with a tagger of English, an automaton and a
transliterator made from the data of the demonstration, then asks each at 1, 8 and 64 connections,
fifty different inputs in turn. Memory is that of the service, before and after each run.
``--before SRC`` measures the ``src`` of another checkout in turn with this one, ``--models FOLDER``
keeps the models for the next time.

    python benchmarks/serve.py --seconds 60 --only "tag, 20 words"
    python benchmarks/serve.py --before ../old/src
"""

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import sigmastar as ss

OURS = Path(ss.__file__).parents[1]
N_INPUTS = 50
QUESTIONS = {
    "tag, 20 words": "en:tag",
    "next symbol": "logs:predict",
    "transliterate": "names:transduce",
}


def write_models(folder):
    """Learn the three models, unless they are there already."""
    if not (folder / "en.sigma").exists():
        ss.HMMTagger().fit(ss.datasets.load_demo_english().train).save(folder / "en.sigma")
    if not (folder / "logs.sigma").exists():
        problem = ss.datasets.make_problem("pfa", n_states=8, n_symbols=5, random_state=7)
        ss.SpectralWFA().fit(problem.train).save(folder / "logs.sigma")
    if not (folder / "names.sigma").exists():
        ss.Transliterator().fit(ss.datasets.load_demo_names().train).save(folder / "names.sigma")


def requests():
    """Return fifty requests for each question."""
    words = [str(word) for text in ss.datasets.load_demo_english().test.source for word in text]
    sentences = [words[20 * i : 20 * i + 20] for i in range(N_INPUTS)]
    problem = ss.datasets.make_problem("pfa", n_states=8, n_symbols=5, random_state=7)
    prefixes = [[str(s) for s in text[:3]] for text in list(problem.test)[:N_INPUTS]]
    names = ["".join(name) for name in list(ss.datasets.load_demo_names().test.source)[:N_INPUTS]]
    return {
        "tag, 20 words": [{"inputs": [" ".join(sentence)]} for sentence in sentences],
        "next symbol": [{"inputs": [prefix], "k": 5} for prefix in prefixes],
        "transliterate": [{"inputs": [name], "k": 1} for name in names],
    }


def write_script(path, asked):
    """Write what wrk is to ask, one request after the other."""
    bodies = ",\n".join(json.dumps(json.dumps(request)) for request in asked)
    path.write_text(
        f"local bodies = {{\n{bodies}\n}}\nlocal turn = 0\n"
        'wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/json"\n'
        "function request()\n  turn = turn % #bodies + 1\n"
        "  return wrk.format(nil, nil, nil, bodies[turn])\nend\n"
    )


@contextlib.contextmanager
def service(source, models):
    """Run the service of a checkout; give its address and its process."""
    command = [sys.executable, "-m", "sigmastar", "serve", *map(str, models), "--port", "0"]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        try:
            line = next(line for line in process.stderr if " at http" in line)
            yield line.split(" at ")[1].split()[0], process
        finally:
            process.terminate()


def memory(process):
    """Return the resident memory of a process, in MB."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) // 1024


def measure(title, who, address, process, script, connections, seconds):
    """Let wrk ask, and print a row."""
    before = memory(process)
    wrk = ["wrk", "--latency", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s"]
    wrk += ["-s", str(script), f"{address}/v1/models/{QUESTIONS[title]}"]
    text = subprocess.run(wrk, capture_output=True, text=True, check=True).stdout
    rate = re.search(r"Requests/sec:\s+(\S+)", text)[1]
    half, most = (re.search(rf"^ +{q}%\s+(\S+)$", text, re.M)[1] for q in (50, 99))
    told = re.findall(r"(?:Non-2xx or 3xx responses|Socket errors):(.*)", text)
    bad = sum(int(number) for line in told for number in re.findall(r"\d+", line))
    row = f"{title:14}{who:8}{connections:12}{rate:>12}{half:>10}{most:>10}{bad:>6}"
    print(f"{row}{before:8} → {memory(process)}", flush=True)


def main():
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--seconds", type=int, default=10)
    options.add_argument("--only", choices=QUESTIONS, help="one of the questions")
    options.add_argument("--connections", type=int, nargs="+", default=[1, 8, 64])
    options.add_argument("--before", type=Path, help="src of another checkout")
    options.add_argument("--models", type=Path, help="where models are kept")
    given = options.parse_args()
    sources = {"now": OURS}
    if given.before is not None:
        sources = {"before": given.before.resolve(), **sources}
    with tempfile.TemporaryDirectory() as place, contextlib.ExitStack() as stack:
        folder = given.models or Path(place)
        write_models(folder)
        models = [folder / f"{name}.sigma" for name in ("en", "logs", "names")]
        running = {
            who: stack.enter_context(service(source, models)) for who, source in sources.items()
        }
        print(
            f"{'':22}{'connections':>12}{'requests/s':>12}{'p50':>10}{'p99':>10}{'bad':>6}{'MB':>12}"
        )
        for title, asked in requests().items():
            if given.only not in (None, title):
                continue
            script = Path(place) / "ask.lua"
            write_script(script, asked)
            for connections in given.connections:
                for who, (address, process) in running.items():
                    measure(title, who, address, process, script, connections, given.seconds)


if __name__ == "__main__":
    main()
