"""Learners of conditional transducers: pure functions that return ``Learned(model, info)``."""
