"""Synthetic experiments on transducers, after Balle, Quattoni and Carreras (2011, section 5).

Inputs have three symbols; a sample of n pairs is a multinomial draw from the exact distribution of
(x1:y1, x2:y2, x3:y3), so a million pairs cost no more than a thousand. The error is the L1 distance
d = Σ_x D(x) Σ_y |P(y|x) − P̂(y|x)|. Five experiments: curves for four difficulties, error by test
length, against the two spectral baselines, against joint Schur recovery (two models), and — not in
the paper — the published estimator against ours on dependent inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from sigmastar.bench import tables
from sigmastar.bench.figures import require_matplotlib
from sigmastar.core.atomic import atomic_open
from sigmastar.core.progress import stage
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.transducers.learn.baselines import learn_joint_hmm, learn_k_hmm
from sigmastar.transducers.learn.recover import recover_parameters
from sigmastar.transducers.learn.spectral import learn_transducer
from sigmastar.transducers.learn.theory import learnability
from sigmastar.transducers.models.parametric import ParametricTransducer
from sigmastar.transducers.models.transducer import Transducer
from sigmastar.transducers.moments.trigrams import AlignedMoments

__all__ = [
    "EXPERIMENTS",
    "CurvePoint",
    "TransducerProblem",
    "random_problem",
    "run",
    "write_csv",
    "write_plots",
]

EXPERIMENTS = ("difficulty", "length", "baselines", "schur", "dependence")
SIZES = (1_000, 4_000, 16_000, 64_000, 256_000, 1_024_000)


@dataclass(frozen=True)
class CurvePoint:
    """One point of a curve: the median error of several runs."""

    experiment: str
    curve: str
    x: float
    error: float
    spread: float


class TransducerProblem:
    """A transducer, a distribution over inputs of length three, and their exact joint table."""

    def __init__(self, model: ParametricTransducer, inputs: FloatArray) -> None:
        self.model = model
        self.operators = model.to_transducer()
        self.inputs = inputs
        self.k, self.size = len(model.input_alphabet), len(model.output_alphabet)
        self.x = np.array(list(product(range(self.k), repeat=3)))
        self.y = np.array(list(product(range(self.size), repeat=3)))
        self.prob = conditional(self.operators, self.x, self.y)  # |x| × |y|
        weights = inputs[tuple(self.x.T)]
        self.joint = (weights[:, None] * self.prob).ravel()
        codes = self.x[:, None, :] * self.size + self.y[None, :, :]
        self.trigrams: IndexArray = codes.reshape(-1, 3).astype(np.int64)

    def moments(self, counts: FloatArray) -> AlignedMoments:
        """Return the moments of a sample, given how often each pair of strings occurred."""
        kept = counts > 0
        first = np.bincount(self.trigrams[:, 0], counts, minlength=self.k * self.size)
        return AlignedMoments(
            self.trigrams[kept],
            counts[kept].astype(np.float64),
            first.astype(np.float64),
            self.model.input_alphabet,
            self.model.output_alphabet,
            float(counts.sum()),
            3.0 * float(counts.sum()),
        )

    def sample(self, n: int, rng: np.random.Generator) -> AlignedMoments:
        """Draw n pairs."""
        return self.moments(rng.multinomial(n, self.joint / self.joint.sum()).astype(np.float64))

    def error(self, learned: Transducer) -> float:
        """Return the L1 distance of a learned transducer over strings of length three."""
        values = conditional(learned, self.x, self.y)
        weights = self.inputs[tuple(self.x.T)]
        return float(weights @ np.abs(values - self.prob).sum(axis=1))

    def difficulty(self) -> float:
        """Return c = λ² m l / (μ σ_O² σ_P⁴), from the true parameters."""
        exact = self.moments(self.joint)
        states = self.model.n_states
        return learnability(exact, n_states=states, model=self.model).difficulty


def conditional(model: Transducer, x: IndexArray, y: IndexArray) -> FloatArray:
    """Return the raw P(y | x) of every x (rows) and y (columns)."""
    dense = model.dense()
    state = np.broadcast_to(model.initial, (len(x), len(y), model.n_states))
    total = np.broadcast_to(model.initial, (len(x), model.n_states))
    for place in range(x.shape[1]):
        chosen = dense[x[:, None, place], y[None, :, place]]
        state = np.einsum("xyi,xyij->xyj", state, chosen)
        total = np.einsum("xi,xij->xj", total, model.input_sums[x[:, place]])
    values: FloatArray = state @ model.final
    if model.joint:
        below = total @ model.final
        values = values / np.where(np.abs(below) > 1e-12, below, 1e-12)[:, None]
    return values


def random_problem(
    rng: np.random.Generator, k: int = 3, size: int = 3, m: int = 2, inputs: str = "independent"
) -> TransducerProblem:
    """Draw a transducer and inputs.

    ``inputs``: "independent" symbols; a "markov" chain; or "history", where the third symbol
    depends on both others, so that no small HMM describes the pairs.
    """
    model = ParametricTransducer(
        rng.dirichlet(np.full(m, 3.0)),
        rng.dirichlet(np.ones(m), (k, m)),
        rng.dirichlet(np.full(size, 0.6), m),
        Alphabet(range(k)),
        Alphabet(range(size)),
    )
    if inputs == "independent":
        share = _spread(rng, k)
        table = share[:, None, None] * share[None, :, None] * share
    elif inputs == "markov":
        move = rng.dirichlet(np.full(k, 0.5), k)
        table = _spread(rng, k)[:, None, None] * move[:, :, None] * move[None, :, :]
    else:
        share, last = _spread(rng, k), rng.dirichlet(np.full(k, 0.3), (k, k))
        table = share[:, None, None] * share[None, :, None] * last
    return TransducerProblem(model, table)


def posed_problem(rng: np.random.Generator, inputs: str = "independent") -> TransducerProblem:
    """Draw problems (3 inputs, 3 outputs, 2 states) until one is not degenerate.

    Not degenerate: the second singular values of P and of every P^(a) are at least 0.03.
    """
    while True:
        problem = random_problem(rng, inputs=inputs)
        a2, b2 = np.divmod(problem.trigrams[:, 1], problem.size)
        b1 = problem.trigrams[:, 0] % problem.size
        table = np.zeros((problem.k, problem.size, problem.size))
        np.add.at(table, (a2, b2, b1), problem.joint)
        shares = table / table.sum(axis=(1, 2), keepdims=True)
        both = np.concatenate([shares, table.sum(axis=0, keepdims=True)])
        if np.linalg.svd(both, compute_uv=False)[:, 1].min() >= 0.03:
            return problem


def _spread(rng: np.random.Generator, k: int) -> FloatArray:
    """Draw a uniform, a bell-shaped or a power distribution over k symbols."""
    kind = rng.integers(3)
    grid = np.arange(k)
    shape: np.ndarray[Any, Any] = np.ones(k)
    if kind == 1:
        shape = np.exp(-0.5 * ((grid - k / 2) / (rng.uniform(0.4, 1.5) * k)) ** 2)
    elif kind == 2:
        shape = (grid + 1.0) ** -rng.uniform(0.2, 1.5)
    return np.asarray(shape / shape.sum(), dtype=np.float64)


def run(
    which: Sequence[str] = EXPERIMENTS,
    *,
    runs: int = 10,
    sizes: Sequence[int] = SIZES,
    seed: int = 0,
) -> list[CurvePoint]:
    """Run some of ``EXPERIMENTS`` with so many samples a point, of ``sizes`` training pairs."""
    makers = (_difficulty, _length, _baselines, _schur, _dependence)
    rows: list[CurvePoint] = []
    with stage("experiments", len(which)) as progress:
        for name in which:
            number = EXPERIMENTS.index(name)
            rows += makers[number](np.random.default_rng([seed, number]), runs, sizes)
            progress.advance(note=name)
    return rows


def _curve(
    name: str,
    curve: str,
    problem: TransducerProblem,
    learn: Callable[[AlignedMoments], Transducer],
    sampling: tuple[np.random.Generator, int, Sequence[int]],
) -> list[CurvePoint]:
    rng, runs, sizes = sampling

    def errors(n: int) -> list[float]:
        return [problem.error(learn(problem.sample(n, rng))) for _ in range(runs)]

    return [_point(name, curve, n, errors(n)) for n in sizes]


def _point(name: str, curve: str, x: float, errors: Sequence[float]) -> CurvePoint:
    return CurvePoint(name, curve, float(x), float(np.median(errors)), float(np.std(errors)))


def _spectral(m: int, inputs: Any = "independent") -> Callable[[AlignedMoments], Transducer]:
    return lambda moments: learn_transducer(moments, n_states=m, inputs=inputs, smoothing=0.0).model


def _difficulty(rng: np.random.Generator, runs: int, sizes: Sequence[int]) -> list[CurvePoint]:
    """Problems whose difficulties lie in four orders of magnitude, four of each."""
    levels = (5, 7, 9, 11)
    chosen: dict[int, list[TransducerProblem]] = {order: [] for order in levels}
    while min(map(len, chosen.values())) < 4:
        k, size, m = int(rng.integers(2, 6)), int(rng.integers(2, 6)), int(rng.integers(2, 4))
        if m > size:
            continue
        problem = random_problem(rng, k, size, m)
        order = round(float(np.log10(problem.difficulty())))
        if order in levels and len(chosen[order]) < 4:
            chosen[order].append(problem)
    rows = []
    for order, problems in chosen.items():
        curves = [
            _curve("", "", p, _spectral(p.model.n_states), (rng, runs, sizes)) for p in problems
        ]
        for points in zip(*curves, strict=True):
            errors = [point.error for point in points]
            mean = float(np.exp(np.mean(np.log(errors))))
            rows.append(
                CurvePoint("difficulty", f"c = 1e{order}", points[0].x, mean, float(np.std(errors)))
            )
    return rows


def _length(rng: np.random.Generator, runs: int, sizes: Sequence[int]) -> list[CurvePoint]:
    """Measure the error on longer test strings, of models learned from three sample sizes."""
    problem = posed_problem(rng)
    share = problem.inputs.sum(axis=(1, 2))
    rows = []
    for n in (32_000, 128_000, 512_000):
        models = [_spectral(2)(problem.sample(n, rng)) for _ in range(runs)]
        for t in range(1, 9):
            x = rng.choice(len(share), size=(20, t), p=share / share.sum())
            y = np.array(list(product(range(problem.size), repeat=t)))
            truth = conditional(problem.operators, x, y)
            errors = [np.abs(conditional(m, x, y) - truth).sum(axis=1).mean() for m in models]
            rows.append(_point("length", f"{n:,} pairs", t, errors))
    return rows


def _baselines(rng: np.random.Generator, runs: int, sizes: Sequence[int]) -> list[CurvePoint]:
    """LearnFST against a joint HMM and k HMMs, on inputs that no small HMM describes."""
    problem = posed_problem(rng, "history")
    curves: dict[str, Callable[[AlignedMoments], Transducer]] = {
        "LearnFST": _spectral(2, "exact"),
        "LearnFST as published": _spectral(2),
        "joint HMM": lambda moments: learn_joint_hmm(moments, n_states=2).model,
        "k-HMM": lambda moments: learn_k_hmm(moments, n_states=2).model,
    }
    sampling = (rng, runs, sizes)
    return [
        row
        for curve, learn in curves.items()
        for row in _curve("baselines", curve, problem, learn, sampling)
    ]


def _schur(rng: np.random.Generator, runs: int, sizes: Sequence[int]) -> list[CurvePoint]:
    """LearnFST against parameters recovered by joint Schur decomposition, on two problems."""
    rows = []
    for number in (1, 2):
        problem = posed_problem(rng)
        sampling = (rng, runs, sizes)
        rows += _curve("schur", f"LearnFST, model {number}", problem, _spectral(2), sampling)
        rows += _curve(
            "schur",
            f"joint Schur, model {number}",
            problem,
            lambda moments: recover_parameters(moments, n_states=2).model.to_transducer(),
            sampling,
        )
    return rows


def _dependence(rng: np.random.Generator, runs: int, sizes: Sequence[int]) -> list[CurvePoint]:
    """Compare the estimators on Markov inputs: as published, exact, and reweighted."""
    problem = posed_problem(rng, "markov")
    return [
        row
        for inputs in ("independent", "exact", "reweighted")
        for row in _curve("dependence", inputs, problem, _spectral(2, inputs), (rng, runs, sizes))
    ]


def write_csv(rows: Iterable[CurvePoint], path: Path) -> None:
    """Write all points, one a line."""
    points = [
        {
            "experiment": row.experiment,
            "curve": row.curve,
            "x": f"{row.x:g}",
            "median_error": f"{row.error:.6g}",
            "spread": f"{row.spread:.6g}",
        }
        for row in rows
    ]
    tables.write_csv(path, points)


def write_plots(rows: Sequence[CurvePoint], directory: Path) -> list[Path]:
    """Draw one figure for each experiment (extra ``plot``)."""
    figure_class = require_matplotlib()
    written = []
    for name in dict.fromkeys(row.experiment for row in rows):
        figure = figure_class(figsize=(6, 4), layout="constrained")
        axes = figure.subplots()
        part = [row for row in rows if row.experiment == name]
        for curve in dict.fromkeys(row.curve for row in part):
            points = [(row.x, row.error) for row in part if row.curve == curve]
            axes.plot(*zip(*points, strict=True), marker="o", label=curve)
        if name != "length":
            axes.set_xscale("log")
            axes.set_yscale("log")
        axes.set_xlabel("length of test strings" if name == "length" else "training pairs")
        axes.set_ylabel("L1 error")
        axes.set_title(name)
        axes.legend()
        written.append(directory / f"{name}.png")
        with atomic_open(written[-1]) as file:
            figure.savefig(file, dpi=120, format="png")
    return written
