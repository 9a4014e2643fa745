"""Learning to turn one string into another."""
