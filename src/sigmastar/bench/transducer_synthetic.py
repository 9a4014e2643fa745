"""Synthetic experiments on transducers, after Balle, Quattoni and Carreras (2011, section 5).

Problems and the error are those of ``transducer_problems``. Five experiments: curves for four
difficulties (Figure 2, left), error by test length (Figure 2, right), against the two spectral
baselines (Figure 3, left), against joint Schur recovery on two models (Figure 3, right), and — not
in the paper — the published estimator against ours on dependent inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sigmastar.bench import tables
from sigmastar.bench.figures import require_matplotlib
from sigmastar.bench.transducer_problems import (
    SMALL,
    Shape,
    TransducerProblem,
    all_strings,
    conditional,
    posed_problem,
    random_problem,
)
from sigmastar.core.atomic import atomic_open
from sigmastar.core.progress import stage
from sigmastar.transducers.learn.baselines import learn_joint_hmm, learn_k_hmm
from sigmastar.transducers.learn.recover import recover_parameters
from sigmastar.transducers.learn.spectral import learn_transducer
from sigmastar.transducers.models.transducer import Transducer
from sigmastar.transducers.moments.trigrams import AlignedMoments

__all__ = [
    "EXPERIMENTS",
    "CurvePoint",
    "run",
    "write_csv",
    "write_plots",
]

EXPERIMENTS = ("difficulty", "length", "baselines", "schur", "dependence")
SIZES = (1_000, 4_000, 16_000, 64_000, 256_000, 1_024_000)
LEVELS = (7, 9, 11, 13)  # orders of magnitude of the difficulty
ALPHABETS = (2, 10)  # the smallest and the largest
MOST_OUTPUTS = 10_000  # test strings of a length are all that there are


@dataclass(frozen=True)
class CurvePoint:
    """One point of a curve: the median error of several runs."""

    experiment: str
    curve: str
    x: float
    error: float
    spread: float


def run(
    which: Sequence[str] = EXPERIMENTS,
    *,
    runs: int = 10,
    sizes: Sequence[int] = SIZES,
    shape: Shape = SMALL,
    problems: int = 4,
    seed: int = 0,
) -> list[CurvePoint]:
    """Run some of ``EXPERIMENTS`` with so many samples a point, of ``sizes`` training pairs.

    ``shape`` is that of the problems of all but the first, which draws ``problems`` of each
    difficulty with alphabets of 2 to 10 symbols.
    """
    makers = (_difficulty, _length, _baselines, _schur, _dependence)
    rows: list[CurvePoint] = []
    with stage("experiments", len(which)) as progress:
        for name in which:
            number = EXPERIMENTS.index(name)
            sampling = Sampling(np.random.default_rng([seed, number]), runs, sizes, problems)
            rows += makers[number](sampling, shape)
            progress.advance(note=name)
    return rows


class Sampling(NamedTuple):
    """Where samples come from, how many there are a point, how large they are; and problems."""

    rng: np.random.Generator
    runs: int
    sizes: Sequence[int]
    problems: int


def _curve(
    name: str,
    curve: str,
    problem: TransducerProblem,
    learn: Callable[[AlignedMoments], Transducer],
    sampling: Sampling,
) -> list[CurvePoint]:
    rng, runs, sizes, _ = sampling

    def errors(n: int) -> list[float]:
        return [problem.error(learn(problem.sample(n, rng))) for _ in range(runs)]

    return [_point(name, curve, n, errors(n)) for n in sizes]


def _point(name: str, curve: str, x: float, errors: Sequence[float]) -> CurvePoint:
    return CurvePoint(name, curve, float(x), float(np.median(errors)), float(np.std(errors)))


def _spectral(m: int, inputs: Any = "independent") -> Callable[[AlignedMoments], Transducer]:
    return lambda moments: learn_transducer(moments, n_states=m, inputs=inputs, smoothing=0.0).model


def _difficulty(sampling: Sampling, shape: Shape) -> list[CurvePoint]:
    """Problems whose difficulties lie in four orders of magnitude, so many of each."""
    chosen: dict[int, list[TransducerProblem]] = {order: [] for order in LEVELS}
    rng, wanted = sampling.rng, sampling.problems
    while min(map(len, chosen.values())) < wanted:
        k, size = (int(number) for number in rng.integers(*ALPHABETS, size=2, endpoint=True))
        problem = random_problem(rng, Shape(k, size, int(rng.integers(2, min(size, 4) + 1))))
        order = round(float(np.log10(problem.difficulty())))
        if order in LEVELS and len(chosen[order]) < wanted:
            chosen[order].append(problem)
    rows = []
    for order, problems in chosen.items():
        curves = [_curve("", "", p, _spectral(p.model.n_states), sampling) for p in problems]
        for points in zip(*curves, strict=True):
            errors = [point.error for point in points]
            mean = float(np.exp(np.mean(np.log(errors))))
            rows.append(
                CurvePoint("difficulty", f"c = 1e{order}", points[0].x, mean, float(np.std(errors)))
            )
    return rows


def _length(sampling: Sampling, shape: Shape) -> list[CurvePoint]:
    """Measure the error on longer test strings, of models learned from three sample sizes."""
    rng, runs = sampling.rng, sampling.runs
    problem = posed_problem(rng, shape)
    share = problem.inputs.sum(axis=(1, 2))
    longest = min(8, int(np.log(MOST_OUTPUTS) / np.log(problem.size)))
    rows = []
    for n in (32_000, 128_000, 512_000):
        models = [_spectral(shape.states)(problem.sample(n, rng)) for _ in range(runs)]
        for t in range(1, longest + 1):
            x = rng.choice(len(share), size=(20, t), p=share / share.sum())
            y = all_strings(problem.size, t)
            truth = conditional(problem.operators, x, y)
            errors = [np.abs(conditional(m, x, y) - truth).sum(axis=1).mean() for m in models]
            rows.append(_point("length", f"{n:,} pairs", t, errors))
    return rows


def _baselines(sampling: Sampling, shape: Shape) -> list[CurvePoint]:
    """LearnFST against a joint HMM and k HMMs, on inputs that no small HMM describes."""
    problem, m = posed_problem(sampling.rng, shape, "history"), shape.states
    curves: dict[str, Callable[[AlignedMoments], Transducer]] = {
        "LearnFST": _spectral(m, "exact"),
        "LearnFST as published": _spectral(m),
        "joint HMM": lambda moments: learn_joint_hmm(moments, n_states=m).model,
        "k-HMM": lambda moments: learn_k_hmm(moments, n_states=m).model,
    }
    return [
        row
        for curve, learn in curves.items()
        for row in _curve("baselines", curve, problem, learn, sampling)
    ]


def _schur(sampling: Sampling, shape: Shape) -> list[CurvePoint]:
    """LearnFST against parameters recovered by joint Schur decomposition, on two problems."""
    rows, m = [], shape.states
    for number in (1, 2):
        problem = posed_problem(sampling.rng, shape)
        rows += _curve("schur", f"LearnFST, model {number}", problem, _spectral(m), sampling)
        rows += _curve(
            "schur",
            f"joint Schur, model {number}",
            problem,
            lambda moments: recover_parameters(moments, n_states=m).model.to_transducer(),
            sampling,
        )
    return rows


def _dependence(sampling: Sampling, shape: Shape) -> list[CurvePoint]:
    """Compare the estimators on Markov inputs: as published, exact, and reweighted."""
    problem = posed_problem(sampling.rng, shape, "markov")
    return [
        row
        for inputs in ("independent", "exact", "reweighted")
        for row in _curve("dependence", inputs, problem, _spectral(shape.states, inputs), sampling)
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
