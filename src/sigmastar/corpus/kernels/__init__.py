"""Compiled loops over corpora: arrays in, arrays out, no checks."""
