"""Whether the arrays of a mixture fit together: kernels do not look."""

from __future__ import annotations

import numpy as np

from sigmastar.automata.mixture.evidence import Experts, Machines
from sigmastar.automata.mixture.mixer import N_GATES, N_LEVELS, Weights, n_experts
from sigmastar.automata.mixture.tables import Tables
from sigmastar.core.errors import InvalidModel
from sigmastar.core.types import SymbolArray

__all__ = ["check_experts", "check_weights"]


def _need(fits: bool, what: str) -> None:
    if not fits:
        raise InvalidModel(f"{what} of a mixture must fit together; these do not.")


def check_experts(experts: Experts, leaf_of: SymbolArray, width: int) -> None:
    """Check everything that kernels index by."""
    views = experts.views
    n_views = len(views.kind)
    _need(
        len(experts.tree.split) == width - 1
        and len(leaf_of) == width
        and np.array_equal(np.sort(leaf_of), np.arange(width)),
        "the code tree and the alphabet",
    )
    _need(
        n_views > 0
        and len(views.mask) == n_views
        and bool(((views.kind >= 0) & (views.kind <= 2) & (views.mask >= 0)).all())
        and 0 <= experts.n_windows <= n_views
        and bool(((experts.recent >= 0) & (experts.recent < n_views)).all()),
        "the contexts",
    )
    _need(_tables_fit(experts.tables, n_views), "the counts")
    _need(_machines_fit(experts.machines, width), "the automata")


def _tables_fit(tables: Tables, n_views: int) -> bool:
    starts, rooms, shifts = tables.key_starts, tables.directory_starts, tables.shifts
    if not (
        1 <= tables.low_bits < 32
        and len(starts) == len(rooms) == n_views + 1
        and len(shifts) == n_views
        and starts[0] == rooms[0] == 0
        and (np.diff(starts) >= 0).all()
        and starts[-1] == len(tables.keys) == len(tables.inside)
        and rooms[-1] == len(tables.directory)
        and ((shifts > 20) & (shifts < 64)).all()
        and np.array_equal(np.diff(rooms), (1 << (64 - shifts)) + 1)
    ):
        return False
    for view in range(n_views):
        keys = tables.keys[starts[view] : starts[view + 1]]
        inside = tables.inside[starts[view] : starts[view + 1]].astype(np.int64)
        directory = tables.directory[rooms[view] : rooms[view + 1]].astype(np.int64)
        context = keys >> np.uint64(tables.low_bits)
        before = np.where(context[1:] == context[:-1], inside[:-1], 0)
        if not (
            (keys[1:] > keys[:-1]).all()
            and (inside[:1] > 0).all()
            and (inside[1:] > before).all()  # so that every count is positive
            and directory[0] == 0
            and directory[-1] == len(keys)
            and (np.diff(directory) >= 0).all()
        ):
            return False
    return True


def _machines_fit(machines: Machines, width: int) -> bool:
    sizes = machines.n_states
    states = np.concatenate(([0], np.cumsum(sizes)))
    operators = np.concatenate(([0], np.cumsum(width * sizes * sizes)))
    return bool(
        ((sizes > 0) & (sizes < 1 << 20)).all()
        and np.array_equal(machines.state_starts, states[:-1])
        and np.array_equal(machines.operator_starts, operators[:-1])
        and len(machines.initial) == states[-1]
        and len(machines.operators) == operators[-1]
        and machines.readout.shape == (states[-1], width)
        and all(np.isfinite(part).all() for part in machines[3:])
    )


def check_weights(weights: Weights, experts: Experts, rate: float) -> None:
    """Check shapes, and that all is finite."""
    n = n_experts(experts)
    shapes = (
        (n, N_LEVELS * N_LEVELS),
        (n, N_GATES),
        (experts.n_windows + 1, n),
        (len(experts.tree.split), n),
        (len(experts.tree.split) + 2, n),
    )
    _need(
        all(part.shape == shape for part, shape in zip(weights, shapes, strict=True))
        and all(np.isfinite(part).all() for part in weights)
        and 0.0 <= rate <= 1.0,
        "the weights",
    )
