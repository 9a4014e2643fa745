"""Fuzz the readers guided by coverage: ``python tools/fuzz/atheris_readers.py [corpus] -runs=N``.

Needs ``pip install atheris``. The first byte picks the reader, the rest is what it reads; sound
examples are the first corpus. Stops at the first foreign exception, as libFuzzer does.
"""

from __future__ import annotations

import one_thread  # isort: skip  # noqa: F401

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["sigmastar"]):
    from readers import READERS

    import sigmastar as ss

_NAMES = sorted(READERS)
_FOLDER = Path(tempfile.mkdtemp(prefix="sigmastar-atheris-"))


def one_input(data: bytes) -> None:
    """Let one reader read the bytes."""
    reader = READERS[_NAMES[data[0] % len(_NAMES)]] if data else READERS["corpus"]
    path = _FOLDER / f"input{reader.suffix}"
    path.write_bytes(data[1:])
    try:
        reader.read(path)
    except ss.errors.SigmastarError:
        pass


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
