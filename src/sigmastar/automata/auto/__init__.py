"""The search for the best automaton within a time budget."""
