"""What the theory of LearnFST says about a data set (Balle, Quattoni and Carreras 2011, section 4).

Assumptions: (1) at least as many outputs as states, (2) initial probabilities and O of full rank,
(3) the average transition of full rank, (4) every input occurs. With λ the mean length, μ the
rarest input's probability and σ_O, σ_P the m-th singular values of O and P, the difficulty is
c = λ² m l / (μ σ_O² σ_P⁴), and a sample of about c / ε⁴ · log(k/δ) pairs (eq. 22, to a constant)
brings the L1 error below ε with probability 1 − δ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sigmastar.core.errors import InvalidParameter
from sigmastar.core.rules import Integer, Real, check
from sigmastar.core.types import FloatArray
from sigmastar.transducers.learn.recover import recover_parameters
from sigmastar.transducers.learn.spectral import output_basis
from sigmastar.transducers.models.parametric import ParametricTransducer
from sigmastar.transducers.moments.trigrams import AlignedMoments

__all__ = ["LearnabilityReport", "difficulty", "learnability", "noise_level"]


@dataclass(frozen=True)
class LearnabilityReport:
    """The quantities of the bound, estimated or exact, and the state of the four assumptions."""

    n_states: int
    n_inputs: int
    n_outputs: int
    n_pairs: float
    mean_length: float
    rarest_input: float
    sigma_output: float
    sigma_bigrams: float
    noise: float
    singular_values: FloatArray
    difficulty: float
    sample_bound: float
    assumptions: tuple[bool, bool, bool, bool]

    def __str__(self) -> str:
        names = (
            "1  as many outputs as states",
            "2  O and the initial states of full rank",
            "3  average transition of full rank",
            "4  every input occurs",
        )
        lines = [f"learnability with {self.n_states} states, from {self.n_pairs:,.0f} pairs"]
        for name, holds in zip(names, self.assumptions, strict=True):
            lines.append(f"  assumption {name:<42} {'holds' if holds else 'FAILS'}")
        lines += [
            f"  mean length λ                 {self.mean_length:.3g}",
            f"  rarest input μ                {self.rarest_input:.3g}",
            f"  σ_O                           {self.sigma_output:.3g}",
            f"  σ_P (noise about {self.noise:.1e})     {self.sigma_bigrams:.3g}",
            f"  difficulty c                  {self.difficulty:.3g}",
            f"  pairs for the asked error     {self.sample_bound:.3g} (up to a constant)",
        ]
        return "\n".join(lines)


def noise_level(n_pairs: float, confidence: float = 0.05) -> float:
    """Bound the estimation error of P in Frobenius norm (eq. 24)."""
    return float((1 + np.sqrt(np.log(4 / confidence))) / np.sqrt(max(n_pairs, 1.0)))


def difficulty(
    *,
    mean_length: float,
    n_states: int,
    n_outputs: int,
    rarest: float,
    sigma_output: float,
    sigma_bigrams: float,
) -> float:
    """Return c = λ² m l / (μ σ_O² σ_P⁴), infinite where a factor below is zero."""
    below = rarest * sigma_output**2 * sigma_bigrams**4
    return mean_length**2 * n_states * n_outputs / below if below > 0 else float("inf")


def learnability(
    moments: AlignedMoments,
    *,
    n_states: int,
    epsilon: float = 0.1,
    delta: float = 0.05,
    model: ParametricTransducer | None = None,
) -> LearnabilityReport:
    """Check the assumptions and compute the difficulty of a data set, given by its trigrams.

    ``epsilon`` and ``delta`` are the error and the risk to plug into the sample bound, ``model``
    the true parameters if known; they are recovered by joint Schur decomposition by default.
    """
    check("n_states", n_states, Integer(1))
    check("epsilon", epsilon, Real(0, 1, open_low=True))
    check("delta", delta, Real(0, 1, open_low=True))
    values = output_basis(moments).values
    a2 = moments.columns()[2]
    k, size = len(moments.input_alphabet), len(moments.output_alphabet)
    mu = float(np.bincount(a2, moments.weights, minlength=k).min() / moments.total)
    noise = noise_level(moments.total)
    sigma_bigrams = float(values[n_states - 1]) if n_states <= len(values) else 0.0
    sigma_output, initial_low = 0.0, 0.0
    if sigma_bigrams > 0:
        emission, visited = (
            _states_of(moments, n_states) if model is None else (model.emission, model.initial)
        )
        sigma_output = float(np.linalg.svd(emission, compute_uv=False)[-1])
        initial_low = float(visited.min())
    mean_length = moments.n_symbols / moments.n_pairs
    hard = difficulty(
        mean_length=mean_length,
        n_states=n_states,
        n_outputs=size,
        rarest=mu,
        sigma_output=sigma_output,
        sigma_bigrams=sigma_bigrams,
    )
    return LearnabilityReport(
        n_states=n_states,
        n_inputs=k,
        n_outputs=size,
        n_pairs=moments.n_pairs,
        mean_length=mean_length,
        rarest_input=mu,
        sigma_output=sigma_output,
        sigma_bigrams=sigma_bigrams,
        noise=noise,
        singular_values=values,
        difficulty=hard,
        sample_bound=hard / epsilon**4 * float(np.log(k / delta)),
        assumptions=(
            size >= n_states,
            sigma_output > 1e-9 and initial_low > 1e-9,
            sigma_bigrams > noise / 3 if model is None else sigma_bigrams > 1e-12,
            mu > 0,
        ),
    )


def _states_of(moments: AlignedMoments, n_states: int) -> tuple[FloatArray, FloatArray]:
    """Recover outputs and visits of the states; nothing where too little follows from a state."""
    try:
        recovered = recover_parameters(moments, n_states=n_states)
    except InvalidParameter:  # outputs two apart have a lower rank than neighbours
        return np.zeros((n_states, len(moments.output_alphabet))), np.zeros(n_states)
    return recovered.model.emission, recovered.info["passed"]
