"""How large dense weights may become: states² · symbols numbers for each copy."""

from __future__ import annotations

from sigmastar.core.memory import check_memory, memory_budget

__all__ = ["check_weights", "most_states"]


def check_weights(n_states: int, n_symbols: int, what: str, *, copies: float) -> None:
    """Refuse weights that do not fit into memory, so many copies of them at a time."""
    check_memory(
        8.0 * copies * n_symbols * n_states**2,
        f"{what} of {n_states:,} states over {n_symbols:,} symbols",
        "Take fewer states, or map rare symbols to one (unknown='unk').",
    )


def most_states(n_symbols: int, *, copies: float) -> int:
    """Return the most states, at least one, whose weights fit, so many copies at a time."""
    return max(int((memory_budget() / (8.0 * copies * max(n_symbols, 1))) ** 0.5), 1)
