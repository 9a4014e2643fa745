"""Count the imports of the four wings and of n-grams, and how many of them leave their folder.

An import is one importing module and one imported module, whatever is taken from it and however
often. Far apart are modules of two top-level folders of the package; farther, of two wings.

Usage: python tools/import_map.py   (needs import-linter, whose graph of imports this reads)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

import grimp

__all__ = ["WINGS", "Import", "crossings", "imports", "main"]

WINGS = ("automata", "transducers", "tagging", "sensors")


class Import(NamedTuple):
    """Who imports whom: the parts of both modules' names below the package."""

    importer: tuple[str, ...]
    imported: tuple[str, ...]

    def crosses(self, depth: int) -> bool:
        """Tell whether the two modules lie in different folders, looking so many levels deep."""
        return self.importer[:-1][:depth] != self.imported[:-1][:depth]

    @property
    def crosses_wings(self) -> bool:
        """Whether one wing reaches into another."""
        return self.crosses(1) and self.importer[0] in WINGS and self.imported[0] in WINGS


def imports(folders: Iterable[str] = (*WINGS, "ngrams")) -> list[Import]:
    """Return the imports among the modules of some top-level folders."""
    graph = grimp.build_graph("sigmastar", cache_dir=None)
    inside = set(folders)
    packages = {name for name in graph.modules if graph.find_children(name)}

    def parts(name: str) -> tuple[str, ...]:
        # A package is a file of its own folder.
        inner = tuple(name.split(".")[1:])
        return (*inner, "__init__") if name in packages else inner

    names = sorted(name for name in graph.modules if parts(name)[0] in inside)
    return [
        Import(parts(name), parts(other))
        for name in names
        for other in sorted(graph.find_modules_directly_imported_by(name))
        if parts(other)[0] in inside
    ]


def crossings(found: Iterable[Import]) -> dict[str, int]:
    """Count imports, and those that leave a folder of the package, a wing, a folder in a wing."""
    ways: dict[str, Callable[[Import], bool]] = {
        "imports": lambda one: True,
        "across folders of the package": lambda one: one.crosses(1),
        "across wings": lambda one: one.crosses_wings,
        "across folders inside a wing": lambda one: not one.crosses(1) and one.crosses(2),
    }
    every = list(found)
    return {name: sum(map(counts, every)) for name, counts in ways.items()}


def main() -> None:
    """Print the counts, and which folders of the package import which."""
    found = imports()
    for name, count in crossings(found).items():
        print(f"{count:5}  {name}")
    pairs = Counter((one.importer[0], one.imported[0]) for one in found if one.crosses(1))
    for (importer, imported), count in pairs.most_common():
        print(f"{count:5}    {importer} -> {imported}")


if __name__ == "__main__":
    main()
