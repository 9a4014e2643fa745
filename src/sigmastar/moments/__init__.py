"""Statistics that learners consume: counts of n-grams, Hankel blocks, feature moments."""
