"""Ask a service for everything its OpenAPI file describes, and for much that it does not.

Run ``python tools/stress/bad_requests.py --minutes 10 --schemathesis ../venv/bin/schemathesis``
(schemathesis wants an environment of its own). Models of every kind are served on this machine;
schemathesis makes good and bad requests from the description. Nothing may end in a status of 500
or more or in a crash, and answers have the form that is described. What the memory holds is written
down as it fills (``watched_service.py``) and printed for every minute; once every model has been
asked, in two minutes, it must not grow by more than 3 % any more.
"""

from __future__ import annotations

import checkout  # isort: skip  # noqa: F401

import argparse
import json
import re
import signal
import subprocess
import sys
import tempfile
import threading
import urllib.request
from pathlib import Path

from seeds import seed_files

__all__ = ["main"]

_CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,"
    "response_headers_conformance,response_schema_conformance,unsupported_method,"
    "allow_header_conformance,positive_data_acceptance,negative_data_rejection"
)
# What is well formed may still be refused: symbols that a model does not know (422), more than a
# service takes (413). What is not may be refused for its size first, or for its type (415).
_CONFIG = """[checks]
positive_data_acceptance.expected-statuses = ["2xx", 413, 422]
negative_data_rejection.expected-statuses = [400, 404, 405, 413, 415, 422]
"""


_ROWS_A_MINUTE = 12  # that watched_service.py writes
_WARM_UP = 2 * _ROWS_A_MINUTE  # rows until every model has been asked for something
_WINDOW = _ROWS_A_MINUTE // 2  # rows whose least counts: large requests come and go
_MOST_GROWTH = 0.03


def main() -> int:
    """Run the tool; return its exit code."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--minutes", type=float, default=10.0)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--schemathesis", default="schemathesis", help="its command")
    options.add_argument("--log", type=Path, help="file for what the memory holds over time")
    options.add_argument("--models", type=Path, help="a folder of models to serve instead")
    given = options.parse_args()
    if given.models is None:
        files = [path for path in seed_files()[0] if not path.name.startswith("checkpoint")]
    else:
        files = sorted(given.models.glob("*.sigma"))
    by_name = {path.name.partition(".")[0]: str(path) for path in files}
    log = Path(tempfile.mkdtemp(), "memory.jsonl") if given.log is None else given.log
    watched = [sys.executable, str(Path(__file__).with_name("watched_service.py")), str(log)]
    command = [*watched, "serve", *by_name.values(), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as service:
        assert service.stderr is not None
        told = []
        for line in service.stderr:
            told.append(line)
            if " at http" in line:
                break
        else:
            print("the service did not start:", *told)
            return 1
        threading.Thread(target=service.stderr.read, daemon=True).start()  # a full pipe blocks
        address = line.split(" at ")[1].split()[0]
        before = len(log.read_text().splitlines())
        code = _ask(given, address)
        with urllib.request.urlopen(f"{address}/metrics") as answer:
            counted = answer.read().decode()
        alive = service.poll() is None
        service.send_signal(signal.SIGTERM)
        stopped = service.wait(60)
    by_status: dict[str, int] = {}
    for status, count in re.findall(r'requests_total\{.*status="(\d+)"\} (\d+)', counted):
        by_status[status] = by_status.get(status, 0) + int(count)
    failed = sum(count for status, count in by_status.items() if status >= "500")
    print(f"{len(by_name)} models, answers by status: {dict(sorted(by_status.items()))}")
    grew = _tell_memory(log, before)
    print(
        f"schemathesis {code}, alive {alive}, exit code {stopped}, {failed} answers of 500 and more"
    )
    return int(bool(code or failed or stopped or grew or not alive))


def _ask(given: argparse.Namespace, address: str) -> int:
    """Run schemathesis; return its exit code."""
    command = [given.schemathesis, "run", f"{address}/openapi.json", "--seed", str(given.seed)]
    command += ["--max-time", str(int(60 * given.minutes)), "--checks", _CHECKS, "--no-color"]
    command += ["--continue-on-failure", "--no-shrink", "--phases", "examples,coverage,fuzzing"]
    with tempfile.TemporaryDirectory() as folder:  # it leaves files where it runs
        Path(folder, "schemathesis.toml").write_text(_CONFIG)
        return subprocess.run(command, cwd=folder, env={"PATH": "/usr/bin:/bin"}).returncode


def _tell_memory(log: Path, before: int) -> bool:
    """Print what the memory held every minute, and tell whether it grew after the warm-up.

    The first rows, ``before`` there were requests, are left out.
    """
    rows = [json.loads(line) for line in log.read_text().splitlines()][before:]
    if not rows:
        print("the run was too short to say anything of memory")
        return False
    print("  ".join(f"{name:>13}" for name in rows[0]))
    for row in [*rows[::_ROWS_A_MINUTE], rows[-1]]:
        print("  ".join(f"{value:13,.0f}" for value in row.values()))
    held = [row["rss"] for row in rows[_WARM_UP:]]
    if len(held) < 2 * _WINDOW:
        print("the run was too short to say whether memory grows: three minutes are needed")
        return False
    first, last = min(held[:_WINDOW]), min(held[-_WINDOW:])
    print(f"memory after the warm-up and last: {first:,.0f} MB and {last:,.0f} MB", end=" ")
    print(f"({last / first - 1:+.1%}; at most {_MOST_GROWTH:+.0%})")
    return last > first * (1 + _MOST_GROWTH)


if __name__ == "__main__":
    sys.exit(main())
