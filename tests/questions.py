"""Answers of models of every kind, for tests that ask them elsewhere: on threads, in processes."""

import pickle
import random
import warnings
from pathlib import Path

from equal import same
from seeds import seed_files
from ways import WAYS

import sigmastar as ss
from sigmastar.core.model_files import read_stored

__all__ = ["OLD", "WAYS", "answers", "model_files", "same", "unpickled_answers"]

OLD = Path(__file__).parent / "data"
# What writes files, or takes long.
LEFT_OUT = ("write_model", "save", "report", "to_openfst", "from_hmm", "with_", "tag_file")


def model_files():
    """Give a file of every kind of model: of old versions, and made now where those lack it."""
    young, failures = seed_files(young=True)
    assert not failures
    found = {}
    for path in [*sorted(OLD.glob("*/*.sigma")), *young]:
        found.setdefault(read_stored(path).kind, []).append(path)
    return {kind: paths for kind, paths in found.items() if kind in WAYS}


def answers(model):
    """Ask a model (or the one in a file) everything that can be asked; give the answers."""
    if isinstance(model, (str, Path)):
        model = ss.load(model)
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for call, ask in WAYS[model.kind](model, Path("model.sigma"), random.Random(1)):
            if not call.startswith(LEFT_OUT):
                try:
                    found.append((call, ask()))
                except ss.errors.SigmastarError as error:
                    found.append((call, str(error)))
    return found


def unpickled_answers(pickled):
    """Ask a pickled model; what it answers is pickled too."""
    return pickle.dumps(answers(pickle.loads(pickled)))
