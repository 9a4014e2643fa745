"""Freed memory: who looks for it rests, and the system gets it back."""

import gc
import subprocess
import sys
from pathlib import Path

import pytest

from sigmastar.core.garbage import _trim, collector_resting

FREED = """
from pathlib import Path
import numpy as np
from sigmastar.core.garbage import give_back

def pages():
    return int(Path("/proc/self/statm").read_text().split()[1])

held = [np.ones(8000) for _ in range(2000)]
many = pages()
del held[:-1]
before = pages()
give_back()
print(many, before, pages())
"""


def test_the_collector_works_again_unless_it_was_switched_off():
    with collector_resting():
        assert not gc.isenabled()
    assert gc.isenabled()
    gc.disable()
    try:
        with collector_resting():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.skipif(
    _trim() is None or not Path("/proc/self/statm").exists(), reason="needs GNU's C library"
)
def test_what_is_freed_below_what_stays_goes_back_to_the_system():
    done = subprocess.run([sys.executable, "-c", FREED], capture_output=True, check=True)
    many, before, after = map(int, done.stdout.split())
    assert before > 0.9 * many
    assert after < 0.5 * many
