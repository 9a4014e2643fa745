"""Every array of every kind of model file has facts: what a kernel sees has been proved."""

import sys
from pathlib import Path

from sigmastar.core import facts
from sigmastar.core.model_files import read_stored
from sigmastar.core.stored_model import MODEL_KINDS
from sigmastar.loading import known_kinds

sys.path.insert(0, str(Path(__file__).parents[1] / "tools" / "fuzz"))

from seeds import seed_files

OLD = sorted((Path(__file__).parent / "data").glob("*/*.sigma"))


def model_files():
    young, failures = seed_files(young=True)
    assert not failures
    return [path for path in OLD + young if read_stored(path).kind in known_kinds()]


def unproved(stored, monkeypatch):
    """Load a model and name the arrays of its file that no fact has looked at."""
    seen = set()
    check = facts.Fact.check

    def recorded(self, name, value, sizes):
        seen.add(id(value))
        return check(self, name, value, sizes)

    with monkeypatch.context() as patch:
        patch.setattr(facts.Fact, "check", recorded)
        MODEL_KINDS[stored.kind].from_stored(stored)
    return {name for name, array in stored.arrays.items() if id(array) not in seen}


def test_every_array_of_every_kind_is_proved(monkeypatch):
    kinds, found = set(), {}
    for path in model_files():
        stored = read_stored(path)
        kinds.add(stored.kind)
        if missing := unproved(stored, monkeypatch):
            found.setdefault(stored.kind, set()).update(missing)
    assert kinds == set(known_kinds())
    assert not found


def test_an_array_without_facts_is_noticed(monkeypatch):
    stored = read_stored(next(path for path in OLD if read_stored(path).kind == "PFA"))
    stored.arrays["more"] = stored.arrays["final"].copy()
    assert unproved(stored, monkeypatch) == {"more"}
