"""Numba kernels: arrays in, arrays out, no checks, no objects."""
