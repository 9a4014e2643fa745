"""One thread for BLAS, whoever asks for it."""

import threading

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from sigmastar.core import blas
from sigmastar.core.blas import one_blas_thread


def threads_of_blas():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def in_thread(work):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


@pytest.fixture
def usual():
    """Let BLAS have two threads where there is one core as well, else no limit would show."""
    with one_blas_thread():
        pass  # loads all there is to limit
    with threadpool_limits(2, user_api="blas"):
        with one_blas_thread():  # this thread is the first to set a limit
            assert threads_of_blas() == {1}
        found = threads_of_blas()  # a library that other tests have loaded may know one only
        assert 2 in found
        yield found
        blas._take_control()  # what a test's thread took from this one, which lifts the limit


def test_every_thread_can_set_the_limit_and_lift_it(usual):
    found = []

    def work():
        with one_blas_thread():
            found.append(threads_of_blas())
        found.append(threads_of_blas())

    in_thread(work)
    assert found == [{1}, usual]


def test_the_last_to_leave_lifts_the_limit(usual):
    entered, left = threading.Event(), threading.Event()

    def work():
        with one_blas_thread():
            entered.set()
            left.wait(60)

    thread = threading.Thread(target=work)
    with one_blas_thread():
        thread.start()
        assert entered.wait(60)
    assert threads_of_blas() == {1}
    left.set()
    thread.join()
    assert threads_of_blas() == usual
