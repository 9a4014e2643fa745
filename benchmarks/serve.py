"""The service under load, by wrk (Debian: apt install wrk): requests a second, p50 and p99.

Starts ``sigmastar serve`` on a free port with a tagger of English, an automaton and a
transliterator made from the data of the demonstration, then asks each at 1, 8 and 64 connections.
Memory is that of the service.

    python benchmarks/serve.py --seconds 60 --only "tag, 20 words"
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import sigmastar as ss

SENTENCE = (
    "the quick brown fox jumps over the lazy dog and then it runs home to see what is there ."
)
ASKED = {
    "tag, 20 words": ("en:tag", {"inputs": [SENTENCE]}),
    "next symbol": ("logs:predict", {"inputs": [["0", "1", "2"]], "k": 5}),
    "transliterate": ("names:transduce", {"inputs": ["alexander"], "k": 1}),
}


def write_models(folder):
    """Learn the three models."""
    ss.HMMTagger().fit(ss.datasets.load_demo_english().train).save(folder / "en.sigma")
    problem = ss.datasets.make_problem("pfa", n_states=8, n_symbols=5, random_state=7)
    ss.SpectralWFA().fit(problem.train).save(folder / "logs.sigma")
    ss.Transliterator().fit(ss.datasets.load_demo_names().train).save(folder / "names.sigma")


def memory(process):
    """Return the resident memory of a process, in MB."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) // 1024


def main():
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--seconds", type=int, default=10)
    options.add_argument("--only", choices=ASKED, help="one of the questions")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_models(folder)
        models = [str(path) for path in sorted(folder.glob("*.sigma"))]
        command = [sys.executable, "-m", "sigmastar", "serve", *models, "--port", "0"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            address = process.stderr.readline().split(" at ")[1].split()[0]
            print(
                f"{'':16}{'connections':>12}{'requests/s':>12}{'p50':>10}{'p99':>10}{'bad':>6}{'MB':>6}"
            )
            for title in [given.only] if given.only else ASKED:
                path, request = ASKED[title]
                body = json.dumps(json.dumps(request))
                script = folder / "ask.lua"
                script.write_text(
                    f'wrk.method = "POST"\nwrk.body = {body}\n'
                    'wrk.headers["Content-Type"] = "application/json"\n'
                )
                for connections in (1, 8, 64):
                    wrk = ["wrk", "--latency", "-t1", f"-c{connections}", f"-d{given.seconds}s"]
                    wrk += ["-s", str(script), f"{address}/v1/models/{path}"]
                    text = subprocess.run(wrk, capture_output=True, text=True, check=True).stdout
                    rate = re.search(r"Requests/sec:\s+(\S+)", text)[1]
                    half, most = (re.search(rf"^ +{q}%\s+(\S+)$", text, re.M)[1] for q in (50, 99))
                    told = re.findall(r"(?:Non-2xx or 3xx responses|Socket errors):(.*)", text)
                    bad = sum(int(number) for line in told for number in re.findall(r"\d+", line))
                    row = f"{title:16}{connections:12}{rate:>12}{half:>10}{most:>10}"
                    print(f"{row}{bad:>6}{memory(process):6}", flush=True)
            process.terminate()


if __name__ == "__main__":
    main()
