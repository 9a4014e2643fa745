"""Settings shared by all tests."""

import signal
from importlib.util import find_spec
from pathlib import Path

import hypothesis
import numba
import pytest

# The same examples on every run, without deadlines: compiling a kernel may fall into any of them.
hypothesis.settings.register_profile("sigmastar", deadline=None, derandomize=True, max_examples=40)
hypothesis.settings.load_profile("sigmastar")

# Pynini has wheels for Linux only; elsewhere the bridge to it cannot be tested.
collect_ignore = [] if find_spec("pynini") else ["automata/test_openfst.py"]

# Kernels as plain Python (NUMBA_DISABLE_JIT=1) are too slow for examples and benches of the size
# that people run, and for searches against the clock. What else takes longer than this many seconds
# there is cut off and counts as skipped: its kernels have been entered by then.
PLAIN_SECONDS = 10
SLOW_FILES = ["*/automata/test_auto.py", "*/bench/test_*.py", "*/test_docs.py"]
collect_ignore_glob = SLOW_FILES if numba.config.DISABLE_JIT else []


def pytest_collection_modifyitems(config, items):
    """Leave out single tests that would take minutes with kernels as plain Python."""
    if not numba.config.DISABLE_JIT:
        return
    slow = [item for item in items if item.get_closest_marker("compiled")]
    config.hook.pytest_deselected(items=slow)
    items[:] = [item for item in items if item not in slow]


def _cut_off(signum, frame):
    if "coverage" in Path(frame.f_code.co_filename).parts:  # holds a lock: in a moment, then
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        return
    pytest.skip(f"takes more than {PLAIN_SECONDS} seconds with kernels as plain Python")


@pytest.hookimpl(wrapper=True)
def _patiently(item):
    """Run a step of a test, for so long at most when kernels are plain Python."""
    if not numba.config.DISABLE_JIT:
        return (yield)
    before = signal.signal(signal.SIGALRM, _cut_off)
    signal.setitimer(signal.ITIMER_REAL, PLAIN_SECONDS)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


pytest_runtest_setup = pytest_runtest_call = _patiently


@pytest.fixture(autouse=True)
def folder_of_its_own(tmp_path, monkeypatch):
    """Run every test in an empty folder, so that what it writes is never left in the checkout."""
    monkeypatch.chdir(tmp_path)
