"""scikit-learn estimators: thin classes that validate, learn and keep the result."""
