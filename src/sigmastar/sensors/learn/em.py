"""Expectation–maximisation for the mixture-transition model (Recasens and Quattoni 2013, sec. 2.3).

Hidden states move and labels appear by one of k tables P_l[h', y | h]; the input decides which,
with probability φ_l(x) = P[z = l | x]:

    P[y | x] = Σ_h P[h_0] Π_t Σ_l φ_l(x_t) P_l[h_t, y_t | h_{t-1}].

The expected number of uses of (l, σ, i, j) is

    O_l^σ(i, j) Σ_{t: y_t=σ} φ_l(x_t) s_{t-1}(i) b_t(j) / c_t

with past s, future b and c_t = s A(x_t, y_t) b; the sum over t is one matrix product for each
label, as are all A(x_t, y_t) together. No step lowers the likelihood.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np

from sigmastar.core.blas import one_blas_thread
from sigmastar.core.em import Ascent, ascend
from sigmastar.core.errors import InvalidData
from sigmastar.core.progress import stage
from sigmastar.core.types import IndexArray, Learned
from sigmastar.corpus.frames import Frames
from sigmastar.sensors.inference.passes import labelled_operators
from sigmastar.sensors.inference.tag import share_right
from sigmastar.sensors.kernels.passes import Ends, backward_pass, forward_pass
from sigmastar.sensors.model import ContinuousTagger

__all__ = ["em_step", "learn_em"]

Step = Callable[[ContinuousTagger], tuple[float, ContinuousTagger]]


def learn_em(
    frames: Frames,
    starts: Iterable[ContinuousTagger],
    *,
    max_iter: int = 100,
    tol: float = 1e-5,
    held: Frames | None = None,
    decoding: str = "marginal",
) -> Learned[ContinuousTagger]:
    """Improve every start, and keep the best result.

    Parameters
    ----------
    frames : Frames
        Features that are probabilities, with labels.
    starts : iterable of ContinuousTagger
        Where to begin; weights must not be negative.
    max_iter : int
        Steps of each start.
    tol : float
        Stop when the mean log-likelihood of a frame improves by less.
    held : Frames, optional
        Features and labels to judge by: the model that labels them best is kept, of each run and of
        all. Without them the last model of each run is kept, and the likeliest of these.
    decoding : str
        How labels are read when judging.
    """
    step = em_step(frames)
    judge = None if held is None else partial(share_right, frames=held, decoding=decoding)
    runs = []
    for start in starts:
        with stage("EM", max_iter) as bar:
            run = ascend(
                Ascent(start),
                step,
                max_iter=max_iter,
                tol=tol,
                judge=judge,
                bar=bar,
                unit="log-likelihood",
            )
        runs.append(run)
    if held is None:
        run = max(runs, key=lambda run: run.history[-1])
        best, best_step, figure = run.model, run.iteration, run.history[-1]
    else:
        run = max(runs, key=lambda run: run.best_score)
        best, best_step, figure = run.best or run.model, run.best_iteration, run.best_score
    info = {
        "log_likelihood": run.history,
        "accuracy": run.held_out[1:],  # after each step; the start is judged, but is no step
        "best_step": best_step,
        "figure": figure,
    }
    return Learned(best, info)


def em_step(frames: Frames) -> Step:
    """Give the step of EM on labelled frames whose features are probabilities.

    It takes a model without negative weights to its mean log-likelihood of a frame and a model that
    is at least as likely.
    """
    sums = frames.values.sum(axis=1)
    if (frames.values < 0).any() or not np.allclose(sums, 1.0, atol=1e-6):
        raise InvalidData(
            "EM needs features that are probabilities: not negative, and summing to one in every "
            "frame. Use CentroidFeatures or a classifier."
        )
    codes, labels = frames.known_labels
    groups = [np.flatnonzero(codes == label) for label in range(len(labels))]

    def step(model: ContinuousTagger) -> tuple[float, ContinuousTagger]:
        with one_blas_thread():
            return _improve(frames, model, groups)

    return step


def _improve(
    frames: Frames, model: ContinuousTagger, groups: list[IndexArray]
) -> tuple[float, ContinuousTagger]:
    n, n_features = model.n_states, model.n_features
    flat = labelled_operators(model, frames.values, frames.known_labels[0])
    operators = flat.reshape(-1, n, n)
    past, future = np.empty((len(flat), n)), np.empty((len(flat), n))
    log_mass = np.empty(len(flat))
    ones = np.ones(n)
    ones.setflags(write=False)  # as the weights of a model are: one kernel for both
    ends, free = Ends(model.initial, ones), Ends(ones, ones)
    for begin, end in pairwise(frames.offsets.tolist()):
        own = operators[begin:end]
        start = model.initial.copy()
        forward_pass(own, ends, start, past[begin:end], log_mass[begin:end])
        backward_pass(own, free, ones.copy(), future[begin:end])
    ahead = np.einsum("tij,tj->ti", operators, future)
    both = np.einsum("ti,ti->t", past, ahead)
    counts = np.empty_like(model.operators)
    for label, at in enumerate(groups):
        pairs = (past[at] / both[at, None])[:, :, None] * future[at][:, None, :]
        used = frames.values[at].T @ pairs.reshape(len(at), n * n)
        counts[label] = model.operators[label] * used.reshape(n_features, n, n)
    first = frames.offsets[:-1]
    initial = (past[first] * ahead[first] / both[first, None]).sum(axis=0)
    totals = counts.sum(axis=(0, 3))[None, :, :, None]
    # A table that no frame used keeps what it had.
    improved = np.divide(counts, totals, out=np.array(model.operators), where=totals > 0)
    following = replace(model, initial=initial / initial.sum(), operators=improved, final=ones)
    return float(log_mass.mean()), following
