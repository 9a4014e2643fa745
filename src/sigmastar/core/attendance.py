"""Look after a cluster while it is worked on: are there workers, and will there be any.

Dask replaces a worker that dies, unless its replacement dies while it starts: that place stays
empty, and when all places are, work waits for ever without a word. A cluster that was started from
here is filled again; one that stays without any worker is given up, with a reason.
"""

from __future__ import annotations

import logging
import threading
import time
import weakref
from typing import Any

__all__ = ["Attendance"]

_log = logging.getLogger(__name__)

LOOK = 2.0  # seconds between two looks
REFILL = 20.0  # seconds with fewer workers than there are places for
GIVE_UP = 600.0  # seconds without any worker


class Attendance(threading.Thread):
    """Counts the workers of a client's cluster until the client or who asked for it is gone.

    Attributes
    ----------
    lost : bool
        Whether the work was given up for want of workers.
    """

    def __init__(self, client: Any, owner: object) -> None:
        super().__init__(name="sigmastar-attendance", daemon=True)
        self.lost = False
        self._client = weakref.ref(client)
        self._stopped = threading.Event()
        weakref.finalize(owner, self._stopped.set)

    def stop(self) -> None:
        """Look no more."""
        self._stopped.set()

    def run(self) -> None:
        """Look again and again."""
        from distributed import Future

        full = some = time.monotonic()
        while not self._stopped.wait(LOOK):
            client = self._client()
            if client is None or client.status in ("closed", "closing"):
                return
            try:
                present = len(client.scheduler_info(n_workers=-1)["workers"])
            except (OSError, RuntimeError, TimeoutError):  # the scheduler is gone: others tell
                continue
            now = time.monotonic()
            places = len(getattr(client.cluster, "worker_spec", ()))
            full = now if present >= places else full
            some = now if present or not _pending(client) else some
            if now - full > REFILL:
                _log.warning("%d of %d workers are left; starting others", present, places)
                client.cluster.scale(places)
                full = now
            if now - some > GIVE_UP:
                self.lost = True
                client.cancel([Future(k, client=client) for k in _pending(client)], force=True)
                some = now


def _pending(client: Any) -> list[str]:
    """Return the keys of what this package has asked the cluster for and not yet got."""
    states = list(client.futures.items())
    return [k for k, s in states if str(k).startswith("sigmastar-") and s.status == "pending"]
