"""Names of classes as symbols of a transducer: the set of tags, numbered if not alone."""

from __future__ import annotations

import itertools

from sigmastar.tagging.model import TagModel

__all__ = ["class_names"]


def class_names(model: TagModel) -> list[str]:
    """Name each class: ``[NN,VB]``, and ``[NN,VB]#2`` for the second class of the same tags."""
    names: list[str] = []
    seen: dict[str, int] = {}
    offsets, candidates = model.offsets.tolist(), model.candidates.tolist()
    for first, last in itertools.pairwise(offsets):
        name = f"[{','.join(model.tags[tag] for tag in candidates[first:last])}]"
        seen[name] = seen.get(name, 0) + 1
        names.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return names
