"""Every table and figure of the five papers: one module a field, one page for all.

``exhibit`` says what an exhibit is; ``automata``, ``transducers``, ``tagging`` and ``sensors`` list
theirs as ``EXHIBITS``; ``published_*`` modules hold the figures that the papers print.
"""
