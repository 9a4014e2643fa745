"""Fuzz model files: load mutants of every kind and use them in every way.

Run ``python tools/fuzz/run.py --mutants 10000 --seed 0 --jobs 2``; any failure makes the exit
code 1. ``--seed N --mutants 1`` makes one mutant again. A kernel that leaves its arrays may damage
memory and be noticed many mutants later, or never: with ``SIGMASTAR_CHECKED_KERNELS=1`` in the
environment it raises IndexError at once.
"""

from __future__ import annotations

import one_thread  # isort: skip  # noqa: F401

import argparse
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from mutate import Mutant, Seeds
from seeds import old_files, seed_files
from use import CHECKPOINT, Failure, use_file
from workers import Case, Limits, Tally, memory_folder, work_on

import sigmastar as ss
from sigmastar.core.model_files import Stored, read_stored

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Run the tool; return its exit code."""
    options = _options(arguments)
    made, problems = seed_files(young=options.old_files)
    found = made + old_files()
    stored = {_name(path): read_stored(path) for path in found}
    if options.kind:
        stored = {name: one for name, one in stored.items() if one.kind == options.kind}
    problems |= _warm_up(found, stored)
    for name, reason in problems.items():
        print(f"seed {name}: {reason}", file=sys.stderr)
    tally = fuzz(stored, range(options.seed, options.seed + options.mutants), options)
    print(tally.table())
    return int(bool(tally.found) or (options.strict and bool(problems)))


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0, help="number of the first mutant")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--kind", help="only models of this kind")
    parser.add_argument("--keep", type=Path, help="where failing files are kept")
    parser.add_argument("--json", type=Path, help="where the failures are written")
    parser.add_argument("--seconds", type=float, default=10.0, help="processor time of a mutant")
    parser.add_argument(
        "--old-files",
        action="store_true",
        help="breed from the files of old versions, and make only kinds that they lack",
    )
    parser.add_argument("--strict", action="store_true", help="a seed that fails is a failure")
    options = parser.parse_args(arguments)
    options.keep = options.keep or Path(tempfile.gettempdir()) / "sigmastar-fuzz"
    options.json = options.json or options.keep / "failures.json"
    options.keep.mkdir(parents=True, exist_ok=True)
    return options


def fuzz(stored: dict[str, Stored], numbers: range, options: argparse.Namespace) -> Tally:
    """Use the mutants of these numbers."""
    seeds = Seeds(stored)

    def work(number: int, folder: Path, announce: Callable[[str], None]) -> Iterator[Failure]:
        mutant = Mutant(seeds, number)
        path = folder / "mutant.sigma"
        path.write_bytes(mutant.bytes)
        yield from use_file(path, mutant.kind, random.Random(number), announce)

    def again(number: int) -> Case:
        mutant = Mutant(seeds, number)
        return Case(mutant.kind, str(mutant), mutant.bytes)

    limits = Limits(seconds=options.seconds)
    return work_on(
        numbers, work, again, options.keep, options.json, jobs=options.jobs, limits=limits
    )


def _warm_up(found: list[Path], stored: dict[str, Stored]) -> dict[str, str]:
    """Use every sound seed in every way, so that kernels are compiled; tell what goes wrong."""
    folder = memory_folder()
    problems = {}
    for path in found:
        name = _name(path)
        if name not in stored:
            continue
        copy = Path(shutil.copy(path, folder / "mutant.sigma"))
        if stored[name].kind != CHECKPOINT:
            try:
                ss.load(path)
            except Exception as error:
                problems[name] = f"load: {type(error).__name__}: {error}"
        for failure in use_file(copy, stored[name].kind, _Always(), lambda call: None):
            problems[name] = f"{failure.call}: {failure.what} in {failure.frame}"
    shutil.rmtree(folder)
    return problems


def _name(path: Path) -> str:
    """Name a seed; old files have the version before their name."""
    version = path.parent.name
    return f"{version}/{path.stem}" if version.startswith("v") else path.stem


class _Always(random.Random):
    """Makes every rare call."""

    def random(self) -> float:
        """Return what is below any chance."""
        return 0.0


if __name__ == "__main__":
    sys.exit(main())
