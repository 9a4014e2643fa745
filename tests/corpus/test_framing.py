from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sigmastar.corpus.framing import frame


@given(
    st.lists(st.lists(st.integers(0, 4), max_size=5), max_size=6),
    st.lists(st.integers(5, 9), max_size=3),
    st.lists(st.integers(5, 9), max_size=3),
)
def test_every_sequence_stands_between_its_marks(sequences, before, after):
    symbols = np.array([code for s in sequences for code in s], dtype=np.int32)
    offsets = np.cumsum([0] + [len(s) for s in sequences])
    framed, bounds = frame(symbols, offsets, before=before, after=after)
    expected = [[*before, *s, *after] for s in sequences]
    found = [framed[a:b].tolist() for a, b in pairwise(bounds)]
    assert found == expected
