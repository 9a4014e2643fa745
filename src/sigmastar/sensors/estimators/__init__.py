"""Continuous taggers behind the interface of scikit-learn."""
