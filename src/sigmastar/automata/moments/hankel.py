"""Hankel blocks of a basis: H(u, v) = f(uv), H_σ(u, v) = f(uσv) and the vectors at their rim.

``f`` is one of three statistics of a sample, each additive over sequences: the frequency of a
*string*, of a *prefix*, or the mean number of occurrences of a *substring*. All entries are counts
of n-grams divided by the number of sequences, so one table of counts fills everything, completely:
u·σ·v may be longer than any string of the basis.

Source: Balle, Hamilton, Pineau (2014), sections 2 and 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy import sparse

from sigmastar.automata.moments.basis import SIDES, Basis, build_trie
from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.core.memory import check_memory
from sigmastar.core.progress import stage
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.ngrams.counts import CodeArray, NgramCounts, Statistic
from sigmastar.ngrams.kernels.windows import StringTrie, add_to_parents, hankel_entries

__all__ = [
    "HankelMoments",
    "Normalize",
    "SymbolBlocks",
    "hankel_moments",
    "needed_depth",
    "scaling_exponent",
    "scaling_exponents",
]

Normalize: TypeAlias = bool | float | Literal["auto"]

_DENSE_ENTRIES = 30_000_000  # above this many entries, the blocks of the symbols stay sparse
_SPARSE_SHARE = 0.1  # a large block with fewer entries than this share stays sparse
_CHUNK = 1 << 21  # windows whose sparse entries are listed at a time
_SHIFT = 5.0  # keeps rare strings from being blown up (cohen2013)


@dataclass(frozen=True, eq=False)
class SymbolBlocks:
    """The blocks H_σ of all symbols, dense or as sparse counts of suffix *nodes*.

    ``dense`` is (n_symbols, rows, columns). Otherwise ``counts`` is sparse with one row for each
    (symbol, prefix) and one column for each node of the suffixes' trie, and ``closure`` (nodes ×
    columns, zeros and ones) tells which suffixes a node begins with: H_σ = counts_σ · closure / m.
    """

    n_symbols: int
    shape: tuple[int, int]
    scale: float
    dense: FloatArray | None
    counts: Any = None
    closure: Any = None

    def block(self, symbol: int) -> FloatArray:
        """Return one block as a dense array."""
        if self.dense is not None:
            whole: FloatArray = self.dense[symbol]
            return whole
        return np.asarray((self._counts(symbol) @ self.closure).toarray() * self.scale)

    def _counts(self, symbol: int) -> Any:
        return self.counts[symbol * self.shape[0] : (symbol + 1) * self.shape[0]]

    def rows(self, symbols: IndexArray, prefixes: IndexArray) -> FloatArray:
        """Return the rows of some prefixes (by number) in the blocks of some symbols."""
        if self.dense is not None:
            return np.asarray(self.dense[symbols, prefixes])
        counts = self.counts[symbols * self.shape[0] + prefixes]
        return np.asarray((counts @ self.closure).toarray() * self.scale)

    def project(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return left · H_σ · right for all symbols."""
        result = np.empty((self.n_symbols, len(left), right.shape[1]))
        if self.dense is not None:
            for symbol in range(self.n_symbols):
                np.matmul(left @ self.dense[symbol], right, out=result[symbol])
            return result
        closed = self.closure @ right
        for symbol in range(self.n_symbols):
            np.matmul(left, self._counts(symbol) @ closed, out=result[symbol])
        return result * self.scale

    def total(self) -> FloatArray:
        """Return the sum of the blocks of all symbols."""
        if self.dense is not None:
            return np.asarray(self.dense.sum(axis=0))
        summed: Any = sum(self._counts(symbol) for symbol in range(self.n_symbols))
        return np.asarray((summed @ self.closure).toarray() * self.scale)

    def left(self, weights: FloatArray) -> FloatArray:
        """Return weightsᵀ · H_σ for all symbols, shape (n_symbols, columns)."""
        if self.dense is not None:
            return np.asarray(np.matmul(weights, self.dense))
        tiled = sparse.kron(sparse.eye_array(self.n_symbols), weights[None, :], format="csr")
        return np.asarray((tiled @ self.counts @ self.closure).toarray() * self.scale)

    def right(self, right: FloatArray) -> FloatArray:
        """Return H_σ · right for all symbols."""
        if self.dense is not None:
            return np.asarray(np.matmul(self.dense, right))
        product = (self.counts @ (self.closure @ right)) * self.scale
        return np.asarray(product).reshape(self.n_symbols, self.shape[0], right.shape[1])


