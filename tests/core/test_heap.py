"""What was freed goes back to the system, whichever thread had it."""

import ctypes
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="the C library keeps nothing"
)

FREED = """
from pathlib import Path
import numpy as np
from sigmastar.core.heap import trim_heap

def pages():
    return int(Path("/proc/self/statm").read_text().split()[1])

held = [np.ones(8000) for _ in range(2000)]
many = pages()
del held[:-1]
before = pages()
trim_heap()
print(many, before, pages())
"""

THREADS = """
import random, threading
import numpy as np
from sigmastar.core.heap import trim_heap, use_one_arena

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

def work(seed):
    rng = random.Random(seed)
    for _ in range(20):
        kept = [np.ones(rng.randrange(100, 500_000)) for _ in range(10)]

def work_together():
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]

{first}
work(0)
trim_heap()
before = resident()
work_together()
trim_heap()
print((resident() - before) >> 20)
"""


def left_over(first):
    """Return how many megabytes a process keeps of what its threads have freed."""
    script = textwrap.dedent(THREADS).format(first=first)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def test_threads_of_one_arena_leave_nothing_behind():
    assert left_over("assert use_one_arena()") <= 4


def test_pages_between_others_go_back():
    script = """
    import sys
    from sigmastar.core.heap import trim_heap
    blocks = [bytearray(20_000) for _ in range(4000)]
    del blocks[::2]
    with open("/proc/self/statm") as file:
        before = int(file.read().split()[1])
    assert trim_heap()
    with open("/proc/self/statm") as file:
        print((before - int(file.read().split()[1])) * 4096 >> 20)
    """
    script = textwrap.dedent(script)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert int(done.stdout) >= 20, done.stderr  # of 40


def test_what_is_freed_below_what_stays_goes_back_to_the_system():
    done = subprocess.run([sys.executable, "-c", FREED], capture_output=True, check=True)
    many, before, after = map(int, done.stdout.split())
    assert before > 0.9 * many
    assert after < 0.5 * many
