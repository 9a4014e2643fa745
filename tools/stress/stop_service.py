"""Stop a service under load, again and again: no request that it has accepted may be lost.

Run ``python tools/stress/stop_service.py --stops 30``. Clients ask without a pause, each over a
connection of its own that it keeps for a while. At a random moment the service gets SIGTERM. From
then on connections are refused, and those that were idle are closed, perhaps with a request on its
way that nobody has read: a client sends it again elsewhere. But every request that the application
has begun to read is answered whole. So the application counts what it has begun and what it has
answered, the clients what they got, and all three must be the same.
"""

from __future__ import annotations

import checkout  # isort: skip  # noqa: F401

import argparse
import http.client
import json
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import sigmastar as ss

__all__ = ["main"]


def main() -> int:
    """Run the tool; return its exit code."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--stops", type=int, default=30)
    options.add_argument("--clients", type=int, default=12)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--serve", nargs="+", type=Path, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.serve:
        return _serve(given.serve)
    rng = random.Random(given.seed)
    total, problems = Counter[str](), 0
    with tempfile.TemporaryDirectory() as folder:
        models = _write_models(Path(folder))
        for stop in range(given.stops):
            told, wrong = _one_stop(models, rng, given.clients)
            total += told
            problems += bool(wrong)
            for words in wrong:
                print(f"stop {stop}: {words}", flush=True)
    print(f"{given.stops} stops, {problems} with problems: {dict(sorted(total.items()))}")
    return 1 if problems else 0


def _write_models(folder: Path) -> list[str]:
    arcs = [[[0.3, 0.2], [0.1, 0.1]], [[0.1, 0.3], [0.4, 0.1]]]
    ss.PFA([1.0, 0.0], arcs, [0.1, 0.3], ss.Alphabet("ab")).save(folder / "letters.sigma")
    pairs = ss.PairCorpus.from_pairs([("anna", "ANNA"), ("nan", "NAN"), ("an", "AN")] * 8)
    ss.Transliterator("joint-ngram", order=2).fit(pairs).save(folder / "names.sigma")
    return [str(folder / "letters.sigma"), str(folder / "names.sigma")]


def _serve(paths: list[Path]) -> int:
    """Serve models, counting requests that the application has begun, and answered whole."""
    from sigmastar.serve import app as module
    from sigmastar.serve.limits import Limits
    from sigmastar.serve.run import serve, warm_up
    from sigmastar.serve.store import ModelStore

    counted = Counter[str]()
    make = module.create_app

    def counting(*arguments: Any, **options: Any) -> Any:
        inner = make(*arguments, **options)

        async def app(scope: Any, receive: Any, send: Any) -> None:
            is_request = scope["type"] == "http"
            counted["begun"] += is_request

            async def sent(message: Any) -> None:
                await send(message)
                last = message["type"] == "http.response.body" and not message.get("more_body")
                counted["answered"] += is_request and last

            await inner(scope, receive, sent)

        return app

    module.create_app = counting  # type: ignore[assignment]
    store = ModelStore(paths)
    for served in store:
        warm_up(served, Limits())
    serve(store, port=0, ready=lambda address: print(address, flush=True))
    print(json.dumps(counted), flush=True)
    return 0


def _asked(rng: random.Random) -> tuple[str, dict[str, Any]]:
    """Return a request: quick, slow, or large."""
    return rng.choice(
        [
            ("letters:score", {"inputs": ["ab"]}),
            ("letters:score", {"inputs": ["ab" * 3000] * 100}),
            ("names:transduce", {"inputs": ["anan" * rng.randint(1, 6)], "k": 3}),
            ("letters:sample", {"n": 50, "seed": 1}),
        ]
    )


class _Client(threading.Thread):
    """Asks without a pause until the service is gone."""

    def __init__(self, port: int, seed: float) -> None:
        super().__init__()
        self.told = Counter[str]()
        self._port, self._rng = port, random.Random(seed)

    def run(self) -> None:
        connection = None
        while True:
            try:
                if connection is None or self._rng.random() < 0.2:
                    connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
                    connection.connect()
            except OSError:
                return
            path, asked = _asked(self._rng)
            response = None
            try:
                headers = {"Content-Type": "application/json"}
                connection.request("POST", f"/v1/models/{path}", json.dumps(asked), headers)
                response = connection.getresponse()
                body = json.loads(response.read())
                self.told["got"] += 1
                if not body.get("outputs"):
                    self.told[f"status {response.status}"] += 1
            except (OSError, http.client.HTTPException, ValueError):
                self.told["never begun" if response is None else "cut off"] += 1
                connection = None


def _one_stop(
    models: list[str], rng: random.Random, n_clients: int
) -> tuple[Counter[str], list[str]]:
    """Start a service, load it, stop it; return what was counted, and what is wrong with it."""
    command = [sys.executable, __file__, "--serve", *models]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline().rpartition(":")[2])
        clients = [_Client(port, rng.random()) for _ in range(n_clients)]
        for client in clients:
            client.start()
        time.sleep(rng.uniform(0.2, 1.2))
        process.send_signal(signal.SIGTERM)
        for client in clients:
            client.join()
        counted = json.loads(process.stdout.readline() or "{}")
        code = process.wait(60)
    told = sum((client.told for client in clients), Counter[str]())
    wrong = [] if code == 0 else [f"exit code {code}"]
    if not counted.get("begun") == counted.get("answered") == told["got"]:
        wrong.append(f"begun and answered {counted}, but clients got {told['got']}")
    wrong += [f"{n} answers with {what}" for what, n in told.items() if what.startswith("status")]
    if told["cut off"]:
        wrong.append(f"{told['cut off']} answers cut off")
    return told, wrong


if __name__ == "__main__":
    sys.exit(main())
