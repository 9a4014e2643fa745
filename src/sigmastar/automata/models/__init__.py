"""The models: weighted automata, probabilistic automata, hidden Markov models."""
