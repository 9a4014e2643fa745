"""Compiled loops of the transducers wing: arrays in, arrays out, no checks."""
