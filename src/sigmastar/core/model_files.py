"""The ``.sigma`` file: safetensors with one JSON record of metadata.

Nothing in such a file is ever executed: arrays are plain buffers, the metadata is JSON, and the
model's own validation has the last word. The record holds the format version, the kind of model,
its metadata and a SHA-256 of the arrays, so that a damaged file is refused instead of believed.
A file is written beside its target and moved there: it appears whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from sigmastar.core.atomic import atomic_write
from sigmastar.core.errors import DataNotFound, FileFormatError
from sigmastar.core.json_values import thinned

__all__ = ["Stored", "read_history", "read_stored", "write_stored"]

FORMAT_VERSION = 1
_RECORD = "sigmastar"
_REQUIRED = ("format", "kind", "meta", "sha256")


@dataclass(frozen=True)
class Stored:
    """What a file holds: the kind of model, named arrays, and JSON metadata."""

    kind: str
    arrays: dict[str, np.ndarray[Any, Any]]
    meta: dict[str, Any] = field(default_factory=dict)

    def array(self, name: str) -> np.ndarray[Any, Any]:
        """Return a named array, or say that the file lacks it."""
        if name not in self.arrays:
            raise FileFormatError(f"the {self.kind} file lacks the array {name!r}.")
        return self.arrays[name]

    def within(self, prefix: str) -> dict[str, np.ndarray[Any, Any]]:
        """Return the arrays of one part, whose names begin with the prefix, without it."""
        found = (name for name in self.arrays if name.startswith(prefix))
        return {name.removeprefix(prefix): self.arrays[name] for name in found}


def write_stored(
    path: str | os.PathLike[str], stored: Stored, history: Mapping[str, Any] | None = None
) -> None:
    """Write a model file atomically.

    Parameters
    ----------
    path : str or path
        The file.
    stored : Stored
        The model.
    history : mapping, optional
        How the model came about: curves, choices, times. Long lists are thinned out.
    """
    arrays = {name: np.ascontiguousarray(array) for name, array in sorted(stored.arrays.items())}
    record = {
        "format": FORMAT_VERSION,
        "kind": stored.kind,
        "meta": stored.meta,
        "sha256": _digest(arrays),
    }
    if history:
        record["history"] = thinned(history)
    text = json.dumps(record, ensure_ascii=False, allow_nan=False, sort_keys=True)
    if not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text):
        # Half of a surrogate pair is no UTF-8; as an escape it is JSON like any other.
        text = json.dumps(record, allow_nan=False, sort_keys=True)
    atomic_write(path, safetensors.numpy.save(arrays, metadata={_RECORD: text}))


def read_stored(path: str | os.PathLike[str]) -> Stored:
    """Read a model file; anything but a sound one raises :class:`FileFormatError`."""
    name = os.fspath(path)
    record, arrays = _read_file(name, with_arrays=True)
    version, kind, meta, digest = (record[key] for key in _REQUIRED)
    if version != FORMAT_VERSION:
        raise FileFormatError(
            f"{name}: format version must be {FORMAT_VERSION}; got {version!r}. "
            "Install the sigmastar release that wrote it, or a newer one."
        )
    if not isinstance(kind, str) or not isinstance(meta, dict) or not _is_json(meta):
        raise FileFormatError(f"{name}: the sigmastar record is malformed.")
    if digest != _digest(arrays):
        raise FileFormatError(
            f"{name}: the arrays do not match their checksum; the file is damaged."
        )
    return Stored(kind, arrays, meta)


def read_history(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read how a saved model came about; empty if its file does not tell.

    It is thinned out as it would be when written: the file may come from a stranger.
    """
    record, _ = _read_file(os.fspath(path), with_arrays=False)
    history = record.get("history")
    return thinned(history) if isinstance(history, dict) else {}


def _read_file(
    name: str, *, with_arrays: bool
) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    """Read the record of a file, and its arrays if wanted."""
    if not os.path.isfile(name):
        what = "it is a directory" if os.path.isdir(name) else "no such file"
        raise DataNotFound(f"{name!r} cannot be opened ({what}). Check the path.")
    try:
        with safetensors.safe_open(name, framework="np") as file:
            metadata = file.metadata() or {}
            keys = sorted(file.keys()) if with_arrays else []
            arrays = {key: file.get_tensor(key) for key in keys}
    except Exception as error:  # the parser's own errors, of several undocumented types
        raise FileFormatError(
            f"{name}: not a sigmastar model file, or a truncated one ({error}). "
            "Write it again with model.save()."
        ) from None
    try:
        record = json.loads(metadata[_RECORD])
        for key in _REQUIRED:
            record[key]
    except (KeyError, TypeError, ValueError, RecursionError):
        raise FileFormatError(
            f"{name}: the file has no readable sigmastar record; another program wrote it."
        ) from None
    return record, arrays


def _is_json(meta: dict[str, Any]) -> bool:
    """Tell whether metadata can be written again: Python reads NaN, which is no JSON."""
    try:
        json.dumps(meta, allow_nan=False)
    except (ValueError, RecursionError):
        return False
    return True


def _digest(arrays: dict[str, np.ndarray[Any, Any]]) -> str:
    digest = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        digest.update(f"{name}\0{array.dtype.str}\0{array.shape}\0".encode())
        digest.update(np.ascontiguousarray(array).data if array.size else b"")
    return digest.hexdigest()
