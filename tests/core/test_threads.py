"""Rows on threads: all of them, once, and with a fork in between."""

import threading
import time

import numpy as np
import pytest

from fresh import in_fresh_process, mapped
from sigmastar.core.threads import available_threads, in_order, over_rows, step_aside


@pytest.mark.parametrize("n_rows", [0, 1, 63, 64, 1000])
@pytest.mark.parametrize("threads", [1, 2, 7])
def test_every_row_is_done_once(n_rows, threads):
    done = np.zeros(n_rows, int)

    def work(first, last):
        done[first:last] += 1

    over_rows(work, n_rows, threads=threads)
    assert (done == 1).all()


def test_a_failure_in_a_thread_is_heard():
    def work(first, last):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        over_rows(work, 1000, threads=2)


def test_what_is_under_way_ends_before_a_failure_is_heard():
    under_way = []

    def work(item):
        if item == 0:
            while not under_way:
                time.sleep(0.01)
            raise ZeroDivisionError
        under_way.append(item)
        time.sleep(0.3)
        under_way.clear()

    with pytest.raises(ZeroDivisionError):
        list(in_order(work, range(2), 2))
    assert not under_way


def test_who_steps_aside_lets_others_work():
    others = threading.Event()

    def work(item):
        if item == 0:
            step_aside()
            assert others.wait(60)
        others.set()
        return item

    assert list(in_order(work, range(3), 1, aside=1)) == [0, 1, 2]


@pytest.mark.parametrize("aside", [0, 2])
def test_no_more_than_the_threads_work_at_a_time(aside):
    working, most = [], []

    def work(item):
        working.append(item)
        most.append(len(working))
        time.sleep(0.01)
        working.remove(item)
        if item % 2:
            step_aside()

    list(in_order(work, range(20), 2, aside=aside))
    assert max(most) <= 2


def test_the_number_of_threads_may_be_given(monkeypatch):
    monkeypatch.setenv("SIGMASTAR_THREADS", "3")
    assert available_threads() == 3
    monkeypatch.setenv("SIGMASTAR_THREADS", "none")
    assert available_threads() >= 1


def _sum_of_squares(n):
    values = np.zeros(n)

    def work(first, last):
        values[first:last] = np.arange(first, last) ** 2

    over_rows(work, n, threads=2)
    return values.sum()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_it_works_after_a_fork():
    before = _sum_of_squares(1000)
    after = in_fresh_process(mapped, "fork", _sum_of_squares, [1000, 1000])
    assert after == [before, before]
