"""Expected counts of a PFA over a corpus: the E-step of Baum–Welch.

The corpus is laid out once as blocks of neighbouring sequences, each with its own prefix tree.
Of a part of a larger whole only the sorted text is kept, and the tree of a block is grown when a
pass comes to it. Threads take blocks as they come, and block results are added in the order of the
blocks: the sum is the same, bit for bit, for any number of threads. A thread holds the forward
vectors of one block only. Where so few arcs are not zero that going along them is faster than
products of matrices, that is what passes do (:mod:`sigmastar.automata.inference.arc_lists`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import NamedTuple, TypeVar, overload

import numpy as np

from sigmastar.automata.inference.arc_lists import (
    SparseSpace,
    SparseTree,
    arc_list,
    list_pays,
    sparse_sums,
)
from sigmastar.automata.inference.tree import PrefixTree
from sigmastar.automata.inference.tree_blocks import SortedText, blocks_of_trees, text_to_keep
from sigmastar.automata.kernels.em import (
    Buffers,
    Sums,
    TreeNodes,
    adjoint_pass,
    forward_pass,
    tree_likelihood,
)
from sigmastar.automata.kernels.forward import SMALL_TREE
from sigmastar.automata.kernels.sparse_em import ArcList
from sigmastar.core.blas import one_blas_thread
from sigmastar.core.threads import available_threads
from sigmastar.core.types import FloatArray
from sigmastar.corpus.corpus import Corpus

__all__ = ["ExpectedCounts", "Forest", "thread_count"]


@dataclass(frozen=True)
class ExpectedCounts:
    """Expected uses of every parameter, and the log-likelihood they were computed at.

    ``impossible`` is the weight of the sequences that the parameters cannot produce at all; they
    take no part in the other fields.
    """

    initial: FloatArray
    transitions: FloatArray
    final: FloatArray
    log_likelihood: float
    impossible: float


_T = TypeVar("_T")


class _Parameters(NamedTuple):
    """Weights of an automaton: its operators and their transposes, or a list of its arcs."""

    initial: FloatArray
    transitions: FloatArray
    transposed: FloatArray
    final: FloatArray
    arcs: ArcList | None


@dataclass(frozen=True)
class _Block:
    nodes: TreeNodes
    end_weights: FloatArray
    widest_group: int
    widest_level: int


class _Widest(NamedTuple):
    """Bounds of what a pass over any one block takes: nodes, those of a run, those of a level."""

    nodes: int
    group: int
    level: int


class _Grown(Sequence[_Block]):
    """Blocks whose trees are grown each time somebody asks for them."""

    def __init__(self, text: SortedText) -> None:
        self.text = text
        self.n_nodes = text.n_nodes()

    def __len__(self) -> int:
        return len(self.text)

    @overload
    def __getitem__(self, number: int) -> _Block: ...
    @overload
    def __getitem__(self, number: slice) -> list[_Block]: ...
    def __getitem__(self, number: int | slice) -> _Block | list[_Block]:
        if isinstance(number, slice):
            return [self[i] for i in range(len(self))[number]]
        if not 0 <= number < len(self):
            raise IndexError(number)
        return _block(self.text.tree(number), None)

    def widest(self) -> _Widest:
        # A level has no more nodes than sequences reach it.
        rows = int(np.diff(self.text.firsts).max())
        return _Widest(max(self.n_nodes), rows, rows)


class _Workspace:
    """Arrays for one pass over one block at a time; kept, since fresh pages cost time."""

    def __init__(self, widest: _Widest, n: int) -> None:
        nodes, group, level = widest
        self.n = n
        self.alpha = np.empty((nodes, n))
        self.scale = np.empty(nodes)
        self.buffers = Buffers(
            rows=np.empty((group, n)),
            adjoint=np.empty((group, n)),
            lower=np.empty((level, n)),
            upper=np.empty((level, n)),
            block=np.empty((n, n)),
        )


class Forest:
    """A corpus laid out for repeated passes: blocks of sequences, each with its prefix tree.

    Parameters
    ----------
    corpus : Corpus
        The sequences.
    weights : array (n_sequences,), optional
        Non-negative weight of each sequence; one by default.
    n_states : int
        Size of the models to come; bounds the memory of a block.
    compact : bool
        Keep a large corpus without weights as sorted text, and grow trees anew in each pass, unless
        sequences share so much that trees are not much larger.
    """

    def __init__(
        self,
        corpus: Corpus,
        weights: FloatArray | None = None,
        *,
        n_states: int = 32,
        compact: bool = False,
    ) -> None:
        self.n_symbols = len(corpus.alphabet)
        self.weight = float(len(corpus)) if weights is None else float(weights.sum())
        self._blocks: list[_Block] | _Grown
        if compact and weights is None and (text := text_to_keep(corpus, n_states)) is not None:
            self._blocks = _Grown(text)
            self._widest, self.n_nodes = self._blocks.widest(), sum(self._blocks.n_nodes)
        else:
            self._blocks = [
                _block(tree, None if weights is None else weights[rows])
                for rows, tree in blocks_of_trees(corpus, n_states)
            ]
            self._widest = _widest(self._blocks)
            self.n_nodes = sum(len(block.nodes.parent) for block in self._blocks)
        self._spare: dict[int, list[_Workspace]] = {}
        self._spare_sparse: dict[int, list[SparseSpace]] = {}

    def __getstate__(self) -> dict[str, object]:
        return self.__dict__ | {"_spare": {}, "_spare_sparse": {}}

    def __sizeof__(self) -> int:
        if isinstance(self._blocks, _Grown):
            return sys.getsizeof(self._blocks.text)
        arrays = (array for block in self._blocks for array in (*block.nodes, block.end_weights))
        return sum(array.nbytes for array in arrays)

    @property
    def n_blocks(self) -> int:
        """How many blocks there are."""
        return len(self._blocks)

    def expected_counts(
        self,
        initial: FloatArray,
        transitions: FloatArray,
        final: FloatArray,
        *,
        n_jobs: int | None = None,
    ) -> ExpectedCounts:
        """Return the expected counts of non-negative parameters over the corpus."""
        parameters = self._prepared(initial, transitions, final, adjoint=True)
        listed = parameters.arcs is not None
        arcs = np.zeros(np.count_nonzero(transitions)) if listed else np.zeros_like(transitions)
        finals = np.zeros_like(final)
        starts = np.zeros_like(initial)
        likelihood = impossible = 0.0
        with self._blas(len(initial)):
            for sums, value, lost in self._map(self._sums, n_jobs, parameters):
                arcs += sums.arcs
                finals += sums.finals
                starts += sums.starts
                likelihood += value
                impossible += lost
        self._tidy()
        if listed:
            by_arc, arcs = arcs, np.zeros_like(transitions)
            arcs[transitions != 0.0] = by_arc
        return ExpectedCounts(
            initial * starts, transitions * arcs, final * finals, likelihood, impossible
        )

    def log_likelihood(
        self,
        initial: FloatArray,
        transitions: FloatArray,
        final: FloatArray,
        *,
        n_jobs: int | None = None,
    ) -> tuple[float, float]:
        """Return the log-likelihood of what is possible, and the weight of what is not."""
        parameters = self._prepared(initial, transitions, final, adjoint=False)
        with self._blas(len(initial)):
            values = list(self._map(self._likelihood, n_jobs, parameters))
        self._tidy()
        return sum(value for value, _ in values), sum(lost for _, lost in values)

    def _prepared(
        self, initial: FloatArray, transitions: FloatArray, final: FloatArray, *, adjoint: bool
    ) -> _Parameters:
        """Lay out weights for the passes to come: by a list of arcs where that is faster."""
        arcs = self._listed(initial, transitions)
        transposed = transitions
        if adjoint and arcs is None:
            transposed = np.ascontiguousarray(transitions.transpose(0, 2, 1))
        return _Parameters(
            _frozen(initial), _frozen(transitions), _frozen(transposed), _frozen(final), arcs
        )

    def _listed(self, initial: FloatArray, transitions: FloatArray) -> ArcList | None:
        """List the arcs if that is the faster way; the first block is asked for all."""
        small = self.n_nodes * len(initial) ** 2 <= SMALL_TREE  # may be passed in plain Python
        if small or 4 * np.count_nonzero(transitions) > transitions.size:
            return None
        arcs = arc_list(transitions)
        space = self._sparse_space(len(initial))
        pays = list_pays(_sparse_tree(self._blocks[0]), _frozen(initial), arcs, space)
        self._keep_sparse(len(initial), space)
        return arcs if pays else None

    def _sparse_space(self, n: int) -> SparseSpace:
        try:
            return self._spare_sparse[n].pop()
        except (KeyError, IndexError):
            return SparseSpace(self._widest.nodes, n)

    def _keep_sparse(self, n: int, space: SparseSpace) -> None:
        if n not in self._spare_sparse and len(self._spare_sparse) >= 3:
            self._spare_sparse = {}
        self._spare_sparse.setdefault(n, []).append(space)

    def _blas(self, n: int) -> AbstractContextManager[None]:
        """Keep BLAS to one thread, if kernels call it."""
        return nullcontext() if self.n_nodes * n * n <= SMALL_TREE else one_blas_thread()

    def _map(
        self,
        function: Callable[[_Block, _Parameters], _T],
        n_jobs: int | None,
        parameters: _Parameters,
    ) -> Iterator[_T]:
        """Apply a function to every block; results come in the order of the blocks."""
        workers = min(thread_count(n_jobs), len(self._blocks))
        if workers <= 1:
            yield from (function(block, parameters) for block in self._blocks)
            return
        with ThreadPoolExecutor(workers) as pool:
            yield from pool.map(lambda block: function(block, parameters), self._blocks)

    def _forward(self, block: _Block, parameters: _Parameters) -> _Workspace:
        initial, transitions = parameters.initial, parameters.transitions
        n = len(initial)
        try:
            space = self._spare[n].pop()
        except (KeyError, IndexError):
            space = _Workspace(self._widest, n)
        forward_pass.sized(_steps(block, n))(
            block.nodes, initial, transitions, space.alpha, space.scale, space.buffers.rows
        )
        return space

    def _keep(self, space: _Workspace) -> None:
        """Keep a workspace for the next pass; those of sizes gone by are let go."""
        if space.n not in self._spare and len(self._spare) >= 3:
            self._spare = {}
        self._spare.setdefault(space.n, []).append(space)

    def _tidy(self) -> None:
        """Let go of work space where memory is dear: there may be hundreds of other parts."""
        if isinstance(self._blocks, _Grown):
            self._spare, self._spare_sparse = {}, {}

    def _over_list(
        self, block: _Block, parameters: _Parameters, arcs: ArcList, *, counting: bool
    ) -> tuple[Sums, float, float]:
        """Pass a block along the arcs that there are."""
        n = len(parameters.initial)
        space = self._sparse_space(n)
        weights = parameters.initial, arcs, parameters.final
        result = sparse_sums(_sparse_tree(block), weights, space, counting=counting)
        self._keep_sparse(n, space)
        return result

    def _likelihood(self, block: _Block, parameters: _Parameters) -> tuple[float, float]:
        if parameters.arcs is not None:
            return self._over_list(block, parameters, parameters.arcs, counting=False)[1:]
        space = self._forward(block, parameters)
        add_up = tree_likelihood.sized(_steps(block, space.n))
        likelihood, impossible = add_up(
            block.nodes.parent, block.end_weights, parameters.final, space.alpha, space.scale
        )
        self._keep(space)
        return float(likelihood), float(impossible)

    def _sums(self, block: _Block, parameters: _Parameters) -> tuple[Sums, float, float]:
        initial, transitions, transposed, final, arcs = parameters
        if arcs is not None:
            return self._over_list(block, parameters, arcs, counting=True)
        n = len(initial)
        space = self._forward(block, parameters)
        sums = Sums(arcs=np.zeros_like(transitions), finals=np.zeros(n), starts=np.zeros(n))
        likelihood, impossible = adjoint_pass.sized(3 * _steps(block, n))(
            block.nodes,
            block.end_weights,
            transposed,
            final,
            space.alpha,
            space.scale,
            space.buffers,
            sums,
        )
        self._keep(space)
        return sums, float(likelihood), float(impossible)


def _sparse_tree(block: _Block) -> SparseTree:
    return SparseTree(block.nodes.parent, block.nodes.symbol, block.end_weights)


def _steps(block: _Block, n: int) -> int:
    """Return about how many steps a pass over a block takes, if it is small enough to count."""
    nodes = len(block.nodes.parent)
    return nodes * (n + 10) ** 2 if nodes * n * n <= SMALL_TREE else sys.maxsize


def _frozen(array: FloatArray) -> FloatArray:
    """View an array as read-only, as a model's are: kernels are then compiled for one type only."""
    view = array.view()
    view.setflags(write=False)
    return view


def thread_count(n_jobs: int | None) -> int:
    """Turn scikit-learn's ``n_jobs`` into a number of threads (None or -1: all cores)."""
    if n_jobs is None or n_jobs < 0:
        return max(1, available_threads() + 1 + (-1 if n_jobs is None else n_jobs))
    return n_jobs


def _block(tree: PrefixTree, weights: FloatArray | None) -> _Block:
    return _Block(
        TreeNodes(tree.parent, tree.symbol, tree.group_starts, tree.level_starts),
        np.bincount(tree.ends, weights=weights, minlength=tree.n_nodes).astype(np.float64),
        int(np.diff(tree.group_starts).max(initial=1)),
        int(np.diff(tree.level_starts).max(initial=1)),
    )


def _widest(blocks: list[_Block]) -> _Widest:
    return _Widest(
        max((len(block.nodes.parent) for block in blocks), default=1),
        max((block.widest_group for block in blocks), default=1),
        max((block.widest_level for block in blocks), default=1),
    )
