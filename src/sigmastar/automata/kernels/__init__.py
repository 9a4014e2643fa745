"""Compiled loops of the automata wing: arrays in, arrays out, no checks."""
