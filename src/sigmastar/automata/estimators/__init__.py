"""Learners of automata behind the interface of scikit-learn."""
