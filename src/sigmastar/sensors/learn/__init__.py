"""Learners of continuous taggers: pure functions that return ``Learned(model, info)``."""
