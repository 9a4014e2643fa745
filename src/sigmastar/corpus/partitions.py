"""Partitions: a corpus that is not here, as an ordered list of parts with one alphabet.

A part is read and encoded once; from then on it is integers, in a scratch directory or in the
memory of the worker that has it. What is to be found out about all sequences is a
:class:`~sigmastar.core.reduction.Reduction`, carried out where the parts are: by threads of this
machine or by a Dask cluster. Same parts, same bits: for counts whatever the parts, for sums of
floats whoever adds them.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, Self, TypeAlias, TypeVar, Unpack

from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.core.reduction import Reduction, reduced
from sigmastar.core.rules import AnyOf, Choice, Instance, Integer, Nothing, check
from sigmastar.core.runners import Runner
from sigmastar.corpus.alphabet import Alphabet, Unknown, check_unknown
from sigmastar.corpus.apply import FORMATS, WriteResults, Written, name_of, write_parts
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.encoding import Skipped, encode_parts
from sigmastar.corpus.part_sources import (
    GivenSequences,
    PartSource,
    arrow_parts,
    bag_pieces,
    file_parts,
    frame_parts,
    state_of_files,
)
from sigmastar.corpus.prepared import Prepared
from sigmastar.corpus.readers.growing import join
from sigmastar.corpus.selection import Chosen, kept_rows, open_part
from sigmastar.corpus.where import PartOptions, Where

__all__ = ["Data", "Partitions", "Skipped", "reduce_data"]

R = TypeVar("R")
_SYMBOL_BYTES = 40  # of a symbol in a part that is counted: its code, its window, what is sorted
PART_BYTES = 16 << 20  # of text: a few seconds of work, and many fit into memory


class _Part(NamedTuple):
    """What is known of an encoded part, and where it is."""

    handle: Any
    first: int
    n_sequences: int
    n_symbols: int
    digest: str


@dataclass(frozen=True, eq=False, repr=False)
class Partitions:
    """Sequences in parts, with one alphabet.

    Made by :meth:`from_files`, :meth:`from_sequences`, :meth:`from_bag`, :meth:`from_dataframe` or
    :meth:`from_arrow`; ``fit`` of the learners that say so takes it wherever it takes sequences.

    Attributes
    ----------
    alphabet : Alphabet
        What the codes of all parts stand for.
    skipped : tuple of Skipped
        Parts that could not be read and were left out (``on_error="skip"``).

    Examples
    --------
    >>> parts = Partitions.from_sequences([["ab", "abab"], ["ababab"]], threads=1)
    >>> len(parts), parts.n_parts, parts.n_symbols, parts.alphabet.symbols
    (3, 2, 12, ('a', 'b'))
    """

    alphabet: Alphabet
    skipped: tuple[Skipped, ...]
    _parts: tuple[_Part, ...]
    _runner: Runner
    _folder: Any  # a temporary scratch directory lives as long as somebody refers to it
    _chosen: tuple[Chosen, ...] = ()

    @classmethod
    def from_files(
        cls,
        files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        format: str | None = None,
        *,
        column: str | None = None,
        chunk: int | None = None,
        part_bytes: int = PART_BYTES,
        on_error: str = "raise",
        **options: Unpack[PartOptions],
    ) -> Partitions:
        """Read files of sequences.

        Parameters
        ----------
        files : str, path or list of these
            Paths, directories, or patterns such as ``"logs/*.gz"``. Files come in the order of the
            list, those of a pattern by name. A large file is cut between sequences; one that is
            compressed, begins with a header (PAutomaC) or is read in chunks is one part.
        format, column, chunk
            As for :func:`sigmastar.read_corpus`.
        part_bytes : int
            Bytes of text in a part of a file that is cut.
        on_error : {"raise", "skip"}
            What to do with a part that cannot be read: leave it out, and list it in ``skipped``.
        alphabet : Alphabet, optional
            The coding; by default the symbols that occur, sorted.
        unknown : {"error", "ignore", "unk"}
            What to do with symbols outside the alphabet.
        client : distributed.Client or str, optional
            The cluster (or its scheduler's address) whose workers do the work. They must be able to
            read the files.
        threads : int, optional
            Without a cluster: parts worked on at a time; by default all threads there are.
        scratch : path, optional
            Directory for the encoded parts; workers of a cluster must share it. Who comes back to
            it with the same files finds them encoded. By default a temporary one or, on a cluster,
            the memory of the workers.
        max_memory : int, str or None
            Bound of what is kept in memory between passes, such as ``"4GB"``.
        """
        check("part_bytes", part_bytes, Integer(1))
        sources = file_parts(
            files, format=format, part_bytes=part_bytes, column=column, chunk=chunk
        )
        return cls._encoded(sources, on_error, state_of_files(sources), **options)

    @classmethod
    def from_sequences(cls, parts: Sequence[Any], **options: Unpack[PartOptions]) -> Partitions:
        """Take lists of sequences, each list a part; a list may be something Dask will compute.

        Parameters
        ----------
        parts : list of lists of sequences
            Or of ``dask.delayed`` objects that give such lists.
        **options
            ``alphabet``, ``unknown``, ``client``, ``threads``, ``scratch`` and ``max_memory``, as
            for :meth:`from_files`.
        """
        sources = [GivenSequences(number, part) for number, part in enumerate(parts)]
        return cls._encoded(sources, **options)

    @classmethod
    def from_bag(cls, bag: Any, **options: Unpack[PartOptions]) -> Partitions:
        """Take a Dask bag of sequences, one part for each of its partitions.

        Parameters
        ----------
        bag : dask.bag.Bag
            Of lists, tuples, arrays or strings of hashable symbols.
        **options
            As for :meth:`from_sequences`.
        """
        return cls.from_sequences(bag_pieces(bag), **options)

    @classmethod
    def from_dataframe(
        cls,
        frame: Any,
        *,
        sequence: str,
        symbol: str,
        order: str | None = None,
        **options: Unpack[PartOptions],
    ) -> Partitions:
        """Take a Dask dataframe with a row for each symbol.

        Parameters
        ----------
        frame : dask.dataframe.DataFrame
            All rows of a sequence must lie in one partition.
        sequence, symbol : str
            The columns that tell sequences apart and that hold the symbols.
        order : str, optional
            The column that orders the rows of a sequence; by default they are in order.
        **options
            ``alphabet``, ``unknown``, ``client``, ``threads``, ``scratch`` and ``max_memory``, as
            for :meth:`from_files`.
        """
        runner = Where(options.get("client"), options.get("threads")).runner()
        sources = frame_parts(frame, sequence, symbol, order, runner)
        return cls._encoded(sources, **options)

    @classmethod
    def from_arrow(
        cls,
        dataset: Any,
        column: str,
        *,
        on_error: str = "raise",
        **options: Unpack[PartOptions],
    ) -> Partitions:
        """Take a column of an Arrow data set, such as a folder of Parquet files.

        Parameters
        ----------
        dataset : pyarrow.dataset.Dataset
            Each row group is a part.
        column : str
            Holds a sequence in each row: a list of values, or a string of characters.
        on_error, **options
            As for :meth:`from_files`.
        """
        return cls._encoded(arrow_parts(dataset, column), on_error, **options)

    @classmethod
    def _encoded(
        cls,
        sources: Sequence[PartSource],
        on_error: str = "raise",
        key: str | None = None,
        *,
        alphabet: Alphabet | None = None,
        unknown: Unknown = "error",
        **options: Any,
    ) -> Partitions:
        check_unknown(unknown)
        check("on_error", on_error, Choice("raise", "skip"))
        check("alphabet", alphabet, AnyOf(Nothing(), Instance(Alphabet, words="an Alphabet")))
        where = Where(**options)
        runner, folder = where.runner(), where.folder()
        found = encode_parts(sources, alphabet, unknown, on_error, runner, str(folder or ""), key)
        runner.expect(_SYMBOL_BYTES * max((facts.n_symbols for _, facts in found.parts), default=0))
        parts, first = [], 0
        for handle, facts in found.parts:
            parts.append(_Part(handle, first, *facts))
            first += facts.n_sequences
        return cls(found.alphabet, found.skipped, tuple(parts), runner, folder)

    def __len__(self) -> int:
        return self._n_sequences

    @cached_property
    def _n_sequences(self) -> int:
        if not self._chosen:
            return sum(part.n_sequences for part in self._parts)
        # What is chosen depends on numbers alone: nothing needs to be read.
        rows = (kept_rows(part.first, part.n_sequences, self._chosen) for part in self._parts)
        return sum(int(kept.sum()) for kept in rows)

    @cached_property
    def n_symbols(self) -> int:
        """How many symbols all sequences have together."""
        if not self._chosen:
            return sum(part.n_symbols for part in self._parts)
        return sum(self.stream(_count_symbols))

    @property
    def n_parts(self) -> int:
        """How many parts there are."""
        return len(self._parts)

    @property
    def digest(self) -> str:
        """A name for these sequences in these parts."""
        whole = hashlib.sha256(repr(self._chosen).encode())
        for part in self._parts:
            whole.update(part.digest.encode())
        return whole.hexdigest()

    def __repr__(self) -> str:
        return (
            f"Partitions({len(self):,} sequences in {self.n_parts:,} parts, "
            f"alphabet of {len(self.alphabet):,})"
        )

    def __getitem__(self, index: slice) -> Corpus:
        """Return the first sequences as a corpus: ``parts[:n]``."""
        if not isinstance(index, slice) or index.start or index.step not in (None, 1):
            raise InvalidParameter(
                "only the first sequences of Partitions can be taken, as parts[:n]; got "
                f"{index!r}. Go through all of them with parts.stream(model.log_proba), say."
            )
        wanted = len(self) if index.stop is None else max(index.stop, 0)
        taken: list[Corpus] = []
        # No more than that many come from each part: what is not wanted stays where it is.
        with closing(self.stream(partial(_first, wanted))) as parts:
            while wanted > 0 and (part := next(parts, None)) is not None:
                taken.append(part[:wanted])
                wanted -= len(part)
        return join(taken) if taken else Corpus([], [0], self.alphabet)

    def corpora(self) -> Generator[Corpus]:
        """Give each part as a corpus, in order."""
        return self.stream(partial(_first, None))

    def stream(self, function: Callable[[Corpus], R]) -> Generator[R]:
        """Apply a function to each part where it is; give the results in order.

        Parameters
        ----------
        function : callable
            Takes a corpus; must be importable by name where workers are other processes.
        """
        yield from self._runner.stream(_apply, (self.alphabet, function), *self._opened)

    def reduce(self, reduction: Reduction[Corpus, Any, R]) -> R:
        """Carry out a reduction over all parts."""
        self._check_not_empty()
        return self._runner.reduce(reduction, open_part, self.alphabet, *self._opened)

    def prepared(self, layout: Callable[[Corpus], Any]) -> Prepared:
        """Lay out each part for many passes; what comes of it stays where the part is."""
        self._check_not_empty()
        placed = self._runner.lay_out(_apply, (self.alphabet, layout), *self._opened)
        return Prepared(placed, self._runner)

    def split(self, fraction: float, seed: int) -> tuple[Self, Self]:
        """Set about a share of the sequences aside, each by its number; give them and the rest."""
        chosen = (Chosen(fraction, seed, marked) for marked in (True, False))
        held, rest = (replace(self, _chosen=(*self._chosen, one)) for one in chosen)
        if not len(held) or not len(rest):
            raise InvalidData(
                f"setting {fraction:g} of {len(self)} sequences aside must leave some on both "
                "sides; it does not. Give more sequences."
            )
        return held, rest

    def write(
        self,
        function: Callable[[Corpus], Any],
        folder: str | os.PathLike[str],
        *,
        format: str = "text",
        job: str = "",
    ) -> Written:
        """Apply a function to each part and write the results, one file for each part.

        A file appears whole or not at all, and one that is there is not written again: a job that
        was stopped goes on where it was.

        Parameters
        ----------
        function : callable
            Takes a corpus and gives one value for each sequence, such as ``model.log_proba`` or
            ``tagger.predict``.
        folder : path
            Directory of the results; workers of a cluster must share it.
        format : {"text", "parquet"}
            A line for each value, or a table with the column ``value``.
        job : str
            What the results are, if the data do not tell: the same folder is refused to another.
        """
        check("format", format, Choice(*FORMATS))
        handles, extras = self._opened
        return write_parts(
            WriteResults(function, format),
            open_part,
            self.alphabet,
            handles,
            extras,
            names=[f"part {number}" for number in range(self.n_parts)],
            runner=self._runner,
            folder=folder,
            job=repr((job, self.digest, format, name_of(function))),
            suffix=".parquet" if format == "parquet" else ".txt",
        )

    def close(self) -> None:
        """Let go of a client that was made from an address."""
        self._runner.close()

    @property
    def _opened(self) -> tuple[list[Any], list[Any]]:
        extras = [(part.first, self._chosen) for part in self._parts]
        return [part.handle for part in self._parts], extras

    def _check_not_empty(self) -> None:
        if not len(self):
            raise InvalidData("X must hold at least one sequence; it is empty.")


Data: TypeAlias = Corpus | Partitions


def reduce_data(reduction: Reduction[Corpus, Any, R], data: Data) -> R:
    """Carry out a reduction over a corpus, which is one part, or over Partitions."""
    return data.reduce(reduction) if isinstance(data, Partitions) else reduced(reduction, [data])


def _apply(shared: tuple[Alphabet, Callable[[Corpus], R]], part: Any, extra: Any) -> R:
    alphabet, function = shared
    return function(open_part(alphabet, part, extra))


def _first(n: int | None, corpus: Corpus) -> Corpus:
    return corpus[:n]


def _count_symbols(corpus: Corpus) -> int:
    return corpus.n_symbols
