"""The taggers themselves, learned and compiled, and how well they do."""
