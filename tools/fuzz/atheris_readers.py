"""Fuzz the readers guided by coverage: ``python tools/fuzz/atheris_readers.py [corpus] -runs=N``.

Needs ``pip install atheris``; options are those of libFuzzer. The first byte of an input picks the
reader, the rest is what it reads; sound examples are the first corpus. Each distinct foreign
exception is told once, with the file that showed it, and the search goes on.
"""

from __future__ import annotations

import one_thread  # isort: skip  # noqa: F401

import os
import sys
import tempfile
from pathlib import Path

import atheris

os.environ["NUMBA_DISABLE_JIT"] = "1"  # instrumented kernels do not compile, and shall be covered

with atheris.instrument_imports(include=["sigmastar"]):
    from readers import READERS, read
    from workers import Case

_NAMES = sorted(READERS)
_FOLDER = Path(tempfile.mkdtemp(prefix="sigmastar-atheris-"))
_TOLD: set[tuple[str, str, str]] = set()


def one_input(data: bytes) -> None:
    """Let one reader read the bytes."""
    case = Case(_NAMES[data[0] % len(_NAMES)] if data else "corpus", "", data[1:])
    failure = read(case, _FOLDER)
    if failure and (case.kind, failure.what, failure.frame) not in _TOLD:
        _TOLD.add((case.kind, failure.what, failure.frame))
        kept = _FOLDER / f"{case.kind}-{len(_TOLD)}"
        kept.write_bytes(case.data)
        print(f"{case.kind}: {failure.what} in {failure.frame}: {failure.message}\n    {kept}")


def main() -> None:
    """Write the sound examples as a corpus, and start."""
    examples = _FOLDER / "corpus"
    examples.mkdir()
    for number, name in enumerate(_NAMES):
        for i, example in enumerate(READERS[name].examples):
            (examples / f"{name}-{i}").write_bytes(bytes([number]) + example)
    atheris.Setup([*sys.argv, str(examples)], one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
