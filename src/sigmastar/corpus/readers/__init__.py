"""Readers of text formats: one file for each, all fed by the same opener."""
