"""Loops by hand do what NumPy does."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sigmastar.core.loops import copy_values, make_heap, sift_down

values = st.lists(st.integers(-5, 5), min_size=1, max_size=40)


@given(values)
def test_a_heap_gives_the_smallest_first(numbers):
    heap = np.array(numbers)
    make_heap(heap, len(heap))
    found = []
    for left in range(len(heap) - 1, -1, -1):
        found.append(int(heap[0]))
        sift_down(heap, left, heap[left])
    assert found == sorted(numbers)


@given(values, st.integers(1, 40))
def test_a_heap_keeps_the_largest(numbers, width):
    width = min(width, len(numbers))
    heap = np.array(numbers[:width])
    make_heap(heap, width)
    for number in numbers[width:]:
        if number > heap[0]:
            sift_down(heap, width, number)
    assert sorted(heap.tolist()) == sorted(numbers)[-width:]


def test_values_are_copied_to_the_front():
    target = np.full(4, 9.0)
    copy_values(np.array([1.0, 2.0]), target)
    assert target.tolist() == [1.0, 2.0, 9.0, 9.0]
