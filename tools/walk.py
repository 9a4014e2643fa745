"""Trace which files of the package five requests walk through, in the order of first entry.

Kernels run as plain Python here, so that their files are seen too. Each request runs once before,
to import what it needs: importing a file is not walking through it.

Usage: python tools/walk.py [--files]

It measures the sigmastar it finds, so PYTHONPATH=path/of/another/src compares two versions.
"""

from __future__ import annotations

import os

os.environ["NUMBA_DISABLE_JIT"] = "1"  # read when numba is first imported

import sys
import tempfile
import threading
from collections.abc import Callable, Iterable
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import sigmastar as ss

PACKAGE = Path(ss.__file__).parent
CONLLU = """1\tthe\t_\tDET\t_\t_\t_\t_\t_\t_
2\tdog\t_\tNOUN\t_\t_\t_\t_\t_\t_
3\twalks\t_\tVERB\t_\t_\t_\t_\t_\t_

1\ta\t_\tDET\t_\t_\t_\t_\t_\t_
2\tlong\t_\tADJ\t_\t_\t_\t_\t_\t_
3\twalk\t_\tNOUN\t_\t_\t_\t_\t_\t_

"""
STRINGS = ["abab", "ab", "aab", "abb", "ba", "abaab", "bab", "a"] * 15
PAIRS = [("max", "макс"), ("anna", "анна"), ("axa", "акса"), ("nana", "нана"), ("man", "ман")] * 2


def next_symbol() -> None:
    """Strings, SpectralWFA, the next symbol."""
    ss.SpectralWFA(2).fit(STRINGS).predict_next(["ab"])


def tag_text() -> None:
    """CoNLL-U, HMMTagger, FSTTagger, tagged text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.conllu"
        path.write_text(CONLLU * 3)
        hmm = ss.HMMTagger(order=2).fit(ss.read_tagged(path))
    fst = ss.FSTTagger.from_hmm(hmm, "lazy", corpus=[["a", "dog", "walks"]])
    fst.tag_file(BytesIO(b"the long walk\n"), BytesIO())


def transliterate() -> None:
    """Pairs, Transliterator, a name in other letters."""
    ss.Transliterator("combined").fit(PAIRS).predict(["xana"])


def label_frames() -> None:
    """Frames, SpectralSequenceTagger, labels."""
    rng = np.random.default_rng(0)
    modes = [np.repeat(rng.integers(0, 2, 5), 4) for _ in range(12)]
    frames = [rng.normal(np.eye(2)[m] * 2.0, 0.5) for m in modes]
    features = ss.CentroidFeatures(6, metric="euclidean", random_state=0)
    tagger = ss.SpectralSequenceTagger([1, 2], features=features, random_state=0)
    tagger.fit(frames, [np.array(["left", "right"])[m] for m in modes]).predict(frames[:2])


def search() -> None:
    """Strings, AutoWFA, a machine."""
    ss.AutoWFA(time_budget=5.0, random_state=0).fit(STRINGS).predict_next(["ab"])


REQUESTS = (next_symbol, tag_text, transliterate, label_frames, search)


def walk(request: Callable[[], Any]) -> list[str]:
    """Return the files of the package that a request enters, in the order of first entry."""
    request()
    inside = f"{PACKAGE}{os.sep}"
    seen: dict[str, None] = {}

    def enter(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(inside):
            seen.setdefault(frame.f_code.co_filename)

    threading.setprofile(enter)
    sys.setprofile(enter)
    try:
        request()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return [Path(name).relative_to(PACKAGE).as_posix() for name in seen]


def changes(places: Iterable[str]) -> int:
    """Count how often the place changes along a way."""
    return sum(here != there for here, there in pairwise(places))


def title(request: Callable[[], Any]) -> str:
    """Return what a request goes through, as tables name it."""
    return (request.__doc__ or "").rstrip(".").replace(", ", " → ")


def figures(files: list[str]) -> tuple[int, ...]:
    """Count files, changes of folder, changes of top-level folder, and top-level folders."""
    folders = [os.path.dirname(name) for name in files]
    tops = [name.split("/")[0] for name in files]
    return len(files), changes(folders), changes(tops), len(set(tops))


def main() -> None:
    """Print a table of the requests, or the files themselves."""
    print("| request | files | changes of folder | of top-level folder | top-level folders |")
    print("|---|--:|--:|--:|--:|")
    for request in REQUESTS:
        files = walk(request)
        print(f"| {title(request)} |", " | ".join(map(str, figures(files))), "|")
        if "--files" in sys.argv:
            print("\n".join(f"    {name}" for name in files))


if __name__ == "__main__":
    main()
