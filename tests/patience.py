"""Wait for something to be so, however busy the machine is."""

import time


def until(condition, seconds=120):
    """Return when a condition holds; fail if it does not for very long."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)
