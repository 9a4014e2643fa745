"""LearnFST: transducers from three consecutive symbols, by one SVD and two products.

With ρ(i) = P[y1 = i], P(i, j) = P[y1 = j, y2 = i],
P_a^b(i, j) = P[y1 = j, y2 = b, y3 = i | x2 = a] and the m leading left singular vectors U of P,

    β1 = Uᵀρ,   β∞ᵀ = ρᵀ(UᵀP)⁺,   B_a^b = (Uᵀ P_a^b)(Uᵀ P)⁺          (balle2011 eqs. 7–9)

in column form; we store their transposes. As printed this asks x1 and x2 to be independent. The
*exact* form divides by what was seen before that very input,
P^(a)(i, j) = P[y1 = j, y2 = i | x2 = a], which is right for dependent inputs as long as y_t
depends on x_t through no more than the past;
the *reweighted* form makes the inputs independent by importance weights
q(x1) q(x2) q(x3) / p(x1 x2 x3) and is right when outputs look at their own input, too.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse

from sigmastar.core.errors import InvalidParameter
from sigmastar.core.linalg.svd import SVD, truncated_svd
from sigmastar.core.rules import Choice, Integer, Real, check
from sigmastar.core.types import FloatArray, Learned, SymbolArray
from sigmastar.transducers.kernels.operators import accumulate_operators
from sigmastar.transducers.models.transducer import Transducer
from sigmastar.transducers.moments.trigrams import AlignedMoments

__all__ = [
    "RANK_NOISE",
    "InputModel",
    "check_rank",
    "first_outputs",
    "learn_transducer",
    "output_basis",
    "reweighted",
]

InputModel = Literal["independent", "exact", "reweighted"]
DENSE_OUTPUTS = 400  # up to here all singular values cost little
RANK_NOISE = 1e-12  # singular values below this share of the first say nothing of the rank
RARE = 10.0  # inputs with fewer than this many times the pseudo-count lean on the pooled operators


def output_basis(moments: AlignedMoments, max_states: int | None = None) -> SVD:
    """Decompose the matrix P of output bigrams, once for all numbers of states.

    ``max_states`` is how many vectors are enough if P is large.
    """
    moments.require_some()
    bigrams = bigram_matrix(moments)
    size = bigrams.shape[0]
    enough = size if size <= DENSE_OUTPUTS else min(max_states or size, size)
    return truncated_svd(bigrams, enough, noise=RANK_NOISE)


def check_rank(n_states: int, values: FloatArray, what: str) -> None:
    """Refuse more states than there are singular values above the noise."""
    if n_states > len(values):
        raise InvalidParameter(
            f"n_states must be between 1 and {len(values)} (the rank of the {what}); got "
            f"{n_states}. Lower it, or learn from more data."
        )


def bigram_matrix(moments: AlignedMoments) -> Any:
    """Return P(i, j) = P[y1 = j, y2 = i], sparse."""
    _, first, _, second, _, _ = moments.columns()
    size = len(moments.output_alphabet)
    shares = moments.weights / moments.total
    return scipy.sparse.coo_array((shares, (second, first)), shape=(size, size)).tocsr()


def learn_transducer(
    moments: AlignedMoments,
    *,
    n_states: int,
    inputs: InputModel = "exact",
    smoothing: float = 1.0,
    start: int | None = None,
    basis: SVD | None = None,
) -> Learned[Transducer]:
    """Learn P(y | x) from moments, with at most as many states as the rank of P.

    Parameters
    ----------
    moments, n_states
        What to learn from, and how many states.
    inputs : {"independent", "exact", "reweighted"}
        Which estimator (see above).
    smoothing : float
        Pseudo-counts by which P^(a) leans towards P, and operators of rare inputs towards the
        pooled ones; 0 for none.
    start : int, optional
        An output code that begins every sequence: the initial state is then the one after it.
    basis : SVD, optional
        The result of :func:`output_basis`, to learn several sizes from one SVD.
    """
    check("n_states", n_states, Integer(1))
    check("inputs", inputs, Choice("independent", "exact", "reweighted"))
    check("smoothing", smoothing, Real(0))
    basis = basis or output_basis(moments, max_states=n_states)
    check_rank(n_states, basis.values, "output bigrams")
    left = np.ascontiguousarray(basis.left[:, :n_states])
    weights = reweighted(moments) if inputs == "reweighted" else moments.weights
    _, b1, a2, b2, _, b3 = moments.columns()
    k, size = len(moments.input_alphabet), len(moments.output_alphabet)
    bigrams = scipy.sparse.coo_array((weights / weights.sum(), (b2, b1)), shape=(size, size))
    projected = (bigrams.T @ left).T  # UᵀP, m × l
    seen: FloatArray = np.bincount(a2, weights, minlength=k).astype(np.float64)
    if inputs == "exact":
        inverse = _inverses_by_input(moments, left, projected, seen, smoothing)
        rows = a2 * size + b1
    else:
        inverse, rows = np.ascontiguousarray(np.linalg.pinv(projected)), b1
    codes, places = np.unique(a2 * size + b2, return_inverse=True)
    operators = np.zeros((len(codes), n_states, n_states))
    scale = np.where(seen > 0, 1.0 / np.where(seen > 0, seen, 1.0), 0.0)
    accumulate_operators(
        places.astype(np.int32), inverse, rows, left, b3, weights * scale[a2], operators
    )
    table = np.full(k * size, -1, dtype=np.int32)
    table[codes] = np.arange(len(codes), dtype=np.int32)
    operators, places_of = _back_off(operators, table.reshape(k, size), seen, smoothing)
    ends = np.bincount(b1, weights, minlength=size) / weights.sum()
    if start is None:
        initial = left.T @ first_outputs(moments, by_input=inputs == "reweighted")
    else:
        after = bigrams.tocsc()[:, [start]].toarray()[:, 0]
        initial = left.T @ after / after.sum()
    final = ends @ np.linalg.pinv(projected)
    model = Transducer(
        initial, operators, final, places_of, moments.input_alphabet, moments.output_alphabet
    )
    return Learned(model, {"singular_values": basis.values, "n_operators": len(operators)})


def reweighted(moments: AlignedMoments) -> FloatArray:
    """Weigh trigrams as if the three inputs were drawn independently, all alike."""
    a1, _, a2, _, a3, _ = moments.columns()
    k = len(moments.input_alphabet)
    _, where = np.unique((a1 * k + a2) * k + a3, return_inverse=True)
    joint = np.bincount(where, moments.weights)[where]
    common = input_shares(moments)
    return moments.weights * common[a1] * common[a2] * common[a3] * moments.total / joint


def first_outputs(moments: AlignedMoments, *, by_input: bool) -> FloatArray:
    """Return the distribution of the first output, each input in its overall share if asked."""
    begin = moments.first.reshape(len(moments.input_alphabet), len(moments.output_alphabet))
    if by_input:
        begin = begin * (input_shares(moments) / np.maximum(begin.sum(axis=1), 1e-300))[:, None]
    outputs = begin.sum(axis=0)
    return np.asarray(outputs / outputs.sum(), dtype=np.float64)


def input_shares(moments: AlignedMoments) -> FloatArray:
    """Return how often each input occurs among the symbols of all trigrams."""
    k = len(moments.input_alphabet)
    columns = moments.columns()
    counts = sum(np.bincount(columns[c], moments.weights, minlength=k) for c in (0, 2, 4))
    return np.asarray(counts / (3 * moments.total), dtype=np.float64)


def _inverses_by_input(
    moments: AlignedMoments,
    left: FloatArray,
    projected: FloatArray,
    seen: FloatArray,
    smoothing: float,
) -> FloatArray:
    """Return (Uᵀ P^(a))⁺ of every input symbol, stacked: row a · n_outputs + j."""
    _, b1, a2, b2, _, _ = moments.columns()
    k, size, m = len(moments.input_alphabet), len(left), left.shape[1]
    shape = (k * size, size)
    table = scipy.sparse.coo_array((moments.weights, (a2 * size + b1, b2)), shape=shape).tocsr()
    counts = (table @ left).reshape(k, size, m).transpose(0, 2, 1)  # n_a · Uᵀ P^(a)
    shrunk = counts + smoothing * projected
    total = np.maximum(seen + smoothing, np.finfo(float).tiny)
    return np.ascontiguousarray(np.linalg.pinv(shrunk / total[:, None, None]).reshape(k * size, m))


def _back_off(
    operators: FloatArray, table: SymbolArray, seen: FloatArray, smoothing: float
) -> tuple[FloatArray, SymbolArray]:
    """Mix the operators of rare inputs with the pooled ones; inputs never seen share those."""
    rare = np.flatnonzero((seen < RARE * smoothing) | (seen == 0))
    if smoothing == 0 or len(rare) == 0:
        return operators, table
    share = seen / seen.sum()
    pooled_of = np.flatnonzero((table >= 0).any(axis=0))
    pooled = np.zeros((len(pooled_of), *operators.shape[1:]))
    for place, output in enumerate(pooled_of):
        users = np.flatnonzero(table[:, output] >= 0)
        pooled[place] = np.tensordot(share[users], operators[table[users, output]], 1)
    stored = [operators, pooled]
    n_stored = len(operators) + len(pooled)
    table = table.copy()
    zero = np.zeros((1, *operators.shape[1:]))
    for source in rare:
        if seen[source] == 0:
            table[source, pooled_of] = len(operators) + np.arange(len(pooled), dtype=np.int32)
            continue
        own = np.concatenate([operators, zero])[table[source, pooled_of]]
        trust = seen[source] / (seen[source] + smoothing)
        stored.append(trust * own + (1 - trust) * pooled)
        table[source, pooled_of] = n_stored + np.arange(len(pooled), dtype=np.int32)
        n_stored += len(pooled)
    return np.concatenate(stored), table
