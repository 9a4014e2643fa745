"""Estimators of the tagging wing."""
