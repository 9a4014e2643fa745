"""Learning that goes on: more sequences, later, from a file, with symbols that are new.

An estimator keeps the coded sequences that it has learned from (four bytes a symbol). More of them
are put behind the old ones, over the symbols of both, and everything is learned anew: the model is
that of one ``fit`` on all sequences. A file can keep them beside the model, so that another process
goes on. What is kept besides sequences (tags of words, say) is up to who learns from it.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from itertools import chain
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from sigmastar.core.errors import FileFormatError, InvalidParameter, SigmastarError
from sigmastar.core.estimator import ModelEstimator
from sigmastar.core.model_files import Stored, read_history, read_stored, write_stored
from sigmastar.core.stored_model import MODEL_KINDS
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.corpus import Corpus, Sequences, as_corpus

__all__ = ["ContinuingEstimator", "ResumableEstimator", "joined", "whole"]

_KEPT = "learned_from."


class ResumableEstimator(ModelEstimator):
    """An estimator whose file may keep what it takes to learn on."""

    def save(self, path: str | os.PathLike[str], *, resumable: bool = False) -> None:
        """Write the learned model, and how it came about, to a file.

        :func:`sigmastar.load` reads the model back; :func:`sigmastar.write_report` also draws what
        ``info_`` recorded.

        Parameters
        ----------
        path : str or path
            The file, ``.sigma`` by custom.
        resumable : bool
            Whether the file also keeps what it takes to go on: :meth:`resume` reads it, and
            :meth:`partial_fit` then adds to what was learned from.
        """
        if not resumable:
            super().save(path)
            return
        check_is_fitted(self, "model_")
        stored = self.model_.to_stored()
        kept = {_KEPT + name: array for name, array in self._kept().items()}
        record = Stored(stored.kind, {**stored.arrays, **kept}, stored.meta)
        write_stored(path, record, {"method": type(self).__name__, **self.info_})

    def resume(self, path: str | os.PathLike[str]) -> Self:
        """Take up a model saved with ``resumable=True``: :meth:`partial_fit` goes on from it.

        Parameters
        ----------
        path : str or path
            The file.
        """
        stored = read_stored(path)
        kept = {n[len(_KEPT) :]: a for n, a in stored.arrays.items() if n.startswith(_KEPT)}
        if not kept or stored.kind not in MODEL_KINDS:
            raise FileFormatError(
                f"{os.fspath(path)}: keeps nothing to go on from. Save it with resumable=True."
            )
        own = {n: a for n, a in stored.arrays.items() if not n.startswith(_KEPT)}
        model: Any = MODEL_KINDS[stored.kind].from_stored(Stored(stored.kind, own, stored.meta))
        try:
            self._take_up(model, kept)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            if isinstance(error, SigmastarError):
                raise
            raise FileFormatError(f"{os.fspath(path)}: what it keeps is malformed.") from None
        self.model_, self.info_ = model, read_history(path)
        return self

    @abstractmethod
    def _kept(self) -> dict[str, np.ndarray[Any, Any]]:
        """Give the arrays that it takes to go on."""

    @abstractmethod
    def _take_up(self, model: Any, kept: dict[str, np.ndarray[Any, Any]]) -> None:
        """Take up what :meth:`_kept` gave, and the model that it was kept with."""


class ContinuingEstimator(ResumableEstimator):
    """An estimator that can learn from more sequences later."""

    alphabet: Alphabet | None
    alphabet_: Alphabet
    _sequences: Corpus | None

    def partial_fit(
        self, X: Sequences, y: None = None, *, lengths: ArrayLike | None = None
    ) -> Self:
        """Add sequences to those learned from, and learn anew from all of them.

        The model is that of one ``fit`` on all sequences, however they were cut into calls. New
        symbols widen the alphabet, unless one was given. After :meth:`resume` it goes on where a
        saved model stopped.

        Parameters
        ----------
        X : Corpus or iterable of sequences
            What to add.
        y : None
            Ignored; here for scikit-learn.
        lengths : array of int, optional
            If given, X is one flat run of symbols, cut into pieces of these lengths.
        """
        before: Corpus | None = self.__dict__.get("_sequences")
        if before is None and hasattr(self, "model_"):
            raise InvalidParameter(
                f"partial_fit needs the sequences that this {type(self).__name__} has learned "
                "from, and they are not here (Partitions, or a file that was not saved with "
                "resumable=True). Fit all sequences together."
            )
        more = as_corpus(X, lengths=lengths, alphabet=self.alphabet)
        return self.fit(more if before is None else joined(before, more))

    @abstractmethod
    def fit(self, X: Any, y: None = None, *, lengths: ArrayLike | None = None) -> Self:
        """Learn from sequences."""

    def _kept(self) -> dict[str, np.ndarray[Any, Any]]:
        """Give the arrays that it takes to go on."""
        corpus: Corpus | None = self.__dict__.get("_sequences")
        if corpus is None:
            raise InvalidParameter(
                "resumable=True needs the sequences that were learned from in memory; those of "
                "Partitions are not. Save without it."
            )
        return {"symbols": corpus.symbols, "offsets": corpus.offsets}

    def _take_up(self, model: Any, kept: dict[str, np.ndarray[Any, Any]]) -> None:
        """Take up the sequences."""
        symbols, offsets = whole(kept["symbols"]), whole(kept["offsets"])
        self._sequences = Corpus(symbols, offsets, model.alphabet)
        self.alphabet_ = model.alphabet


def joined(one: Corpus, other: Corpus) -> Corpus:
    """Put sequences behind others, over the symbols of both, sorted as those of one corpus."""
    if one.alphabet != other.alphabet:
        unk = one.alphabet.unk
        names = chain(one.alphabet, other.alphabet)
        alphabet = Alphabet.from_symbols(name for name in names if unk is None or name != unk)
        if unk is not None:
            alphabet = alphabet.with_unk(unk)
        one, other = one.recode(alphabet), other.recode(alphabet)
    offsets = np.concatenate([one.offsets, other.offsets[1:] + one.offsets[-1]])
    return Corpus(np.concatenate([one.symbols, other.symbols]), offsets, one.alphabet)


def whole(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return an array of integers from a file, if that is what it is."""
    if array.dtype.kind not in "iu":
        raise ValueError(array.dtype)
    return array
