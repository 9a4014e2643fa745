"""Spectral learning of taggers over measurements (Recasens and Quattoni, ECML 2013).

From the moments H1, H2, C and H_l^σ (:mod:`sigmastar.sensors.moments`) and a rank factorisation
H2 = F B, the tagger of theorem 1 is

    initialᵀ = H1ᵀ B⁺,   final = F⁺ H1,   O_·^σ(i, j) = (C + λ)⁻¹ [F⁺ H_·^σ B⁺](i, j).

``subspace="svd"`` factorises H2 = U Λ Vᵀ as in the paper. ``"cca"`` takes the singular vectors
of C^(-1/2) H2 C^(-1/2) instead: directions count by how well they predict, not by how much they
vary. Either way the tagger of a lower rank is the leading block of the one of a higher rank, so
one decomposition serves every number of states.

λ is ``ridge`` times the mean eigenvalue of C. Soft features overlap, C is nearly singular, and
without λ the operators would be noise.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.linalg

from sigmastar.core.errors import InvalidParameter
from sigmastar.core.linalg.svd import SVD, truncated_svd
from sigmastar.core.rules import Choice, Integer, Real, check
from sigmastar.core.types import FloatArray, Learned
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.frames import Frames
from sigmastar.sensors.model import ContinuousTagger
from sigmastar.sensors.moments import FrameMoments, frame_moments, project_triple

__all__ = ["Method", "learn_from_frames", "learn_tagger", "solve_gram"]

_NOISE = 1e-12  # singular values and eigenvalues below this share of the first are none
Triple = Callable[[FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True)
class Method:
    """Which factorisation of H2, and where a sequence begins; see :func:`learn_tagger`."""

    subspace: Literal["svd", "cca"] = "svd"
    start: Literal["stationary", "first"] = "stationary"


def learn_from_frames(
    frames: Frames,
    unlabelled: Frames | None = None,
    method: Method = Method(),
    *,
    n_states: int,
    ridge: float = 1e-5,
) -> Learned[ContinuousTagger]:
    """Learn a tagger from the features of labelled frames, and of more without labels."""
    moments = frame_moments(frames)
    if unlabelled is not None:
        moments = moments + frame_moments(unlabelled)
    return learn_tagger(
        moments,
        lambda left, right: project_triple(frames, left, right),
        frames.known_labels[1],
        n_states=n_states,
        ridge=ridge,
        subspace=method.subspace,
        start=method.start,
    )


def learn_tagger(
    moments: FrameMoments,
    triple: Triple,
    labels: Alphabet,
    *,
    n_states: int,
    ridge: float = 1e-5,
    subspace: Literal["svd", "cca"] = "svd",
    start: Literal["stationary", "first"] = "stationary",
) -> Learned[ContinuousTagger]:
    """Learn a tagger from moments.

    Parameters
    ----------
    moments : FrameMoments
        H1, H2 and C, of labelled and unlabelled sequences.
    triple : callable
        Gives Lᵀ H_l^σ R for two matrices L and R, as an array (label, feature, row, column).
    labels : Alphabet
        The labels, in the order of ``triple``.
    n_states : int
        Rank of the factorisation, at most that of H2.
    ridge : float
        λ in units of the mean eigenvalue of C.
    subspace : {"svd", "cca"}
        Which factorisation of H2.
    start : {"stationary", "first"}
        Begin a sequence anywhere in the stream (the paper), or as training sequences begin.
    """
    check("n_states", n_states, Integer(low=1))
    check("ridge", ridge, Real(low=0.0))
    check("subspace", subspace, Choice("svd", "cca"))
    check("start", start, Choice("stationary", "first"))
    gram = moments.gram
    damping = ridge * float(np.trace(gram)) / len(gram)
    left, right, values = factorise(moments.pair, gram, damping, n_states, subspace)
    if n_states > len(values):
        raise InvalidParameter(
            f"n_states must be between 1 and {len(values)} (the rank of the pair moments); "
            f"got {n_states}. Lower it, or use more features."
        )
    projected = triple(left, right)
    n_labels, n_features = projected.shape[:2]
    flat = projected.transpose(1, 0, 2, 3).reshape(n_features, -1)
    operators = solve_gram(gram, damping, flat)  # eq. 30
    operators = operators.reshape(n_features, n_labels, n_states, n_states).transpose(1, 0, 2, 3)
    begin = moments.mean if start == "stationary" else moments.first
    model = ContinuousTagger(
        initial=begin @ right,  # eq. 29
        operators=operators,
        final=left.T @ moments.mean,  # eq. 28
        labels=labels,
        typical=moments.mean,
    )
    info = {
        "singular_values": values,
        "damping": damping,
        "n_frames": moments.n_frames,
        "stationary_mass": float(moments.mean @ right @ model.final),
    }
    return Learned(model, info)


def factorise(
    pair: FloatArray, gram: FloatArray, damping: float, n_states: int, subspace: str
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Give L with Lᵀ = F⁺, R = B⁺ and the singular values, so that Lᵀ H2 R = I."""
    if n_states > len(pair):
        raise InvalidParameter(
            f"n_states must be between 1 and {len(pair)} (the number of features); "
            f"got {n_states}. Lower it, or use more features."
        )
    if subspace == "svd":
        u, values, v = _leading_svd(pair, n_states)
        return u / values, v, values
    spectrum, vectors = np.linalg.eigh(gram)
    floor = _NOISE * spectrum[-1]
    whiten = (vectors / np.sqrt(np.maximum(spectrum + damping, floor))) @ vectors.T
    u, values, v = _leading_svd(whiten @ pair @ whiten, n_states)
    return whiten @ u / values, whiten @ v, values


def _leading_svd(matrix: FloatArray, rank: int) -> SVD:
    # Moments are dense and the same few vectors are wanted again and again: Lanczos pays early.
    small = len(matrix) <= 200 or rank > len(matrix) // 4
    return truncated_svd(matrix, rank, solver="dense" if small else "lanczos", noise=_NOISE)


def solve_gram(gram: FloatArray, damping: float, right: FloatArray) -> FloatArray:
    """Solve (C + λ) Z = right; directions that neither C nor λ has are left out."""
    with suppress(np.linalg.LinAlgError):
        factor, lower = scipy.linalg.cho_factor(gram + damping * np.eye(len(gram)))
        # Rounding may leave a little of a direction that C has not, which would then count most.
        pivots = np.diag(factor)
        if pivots.min() ** 2 > _NOISE * pivots.max() ** 2:
            solution: FloatArray = scipy.linalg.cho_solve((factor, lower), right)
            return solution
    spectrum, vectors = np.linalg.eigh(gram)
    kept = spectrum > _NOISE * spectrum[-1]
    basis = vectors[:, kept]
    result: FloatArray = basis @ ((basis.T @ right) / (spectrum[kept] + damping)[:, None])
    return result
