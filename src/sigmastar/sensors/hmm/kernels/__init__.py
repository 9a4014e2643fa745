"""Compiled passes along the chain of states."""
