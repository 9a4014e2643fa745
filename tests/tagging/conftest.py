"""Machines that grow make every arc at once here: it is they that are compared with Viterbi."""

import pytest

from sigmastar.tagging.fst.composed import ComposedTransducer
from sigmastar.tagging.fst.lazy import LazyTransducer


@pytest.fixture(autouse=True)
def arcs_at_first_sight(request, monkeypatch):
    if request.node.get_closest_marker("patient"):
        return
    for machine in (LazyTransducer, ComposedTransducer):
        monkeypatch.setattr(
            machine,
            "run_aligned",
            lambda self, codes, starts: self._run(codes, starts, at_once=True),
        )
