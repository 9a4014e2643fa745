"""What the models must equal: sums over all paths, SciPy's densities, marginals by hand."""

from itertools import pairwise, product

import numpy as np
from scipy.stats import multivariate_normal


def enumerate_paths(initial, transitions, log_density):
    """Give every path of one sequence with its log probability."""
    n = len(initial)
    for path in product(range(n), repeat=len(log_density)):
        with np.errstate(divide="ignore"):
            value = np.log(initial[path[0]]) + log_density[0, path[0]]
            for t in range(1, len(path)):
                value += np.log(transitions[path[t - 1], path[t]]) + log_density[t, path[t]]
        yield path, value


def enumerated(initial, transitions, log_density):
    """Give log-likelihood, posterior, expected moves and the best path of one sequence."""
    paths, values = zip(*enumerate_paths(initial, transitions, log_density), strict=True)
    total = np.logaddexp.reduce(values)
    posterior = np.zeros_like(log_density)
    moves = np.zeros_like(transitions)
    for path, value in zip(paths, values, strict=True):
        share = np.exp(value - total)
        posterior[np.arange(len(path)), path] += share
        for a, b in pairwise(path):
            moves[a, b] += share
    return total, posterior, moves, paths[int(np.argmax(values))], max(values)


def marginal_density(values, means, covariances):
    """Give log densities by SciPy, of what was observed of each row."""
    found = np.zeros((len(values), len(means)))
    for t, row in enumerate(values):
        seen = ~np.isnan(row)
        for k, (mean, matrix) in enumerate(zip(means, covariances, strict=True)):
            if seen.any():
                part = matrix[np.ix_(seen, seen)]
                found[t, k] = multivariate_normal(mean[seen], part).logpdf(row[seen])
    return found


def random_chain(n, rng, concentration=1.0):
    """Draw an initial distribution and transitions."""
    return rng.dirichlet(np.ones(n)), rng.dirichlet(np.full(n, concentration), n)


def random_covariances(n, d, rng):
    """Draw well-conditioned covariance matrices."""
    roots = rng.normal(size=(n, d, d)) * 0.4 + np.eye(d)
    return roots @ roots.transpose(0, 2, 1)


def plain_viterbi(initial, transitions, log_density):
    """Give the best path by the plain recursion over all pairs of states, lower numbers first."""
    with np.errstate(divide="ignore"):
        value, moves = np.log(initial) + log_density[0], np.log(transitions)
    came = []
    for row in log_density[1:]:
        each = value[:, None] + moves
        came.append(each.argmax(axis=0))
        value = each.max(axis=0) + row
    path = [int(value.argmax())]
    for before in reversed(came):
        path.append(int(before[path[-1]]))
    return path[::-1], float(value.max())
