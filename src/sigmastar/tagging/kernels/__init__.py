"""Compiled loops of the tagging wing: arrays in, arrays out, no checks."""
