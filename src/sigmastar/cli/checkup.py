"""What ``sigmastar doctor`` finds out; each part answers for itself, so that one may be broken."""

from __future__ import annotations

import os
import platform
import sys
import time
from importlib import metadata, util
from itertools import product
from pathlib import Path
from typing import Any

__all__ = ["OPTIONAL", "blas", "cache", "data", "examine", "optional", "self_check", "versions"]

CORE = (
    "numpy",
    "scipy",
    "numba",
    "scikit-learn",
    "safetensors",
    "threadpoolctl",
    "typer",
    "rich",
)
# Module, its extra, and what it is for.
OPTIONAL = (
    ("pynini", "fst", "OpenFst machines and rules"),
    ("pyarrow", "arrow", "Arrow and Parquet files"),
    ("matplotlib", "plot", "figures"),
    ("pooch", "data", "downloads of public data"),
    ("dask", "dask", "many machines"),
    ("starlette", "serve", "models over HTTP"),
)
_TOLERANCE = 1e-8


def examine() -> dict[str, Any]:
    """Collect everything."""
    parts = {
        "versions": versions,
        "threads": threads,
        "blas": blas,
        "compiled_code": cache,
        "optional": optional,
        "data": data,
        "self_check": self_check,
    }
    found = {}
    for name, part in parts.items():
        try:
            found[name] = part()
        except Exception as error:  # whatever is broken is what we came to find
            found[name] = {"error": f"{type(error).__name__}: {error}"}
    check = found["self_check"]
    return {"ok": isinstance(check, dict) and check.get("ok") is True} | found


def version_of(package: str) -> str | None:
    """Return the version of an installed package, None without it."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def versions() -> dict[str, str | None]:
    """Return the versions of what sigmastar is and stands on."""
    from sigmastar import __version__

    own = {"sigmastar": __version__, "python": platform.python_version()}
    return own | {name: version_of(name) for name in CORE} | {"system": platform.platform()}


def threads() -> dict[str, Any]:
    """Return how many cores there are, and threads that compiled code uses."""
    from sigmastar.core.threads import available_threads

    usable = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count()
    return {
        "cores": os.cpu_count(),
        "usable_cores": usable,
        "numba_threads": available_threads(),
    }


def blas() -> dict[str, Any]:
    """Return which BLAS multiplies matrices, on how many threads, and how fast it is."""
    import numpy as np
    import scipy.linalg  # noqa: F401  (has a BLAS of its own, which compiled code calls)
    from threadpoolctl import threadpool_info

    libraries = [
        {
            "library": entry["internal_api"],
            "version": entry["version"],
            "threads": entry["num_threads"],
            "file": os.path.basename(entry["filepath"]),
        }
        for entry in threadpool_info()
        if entry["user_api"] == "blas"
    ]
    size, best = 512, float("inf")
    left = np.random.default_rng(0).random((size, size))
    result = left @ left
    end = time.perf_counter() + 0.2
    while time.perf_counter() < end:
        began = time.perf_counter()
        np.matmul(left, left, out=result)
        best = min(best, time.perf_counter() - began)
    return {"libraries": libraries, "matrix_size": size, "gflops": 2e-9 * size**3 / best}


def cache() -> dict[str, Any]:
    """Return where compiled code is kept, and whether it can be."""
    from sigmastar.automata.kernels import forward

    kept = getattr(forward.forward_sequence.compiled, "_cache", None)
    if kept is None:
        return {"directory": None, "writable": False, "compiled": 0, "switched_off": True}
    folder = Path(kept.cache_path)
    parent = next(place for place in (folder, *folder.parents) if place.exists())
    return {
        "directory": str(folder),
        "writable": os.access(parent, os.W_OK),
        "compiled": len(list(folder.glob("*.nbi"))),
        "switched_off": False,
    }


def optional() -> list[dict[str, Any]]:
    """Return which optional parts there are, and how to add those that are missing."""
    return [
        {
            "package": package,
            "purpose": purpose,
            "version": version_of(package) if util.find_spec(package) else None,
            "install": f"pip install 'sigmastar[{extra}]'",
        }
        for package, extra, purpose in OPTIONAL
    ]


def data() -> dict[str, Any]:
    """Return where data sets are looked for, and which are there."""
    from sigmastar.datasets.store import cache_directory, files_present

    return {
        "SIGMASTAR_DATA": os.environ.get("SIGMASTAR_DATA") or None,
        "cache": str(cache_directory()),
        "sets": {
            name: {"present": present, "files": total}
            for name, (present, total) in sorted(files_present().items())
        },
    }


def self_check() -> dict[str, Any]:
    """Learn a known machine from its exact moments and compare all strings up to length six.

    Exact moments determine the machine, so whatever the learned one says must be the truth up to
    rounding; the truth is multiplied out here, without any of the library's compiled code.
    """
    import numpy as np

    from sigmastar.automata.inference import log_proba
    from sigmastar.automata.learn import spectral as learn_spectral
    from sigmastar.automata.models.pfa import PFA
    from sigmastar.automata.moments import all_basis, exact_moments
    from sigmastar.core.progress import stage
    from sigmastar.corpus.alphabet import Alphabet

    initial, final = np.array([1.0, 0.0]), np.array([0.1, 0.3])
    operators = {"a": np.array([[0.3, 0.2], [0.1, 0.1]]), "b": np.array([[0.1, 0.3], [0.4, 0.1]])}
    truth = PFA(initial, np.stack(list(operators.values())), final, Alphabet("ab"))
    strings = ["".join(string) for length in range(7) for string in product("ab", repeat=length)]
    expected = []
    for string in strings:
        vector = initial
        for symbol in string:
            vector = vector @ operators[symbol]
        expected.append(float(vector @ final))
    seconds = []
    with stage("Self-check (compiles on the first run)", 2) as progress:
        for _ in range(2):  # what the second takes is the work, what the first takes more compiling
            began = time.perf_counter()
            moments = exact_moments(truth, all_basis(2, 2), "string")
            learned = learn_spectral.learn_spectral(moments, n_states=2).model
            found = np.exp(log_proba(learned, strings, scoring="raw"))
            seconds.append(time.perf_counter() - began)
            progress.advance()
    deviation = float(np.max(np.abs(found / np.array(expected) - 1.0)))
    return {
        "ok": deviation < _TOLERANCE,
        "strings": len(strings),
        "largest_deviation": deviation,
        "tolerance": _TOLERANCE,
        "seconds": seconds[1],
        "compile_seconds": max(seconds[0] - seconds[1], 0.0),
    }