@dataclass(frozen=True, eq=False)
class HankelMoments:
    """What a method of moments learns from.

    Parameters
    ----------
    alphabet : Alphabet
        What the codes of the basis stand for.
    statistics : {"string", "prefix", "substring"}
        What ``f`` is.
    basis : Basis
        Strings of the rows and columns.
    block : array or sparse matrix (rows, columns)
        H.
    symbol_blocks : SymbolBlocks
        The H_σ.
    row, column : array
        f(v) for all suffixes v, and f(u) for all prefixes u.
    start_row, end_column : array
        Probability that a sequence begins with v (for strings: is v); the statistic of u at the
        end of a sequence. They estimate the automaton's initial and final weights directly.
    mass, next_mass : array (rows,), (n_symbols, rows)
        How much probability passes through u (prefix probability, or expected occurrences for
        substrings), and how much of it goes on with each symbol; the rest ends.
    row_counts, column_counts : array
        How often the strings of the basis were seen; infinite for exact moments.
    n_sequences : float
        How many sequences were counted (infinite for exact moments).
    """

    alphabet: Alphabet
    statistics: Statistic
    basis: Basis
    block: Any
    symbol_blocks: SymbolBlocks
    row: FloatArray
    column: FloatArray
    start_row: FloatArray
    end_column: FloatArray
    mass: FloatArray
    next_mass: FloatArray
    row_counts: FloatArray
    column_counts: FloatArray
    n_sequences: float

    @property
    def shape(self) -> tuple[int, int]:
        """How many prefixes and suffixes there are."""
        return self.basis.shape

    @property
    def n_symbols(self) -> int:
        """How many symbols the alphabet has."""
        return self.basis.n_symbols

    def variance_scales(self, exponent: float = 0.5) -> tuple[FloatArray, FloatArray]:
        """Return the factors (m / (count + 5))^exponent of rows and columns.

        The variance of an entry grows with its expectation, so frequent strings would dominate a
        least-squares fit; at one half, the factors bring rows and columns to a like variance. At
        zero, and for exact moments, they are ones.
        """
        if not np.isfinite(self.n_sequences):
            return np.ones(self.shape[0]), np.ones(self.shape[1])
        return (
            (self.n_sequences / (self.row_counts + _SHIFT)) ** exponent,
            (self.n_sequences / (self.column_counts + _SHIFT)) ** exponent,
        )


def scaling_exponent(normalize: Normalize, usual: float = 0.5) -> float:
    """Return the power of the variance scaling: True is one half, False none, "auto" the usual."""
    if normalize == "auto":
        return usual
    return 0.5 if normalize is True else float(normalize)


def scaling_exponents(normalize: Normalize, tried: tuple[float, ...]) -> tuple[float, ...]:
    """Return the powers to choose among: those ``tried`` if the choice is left to "auto"."""
    return tried if normalize == "auto" else (scaling_exponent(normalize),)


def needed_depth(basis: Basis, statistics: Statistic) -> int:
    """Return how deep the counts must be to fill the blocks of a basis."""
    return basis.depth + (1 if statistics == "string" else 0)


def hankel_moments(
    counts: NgramCounts, basis: Basis, statistics: Statistic, alphabet: Alphabet
) -> HankelMoments:
    """Fill the blocks of a basis from counts.

    Parameters
    ----------
    counts : NgramCounts
        At least as deep as the longest prefix, a symbol and the longest suffix together.
    basis : Basis
        The rows and columns.
    statistics : {"substring", "prefix", "string"}
        Which function of strings is tabulated.
    alphabet : Alphabet
        The coding that was counted with.

    Examples
    --------
    >>> import sigmastar as ss
    >>> corpus = ss.Corpus.from_sequences(["ab", "abb"])
    >>> counts = ss.moments.count_ngrams(corpus, 3)
    >>> basis = ss.moments.all_basis(2, 1)
    >>> hankel_moments(counts, basis, "prefix", corpus.alphabet).block.tolist()
    [[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    """
    if counts.n_sequences == 0:
        raise InvalidData("moments need at least one sequence; the counts are empty.")
    depth = needed_depth(basis, statistics)
    if counts.depth < depth:
        raise InvalidParameter(
            f"counts must be at least {depth} deep for this basis and {statistics} statistics; "
            f"they are {counts.depth} deep. Count deeper or shorten the basis."
        )
    check_memory(
        40.0 * basis.n_symbols * basis.shape[0],  # what follows each prefix, and how it is counted
        f"Moments of {basis.shape[0]:,} prefixes over {basis.n_symbols:,} symbols",
        "Lower basis_size, or map rare symbols to one (unknown='unk').",
    )
    block, blocks = _count(counts, statistics, basis)
    scale = np.float64(1.0 / counts.n_sequences)
    suffixes = (basis.suffix_codes, basis.suffix_lengths)
    prefixes = (basis.prefix_codes, basis.prefix_lengths)
    sides = SIDES[statistics]
    at_start: Statistic = "string" if statistics == "string" else "prefix"
    through: Statistic = "substring" if statistics == "substring" else "prefix"
    at_end: Statistic = "suffix" if statistics == "substring" else "string"
    going_on = counts.count(*_extended(basis, counts.bits), through)
    return HankelMoments(
        alphabet=alphabet,
        statistics=statistics,
        basis=basis,
        block=block,
        symbol_blocks=blocks,
        row=counts.count(*suffixes, statistics) * scale,
        column=counts.count(*prefixes, statistics) * scale,
        start_row=counts.count(*suffixes, at_start) * scale,
        end_column=counts.count(*prefixes, at_end) * scale,
        mass=counts.count(*prefixes, through) * scale,
        next_mass=going_on.reshape(basis.n_symbols, -1) * scale,
        row_counts=counts.count(*prefixes, sides[0]).astype(np.float64),
        column_counts=counts.count(*suffixes, sides[1]).astype(np.float64),
        n_sequences=counts.n_sequences,
    )


