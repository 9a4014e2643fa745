"""Learners of taggers: pure functions that return ``Learned(model, info)``."""
