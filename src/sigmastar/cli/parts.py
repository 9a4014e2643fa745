"""Commands on many files: who does the work, and where the results go."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from sigmastar.core.runners import Runner
    from sigmastar.corpus.apply import Written
    from sigmastar.corpus.corpus import Corpus

__all__ = [
    "Spread",
    "apply_to_files",
    "as_it_is",
    "digest_of",
    "read_part",
    "tell_skipped",
    "tell_written",
]


_WORKING_SHARE = 20  # bytes that working on a byte of text takes


@dataclass(frozen=True)
class Spread:
    """Who does the work on many files."""

    workers: int | None = None
    cluster: str | None = None
    scratch: Path | None = None
    memory: str | None = None
    on_error: str = "raise"

    def wanted(self, data: str) -> bool:
        """Tell whether data are to be worked on in parts: several files, or options that say so."""
        import glob

        several = os.path.isdir(data) or (not os.path.exists(data) and glob.has_magic(data))
        chosen = (self.workers, self.cluster, self.scratch, self.memory)
        return several or any(value is not None for value in chosen)

    @contextmanager
    def client(self) -> Iterator[Any]:
        """Give the address or client of a cluster; None for threads of this machine."""
        if self.workers is not None and self.cluster is not None:
            raise typer.BadParameter("--workers starts a cluster, --cluster names one: give one.")
        if self.workers is None:
            yield self.cluster
            return
        from sigmastar.core.local_cluster import local_client
        from sigmastar.core.memory import memory_budget

        limit = "auto" if self.memory is None else memory_budget(self.memory) // self.workers
        with local_client(self.workers, memory=limit, scratch=self.scratch) as client:
            yield client

    @contextmanager
    def partitions(self, data: str, format: str | None, **options: Any) -> Iterator[Any]:
        """Read many files in parts."""
        from sigmastar.corpus.partitions import Partitions

        with self.client() as client:
            parts = Partitions.from_files(
                data,
                format,
                on_error=self.on_error,
                client=client,
                scratch=self.scratch,
                max_memory=self.memory,
                **options,
            )
            tell_skipped(parts.skipped)
            yield parts

    @contextmanager
    def runner(self) -> Iterator[Runner]:
        """Give who applies a function to parts."""
        from sigmastar.corpus.where import Where

        with self.client() as client:
            runner = Where(client, max_memory=self.memory).runner()
            yield runner
            runner.close()


def apply_to_files(
    write: Callable[[Any, Any], tuple[int, ...]],
    open_part: Any,
    data: str,
    format: str | None,
    *,
    folder: Path | None,
    job: str,
    spread: Spread,
    shared: Any = None,
    suffix: str = ".txt",
) -> Written:
    """Write what comes of each part of many files to a directory."""
    from sigmastar.corpus.apply import write_parts
    from sigmastar.corpus.part_sources import file_parts, state_of_files
    from sigmastar.corpus.partitions import PART_BYTES

    if folder is None:
        raise typer.BadParameter(
            "many files need --output-dir, a directory for their results.",
            param_hint="'--output-dir'",
        )
    sources = file_parts(data, format=format, part_bytes=PART_BYTES)
    with spread.runner() as runner:
        largest = max(last - first for first, last in (s.span or (0, 0) for s in sources))
        runner.expect(_WORKING_SHARE * largest)
        written = write_parts(
            write,
            open_part,
            shared,
            sources,
            [None] * len(sources),
            names=[source.name for source in sources],
            runner=runner,
            folder=folder,
            job=f"{job} {state_of_files(sources)}",
            suffix=suffix,
            on_error=spread.on_error,
        )
    tell_skipped(written.skipped)
    return written


def tell_skipped(skipped: Any) -> None:
    """List parts that were left out."""
    from sigmastar.cli.output import note

    for part in skipped:
        note(f"left out: {part.reason}")


def tell_written(
    written: Written, folder: Path | None, counted: tuple[str, str], *, json: bool
) -> None:
    """Say what a job has done."""
    from sigmastar.cli.output import emit_json, note

    counts = dict(zip(counted, written.counts or (0, 0), strict=True))
    report = {
        "parts": len(written.files),
        "finished_before": written.n_before,
        **counts,
        "skipped": [part._asdict() for part in written.skipped],
        "folder": str(folder),
    }
    if json:
        emit_json(report)
        return
    shown = ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in counts.items())
    note(
        f"{len(written.files):,} parts in {folder} ({written.n_before:,} finished before); "
        f"in the others {shown}."
    )


def read_part(coding: tuple[Any, Any], source: Any, _: Any) -> Corpus:
    """Read a part as the model spells its symbols."""
    from sigmastar.core.errors import UnknownSymbol

    try:
        corpus: Corpus = source.read(*coding)
        return corpus
    except UnknownSymbol as error:
        raise UnknownSymbol(
            f"{source.name}: {error} (On the command line: --unknown ignore.)"
        ) from None


def as_it_is(_: Any, source: Any, __: Any) -> Any:
    """Give the part itself, to be read as its bytes come."""
    return source


def digest_of(model: Path) -> str:
    """Name a model file by its bytes."""
    return hashlib.sha256(Path(model).read_bytes()).hexdigest()
