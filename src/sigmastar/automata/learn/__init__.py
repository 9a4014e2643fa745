"""Learners of automata, one file a method: pure functions that return ``Learned``."""
