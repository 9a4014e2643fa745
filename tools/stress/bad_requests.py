"""Ask a service for everything its OpenAPI file describes, and for much that it does not.

Run ``python tools/stress/bad_requests.py --minutes 10 --schemathesis ../venv/bin/schemathesis``
(schemathesis wants an environment of its own). Models of every kind are served on this machine;
schemathesis makes good and bad requests from the description. Nothing may end in a status of 500
or more or in a crash, answers have the form that is described, and the memory stays what it was
after the first minute, within a fifth.
"""

from __future__ import annotations

import checkout  # isort: skip  # noqa: F401

import argparse
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
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


def main() -> int:
    """Run the tool; return its exit code."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--minutes", type=float, default=10.0)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--schemathesis", default="schemathesis", help="its command")
    options.add_argument("--models", type=Path, help="a folder of models to serve instead")
    given = options.parse_args()
    if given.models is None:
        files = [path for path in seed_files()[0] if not path.name.startswith("checkpoint")]
    else:
        files = sorted(given.models.glob("*.sigma"))
    by_name = {path.name.partition(".")[0]: str(path) for path in files}
    command = [sys.executable, "-m", "sigmastar", "serve", *by_name.values(), "--port", "0"]
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
        code, sizes = _ask(given, address, service.pid)
        with urllib.request.urlopen(f"{address}/metrics") as answer:
            counted = answer.read().decode()
        alive = service.poll() is None
        service.send_signal(signal.SIGTERM)
        stopped = service.wait(60)
    by_status: dict[str, int] = {}
    for status, count in re.findall(r'requests_total\{.*status="(\d+)"\} (\d+)', counted):
        by_status[status] = by_status.get(status, 0) + int(count)
    failed = sum(count for status, count in by_status.items() if status >= "500")
    settled = sizes[min(len(sizes) - 1, 12)]
    grown = max(sizes[12:], default=settled) / settled
    print(f"{len(by_name)} models, answers by status: {dict(sorted(by_status.items()))}")
    print(f"memory {sizes[0]} MB, {settled} after a minute, {max(sizes)} at most, {sizes[-1]} last")
    print(
        f"schemathesis {code}, alive {alive}, exit code {stopped}, {failed} answers of 500 and more"
    )
    return int(bool(code or failed or stopped or not alive or grown > 1.2))


def _ask(given: argparse.Namespace, address: str, pid: int) -> tuple[int, list[int]]:
    """Run schemathesis; return its exit code, and the memory of the service every five seconds."""
    command = [given.schemathesis, "run", f"{address}/openapi.json", "--seed", str(given.seed)]
    command += ["--max-time", str(int(60 * given.minutes)), "--checks", _CHECKS, "--no-color"]
    command += ["--continue-on-failure", "--no-shrink", "--phases", "examples,coverage,fuzzing"]
    sizes = []
    with tempfile.TemporaryDirectory() as folder:  # it leaves files where it runs
        Path(folder, "schemathesis.toml").write_text(_CONFIG)
        with subprocess.Popen(command, cwd=folder, env={"PATH": "/usr/bin:/bin"}) as process:
            while process.poll() is None:
                sizes.append(_memory(pid))
                time.sleep(5)
        return process.returncode, [*sizes, _memory(pid)]


def _memory(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+)", status)
    return 0 if found is None else int(found[1]) // 1024


if __name__ == "__main__":
    sys.exit(main())
