"""Compiled loops over n-grams: arrays in, arrays out, no checks."""
