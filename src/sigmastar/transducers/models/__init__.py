"""Conditional transducers and how they are saved and exchanged."""
