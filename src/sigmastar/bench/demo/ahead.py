"""Compile the kernels of names in a second process while the other parts run."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from sigmastar.core.ahead import compiling_ahead
from sigmastar.core.progress import stage
from sigmastar.datasets import Splits, load_demo_names
from sigmastar.transducers.kernels.joint_beam import beam_search

__all__ = ["await_names", "compile_names", "names_ahead"]

_PATIENCE = 120  # seconds to wait for kernels that are being compiled


def names_ahead(
    parts: Sequence[str],
) -> AbstractContextManager[subprocess.Popen[bytes] | None]:
    """Compile what ``names`` needs beside the enclosed work, if something else comes first."""
    if "names" in parts and set(parts) != {"names"}:
        return compiling_ahead(f"{__name__}:compile_names", beam_search)
    return nullcontext()


def await_names(helper: subprocess.Popen[bytes] | None) -> None:
    """Wait until the second process is done; half of its kernels would be compiled twice else."""
    if helper is None:
        return
    with stage("Compiling kernels, once and for all") as progress:
        for _ in range(_PATIENCE):
            try:
                helper.wait(1.0)
                return
            except subprocess.TimeoutExpired:
                progress.advance(0)


def compile_names() -> None:
    """Run the part about names on a few of its data."""
    from sigmastar.bench.demo.names import demo_names

    splits = load_demo_names()
    if splits.train is not None and splits.test is not None:
        demo_names(Splits(splits.train[:60], None, splits.test[:5], splits.name))
