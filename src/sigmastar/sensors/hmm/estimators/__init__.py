"""The interface of scikit-learn."""
