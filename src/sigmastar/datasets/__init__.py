"""Synthetic problems and public data sets."""
