"""What kernels take for granted of a mixture: facts of its arrays, and how these fit together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sigmastar.automata.mixture.code_tree import tree_of
from sigmastar.automata.mixture.contexts import Views
from sigmastar.automata.mixture.evidence import Experts, Machines, n_places
from sigmastar.automata.mixture.mixer import N_GATES, N_LEVELS, Weights, n_experts
from sigmastar.automata.mixture.tables import Tables
from sigmastar.core.errors import InvalidModel
from sigmastar.core.facts import Codes, Fact, Floats, Offsets, proved
from sigmastar.core.types import SymbolArray

__all__ = ["arrays_of", "check_mixture", "experts_of"]

Arrays = Mapping[str, Any]

_FACTS: dict[str, Fact] = {
    "leaf_of": Codes("width", below="width"),
    "split": Codes("width-1", below="width", low=1),
    "kind": Codes("views", below=3, dtype=np.int64),
    "mask": Codes("views", below=1 << 63, dtype=np.int64),
    "recent": Codes("recent", below="views", dtype=np.int64),
    "table_keys": Codes("keys", below=1 << 64, dtype=np.uint64),
    "table_inside": Codes("keys", below=1 << 32, low=1, dtype=np.uint32),
    "table_directory": Codes("rooms", below="keys+1", dtype=np.uint32),
    "table_key_starts": Offsets("views", into="keys"),
    "table_directory_starts": Offsets("views", into="rooms"),
    "table_shifts": Codes("views", below=64, low=21, dtype=np.int64),
    "machine_n_states": Codes("machines", below=1 << 20, low=1, dtype=np.int64),
    "machine_initial": Floats("states"),
    "machine_operators": Floats("operators"),
    "machine_readout": Floats("states", "width"),
    "machine_state_starts": Codes("machines", below="states", dtype=np.int64),
    "machine_operator_starts": Codes("machines", below="operators", dtype=np.int64),
    "weight_corrections": Floats("experts", N_LEVELS * N_LEVELS),
    "weight_by_gate": Floats("experts", N_GATES),
    "weight_by_order": Floats("windows+1", "experts"),
    "weight_by_node": Floats("width-1", "experts"),
    "weight_by_place": Floats("places", "experts"),
}


def arrays_of(leaf_of: SymbolArray, experts: Experts, weights: Weights) -> dict[str, Any]:
    """Return all arrays of a mixture by the names of its files."""
    named = {"leaf_of": leaf_of, "split": experts.tree.split, "recent": experts.recent}
    for prefix, part in (
        ("", experts.views),
        ("table_", experts.tables),
        ("machine_", experts.machines),
        ("weight_", weights),
    ):
        named |= {f"{prefix}{name}": value for name, value in part._asdict().items()}
    return {name: named[name] for name in _FACTS}


def experts_of(arrays: Arrays, width: int, numbers: Mapping[str, int]) -> tuple[Any, ...]:
    """Return the leaves, experts and weights whose arrays and numbers a file holds, proved."""
    found = proved(_FACTS, arrays, **_sizes(width, numbers["n_windows"]))

    def part(kind: Any, prefix: str, **more: int) -> Any:
        return kind(**{n: found[prefix + n] for n in kind._fields if n not in more}, **more)

    experts = Experts(
        tree_of(found["split"]),
        part(Views, "", separator=numbers["separator"]),
        numbers["n_windows"],
        part(Tables, "table_", low_bits=numbers["low_bits"]),
        found["recent"],
        part(Machines, "machine_"),
    )
    return found["leaf_of"], experts, part(Weights, "weight_")


def _sizes(width: int, n_windows: int) -> dict[str, int]:
    return {"width": width, "windows": n_windows, "places": n_places(width)}


def check_mixture(leaf_of: SymbolArray, experts: Experts, weights: Weights, width: int) -> None:
    """Refuse a mixture in which a kernel could leave an array."""
    arrays = arrays_of(leaf_of, experts, weights)
    proved(_FACTS, arrays, **_sizes(width, experts.n_windows))
    n_views, machines = len(experts.views.kind), experts.machines
    for fits, what in (
        (np.array_equal(np.sort(leaf_of), np.arange(width)), "the code tree and the alphabet"),
        (n_views > 0 and 0 <= experts.n_windows <= n_views, "the contexts"),
        (-1 <= experts.views.separator < width, "the separator and the alphabet"),
        (_tables_fit(experts.tables, n_views), "the counts"),
        (_machines_fit(machines, width), "the automata"),
        (len(weights.corrections) == n_experts(experts), "the weights"),
    ):
        if not fits:
            raise InvalidModel(f"{what} of a mixture must fit together; these do not.")


def _tables_fit(tables: Tables, n_views: int) -> bool:
    starts, rooms = tables.key_starts, tables.directory_starts
    sizes = (1 << (64 - tables.shifts)) + 1
    if not 1 <= tables.low_bits < 32 or not np.array_equal(np.diff(rooms), sizes):
        return False
    for view in range(n_views):
        keys = tables.keys[starts[view] : starts[view + 1]]
        inside = tables.inside[starts[view] : starts[view + 1]].astype(np.int64)
        directory = tables.directory[rooms[view] : rooms[view + 1]].astype(np.int64)
        context = keys >> np.uint64(tables.low_bits)
        before = np.where(context[1:] == context[:-1], inside[:-1], 0)
        if not (
            (keys[1:] > keys[:-1]).all()
            and (inside[1:] > before).all()  # so that every count is positive
            and directory[0] == 0
            and directory[-1] == len(keys)
            and (directory[1:] >= directory[:-1]).all()
        ):
            return False
    return True


def _machines_fit(machines: Machines, width: int) -> bool:
    sizes = machines.n_states
    states = np.concatenate(([0], np.cumsum(sizes)))
    operators = np.concatenate(([0], np.cumsum(width * sizes * sizes)))
    return bool(
        np.array_equal(machines.state_starts, states[:-1])
        and np.array_equal(machines.operator_starts, operators[:-1])
        and len(machines.initial) == states[-1]
        and len(machines.operators) == operators[-1]
    )
