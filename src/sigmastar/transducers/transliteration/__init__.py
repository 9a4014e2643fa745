"""Strings of unequal lengths: alignment, scorers over joint units, and their combination."""
