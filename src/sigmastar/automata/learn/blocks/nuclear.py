"""Nuclear-norm regularised least squares, solved in the space of one small Gram matrix.

Problem: min_M F(M) = ‖M H − T‖²_F + τ ‖M‖_*, with H (p × s) and a tall T (t × s).

F depends on the data through G = H Hᵀ, C = T Hᵀ and ‖T‖² only. With C = Q R (Q orthonormal columns)
and G = E diag(g) Eᵀ every minimiser is M = Q X Eᵀ with X (at most p × p) minimising
Σ g_j X_ij² − 2⟨X, R E⟩ + τ‖X‖_*: rotations leave the nuclear norm alone, and what is orthogonal to
C can only add to it. That problem is solved by the alternating direction method of multipliers,
whose quadratic step is a division by 2g + ρ here and whose proximal step needs the eigenvectors of
XᵀX only.

Certificate: for the residual Y = M H − T and any s in [0, 1] with 2s ‖Y Hᵀ‖_op ≤ τ, the value
−2s⟨Y, T⟩ − s²‖Y‖² is a lower bound on F; the gap to it is reported.

Source: Balle, Quattoni, Carreras (2012); Boyd et al. (2011) for the method.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from sigmastar.core.blas import one_blas_thread
from sigmastar.core.types import FloatArray

__all__ = ["NuclearProblem", "NuclearSolution"]

_RELAXATION = 1.6
_USUAL = 0.7  # ratio of penalty to τ at which most problems settle
_CHECK = 10  # iterations between looks at the gap and the penalty


@dataclass(frozen=True, eq=False)
class NuclearSolution:
    """A minimiser in rotated coordinates, and how good it is.

    ``gap`` is (F − lower bound) / max(F, tiny): zero certifies optimality.
    """

    x: FloatArray
    tau: float
    value: float
    gap: float
    n_iter: int
    penalty: float
    dual: FloatArray


class NuclearProblem:
    """One data set, to be solved for many τ.

    Parameters
    ----------
    gram : array (p, p)
        H Hᵀ.
    cross : array (t, p)
        T Hᵀ.
    target_square : float
        ‖T‖²_F.
    """

    def __init__(self, gram: FloatArray, cross: FloatArray, target_square: float) -> None:
        with one_blas_thread():
            values, self.vectors = linalg.eigh(gram)
            self.left, right = linalg.qr(cross, mode="economic")
            self.cross = right @ self.vectors
            self.top = float(linalg.norm(cross, 2))
        self.values = np.maximum(values, 0.0)
        self.target_square = target_square

    @property
    def tau_max(self) -> float:
        """The least τ whose solution is zero."""
        return 2.0 * self.top

    def matrix(self, solution: NuclearSolution) -> FloatArray:
        """Return M of a solution."""
        return self.left @ solution.x @ self.vectors.T

    def solve(
        self,
        tau: float,
        *,
        start: NuclearSolution | None = None,
        tol: float = 1e-6,
        max_iter: int = 1000,
    ) -> NuclearSolution:
        """Minimise for one τ, from zero or from the solution of a neighbouring τ."""
        with one_blas_thread():
            return self._solve(tau, start, tol, max_iter)

    def _solve(
        self, tau: float, start: NuclearSolution | None, tol: float, max_iter: int
    ) -> NuclearSolution:
        if start is None:
            z = np.zeros_like(self.cross)
            dual = np.zeros_like(self.cross)  # the multiplier itself, not divided by ρ
            penalty = _USUAL * tau
        else:
            # Singular values to be cut scale with τ / ρ: keep their ratio.
            z, dual, penalty = start.x, start.dual, start.penalty * tau / start.tau
        value, gap = self.certify(z, tau)
        iteration = 0
        while gap > tol and iteration < max_iter:
            iteration += 1
            x = (2.0 * self.cross + penalty * z - dual) / (2.0 * self.values + penalty)
            relaxed = _RELAXATION * x + (1.0 - _RELAXATION) * z
            before = z
            z = shrink(relaxed + dual / penalty, tau / penalty)
            dual = dual + penalty * (relaxed - z)
            if iteration % _CHECK == 0:
                value, gap = self.certify(z, tau)
                # Balance what is left of both conditions, each relative to its own size: small τ
                # means small multipliers, and absolute residuals would favour too large a penalty.
                primal = float(linalg.norm(x - z)) / max(float(linalg.norm(z)), 1e-300)
                change = penalty * float(linalg.norm(z - before))
                change /= max(float(linalg.norm(dual)), 1e-300)
                if primal > 2.0 * change:
                    penalty *= 1.5
                elif change > 2.0 * primal:
                    penalty /= 1.5
        return NuclearSolution(
            x=z, tau=tau, value=value, gap=gap, n_iter=iteration, penalty=penalty, dual=dual
        )

    def certify(self, x: FloatArray, tau: float) -> tuple[float, float]:
        """Return F and its relative distance to the best scaled dual bound."""
        quadratic = float(np.sum(np.square(x) * self.values))
        linear = float(np.sum(x * self.cross))
        fit = quadratic - 2.0 * linear + self.target_square
        slope = float(linalg.norm(x * self.values - self.cross, 2))
        nuclear = float(linalg.svdvals(x).sum())
        value = fit + tau * nuclear
        inner = linear - self.target_square  # ⟨Y, T⟩
        most = min(1.0, tau / (2.0 * slope)) if slope > 0 else 1.0
        scale = min(max(-inner / fit, 0.0), most) if fit > 0 else most
        bound = -2.0 * scale * inner - scale**2 * fit
        return value, max(value - bound, 0.0) / max(value, 1e-300)


def shrink(matrix: FloatArray, threshold: float) -> FloatArray:
    """Soften the singular values: the proximal map of threshold · ‖·‖_*."""
    squares, vectors = linalg.eigh(matrix.T @ matrix, check_finite=False, driver="evd")
    sizes = np.sqrt(np.maximum(squares, 0.0))
    kept = sizes > threshold
    basis = vectors[:, kept]
    result: FloatArray = (matrix @ (basis * (1.0 - threshold / sizes[kept]))) @ basis.T
    return result
