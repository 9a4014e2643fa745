"""The Sequence PredIction ChallengE: what comes next."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from sigmastar.core.errors import InvalidData
from sigmastar.core.rules import Integer, check
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.readers.api import read_corpus
from sigmastar.corpus.readers.source import Source
from sigmastar.datasets import sources
from sigmastar.datasets.problem import Continuations, PrefixProblem
from sigmastar.datasets.store import DataHome, find_file

__all__ = ["load_spice"]

_END = -1  # in the files


def load_spice(n: int, *, data_home: DataHome = None) -> PrefixProblem:
    """Load a problem of SPiCe: strings to learn from, and prefixes with what may follow them.

    Parameters
    ----------
    n : int
        Number of the problem, 1 to 15. Pinned for download are 3 (synthetic), 6 (partly synthetic),
        8 and 13 (language); others are read if you have the files.
    data_home : path, optional
        Where to look first, and where to put what is downloaded.

    Notes
    -----
    Choose on ``train`` and ``public``, report ``private``; score with
    :func:`sigmastar.metrics.ndcg`. Licence, as its makers state it: "These data sets are not
    licensed: you are free to use them the way you want." Cite B. Balle, R. Eyraud, F. M. Luque,
    A. Quattoni and S. Verwer, *Results of the Sequence PredIction ChallengE (SPiCe)*, ICGI 2016.
    """
    check("n", n, Integer(1, 15))
    train = read_corpus(find_file(sources.spice(n, ".train"), data_home), "pautomac")
    public, private = (
        _continuations(n, part, train.alphabet, data_home) for part in ("public", "private")
    )
    return PrefixProblem(train, public, private, f"spice-{n}")


def _continuations(n: int, part: str, alphabet: Alphabet, data_home: DataHome) -> Continuations:
    prefix_path = find_file(sources.spice(n, f".prefix.{part}"), data_home)
    target_path = find_file(sources.spice(n, f".target.{part}"), data_home)
    prefixes = read_corpus(prefix_path, "pautomac", alphabet=alphabet)
    with Source(target_path) as source:
        rows = [line.split() for _, line in source.lines()]
    if len(rows) != len(prefixes):
        raise InvalidData(
            f"{target_path} must have one line for each of the {len(prefixes)} prefixes; "
            f"it has {len(rows)}."
        )
    codes = {symbol: code for code, symbol in enumerate(alphabet.symbols)}
    codes[_END] = len(alphabet)
    try:
        best = np.array([float(row[0]) for row in rows])
        columns = [codes[int(symbol)] for row in rows for symbol in row[1::2]]
        values = [float(value) for row in rows for value in row[2::2]]
        offsets = np.cumsum([0] + [len(row[1::2]) for row in rows])
        shape = (len(rows), len(alphabet) + 1)
        gains = csr_array((values, columns, offsets), shape=shape)
    except (ValueError, KeyError, IndexError) as error:
        raise InvalidData(
            f"{target_path} must hold a number, then symbols and their values in turn, a line for "
            f"each prefix ({type(error).__name__}: {error})."
        ) from None
    return Continuations(prefixes, gains, best)
