"""Mutants of model files: the structure is known, the checksum is right, the content is hostile.

A mutant is told by its number alone, so any of them can be made again. ``describe`` says what was
done to it.
"""

from __future__ import annotations

import copy
import json
import random
import struct
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from sigmastar.core.model_files import Stored, write_stored

__all__ = ["Mutant", "Seeds", "file_bytes"]

Array = np.ndarray[Any, Any]

_INTEGERS = (0, 1, -1, 2, 255, 256, 2**15, 2**31 - 1, 2**31, -(2**31), 2**63 - 1, -(2**63), 2**62)
_FLOATS = (0.0, -0.0, 1.0, -1.0, 1e-320, 1e-300, 1e300, 1e16, -1e300, 2.0**63)
_FLOATS += (np.nan, np.inf, -np.inf, 0.5, np.finfo(float).max, np.finfo(float).eps)
_DTYPES = ("f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?")
_PIECES = (
    b"\0",
    b"\n",
    b"\t",
    b"/",
    b" ",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"<s>",
)
_WAYS_OF_SHAPE = ("truncate", "extend", "empty", "transpose", "reshape", "retype", "sort")
_WAYS_OF_SHAPE += ("reverse", "duplicate", "swap", "scalar", "shuffle")
_LARGEST = 1 << 22  # bytes of an array that grew: what is larger tests memory, not care
_SHARE_OF_RAW_BYTES = 0.05


class Raw(str):
    """JSON text that goes into the file as it is."""


class Seeds:
    """Sound files, by kind, from which mutants are bred."""

    def __init__(self, stored: dict[str, Stored]) -> None:
        self.stored = stored
        self.by_kind: dict[str, list[str]] = {}
        for name, one in stored.items():
            self.by_kind.setdefault(one.kind, []).append(name)

    def draw(self, rng: random.Random) -> str:
        """Pick a seed: kinds alike, then the files of the kind alike."""
        return rng.choice(self.by_kind[rng.choice(sorted(self.by_kind))])


