"""Taggers of measurements behind the interface of scikit-learn."""
