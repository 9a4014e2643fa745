"""Frozen models over strings, their algebra, and how they are written to files."""