class Mutant:
    """A changed file.

    Parameters
    ----------
    seeds : Seeds
        What it is bred from.
    number : int
        Tells which mutant it is.
    """

    def __init__(self, seeds: Seeds, number: int) -> None:
        self.rng = rng = random.Random(number)
        self.number = number
        self.seed = seeds.draw(rng)
        origin = seeds.stored[self.seed]
        self.kind = origin.kind
        self.changes: list[str] = []
        self._others = [seeds.stored[name] for name in seeds.by_kind[self.kind]]
        self.arrays = dict(origin.arrays)
        self.meta: Any = json.loads(json.dumps(origin.meta))
        raw = rng.random() < _SHARE_OF_RAW_BYTES
        for _ in range(0 if raw else rng.choice((1, 1, 1, 2, 2, 3, 5))):
            in_meta = bool(self.meta) and rng.random() < 0.35
            self._change_meta() if in_meta or not self.arrays else self._change_arrays()
        self.bytes = file_bytes(Stored(self.kind, self.arrays), self.meta)
        if raw:
            self.bytes = self._damaged(self.bytes)

    def __str__(self) -> str:
        return f"{self.seed}: {'; '.join(self.changes)}"

    def _change_arrays(self) -> None:
        rng = self.rng
        name = rng.choice(sorted(self.arrays))
        array = self.arrays[name]
        change: Callable[[str, Array], Array | None]
        change = rng.choice((self._values,) * 8 + (self._shape,) * 4 + (self._set,) * 2)
        if "offset" in name or "start" in name or rng.random() < 0.1:
            change = rng.choice((change, self._offsets))
        with np.errstate(all="ignore"):
            changed = change(name, array)
        if changed is not None and changed.nbytes <= _LARGEST:
            self.arrays[name] = changed

    def _note(self, name: str, what: str) -> None:
        self.changes.append(f"{name} {what}"[:160])

    def _values(self, name: str, array: Array) -> Array | None:
        """Set some values to numbers at which code breaks."""
        if not array.size:
            return None
        rng, changed = self.rng, array.copy()
        flat = changed.reshape(-1)
        if array.dtype == np.uint8 and rng.random() < 0.5:  # strings, end to end
            piece = rng.choice(_PIECES)[: flat.size]
            place = rng.randrange(flat.size - len(piece) + 1)
            flat[place : place + len(piece)] = list(piece)
            self._note(name, f"{piece!r} at {place}")
            return changed
        for _ in range(rng.choice((1, 1, 1, 2, 4))):
            place = rng.choice((0, flat.size - 1, rng.randrange(flat.size)))
            flat[place] = value = self._boundary(array, flat[place])
            self._note(name, f"[{place}] = {value!r}")
        if rng.random() < 0.1:
            flat[:] = value
            self._note(name, "all the same")
        return changed

    def _boundary(self, array: Array, old: Any) -> Any:
        rng, dtype = self.rng, array.dtype
        sizes = [n for other in self.arrays.values() for n in other.shape] or [0]
        size = rng.choice(sizes)
        if dtype.kind == "f":
            near = (float(old) * rng.choice((-1, 2, 0.5, 1e9)), float(size))
            return dtype.type(rng.choice((*_FLOATS, *near)))
        if dtype.kind == "b":
            return not old
        near = (
            int(old) + 1,
            int(old) - 1,
            size,
            size + 1,
            size - 1,
            array.size,
            rng.getrandbits(16),
        )
        value = rng.choice((*_INTEGERS, *near, *near))
        bits = 8 * dtype.itemsize
        value &= (1 << bits) - 1
        return value - (1 << bits) if dtype.kind == "i" and value >> (bits - 1) else value

    def _offsets(self, name: str, array: Array) -> Array | None:
        """Let offsets wrap around, go back, leave the array or leave something out."""
        if array.ndim != 1 or array.dtype.kind not in "iu" or len(array) < 3:
            return None
        rng, changed = self.rng, array.astype(np.int64)
        middle = rng.randrange(1, len(array) - 1)
        way = rng.choice(("wrap", "back", "beyond", "shift", "flat", "steep"))
        if way == "wrap":
            changed[middle] = 2**63 - 1
            changed[min(middle + 1, len(array) - 2)] = rng.choice((-2, 2**63 - 1, -(2**63)))
        elif way == "back":
            changed[middle] = -rng.choice((1, 2, 1000, 2**62))
        elif way == "beyond":
            changed[middle:] += rng.choice((1, 5, 2**20, 2**40))
        elif way == "shift":
            changed += rng.choice((-1, 1))
        elif way == "flat":
            changed[:] = rng.choice((changed[0], changed[-1]))
        else:
            changed[1:-1] = changed[-1]
        self._note(name, f"offsets {way} at {middle}")
        return changed.astype(array.dtype, copy=False)

    def _shape(self, name: str, array: Array) -> Array | None:
        """Make an array longer, shorter, empty, of another shape, order or type."""
        rng = self.rng
        way = rng.choice(_WAYS_OF_SHAPE)
        self._note(name, way)
        if way == "scalar":
            return array.reshape(-1)[:1].reshape(()) if array.size else None
        if way == "reshape":
            return array.reshape(
                rng.choice(((-1,), (1, -1), (-1, 1), (1, 1, -1), (*array.shape, 1)))
            )
        if way == "retype":
            return array.astype(rng.choice(_DTYPES))
        if way == "transpose":
            return array.T.copy()
        if not array.ndim or not array.size:
            return None
        axis = rng.randrange(array.ndim)
        if way == "truncate":
            return array.take(np.arange(rng.randrange(array.shape[axis])), axis)
        if way == "extend":
            return np.concatenate([array, array[: rng.choice((1, 1, 2, len(array)))]])
        if way == "empty":
            shape = tuple(0 if i == axis else n for i, n in enumerate(array.shape))
            return np.zeros(rng.choice((shape, (0,) * array.ndim, (0,))), array.dtype)
        if way == "sort":
            return np.sort(array, axis)
        if way == "reverse":
            return np.flip(array, axis).copy()
        if way == "shuffle":
            return array[rng.sample(range(len(array)), len(array))]
        changed = array.copy()
        first, second = rng.randrange(len(array)), rng.randrange(len(array))
        changed[first] = array[second]
        changed[second] = array[first if way == "swap" else second]
        return changed

    def _set(self, name: str, array: Array) -> Array | None:
        """Drop an array, rename it, exchange it with another or take that of another file."""
        rng = self.rng
        way = rng.choice(("drop", "rename", "exchange", "adopt", "adopt", "all but one"))
        other = rng.choice(sorted(self.arrays))
        self._note(name, f"{way} {other if way == 'exchange' else ''}")
        if way == "drop":
            del self.arrays[name]
        elif way == "rename":
            self.arrays[rng.choice((name + "x", name.upper(), "a.b", "", "ж", other))] = array
            self.arrays.pop(name) if len(self.arrays) > 1 else None
        elif way == "exchange":
            self.arrays[name], self.arrays[other] = self.arrays[other], array
        elif way == "adopt":
            donors = [one for one in self._others if name in one.arrays]
            return rng.choice(donors).arrays[name] if donors else None
        else:
            donor = rng.choice(self._others)
            self.arrays = {**donor.arrays, name: array}
        return None

    def _change_meta(self) -> None:
        """Change one value of the metadata, or the set of its keys."""
        rng = self.rng
        places = list(_places(self.meta))
        if not places:  # all has been left out
            return
        holder, key, path = rng.choice(places)
        if path.startswith(("symbols", "alphabet")) and rng.random() < 0.5:
            holder, key, path = rng.choice(places)  # alphabets are long: look at the rest too
        old = holder[key]
        way = rng.random()
        if way < 0.15:
            del holder[key]
            self._note(path, "left out")
        elif way < 0.25 and isinstance(holder, list):
            holder.insert(rng.randrange(len(holder) + 1), old)
            self._note(path, "twice")
        elif way < 0.3 and isinstance(old, dict) and old:
            members = [f"{json.dumps(k)}: {_text(v)}" for k, v in (*old.items(), *old.items())]
            holder[key] = Raw(
                "{" + ", ".join([*members, f"{json.dumps(next(iter(old)))}: 0"]) + "}"
            )
            self._note(path, "keys twice")
        elif way < 0.4:
            donors = list(_places(rng.choice(self._others).meta)) or places
            donor, its_key, its_path = rng.choice(donors)
            holder[key] = copy.deepcopy(donor[its_key])
            self._note(path, f"= {its_path} of another")
        else:
            name, value = rng.choice(self._hostile(old))
            holder[key] = copy.deepcopy(value)  # later changes must not reach the original
            self._note(path, f"= {name}")

    def _hostile(self, old: Any) -> list[tuple[str, Any]]:
        """Give values that no writer would write."""
        found = [*_NEVER_WRITTEN, ("list of it", [old]), ("mapping of it", {"": old})]
        if isinstance(old, bool):
            found += [("not it", not old)] * 10
        elif isinstance(old, int):
            sizes = [n for array in self.arrays.values() for n in array.shape] or [0]
            numbers = (old + 1, old - 1, -old, old * 2, old + 0.5, float(old), str(old))
            numbers += (2**31 - 1, 2**31, 2**32, 2**63 - 1, 2**63, 2**64, -1, *sizes[:4])
            found += [(repr(value), value) for value in numbers]
        elif isinstance(old, float):
            numbers = (-old, old * 1e300, 5e-324, 1e308, 0, -1.0, str(old))
            found += [(repr(value), value) for value in numbers]
        elif isinstance(old, str):
            texts = (
                f"{old} ",
                old.upper(),
                old[1:],
                f"{old}\n",
                f"\0{old}",
                old * 2,
                f"{old}/{old}",
            )
            texts += ("<s>", "</s>", "ANY", "_", "é\n<b>&")
            found += [*((repr(value), value) for value in texts), ("its letters", list(old))]
        elif isinstance(old, list):
            lists = (("reversed", old[::-1]), ("doubled", old * 2), ("its first", old[:1]))
            found += [*lists, ("shorter", old[:-1])] * 3
        elif isinstance(old, dict):
            items = list(old.items())
            found += [("its items", list(map(list, items))), ("shorter", dict(items[:-1]))] * 3
        return found

    def _damaged(self, data: bytes) -> bytes:
        """Flip bits, cut, repeat or insert: the checksum no longer matches."""
        rng, damaged = self.rng, bytearray(data)
        way = rng.choice(("flip", "flip", "cut", "header", "insert", "length"))
        self.changes.append(f"bytes: {way}")
        if way == "cut":
            return bytes(damaged[: rng.randrange(len(damaged))])
        if way == "insert":
            at = rng.randrange(len(damaged))
            damaged[at:at] = rng.randbytes(rng.choice((1, 8, 100)))
        elif way == "length":
            damaged[:8] = struct.pack("<Q", rng.choice((0, 1, 2**63, 2**64 - 1, len(data), 10**8)))
        else:
            (header,) = struct.unpack("<Q", data[:8])
            end = 8 + header if way == "header" else len(damaged)
            for _ in range(rng.choice((1, 2, 8))):
                damaged[rng.randrange(end)] ^= 1 << rng.randrange(8)
        return bytes(damaged)


