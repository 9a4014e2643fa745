"""Sequences as arrays: alphabets, corpora, and readers for the formats people have."""
