"""Published protocols on public data, one module each, which return rows for the command line.

Measurements of speed and memory for developers are scripts in ``benchmarks/`` of the repository.
"""
