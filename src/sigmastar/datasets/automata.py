"""Public data for learning distributions over strings."""

from __future__ import annotations

import numpy as np

from sigmastar.automata.formats.pautomac import read_pautomac_model
from sigmastar.automata.models.pfa import PFA
from sigmastar.core.errors import InvalidData
from sigmastar.core.rules import AnyOf, Integer, Nothing, check
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.readers.api import read_corpus
from sigmastar.corpus.readers.pautomac import read_solution
from sigmastar.corpus.readers.source import MAX_LINE
from sigmastar.datasets import sources
from sigmastar.datasets.problem import Problem, Splits
from sigmastar.datasets.store import DataHome, find_file

__all__ = ["load_pautomac", "load_ptb_tags", "load_wikipedia_text"]

# Sequences kept for validation and for test by Balle, Hamilton and Pineau (2014).
_PTB_DEV, _PTB_TEST = 5000, 5000


def load_pautomac(n: int, *, data_home: DataHome = None) -> Problem:
    """Load a problem of the PAutomaC competition: strings, test strings, solution and machine.

    Parameters
    ----------
    n : int
        Number of the problem, 1 to 48. Pinned for download are 1, 3, 4, 6, 7, 12, 14, 24, 27, 29,
        30, 33, 38, 39, 42, 43, 45 and 46; others are read if you have the files.
    data_home : path, optional
        Where to look first, and where to put what is downloaded.

    Notes
    -----
    Licence, as its makers state it: free for academic research only, to be cited as S. Verwer,
    R. Eyraud and C. de la Higuera, *PAutomaC: a probabilistic automata and hidden Markov models
    learning competition*, Machine Learning 96, 2014. Files: ``n.pautomac.train``,
    ``n.pautomac.test``, ``n.pautomac_solution.txt`` and ``n.pautomac_model.txt``.
    """
    check("n", n, Integer(1, 48))
    train_path, test_path, solution_path, model_path = (
        find_file(sources.pautomac(n, suffix), data_home)
        for suffix in (".train", ".test", "_solution.txt", "_model.txt")
    )
    train = read_corpus(train_path, "pautomac")
    test = read_corpus(test_path, "pautomac", alphabet=train.alphabet)
    solution = read_solution(solution_path)
    if len(solution) != len(test):
        raise InvalidData(
            f"{solution_path} must have one probability for each of the {len(test)} test strings; "
            f"it has {len(solution)}."
        )
    solution.setflags(write=False)
    model = _widened(read_pautomac_model(model_path), train.alphabet, str(model_path))
    return Problem(train, test, solution, model, f"pautomac-{n}")


def _widened(model: PFA, alphabet: Alphabet, path: str) -> PFA:
    """Give a machine the symbols it never emits, which its file does not mention."""
    if model.alphabet == alphabet:
        return model
    if model.n_symbols > len(alphabet):
        raise InvalidData(
            f"{path} must be a machine over the {len(alphabet)} symbols of the strings; "
            f"it has {model.n_symbols}."
        )
    operators = np.zeros((len(alphabet), model.n_states, model.n_states))
    operators[: model.n_symbols] = model.transitions
    return PFA(model.initial, operators, model.final, alphabet)


def load_ptb_tags(*, data_home: DataHome = None) -> Splits[Corpus]:
    """Load the Penn Treebank as sequences of 11 coarse part-of-speech tags.

    The 48,825 sequences are cut as by Balle, Hamilton and Pineau (2014): the first 5,000 for
    validation (``dev``), the next 5,000 for ``test``, the rest to ``train``. Tags are the integers
    0 to 10; the source does not say what each stands for. The empty first line is dropped.

    Notes
    -----
    Licence: the repository that carries the file is under the Apache License 2.0; the Penn
    Treebank itself is licensed by the Linguistic Data Consortium. Treat as for research only, and
    do not publish the sequences further.
    """
    corpus = read_corpus(find_file(sources.ptb_tags(), data_home), "treba")
    corpus = corpus[corpus.lengths > 0]  # type: ignore[call-overload]
    held_out = _PTB_DEV + _PTB_TEST
    return Splits(corpus[held_out:], corpus[:_PTB_DEV], corpus[_PTB_DEV:held_out], name="ptb-tags")


def load_wikipedia_text(*, chunk: int | None = 500, data_home: DataHome = None) -> Corpus:
    """Load 12 million characters of English Wikipedia, cut into runs of characters.

    Parameters
    ----------
    chunk : int or None
        Characters in each sequence (the last may be shorter); None for one long sequence.
    data_home : path, optional
        Where to look first, and where to put what is downloaded.

    Notes
    -----
    769 articles of 2015, plain text. Licence: CC BY-SA 3.0 and GFDL, authors as in each article's
    history.
    """
    check("chunk", chunk, AnyOf(Integer(1), Nothing()))
    path = find_file(sources.wikipedia_text(), data_home)
    return read_corpus(path, "chunks", chunk=chunk or MAX_LINE)
