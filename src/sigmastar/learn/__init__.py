"""Learners: pure functions from moments or corpora to models."""
