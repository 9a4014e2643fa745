"""The version of the package, for those layers that may not look at its top."""

__all__ = ["__version__"]

__version__ = "0.1.0"