def _count(counts: NgramCounts, statistics: Statistic, basis: Basis) -> tuple[Any, SymbolBlocks]:
    """Count u·v and u·σ·v for all strings of a basis, densely if that fits."""
    codes, totals = counts.table(statistics)
    whole = statistics == "string"
    prefixes = build_trie(basis.prefixes, basis.n_symbols)
    suffixes = build_trie(basis.suffixes, basis.n_symbols)
    n_rows, n_nodes, n_symbols = basis.shape[0], len(suffixes.member), basis.n_symbols
    scale = np.float64(1.0 / counts.n_sequences)
    listed, none = np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=np.int64)
    size = (n_symbols + 1) * n_rows * n_nodes
    if size <= _DENSE_ENTRIES:
        table = np.zeros(size, dtype=np.int64)
        steps = 40 * len(codes) * counts.depth + 4 * prefixes.children.size
        hankel_entries.sized(steps)(
            codes, totals, counts.bits, whole, prefixes, suffixes.children, table, listed
        )
        nodes = table.reshape((n_symbols + 1) * n_rows, n_nodes)
        if not whole:
            add_to_parents.sized(2 * nodes.size)(nodes, suffixes.parent)
        dense = nodes[:, _places(suffixes)].reshape(n_symbols + 1, n_rows, -1) * scale
        return dense[-1], SymbolBlocks(n_symbols, basis.shape, scale, dense[:-1])
    closure = _closure(suffixes, basis.shape[1], whole)
    shape = ((n_symbols + 1) * n_rows, n_nodes)
    every: Any = sparse.csr_array(shape, dtype=np.float64)
    with stage("Filling the Hankel blocks", len(codes)) as progress:
        for first in range(0, len(codes), _CHUNK):
            part = slice(first, first + _CHUNK)
            tries = counts.bits, whole, prefixes, suffixes.children, none
            n_entries = hankel_entries(codes[part], totals[part], *tries, listed)
            entries = np.empty((n_entries, 2), dtype=np.int64)
            hankel_entries(codes[part], totals[part], *tries, entries)
            places = np.divmod(entries[:, 0], n_nodes)
            values = entries[:, 1].astype(np.float64)
            every = every + sparse.coo_array((values, places), shape=shape).tocsr()
            progress.advance(len(codes[part]))
    plain = every[n_symbols * n_rows :] @ closure * scale
    few = plain.nnz < _SPARSE_SHARE * plain.shape[0] * plain.shape[1]
    blocks = SymbolBlocks(n_symbols, basis.shape, scale, None, every[: n_symbols * n_rows], closure)
    return plain if few else plain.toarray(), blocks


def _extended(basis: Basis, bits: int) -> tuple[CodeArray, IndexArray]:
    """Return codes and lengths of all prefixes followed by each symbol, symbol by symbol."""
    lengths = basis.prefix_lengths + 1
    shift = (64 - bits * lengths).astype(np.uint64)
    symbols = np.arange(1, basis.n_symbols + 1, dtype=np.uint64)[:, None]
    codes = basis.prefix_codes | (symbols << shift)
    return codes.reshape(-1), np.tile(lengths, basis.n_symbols)


def _places(trie: StringTrie) -> IndexArray:
    """Return the node of each string."""
    nodes = np.flatnonzero(trie.member >= 0)
    return nodes[np.argsort(trie.member[nodes])]


def _closure(trie: StringTrie, n_strings: int, whole: bool) -> Any:
    """Return the 0/1 matrix that tells which strings each node of their trie begins with.

    With ``whole``, which string it is.
    """
    rows, columns = [], []
    parent, member = trie.parent.tolist(), trie.member.tolist()
    for node in range(len(parent)):
        above = node
        while above >= 0:
            if member[above] >= 0:
                rows.append(node)
                columns.append(member[above])
            above = -1 if whole else parent[above]
    ones = np.ones(len(rows))
    return sparse.csr_array((ones, (rows, columns)), shape=(len(parent), n_strings))
