"""A smaller automaton of nearly the same function.

**Balanced truncation.** In the basis in which both Gramians are diag(s), s the singular values of
the Hankel matrix, the first k states carry most of f. Let x(w) = αᵀA_w = (x₁, x₂), x̂ that of the
truncated automaton and d = x₁ − x̂. With Q = diag(s), Q = ββᵀ + Σ_σ A_σ Q A_σᵀ, applied to
(d, x₂), says

    d S₁ dᵀ + x₂ S₂ x₂ᵀ = e(w)² + Σ_σ (d(wσ) S₁ d(wσ)ᵀ + z_σ S₂ z_σᵀ),

where e = f − f̂ and z_σ is what is cut off. Summed over all w the terms in S₁ cancel (d is zero at
the empty string), and Σ_w x₂ᵀx₂ = S₂, so that

    Σ_w (f(w) − f̂(w))² ≤ Σ_{i > k} s_i².

**Likelihood.** A PFA stays one if a smaller one is trained on strings that it draws: the balanced
automaton, read as a predictor, is where training starts.

The singular value automaton is that of Balle, Panangaden and Precup (2015).
"""

from __future__ import annotations

from typing import Literal, TypeAlias, cast

import numpy as np

from sigmastar.automata.algebra import add, scaled, to_wfa
from sigmastar.automata.gramians import gramians
from sigmastar.automata.inference.sampling import sample
from sigmastar.automata.inference.scoring import log_proba
from sigmastar.automata.learn.baum_welch import BaumWelchSettings, learn_baum_welch
from sigmastar.automata.learn.blocks.em_family import PFAFamily
from sigmastar.automata.learn.em_start import pfa_from_wfa, start_from
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.pfa import PFA
from sigmastar.automata.models.subject import as_wfa
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.blas import one_blas_thread
from sigmastar.core.errors import InvalidModel, InvalidParameter
from sigmastar.core.linalg.svd import truncated_svd
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.rules import Choice, Integer, check
from sigmastar.core.types import Learned

__all__ = ["reduce", "trained_pfa"]

ReductionMethod: TypeAlias = Literal["balanced", "em"]
_MOST_PRODUCTS = 1e13  # some minutes
_STARTS = 4  # random ones
_FRESH = 5000  # strings that a divergence is estimated on
_NOISE = 1e-10  # singular values below this share of the first are rounding errors


def reduce(
    model: WFA | HMM,
    n_states: int,
    *,
    method: ReductionMethod = "balanced",
    n_strings: int = 20_000,
    random_state: RandomState = 0,
) -> Learned[WFA]:
    """Return an automaton of fewer states that computes nearly the same.

    Parameters
    ----------
    model : WFA, PFA or HMM
        The model; its weights must be square-summable, as those of a distribution are.
    n_states : int
        How many states; at most the rank of the model's Hankel matrix.
    method : {"balanced", "em"}
        "balanced" truncates the balanced automaton: a WFA, with a bound on its error. "em" trains a
        PFA of this size on strings that the model draws, from the balanced automaton on.
    n_strings : int
        How many strings "em" draws to train on; a tenth of them more to stop by.
    random_state : int, Generator, …
        For the strings.

    Returns
    -------
    Learned[WFA]
        ``model``, and in ``info`` the ``singular_values``; for "balanced" the ``bound`` on the
        distance √Σ(f − f̂)² over all strings, and the ``distance`` itself (None where its sums
        converge too slowly); for "em" the ``divergence`` in nats a string, estimated on fresh ones.

    Examples
    --------
    >>> import sigmastar as ss
    >>> large = ss.datasets.make_pfa(12, 3, random_state=0)
    >>> small = ss.algebra.reduce(large, 6)
    >>> small.model.n_states, small.info["distance"] <= small.info["bound"]
    (6, True)
    """
    check("n_states", n_states, Integer(1))
    check("method", method, Choice("balanced", "em"))
    check("n_strings", n_strings, Integer(10))
    truncated = _balanced(model, n_states)
    if method == "balanced":
        return truncated
    rng = as_generator(random_state)
    pfa = trained_pfa(truncated.model, model, n_states, n_strings, rng)
    fresh = sample(model, _FRESH, random_state=rng)
    divergence = float(np.mean(log_proba(model, fresh) - log_proba(pfa, fresh)))
    info = {"singular_values": truncated.info["singular_values"], "divergence": divergence}
    return Learned(pfa, info)


def _balanced(model: WFA | HMM, n_states: int) -> Learned[WFA]:
    wfa = to_wfa(model)
    with one_blas_thread():
        found = gramians(wfa, most_products=_MOST_PRODUCTS)
        if found is None:
            raise InvalidModel(
                "the weights of the model must be square-summable to be reduced; they are not, or "
                "too slowly to tell. Use algebra.damped(model) first."
            )
        # T⁺T is one, and both Gramians are diag(s) in the basis T.
        svd = truncated_svd(found.left.T @ found.right, wfa.n_states, solver="dense", noise=_NOISE)
        rank = len(svd.values)
        if n_states > rank:
            raise InvalidParameter(
                f"n_states must be at most {rank}, the rank of the model's Hankel matrix; got "
                f"{n_states}. With {rank} states nothing is lost."
            )
        root = np.sqrt(svd.values[:n_states])
        basis = found.right @ (svd.right[:, :n_states] / root)
        inverse = (svd.left[:, :n_states] / root).T @ found.left.T
        arcs = inverse @ wfa.transitions @ basis
        small = WFA(wfa.initial @ basis, arcs, inverse @ wfa.final, wfa.alphabet)
        distance = _norm(add(wfa, scaled(small, -1.0)))
    bound = float(np.sqrt(np.sum(svd.values[n_states:] ** 2)))
    return Learned(small, {"singular_values": svd.values, "bound": bound, "distance": distance})


def _norm(difference: WFA) -> float | None:
    """Return √Σ f² over all strings; None where the sum converges too slowly to tell."""
    found = gramians(difference)
    return None if found is None else float(np.linalg.norm(difference.final @ found.left))


def trained_pfa(
    predictor: WFA, source: WFA | HMM, n_states: int, n_strings: int, rng: np.random.Generator
) -> PFA:
    """Train a PFA on strings that a model draws.

    From clusters of the prefixes by what the predictor says follows them, and from random starts;
    what does best on more strings is taken.
    """
    train = sample(source, n_strings, random_state=rng)
    held_out = sample(source, max(n_strings // 10, 10), random_state=rng)
    family = PFAFamily()
    clusters = pfa_from_wfa(as_wfa(predictor), train, n_states, random_state=rng)
    learned = [
        learn_baum_welch(
            train,
            family,
            n_states,
            start=start,
            settings=BaumWelchSettings(max_iter=200, tol=1e-5, n_restarts=_STARTS),
            validation=held_out,
            random_state=rng,
        )
        for start in (start_from(clusters, family, train), None)
    ]
    best = max(learned, key=lambda run: float(max(run.info["held_out"])))
    return cast(PFA, best.model)
