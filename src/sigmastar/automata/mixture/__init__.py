"""Predict the next symbol by mixing n-grams, skipping contexts, the recent past and automata."""