_SIMPLE = (None, True, False, 0, -1, 1, 2**63, 1e308, 0.5, "", "x", [], {}, [None], {"a": 1}, [[]])
_SIMPLE += ({"bytes": "zz"}, {"bytes": "00"}, {"tuple": []}, {"tuple": 5}, "a\tb", " ", "ж" * 300)


_NEVER_WRITTEN: tuple[tuple[str, Any], ...] = (
    *((repr(value), value) for value in _SIMPLE),
    ("deep list", Raw("[" * 500 + "]" * 500)),
    ("deep tuples", Raw('{"tuple": [' * 300 + "1" + "]}" * 300)),
    ("huge integer", Raw("9" * 4000)),
    ("huger integer", Raw("9" * 5000)),
    ("huge exponent", Raw("1e999")),
    ("NaN", Raw("NaN")),
    ("-Infinity", Raw("-Infinity")),
    ("lone surrogate", Raw('"\\ud800"')),
    ("lone surrogate in a list", Raw('["\\udfff"]')),
    ("NUL", Raw('"\\u0000"')),
    ("huge string", Raw(json.dumps("x" * 100_000))),
    ("long list", Raw(json.dumps([0] * 100_000))),
    ("long list of strings", Raw(json.dumps([f"s{i}" for i in range(20_000)]))),
)


