"""What a service has done, as text for Prometheus."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter

__all__ = ["Counters"]

_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Counters:
    """Requests by what was asked and how it ended, how long they took, and how many are here."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, int]] = Counter()
        self._within: Counter[tuple[str, int]] = Counter()  # by the least bound not exceeded
        self._seconds: Counter[str] = Counter()
        self._inputs: Counter[str] = Counter()
        self.in_flight = 0

    @property
    def answered(self) -> int:
        """How many requests were answered, well or not."""
        with self._lock:
            return self._requests.total()

    def note(self, asked: str, status: int, seconds: float) -> None:
        """Count one request."""
        with self._lock:
            self._requests[asked, status] += 1
            self._seconds[asked] += seconds  # type: ignore[assignment]
            self._within[asked, bisect_left(_BOUNDS, seconds)] += 1

    def note_inputs(self, asked: str, number: int) -> None:
        """Count inputs that were answered."""
        with self._lock:
            self._inputs[asked] += number

    def text(self, models: int, reloads: int, failures: int, remembered: int = 0) -> str:
        """Write all figures; those of models, and of bytes that they remember, are given."""
        with self._lock:
            requests, within = dict(self._requests), dict(self._within)
            seconds, inputs = dict(self._seconds), dict(self._inputs)
        lines = _head("requests_total", "counter", "Requests by operation and status.")
        lines += [
            f'sigmastar_requests_total{{operation="{asked}",status="{status}"}} {count}'
            for (asked, status), count in sorted(requests.items())
        ]
        lines += _head("request_seconds", "histogram", "How long requests took.")
        for asked in sorted(seconds):
            total = sum(count for (name, _), count in requests.items() if name == asked)
            label = f'operation="{asked}"'
            count = 0
            for place, bound in enumerate(_BOUNDS):
                count += within.get((asked, place), 0)
                lines.append(f'sigmastar_request_seconds_bucket{{{label},le="{bound:g}"}} {count}')
            lines.append(f'sigmastar_request_seconds_bucket{{{label},le="+Inf"}} {total}')
            lines.append(f"sigmastar_request_seconds_sum{{{label}}} {seconds[asked]:.6f}")
            lines.append(f"sigmastar_request_seconds_count{{{label}}} {total}")
        lines += _head("inputs_total", "counter", "Inputs answered, by operation.")
        lines += [
            f'sigmastar_inputs_total{{operation="{asked}"}} {count}'
            for asked, count in sorted(inputs.items())
        ]
        for name, kind, words, value in (
            ("in_flight", "gauge", "Requests being worked on or waiting.", self.in_flight),
            ("models", "gauge", "Models that answer.", models),
            ("reloads_total", "counter", "Models loaded again after a change.", reloads),
            ("reload_failures_total", "counter", "Changed files that were refused.", failures),
            ("remembered_bytes", "gauge", "What models remember of words, about.", remembered),
        ):
            lines += [*_head(name, kind, words), f"sigmastar_{name} {value}"]
        return "\n".join(lines) + "\n"


def _head(name: str, kind: str, words: str) -> list[str]:
    return [f"# HELP sigmastar_{name} {words}", f"# TYPE sigmastar_{name} {kind}"]
