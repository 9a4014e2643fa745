"""Compiled loops of the sensors wing: arrays in, arrays out, no checks."""
