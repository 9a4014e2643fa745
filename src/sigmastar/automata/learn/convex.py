"""Convex learning of a weighted automaton: low rank by the nuclear norm instead of truncation.

Problem: with λ among prefixes and suffixes, B_σ = P A_σ P⁺ satisfies B_σ H = H_σ and has rank at
most that of f. So solve, for the stacked blocks,

    min_M ‖M H − H_Σ‖²_F + τ ‖M‖_*

and take the operators from the blocks of M, initial = e_λ, final = h_{P,λ}. For the automaton of
strings the row of M that predicts the beginnings of sequences (one more row of H_Σ) gives the
initial weights, and the counts of prefixes at the end the final ones.

All operators map into the row space of M, so the automaton is stated in that space: rank(M) states
instead of one for each prefix. The norm also shrinks what it keeps; with ``refit`` the
operators are fitted anew without penalty inside that space.

Source: Balle, Quattoni, Carreras (2012); Balle, Hamilton, Pineau (2014), section 3.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from sigmastar.automata.learn.blocks.nuclear import NuclearProblem, NuclearSolution
from sigmastar.automata.models.wfa import WFA
from sigmastar.automata.moments.hankel import HankelMoments
from sigmastar.core.blas import one_blas_thread
from sigmastar.core.linalg.svd import as_dense
from sigmastar.core.types import FloatArray, Learned

__all__ = ["ConvexProblem", "convex_path", "learn_convex"]

_NOISE = 1e-7  # singular values of M below this share of the first count as zero


@dataclass(frozen=True, eq=False)
class ConvexProblem:
    """The regression of stacked Hankel blocks on the plain one, rows and columns scaled."""

    moments: HankelMoments
    rows: FloatArray
    columns: FloatArray
    plain: FloatArray
    problem: NuclearProblem

    @classmethod
    def of(cls, moments: HankelMoments, exponent: float = 0.5) -> ConvexProblem:
        """Set up the problem; ``exponent`` is that of the variance scaling."""
        moments.basis.require_empty("convex learning")
        rows, columns = moments.variance_scales(exponent)
        block = as_dense(moments.block)
        plain = block * rows[:, None] * columns
        with one_blas_thread():
            cross = moments.symbol_blocks.right(columns[:, None] * plain.T) * rows[:, None]
            begin = moments.start_row * columns
            size = float(begin @ begin)
            for symbol in range(moments.n_symbols):
                here = moments.symbol_blocks.block(symbol) * rows[:, None] * columns
                size += float(np.sum(np.square(here)))
            stacked = np.vstack([cross.reshape(-1, len(rows)), begin @ plain.T])
            problem = NuclearProblem(plain @ plain.T, stacked, size)
        return cls(moments, rows, columns, plain, problem)

    def model(self, solution: NuclearSolution, *, refit: bool) -> WFA:
        """State the automaton in the row space of M."""
        with one_blas_thread():
            matrix = self.problem.matrix(solution)
            _, values, right = linalg.svd(solution.x, full_matrices=False, check_finite=False)
            rank = max(int(np.count_nonzero(values > _NOISE * max(values[0], 1e-300))), 1)
            space = (right[:rank] @ self.problem.vectors.T).T  # prefixes × rank
            if refit:
                seen = space.T @ self.plain
                gram = seen @ seen.T
                ridge = 1e-12 * np.trace(gram) / rank * np.eye(rank)
                stacked = self.problem.left @ (self.problem.cross @ self.problem.vectors.T)
                inside = linalg.solve(gram + ridge, (stacked @ space).T, assume_a="pos").T
            else:
                inside = matrix @ space
            operators = inside[:-1].reshape(self.moments.n_symbols, -1, rank)
            transitions = np.matmul(space.T, operators)
            final = space.T @ (self.rows * self.moments.end_column)
        return WFA(inside[-1], transitions, final, self.moments.alphabet)


def convex_path(
    problem: ConvexProblem,
    taus: Sequence[float],
    *,
    refit: bool = False,
    tol: float = 1e-4,
    max_iter: int = 500,
) -> Iterator[Learned[WFA]]:
    """Yield the automata for decreasing τ, each solution started from the one before."""
    solution: NuclearSolution | None = None
    for tau in taus:
        solution = problem.problem.solve(tau, start=solution, tol=tol, max_iter=max_iter)
        model = problem.model(solution, refit=refit)
        info = {
            "tau": tau,
            "tau_max": problem.problem.tau_max,
            "objective": solution.value,
            "duality_gap": solution.gap,
            "converged": solution.gap <= tol,
            "n_iter": solution.n_iter,
            "n_states": model.n_states,
            "basis_shape": problem.moments.shape,
        }
        yield Learned(model, info)


def learn_convex(
    moments: HankelMoments,
    *,
    tau: float,
    exponent: float = 0.5,
    refit: bool = False,
    tol: float = 1e-4,
    max_iter: int = 500,
) -> Learned[WFA]:
    """Learn a weighted automaton by nuclear-norm regularised regression.

    ``tau`` is the weight of the norm as a share of the least for which M is zero; the basis of the
    moments must hold the empty string.
    """
    problem = ConvexProblem.of(moments, exponent)
    taus = [tau * problem.problem.tau_max]
    return next(convex_path(problem, taus, refit=refit, tol=tol, max_iter=max_iter))