def file_bytes(stored: Stored, meta: Any) -> bytes:
    """Write a model file with metadata that ``write_stored`` would refuse, and a right checksum."""
    with tempfile.TemporaryDirectory(dir=_memory()) as folder:
        path = Path(folder) / "sound.sigma"
        write_stored(path, Stored(stored.kind, stored.arrays, {}))
        data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    record = header["__metadata__"]["sigmastar"]
    header["__metadata__"]["sigmastar"] = record.replace('"meta": {}', f'"meta": {_text(meta)}', 1)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data[8 + length :]


def _memory() -> str | None:
    """Files in memory need no disk to be synchronised."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


def _text(value: Any) -> str:
    """Write JSON; raw pieces stay as they are."""
    if isinstance(value, Raw):
        return value
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)}: {_text(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list) and len(value) < 1000:
        return "[" + ", ".join(map(_text, value)) + "]"
    return json.dumps(value)


def _places(value: Any, path: str = "") -> Iterator[tuple[Any, Any, str]]:
    """Give every place in nested JSON as (holder, key, path), long lists by their first items."""
    items: Iterator[tuple[Any, Any]] = iter(())
    if isinstance(value, dict):
        items = iter(value.items())
    elif isinstance(value, list):
        items = iter(list(enumerate(value))[:20])
    for key, item in items:
        here = f"{path}.{key}" if path else str(key)
        yield value, key, here
        yield from _places(item, here)
