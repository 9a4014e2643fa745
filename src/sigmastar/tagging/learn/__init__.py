"""Learning: from tagged sentences, from untagged ones, and rules from errors."""
