"""Transducers behind the interface of scikit-learn."""
