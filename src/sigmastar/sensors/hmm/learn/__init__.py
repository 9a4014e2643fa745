"""Learning: EM, where it starts, and how many states."""
