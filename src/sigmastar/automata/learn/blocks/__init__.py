"""Numerics that several learners share."""
