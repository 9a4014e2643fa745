"""Every array of every kind of model file has facts: what a kernel sees has been proved."""

import numpy as np

from questions import OLD, model_files
from sigmastar.core import facts
from sigmastar.core.model_files import read_stored
from sigmastar.core.stored_model import MODEL_KINDS
from sigmastar.loading import known_kinds


def unproved(stored, monkeypatch):
    """Load a model and name the arrays of its file that no fact has looked at."""
    seen = []
    check = facts.Fact.check

    def recorded(self, name, value, sizes):
        seen.append(np.asarray(value))  # kept, so that nothing else takes its place in memory
        return check(self, name, value, sizes)

    with monkeypatch.context() as patch:
        patch.setattr(facts.Fact, "check", recorded)
        MODEL_KINDS[stored.kind].from_stored(stored)
    return {
        name
        for name, array in stored.arrays.items()
        if array.size and not any(_is_part(part, array) for part in seen)
    }


def _is_part(part, array):
    """Tell whether an array is (part of) another; a part of nothing begins where that begins."""
    return np.may_share_memory(array, part) or part.ctypes.data == array.ctypes.data


def test_every_array_of_every_kind_is_proved(monkeypatch):
    files = model_files()
    assert files.keys() == known_kinds().keys()
    found = {kind: set() for kind in files}
    for kind, paths in files.items():
        for path in paths:
            found[kind] |= unproved(read_stored(path), monkeypatch)
    assert found == {kind: set() for kind in files}


def test_an_array_without_facts_is_noticed(monkeypatch):
    stored = read_stored(OLD / "v010" / "pfa-separable.sigma")
    stored.arrays["more"] = stored.arrays["final"].copy()
    assert unproved(stored, monkeypatch) == {"more"}
