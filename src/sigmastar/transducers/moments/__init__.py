"""What transducers are learned from: trigrams of pairs, and lattices of alignments."""
