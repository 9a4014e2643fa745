"""The ``sigmastar`` command: the only part of the package that prints."""
